"""Print what a config's sweeps would cost (prompts, tokens, hours, money) and could detect; also as a table.

config: JSON: the whole config
lock: requirements.lock, next to config/
sweeps: what estimate_sweep.py wrote; others are estimated by rules of thumb
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
    from pandas import isna

    from litm.config.study import load_study
    from litm.planning.counting import Estimate
    from litm.planning.downloads import download_lines, look_remote
    from litm.planning.estimate import as_text, estimate_table, estimates_of, notes, notes_on_rules, what_is_shown
    from litm.planning.speed import rate_of
    from litm.planning.tokens import MEAN
    from litm.planning.words import budget_lines

    study = load_study(config, lock.parent)
    counted = [Estimate.read(left) for left in map(read_json, sweeps) if left]
    estimates = estimates_of(study, counted)
    rates = {sweep.model.name: rate_of(sweep.model, results) for sweep in study.sweeps if sweep.is_asked}
    questions: dict[tuple[str, str], int | None]
    questions = {sweep.pair: sweep.experiment.curve_questions for sweep in study.sweeps_of(ANSWER)}
    questions |= {(estimate.model, estimate.experiment): estimate.questions for estimate in counted}
    shown, shown_notes = what_is_shown(questions, results)
    estimated = estimate_table(study, estimates, rates, shown)
    write_csv(table, estimated)
    if estimates:
        print(as_text(estimated))
    dollars = estimated.groupby("model")["dollars_as_set"].agg(lambda prices: prices.sum(skipna=False))
    known = {name: None if isna(dollars[name]) else dollars[name] for name in rates}
    lines = [*notes(study, estimates, rates)]
    if any(estimate.work.basis == MEAN for estimate in estimates):
        lines += [*notes_on_rules(study, estimates), *download_lines(study, look_remote(study, results))]
    for line in (*lines, *shown_notes, *budget_lines(study, known, results / "asking")):
        print(line)
