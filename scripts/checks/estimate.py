"""Print what a config's sweeps would cost (prompts, tokens, hours, money) and could detect; also as a table.

config: JSON: the whole config, for the cost of sweeps not given
lock: requirements.lock, next to config/
sweeps: what estimate_sweep.py wrote
rates: JSON: tokens a second by model, or null
predicted: JSON: rates by a rule of thumb, or null
prices: JSON: prices of models that cost money
results: where earlier runs are looked for
table: output: a CSV table, one row a sweep and one of sums
"""

from pathlib import Path

from litm.base.cli import program
from litm.base.formats import read_json, write_csv


@program
def main(
    rates: dict,
    predicted: dict,
    prices: dict,
    table: str,
    sweeps: tuple[str, ...] = (),
    results: Path = Path("results"),
    config: dict | None = None,
    lock: Path = Path("requirements.lock"),
) -> None:
    from litm.checks.doctor import look_remote
    from litm.checks.estimate import Remaining, as_text, by_rule_of_thumb, estimate_table, notes, what_is_shown
    from litm.checks.study_costs import cost_lines
    from litm.config.study import load_study
    from litm.inference.costs import Rate, choose_rate, measured_runs

    study = load_study(config, lock.parent) if config else None
    left = [Remaining(**read_json(path)) for path in sweeps]
    by_rule = {model: Rate(**rate) if rate else None for model, rate in predicted.items()}
    chosen = {
        model: choose_rate(stated, measured_runs(results, model), by_rule[model]) for model, stated in rates.items()
    }
    planned = {pair: study.curve_questions(one) for pair, one in study.run.items()} if study else {}
    counts = planned | {(one.model, one.experiment): one.questions for one in left}
    shown, shown_notes = what_is_shown(counts, results)
    counted = [by_rule_of_thumb(one, study) if study and one.prompt_tokens is None else one for one in left]
    estimated = estimate_table(counted, chosen, prices, shown)
    write_csv(table, estimated)
    if left:
        print(as_text(estimated))
    for line in (*notes(left, chosen, prices), *shown_notes):
        print(line)
    if study and len(left) < len(study.run):
        print(*cost_lines(study, look_remote(study, results)), sep="\n")
