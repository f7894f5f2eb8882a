"""Snakemake on this workflow, after a check of the command and its config files.

Snakemake reads both before this workflow does, and ends with a traceback or without the place of a mistake.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

from litm.base.messages import SCRIPTS, UserError, is_clone

ROOT = SCRIPTS.parent
#: Where Snakemake looks for a workflow.
SNAKEFILES = ("Snakefile", "snakefile", "workflow/Snakefile", "workflow/snakefile")


def rule_names() -> set[str]:
    """The names of all rules, which are targets too."""
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "Snakefile", *(ROOT / "rules").glob("*.smk")))
    return set(re.findall(r"(?m)^(?:use rule \w+ as|rule) (\w+)", text))


def snakemake_command(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The command and the environment for Snakemake with these words, on this workflow where the folder has none.

    `UserError` for a mistake in the words.
    """
    if find_spec("snakemake") is None:
        how = f"run `make .venv/installed` in {ROOT} first" if is_clone() else "pip install 'lost-in-the-middle'"
        raise UserError(f"Snakemake is not installed in {sys.prefix}: {how}")
    # Needs packages that come with Snakemake.
    from litm.config.command_line import check_command, environment_for

    is_named = any(word.startswith(("-s", "--snakefile")) for word in words)
    snakefiles = [path for path in map(Path, SNAKEFILES) if path.exists()]
    check_command(words)
    snakefile = [] if is_named or snakefiles else ["--snakefile", str(ROOT / "Snakefile")]
    return [sys.executable, "-m", "snakemake", *snakefile, *words], environment_for(words, os.environ)


def start_snakemake(words: Sequence[str]) -> None:
    """Become Snakemake with these words."""
    command, environment = snakemake_command(words)
    sys.stdout.flush()
    os.execve(command[0], command, environment)


def run_jobs_of(words: Sequence[str]) -> NoReturn:
    """Run Snakemake with these words, and exit with its status. Only what its jobs print is shown; where they print
    nothing, because they run elsewhere or cannot start, all of Snakemake's lines are.
    """
    command, environment = snakemake_command(words)
    has_printed = False
    with (
        tempfile.TemporaryFile("w+", errors="replace") as log,
        subprocess.Popen(
            command, env=environment, text=True, stdout=subprocess.PIPE, stderr=log, errors="replace"
        ) as running,
    ):
        try:
            for line in running.stdout or ():
                print(line, end="", flush=True)
                has_printed = True
        except SystemExit:
            # SIGTERM or SIGHUP to this program; Ctrl-C is sent to both.
            running.terminate()
            raise
        status = running.wait()
        if not has_printed:
            log.seek(0)
            sys.stderr.write(log.read())
    sys.exit(status)
