"""litm check: a first answer on one model. A small paired study, whose file it writes and which Snakemake runs."""

import argparse
import contextlib
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill
from time import monotonic
from typing import Any

import yaml

from litm.base.cli import describe_os_error
from litm.base.messages import UserError, check_installed, money
from litm.base.table_files import plain_rows, read_parquet
from litm.checks.doctor import packages
from litm.checks.first_study import MADE_UP, Asked, check_study, entry_of, full_study
from litm.config.needs import needs_of
from litm.config.study import Study, load_study
from litm.config.yaml_files import layered, read_yaml
from litm.engines.model_entries import RECORDED
from litm.engines.registry import engine_facts
from litm.planning.downloads import MISSING
from litm.planning.speed import duration, rate_of
from litm.records.measures import ANSWER
from litm.workflow.start import ROOT, snakemake_command

#: First line of the files that this writes, and may write again.
WRITTEN = "# Written by `litm check`."
#: Tables that the words at the end are taken from.
TABLES, REFERENCE_TABLES = ("accuracy", "position_bias"), ("utilisation",)
SESSION_TABLES = ("session_remedies",)
#: US dollars that a check may cost without a question.
BUDGET = 1.0
FOLDER = Path("litm-check")
LOG = "check.log"
#: Lines of a run that say how far it is, and the seconds between two of them where the output is no terminal.
PROGRESS, SECONDS = re.compile(r"^\d+ of \d+ steps|prompts/s|s/ prompts"), 30


def parser() -> argparse.ArgumentParser:
    """The options of the verb."""
    words = argparse.ArgumentParser("litm check", description=(
        "Ask one model 24 questions at five positions of key-value pairs and of documents, or of your own documents, "
        "and show the curves. The price is said before the first request."
    ), epilog=(
        "Is a model worse than another entry or server of it? litm check --against x --help"
    ))  # fmt: skip
    words.add_argument(
        "--model",
        metavar="NAME",
        help="gpt-..., claude-..., groq/..., a name of the catalogue, a folder, a .gguf file, or OWNER/NAME on the hub",
    )
    words.add_argument("--url", help="a server with OpenAI's protocol: http://localhost:8000/v1")
    words.add_argument("--key-variable", metavar="NAME", help="the environment variable with the key for --url")
    words.add_argument(
        "--documents", type=Path, metavar="FOLDER", help="own documents; made-up facts in them if no --questions"
    )
    words.add_argument("--questions", type=Path, metavar="FILE", help="a table with columns question, answer")
    words.add_argument(
        "--session", type=Path, metavar="FILE", help="an agent's session, with facts and rules placed in it"
    )
    words.add_argument("--window", type=int, metavar="TOKENS", help="the model's context window, if it is not known")
    words.add_argument("--prices", type=float, nargs=2, metavar=("IN", "OUT"), help="US$ per million tokens")
    words.add_argument("--budget", type=float, default=BUDGET, metavar="USD", help="US$ without a question (1.00)")
    words.add_argument("--folder", type=Path, default=FOLDER, help="for the study and its results (litm-check)")
    words.add_argument("--yes", action="store_true", help="do not ask, whatever it costs")
    words.add_argument("--fake", action="store_true", help="made-up answers, without a key or a model")
    return words


def main(words: Sequence[str]) -> None:
    """Write the study, say what it costs, run it, and show its curves and words."""
    options = parser().parse_args(words)
    asked = _asked(options)
    folder: Path = options.folder
    study, files = check_study(asked), (folder / "study.yaml", folder / "full_study.yaml")
    for file in files:
        check_own(file)
    # Written once it can be asked: a mistake leaves the study of an earlier check as it is.
    read = load_study(layered([read_yaml(ROOT / "config" / "config.yaml"), study]), ROOT)
    check_installed("--documents" if asked.documents else asked.name, packages(read, needs_of(read)))
    agree(say_plan(read, asked), asked, options)
    for file, written in zip(files, (study, full_study(study, folder / "results" / "answers")), strict=True):
        write_study(file, written)
    _run(folder, read, asked)
    _show(folder, read, asked)


