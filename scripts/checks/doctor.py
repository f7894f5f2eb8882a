"""Check that this machine has what a config needs, before a run; exits with 1 if something is missing."""

import argparse
from pathlib import Path

from litm.base.cli import json_object, run
from litm.base.messages import UserError
from litm.checks.costs import cost_lines, costs
from litm.checks.doctor.check import MISSING, checks_table, counts
from litm.checks.doctor.examine import examine, look_remote
from litm.config.study import load_study


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", required=True, type=json_object, help="JSON: the whole config")
    parser.add_argument("--lock", required=True, type=Path, help="requirements.lock, next to config/")
    parser.add_argument("--results", type=Path, default=Path("results"))
    args = parser.parse_args()
    lock = args.lock.read_text(encoding="utf-8").splitlines()
    study = load_study(args.config, args.lock.parent)
    found = look_remote(study, args.results)
    checks = examine(study, lock, args.results, found)
    print(checks_table(checks))
    print(*cost_lines(study, costs(study, found.hubs), found), sep="\n")
    if any(check.status == MISSING for check in checks):
        raise UserError(f"{counts(checks)}: fix what is missing before you run")
    print(counts(checks))


if __name__ == "__main__":
    run(main)
