"""Check that this machine has what a config needs, before a run; exits with 1 if something is missing.

config: JSON: the whole config
lock: requirements.lock, next to config/
"""

from pathlib import Path

from litm.base.cli import program
from litm.base.messages import UserError


@program
def main(config: dict, lock: Path, results: Path = Path("results")) -> None:
    from litm.checks.doctor import checks_table, counts, examine
    from litm.config.study import load_study
    from litm.planning.downloads import MISSING, first_steps, look_remote

    study = load_study(config, lock.parent)
    remote = look_remote(study, results)
    checks = examine(study, lock.read_text(encoding="utf-8").splitlines(), results, remote)
    print(checks_table(checks))
    # `litm doctor` shows the lines of this program alone.
    print(*study.my_data, *study.left_out, sep="\n", end="\n" if study.my_data or study.left_out else "")
    print(first_steps(study, remote))
    print("The target `estimate` says what all of it takes: prompts, tokens, hours, US$.")
    if any(check.status == MISSING for check in checks):
        raise UserError(f"{counts(checks)}: fix what is missing before you run")
    print(counts(checks))
