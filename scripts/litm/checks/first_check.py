"""litm check: a first answer on one model. A small paired study, whose file it writes and which Snakemake runs."""

import argparse
import contextlib
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

import yaml

from litm.base.messages import UserError, install_command, money
from litm.base.table_files import plain_rows
from litm.checks.first_study import MADE_UP, Asked, check_study, entry_of, full_study
from litm.config.study import Study, load_study
from litm.config.yaml_files import read_layers
from litm.planning.downloads import MISSING
from litm.planning.speed import duration, rate_of
from litm.workflow.start import ROOT, snakemake_command

#: First line of the files that this writes, and may write again.
WRITTEN = "# Written by `litm check`."
#: Tables that the words at the end are taken from.
TABLES, REFERENCE_TABLES = ("accuracy", "position_bias"), ("utilisation",)
#: US dollars that a check may cost without a question.
BUDGET = 1.0
LOG = "check.log"


def parser() -> argparse.ArgumentParser:
    """The options of the verb."""
    words = argparse.ArgumentParser("litm check", description=(
        "Ask one model 24 questions at five positions of key-value pairs and of documents, and show the curves. The "
        "price is said before the first request."
    ))  # fmt: skip
    words.add_argument("--model", help="an API's model (gpt-4o-mini, claude-..., groq/...), a name of the catalogue, "
                       "a folder, a .gguf file or a name on the hub")  # fmt: skip
    words.add_argument("--url", help="the address of a server that speaks OpenAI's protocol: http://localhost:8000/v1")
    words.add_argument("--documents", type=Path, help="a folder of your own documents, asked for too; with --questions")
    words.add_argument("--questions", type=Path, help="a table with the columns question and answer")
    words.add_argument("--prices", type=float, nargs=2, metavar=("IN", "OUT"), help="US$ per million tokens")
    words.add_argument("--budget", type=float, default=BUDGET, help="US$ that it may cost without a question (1.00)")
    words.add_argument("--folder", type=Path, default=Path("litm-check"), help="for the study and results (litm-check)")
    words.add_argument("--yes", action="store_true", help="do not ask, whatever it costs")
    words.add_argument("--fake", action="store_true", help="made-up answers: what it looks like, without key or model")
    return words


def main(words: Sequence[str]) -> None:
    """Write the study, say what it costs, run it, and show its curves and words."""
    given = parser().parse_args(words)
    asked = _asked(given)
    folder: Path = given.folder
    study = check_study(asked)
    _write(folder / "study.yaml", study)
    _write(folder / "full_study.yaml", full_study(study))
    read = load_study(read_layers([ROOT / "config" / "config.yaml", folder / "study.yaml"]), ROOT)
    _agree(_plan(read, asked), asked, given)
    _run(folder, read)
    _show(folder, read, asked)


def _asked(given: argparse.Namespace) -> Asked:
    """The options, checked; `UserError` for those that do not go together, and for a model that cannot be asked."""
    if given.fake == bool(given.model):
        raise UserError("give --model NAME, or --fake to see made-up answers first")
    if given.fake and (given.documents or given.url):
        raise UserError("--fake makes up answers to its own questions alone: leave --documents and --url out")
    if given.documents and not given.questions:
        raise UserError("--documents needs --questions FILE: a table with the columns question and answer")
    if given.questions and not given.documents:
        raise UserError("--questions needs --documents FOLDER")
    for path in filter(None, (given.documents, given.questions)):
        if not path.exists():
            windows = "; in WSL C:\\folder is /mnt/c/folder" if "\\" in str(path) else ""
            raise UserError(f"{path}: no such file or folder{windows}")
    if given.budget <= 0:
        raise UserError(f"--budget {given.budget:g}: give US dollars above 0")
    prices = {"input": given.prices[0], "output": given.prices[1]} if given.prices else None
    name, entry = (MADE_UP, {"engine": "fake"}) if given.fake else entry_of(given.model, given.url, ROOT)
    if entry.get("engine") == "transformers" and find_spec("torch") is None:
        raise UserError(f"{given.model}: a model that runs here needs more packages: {install_command('torch')}")
    mine = tuple(path.resolve() for path in (given.documents, given.questions)) if given.documents else None
    return Asked(name, entry, prices, given.budget, mine)


def _write(path: Path, study: Mapping[str, Any]) -> None:
    """Write a study's file, over one that this wrote; `UserError` if another's is there."""
    if path.exists() and not path.read_text(encoding="utf-8").startswith(WRITTEN):
        raise UserError(f"{path} is not of `litm check`: name another folder with --folder")
    path.parent.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump(study, sort_keys=False, allow_unicode=True, width=100)
    path.write_text(f"{WRITTEN}\n{text}", encoding="utf-8")


# --- Before the first request ------------------------------------------------------------------------------------