def _asked(options: argparse.Namespace) -> Asked:
    """The options, checked; `UserError` for those that do not go together, and for a model that cannot be asked."""
    if options.fake == bool(options.model):
        raise UserError("give --model NAME, or --fake to see made-up answers first")
    if options.fake and (options.documents or options.session or options.url):
        raise UserError(
            "--fake makes up answers to its own questions alone: leave --documents, --session and --url out"
        )
    if options.questions and not options.documents:
        raise UserError("--questions needs --documents FOLDER")
    if options.session and options.documents:
        raise UserError("--session is checked alone: leave --documents out")
    for path in filter(None, (options.documents, options.questions, options.session)):
        if not path.exists():
            windows = "; in WSL C:\\folder is /mnt/c/folder" if "\\" in str(path) else ""
            raise UserError(f"{path}: no such file or folder{windows}")
    if options.budget <= 0:
        raise UserError(f"--budget {options.budget:g}: give US dollars above 0")
    prices = {"input": options.prices[0], "output": options.prices[1]} if options.prices else None
    catalogue = read_yaml(ROOT / "config" / "models.yaml")
    name, entry = (MADE_UP, {"engine": "fake"}) if options.fake else entry_of(options.model, options.url, catalogue)
    if options.key_variable:
        entry = {**entry, "api_key_variable": options.key_variable}
    if options.window is not None:
        entry = {**entry, "context_window": options.window}
    engine = (catalogue.get(name, {}) | entry)["engine"]
    if engine == RECORDED:
        raise UserError(f"{name}: the catalogue has recorded answers of it, and nothing to ask: name another model")
    check_installed(name, engine_facts(engine).packages)
    mine = (path and path.resolve() for path in (options.documents, options.questions, options.session))
    return Asked(name, entry, prices, options.budget, *mine)


def check_own(path: Path) -> None:
    """Raise `UserError` if a study's file is there that this did not write."""
    if path.exists() and not path.read_text(encoding="utf-8").startswith(WRITTEN):
        raise UserError(f"{path} is not of `litm check`: name another folder with --folder")


def write_study(path: Path, study: Mapping[str, Any]) -> None:
    """Write a study's file, over one that this wrote; `UserError` if another's is there."""
    check_own(path)
    text = yaml.safe_dump(study, sort_keys=False, allow_unicode=True, width=100)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{WRITTEN}\n{text}", encoding="utf-8")
    except OSError as error:
        raise UserError(f"{describe_os_error(error)}: name a folder that can be written with --folder") from None


# --- Before the first request ------------------------------------------------------------------------------------


def say_plan(study: Study, asked: Asked) -> float | None:
    """Print what the study takes, by rules of thumb; returns its US dollars at most, None if they are not known.

    `UserError` for a server that does not answer, or does not know the key or the model.
    """
    from litm.planning.estimate import estimate_table, estimates_of

    model = study.models[asked.name]
    if absent := study.absent.get(asked.name):
        raise UserError(f"{asked.name}: {absent}")
    estimates = estimates_of(study, [])
    rates = {asked.name: rate_of(model, Path("results"))} if not model.is_recorded else {}
    total = plain_rows(estimate_table(study, estimates, rates, {}))[-1]
    dollars, hours = total["dollars"], total["hours"]
    _say(*study.notes)
    if asked.is_made_up:
        _say(f"{MADE_UP}: all answers are made up by a rule, to show what a check looks like.")
        return 0.0
    what = f"{asked.name}: {int(total['prompts']):,} prompts, about {int(total['prompt_tokens']):,} tokens"
    is_free = not model.is_served
    known = ", price not known (--prices IN OUT)" if dollars is None else f", US$ {money(dollars)} at most"
    price = "" if is_free else known
    _say(f"{what}{price}, {duration(hours * 3600) if hours is not None else 'time not known'}")
    if model.is_served:
        from litm.checks.doctor_models import server_checks

        for check in server_checks(model):
            if check.status == MISSING:
                raise UserError(f"{check.what}: {check.message}")
    return 0.0 if is_free else dollars


def agree(cost: float | None, asked: Asked, options: argparse.Namespace) -> None:
    """Ask whether to go on if the price exceeds the budget, or is not known; `UserError` where nobody can be asked."""
    is_own_server = bool(asked.entry.get("base_url")) and cost is None
    if options.yes or is_own_server or (cost is not None and cost <= asked.budget):
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


