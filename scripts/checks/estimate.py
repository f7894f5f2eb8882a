"""Print what a config's sweeps would cost (prompts, tokens, hours, money) and could detect; also as a table.

config: JSON: the whole config
lock: requirements.lock, next to config/
sweeps: what estimate_sweep.py wrote; the cost of others is by rules of thumb
results: where earlier runs are looked for
table: output: a CSV table, one row a sweep and one of sums
"""

from pathlib import Path

from litm.base.cli import program
from litm.base.json_files import read_json
from litm.base.table_files import write_csv
from litm.records.measures import ANSWER


@program
def main(config: dict, lock: Path, table: str, sweeps: tuple[str, ...] = (), results: Path = Path("results")) -> None:
    from litm.checks.doctor import look_remote
    from litm.checks.estimate import Remaining, as_text, by_characters, estimate_table, notes, what_is_shown
    from litm.checks.study_costs import cost_lines
    from litm.config.recorded_models import RecordedModel
    from litm.config.study import load_study
    from litm.planning.speed import choose_rate, measured_runs, rate_here
    from litm.planning.words import budget_lines
    from litm.workflow.sweep_inputs import prices

    study = load_study(config, lock.parent)
    left = [Remaining(**read_json(path)) for path in sweeps]
    rates = {
        name: choose_rate(model.tokens_per_second, measured_runs(results, name), rate_here(model))
        for name, model in study.models.items()
        if not isinstance(model, RecordedModel)
    }
    planned = {sweep.pair: sweep.experiment.curve_questions for sweep in study.sweeps_of(ANSWER)}
    counts = planned | {(one.model, one.experiment): one.questions for one in left}
    shown, shown_notes = what_is_shown(counts, results)
    estimated = estimate_table([*map(by_characters, left)], rates, prices(study), shown)
    write_csv(table, estimated)
    if left:
        print(as_text(estimated))
    if len(left) < sum(sweep.is_asked for sweep in study.sweeps):
        # With its budgets.
        rest = [*cost_lines(study, look_remote(study, results))]
    else:
        dollars = estimated.groupby("model")["dollars_as_set"].sum()
        rest = budget_lines(study, {one: dollars[one] for one in rates if one in dollars}, results / "journal")
    for line in (*notes(left, rates, prices(study)), *shown_notes, *rest):
        print(line)