def _plan(study: Study, asked: Asked) -> float | None:
    """Print what the study takes, by rules of thumb; returns its US dollars at most, None if they are not known.

    `UserError` for a server that does not answer, or does not know the key or the model.
    """
    from litm.planning.estimate import estimate_table, estimates_of

    model = study.models[asked.name]
    estimates = estimates_of(study, [])
    rates = {asked.name: rate_of(model, Path("results"))} if not model.is_recorded else {}
    total = plain_rows(estimate_table(study, estimates, rates, {}))[-1]
    dollars, hours = total["dollars"], total["hours"]
    print(*study.notes, sep="\n", end="\n" if study.notes else "")
    if asked.is_made_up:
        print(f"{MADE_UP}: all answers are made up by a rule, to show what a check looks like.")
        return 0.0
    what = f"{asked.name}: {int(total['prompts']):,} prompts, about {int(total['prompt_tokens']):,} tokens"
    is_free = not model.is_served
    price = "" if is_free else f", US$ {money(dollars)} at most" if dollars is not None else ", price not known"
    print(f"{what}{price}, {duration(hours * 3600) if hours is not None else 'time not known'}")
    if model.is_served:
        from litm.checks.doctor_models import server_checks

        for check in server_checks(model):
            if check.status == MISSING:
                raise UserError(f"{check.what}: {check.message}")
    return 0.0 if is_free else dollars


def _agree(cost: float | None, asked: Asked, given: argparse.Namespace) -> None:
    """Ask whether to go on if the price exceeds the budget, or is not known; `UserError` where nobody can be asked."""
    is_own_server = bool(asked.entry.get("base_url")) and cost is None
    if given.yes or is_own_server or (cost is not None and cost <= asked.budget):
        return
    if cost is None:
        why, remedy = f"the price of {asked.name} is not known", "give --prices IN OUT, or --yes"
    else:
        why = f"it may cost US$ {money(cost)}, more than the budget of US$ {money(asked.budget)}"
        remedy = "raise --budget, or give --yes"
    if not sys.stdin.isatty():
        raise UserError(f"{why}: {remedy}")
    if input(f"{why}. Go on? [y/N] ").strip().lower() not in ("y", "yes"):
        raise UserError("not run: nothing was asked")


# --- The run -----------------------------------------------------------------------------------------------------


def figures_of(study: Study) -> list[str]:
    """The paths of the pictures of a study."""
    return [f"results/figures/{name}.png" for name in study.figures]


def _run(folder: Path, study: Study) -> None:
    """Run the study by Snakemake in its folder; its lines go to a log, the last of them is shown meanwhile."""
    has_references = any(experiment.closed_book for experiment in study.experiments.values())
    tables = [f"results/tables/{name}.csv" for name in (*TABLES, *(REFERENCE_TABLES if has_references else ()))]
    words = [*figures_of(study), *tables, "--configfile", str(folder / "study.yaml"), "--directory", str(folder)]
    command, environment = snakemake_command([*words, "--cores", "all"])
    done = subprocess.Popen(
        command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace"
    )
    assert done.stdout is not None
    with (folder / LOG).open("w", encoding="utf-8") as log:
        errors = []
        for line in done.stdout:
            log.write(line)
            if "error: " in line and line.strip() not in errors:
                errors.append(line.strip())
            _progress(line)
    _progress("")
    if done.wait():
        raise UserError(
            f"{errors[0].removeprefix('error: ') if errors else 'the run failed'} (all lines: {folder / LOG})"
        )


def _progress(line: str) -> None:
    """Show the line of a run in place of the one before, on a terminal."""
    if sys.stderr.isatty():
        width = get_terminal_size().columns - 1
        sys.stderr.write(f"\r{' ' * width}\r{line.strip()[:width]}")
        sys.stderr.flush()


# --- The answer --------------------------------------------------------------------------------------------------


def _show(folder: Path, study: Study, asked: Asked) -> None:
    """Print the curves, the words, the places of the pictures, and the command of the full study."""
    from litm.checks.first_curve import curves
    from litm.workflow.outcome import outcome

    with contextlib.chdir(folder):
        print(*curves(study.experiments), sep="\n")
        accuracies = map(str, sorted(Path("results/accuracy").glob("*/*.csv")))
        lines = [*outcome(study, _Everything(), accuracies, [], {}, 0.0)]
    shown = [line for line in lines if not line.startswith("tables: ")]
    print(*shown, sep="\n")
    print("pictures:", *(folder / path for path in figures_of(study)))
    if asked.is_made_up:
        print("Everything above is made up: it shows what a check looks like, and nothing about any model.")
        print("A real model: litm check --model gpt-4o-mini")
    else:
        full = shlex.quote(str(folder / "full_study.yaml"))
        print(f"the full study: litm run {full}   (its price first: litm estimate {full})")


class _Everything:
    """Contains every path."""

    def __contains__(self, path: object) -> bool:
        return True