def _run(folder: Path, study: Study, asked: Asked) -> None:
    """Make the pictures and tables of a study."""
    has_references = any(experiment.closed_book for experiment in study.experiments.values())
    names = [*TABLES, *(REFERENCE_TABLES if has_references else ()), *(SESSION_TABLES if asked.session else ())]
    make(folder, [*figures_of(study), *(f"results/tables/{name}.csv" for name in names)])


def make(folder: Path, targets: Sequence[str]) -> None:
    """Make files of the study in a folder by Snakemake; its lines go to a log, the last of them is shown meanwhile."""
    words = [*targets, "--configfile", str(folder / "study.yaml"), "--directory", str(folder)]
    command, environment = snakemake_command([*words, "--cores", "all"])
    with subprocess.Popen(
        command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace"
    ) as running:
        try:
            errors = list(errors_of(running.stdout or (), folder / LOG))
        except SystemExit:
            # SIGTERM or SIGHUP to this program; Ctrl-C is sent to both.
            running.terminate()
            raise
    if running.returncode:
        why = errors[0] if errors else "the run failed"
        raise UserError(f"{why} (all lines: {folder / LOG})")


def errors_of(lines: Iterable[str], log: Path) -> Iterator[str]:
    """The errors among the lines of a run, which go to a log; the last line is shown meanwhile."""
    is_terminal, said = sys.stderr.isatty(), monotonic()
    with log.open("w", encoding="utf-8") as file:
        for line in lines:
            file.write(line)
            if line.strip().startswith("error: "):
                yield line.strip().removeprefix("error: ")
            if is_terminal and PROGRESS.search(line):
                _progress(line)
            elif PROGRESS.search(line) and monotonic() - said > SECONDS:
                print(line.strip(), file=sys.stderr, flush=True)
                said = monotonic()
    if is_terminal:
        _progress("")


def _progress(line: str) -> None:
    """Show the line of a run in place of the one before."""
    width = get_terminal_size().columns - 1
    sys.stderr.write(f"\r{' ' * width}\r{line.strip()[:width]}")
    sys.stderr.flush()


def _say(*lines: str) -> None:
    """Print lines as wide as the terminal."""
    width = get_terminal_size((120, 0)).columns
    for line in lines:
        print(fill(line, width, break_long_words=False, break_on_hyphens=False))


# --- The answer --------------------------------------------------------------------------------------------------


def _show(folder: Path, study: Study, asked: Asked) -> None:
    """Print the curves, the first screen, the places of the pictures, and the command of the full study."""
    from litm.checks.first_curve import curves
    from litm.workflow.outcome import findings_in, screen_lines, terminal_of

    terminal = terminal_of(sys.stdout, f"{folder}/results/tables/")
    with contextlib.chdir(folder):
        _say(*curves(study.experiments, _lengths(study)))
        findings = findings_in(study, _Everything())
    print(*screen_lines(study, findings, terminal, with_positions=False), sep="\n")
    _say(" ".join(["pictures:", *(str(folder / path) for path in figures_of(study))]))
    if asked.is_made_up:
        _say("Everything above is made up: it shows what a check looks like, and nothing about any model.")
        print("A real model: litm check --model gpt-4o-mini")
    else:
        full = shlex.quote(str(folder / "full_study.yaml"))
        print(f"the full study: litm run {full}   (its price first: litm estimate {full})")


def _lengths(study: Study) -> dict[tuple[str, int], str]:
    """The mean length of the prompts of an experiment and size in words, by what the model or its server counted."""
    windows = {name: tokens for figure in study.figures.values() for name, tokens in figure.windows.items()}
    lengths = {}
    for sweep in study.sweeps_of(ANSWER):
        rows = read_parquet(sweep.files.scores, ["size", "prompt_tokens"])
        counted = rows.groupby("size")["prompt_tokens"].mean().dropna()
        window = windows.get(sweep.model.name)
        for size, tokens in zip(counted.index.tolist(), counted.tolist(), strict=True):
            share = f", {tokens / window:.0%} of the window" if window else ""
            lengths[sweep.experiment.name, size] = f"{tokens:,.0f} tokens{share}"
    return lengths


class _Everything:
    """Contains every path."""

    def __contains__(self, path: object) -> bool:
        return True
