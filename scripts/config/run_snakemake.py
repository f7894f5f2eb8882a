"""Run Snakemake after a check of its config files, on this workflow where the folder has none.

Snakemake reads both before this workflow does, and ends with a traceback or without the place of a mistake.
"""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

from litm.base.cli import run
from litm.base.messages import UserError

ROOT = Path(__file__).resolve().parents[2]
#: Where Snakemake looks for a workflow.
SNAKEFILES = ("Snakefile", "snakefile", "workflow/Snakefile", "workflow/snakefile")


def main() -> None:
    if find_spec("snakemake") is None:
        raise UserError(f"Snakemake is not installed in {sys.prefix}: run `make .venv/installed` in {ROOT} first")
    # Needs packages that come with Snakemake.
    from litm.config.command_line import check_command, environment_for

    words = sys.argv[1:]
    is_named = any(word.startswith(("-s", "--snakefile")) for word in words)
    found = [path for path in map(Path, SNAKEFILES) if path.exists()]
    check_command(words)
    if not is_named and not found:
        words = ["--snakefile", str(ROOT / "Snakefile"), *words]
    sys.stdout.flush()
    os.execve(sys.executable, [sys.executable, "-m", "snakemake", *words], environment_for(words, os.environ))


if __name__ == "__main__":
    run(main)
