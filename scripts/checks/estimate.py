"""Print what a config's sweeps would cost (prompts, tokens, hours, money) and could detect; also as a table."""

import argparse
from pathlib import Path

from litm.base.cli import json_object, run
from litm.base.records import read_json, write_csv
from litm.checks.costs import cost_lines, costs
from litm.checks.doctor.examine import look_remote
from litm.checks.estimate import Remaining, as_text, estimate_table, notes
from litm.checks.sample_size import sample_size_columns, sample_size_notes, sample_sizes
from litm.config.study import load_study
from litm.inference.speed import Rate, choose_rate, measured_runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", type=json_object, help="JSON: the whole config, for the cost of sweeps not given")
    parser.add_argument("--lock", type=Path, default=Path("requirements.lock"), help="next to config/")
    parser.add_argument("--sweeps", required=True, nargs="*", help="what estimate_sweep.py wrote")
    parser.add_argument("--rates", required=True, type=json_object, help="JSON: tokens a second by model, or null")
    parser.add_argument("--predicted", required=True, type=json_object, help="JSON: rates by a rule of thumb, or null")
    parser.add_argument("--prices", required=True, type=json_object, help="JSON: prices of models that cost money")
    parser.add_argument("--results", type=Path, default=Path("results"), help="where earlier runs are looked for")
    parser.add_argument("--table", required=True, help="output: a CSV table, one row a sweep and one of sums")
    args = parser.parse_args()
    sweeps = [Remaining(**read_json(path)) for path in args.sweeps]
    predicted = {model: Rate(**rate) if rate else None for model, rate in args.predicted.items()}
    rates = {
        model: choose_rate(stated, measured_runs(args.results, model), predicted[model])
        for model, stated in args.rates.items()
    }
    shown = sample_sizes(sweeps, args.results)
    table = estimate_table(sweeps, rates, args.prices, sample_size_columns(shown))
    write_csv(args.table, table)
    if sweeps:
        print(as_text(table))
    for note in [*notes(sweeps, rates, args.prices), *sample_size_notes(shown)]:
        print(note)
    study = args.config and load_study(args.config, args.lock.parent)
    if study and len(sweeps) < len(study.run):
        there = look_remote(study, args.results)
        print(*cost_lines(study, costs(study, there.hubs), there), sep="\n")


if __name__ == "__main__":
    run(main)
