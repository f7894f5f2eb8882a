"""What the console shows: Snakemake's lines that say something, the summary of a dry run, and the outcome of a run."""

import json
import logging
import re
import sys
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from litm.analysis.run_summary import run_summary
from litm.base.messages import UserError
from litm.base.records import read_json, read_result_rows
from litm.config.experiments import item_noun
from litm.domain.example import read_examples
from litm.inference.arguments import number_format_of
from litm.inference.journal import journal_files
from litm.inference.other_sweeps import JOURNALS, all_journals
from litm.inference.present_answers import Present, present_answers
from litm.inference.sweep_setup import Asking
from litm.prompting.render import read_prompt_template
from litm.workflow.plan import Plan
from litm.workflow.resources import SHOWN
from litm.workflow.rules_help import Wildcards


def error_messages(folder: str | Path, since: float) -> Iterator[tuple[Path, str]]:
    """(log, last line) of each log written after `since` that ends in an error message, sorted by log name.

    since: seconds since the epoch.
    """
    for path in sorted(Path(folder).rglob("*.log")):
        last = path.read_text(errors="replace").strip().rpartition("\n")[2]
        if last.startswith("error: ") and path.stat().st_mtime >= since:
            yield path, last


ACCURACY, BIAS, ADVICE = (Path(f"results/tables/{name}.csv") for name in ("accuracy", "position_bias", "advice"))


def outcome(plan: Plan, since: float) -> Iterator[str]:
    """Accuracies by position, and paths of figures, tables and report; no lines if no table was made since then.

    The last line names a table that is damaged and ends the outcome.
    since: time of the start, in seconds since the epoch.
    """
    try:
        yield from _made(plan, since)
        yield from plan.sweeps.cut_answers()
    except UserError as error:
        # The run itself has succeeded.
        yield f"error: {error}"


def _made(plan: Plan, since: float) -> Iterator[str]:
    if ACCURACY.exists() and ACCURACY.stat().st_mtime >= since:
        experiments = plan.study.experiments.values()
        units = {one.name: "tokens" if one.tokens_of else f"{item_noun([one])}s" for one in experiments}
        yield from run_summary(_rows(ACCURACY), _rows(BIAS), units)
        if "advice" in plan.tables.names:
            yield from (row["advice"] for row in _rows(ADVICE) if row["advice"])
        figures = [path for path in plan.figures.files if path.endswith(".png") and Path(path).exists()]
        if figures:
            yield f"figures: {', '.join(figures[:3])}{f' and {len(figures) - 3} more' if len(figures) > 3 else ''}"
        yield "tables: results/tables/"
        if Path(plan.report.file).exists():
            yield f"report: {plan.report.file}, to open in a browser"
        yield from plan.tables.gold_passages_found()


def _rows(path: Path) -> list[dict[str, str]]:
    """The rows of a table; none if the file is missing."""
    return read_result_rows(path) if path.exists() else []


#: Snakemake's logger, its handler for the console, and its event of a fatal exception.
LOGGER, CONSOLE, ERROR = "snakemake.logging", "DefaultStreamHandler", "error"
#: Events and lines of the scheduler. `N of M steps` and the programs' own lines tell what is done.
SCHEDULING = ("job_started", "job_finished")
#: Beginnings of lines that are the same in every run.
SAME_IN_EVERY_RUN = (
    "Select jobs to execute...",
    "Assuming unrestricted shared filesystem usage.",
    "Building DAG of jobs...",
    "Using shell: ",
    "Rules claiming more threads will be scaled down.",
    "Conda environments: ignored",
    "Provided resources: ",
)
#: Snakemake's line, of a run and of a dry run, if no job is left.
NOTHING = "Nothing to be done"
#: A mistake of the user's, raised while the rules are read: Snakemake puts lines of ours around the message.
OF_THE_USER = re.compile(
    r'WorkflowError in file "[^"\n]*common\.smk", line \d+:\n(.*?)(\n  File "[^\n]*)?\s*', re.DOTALL
)
#: A program that failed, with its whole command, and the end of all our commands.
FAILED_PROGRAM = re.compile(
    r"RuleException:\nCalledProcessError in file .*?\nCommand '(.*)' ([^'\n]*)\.(\n  File \"[^\n]*)?\s*", re.DOTALL
)
PROGRAM, LOG = re.compile(r"\S*?(scripts/\S+\.py)"), re.compile(r"tee -i '?([^')]+?)'?\)?$")
#: How a shell ends that a signal has stopped.
BY_SIGNAL = re.compile(r"died with <Signals\.SIG(INT|TERM|HUP)")
#: Snakemake's lines when it is told to stop, each with the signal and with what follows.
STOPPING = {
    "Will exit after finishing currently running jobs": (
        "SIGTERM",
        "no job is started any more, and this run ends when the running jobs have; Ctrl-C, or SIGINT to all its "
        "processes, ends those too and loses no answer",
    ),
    "Terminating processes on user request": (
        "Ctrl-C",
        "this run ends when the running jobs have, which keep their answers",
    ),
}
#: Snakemake's lines after that, which say no more.
AFTER_STOP = ("Shutting down, this might take some time.", "WorkflowError:\nAt least one job did not complete")


class Shown(Enum):
    """Which of Snakemake's lines the console has: all; those of a run, without the scheduler's; those of a dry run,
    which has a summary of its own: problems, and that nothing is left.
    """

    ALL = "all"
    RUN = "run"
    DRY_RUN = "dry run"


class Console:
    """What this process shows of Snakemake's lines; `stopped_by` is the signal that has stopped the run, "" for none.

    Unless all lines are shown, a failed program's whole command is one line, and a stop has lines of ours.
    """

    def __init__(self, shown: Shown) -> None:
        self._shown = shown
        self.stopped_by = ""

    def lines(self, record: logging.LogRecord, text: str) -> str:
        """The lines to show for a record whose lines in Snakemake's words are `text`; "" for none."""
        stop = next((words for theirs, words in STOPPING.items() if text.startswith(theirs)), None)
        was_stopped, self.stopped_by = self.stopped_by, stop[0] if stop else self.stopped_by
        if self._shown is Shown.ALL:
            return without_place(text)
        if stop:
            return "" if was_stopped == stop[0] else f"stopping ({stop[0]}): {stop[1]}"
        if self._is_left_out(record, text):
            return ""
        return without_command(without_place(text))

    def last_line(self) -> str:
        """The line at the end of a run that was stopped, "" for another one."""
        if not self.stopped_by:
            return ""
        return (
            f"stopped by {self.stopped_by}: finished jobs and all answers so far are kept, and the same command "
            "continues from there"
        )

    def _is_left_out(self, record: logging.LogRecord, text: str) -> bool:
        if self._shown is Shown.DRY_RUN:
            return record.levelno < logging.WARNING and not text.startswith(NOTHING)
        if getattr(record, "event", None) in SCHEDULING or text.startswith(SAME_IN_EVERY_RUN):
            return True
        failed = FAILED_PROGRAM.fullmatch(text)
        if failed and (self.stopped_by or BY_SIGNAL.search(failed[2])):
            # Its own last line says why it ended.
            return True
        return bool(self.stopped_by) and text.startswith(AFTER_STOP)


class _OwnFormat(logging.Formatter):
    """Snakemake's format, as a console shows it; an empty text is not printed.

    A formatter and not a filter, which would change the lines of the log file too.
    """

    def __init__(self, console: Console, theirs: logging.Formatter | None) -> None:
        super().__init__()
        self._console, self._theirs = console, theirs or logging.Formatter()

    def format(self, record: logging.LogRecord) -> str:
        return self._console.lines(record, self._theirs.format(record) or "")


class _ErrorLines(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        if getattr(record, "event", None) == ERROR:
            print(without_place(record.getMessage()), file=sys.stderr, flush=True)


def without_place(text: str) -> str:
    """The message of a user's mistake without the place in the rules that found it; any other text as it is."""
    found = OF_THE_USER.fullmatch(text)
    return f"error: {found[1]}" if found else text


def without_command(text: str) -> str:
    """A program's failure with name, exit status and log instead of its command; any other text as it is."""
    failed = FAILED_PROGRAM.fullmatch(text)
    program, log = (PROGRAM.search(failed[1]), LOG.search(failed[1])) if failed else (None, None)
    if not (failed and program and log):
        return text
    return f"failed: {program[1]} {failed[2]}; its messages are in {log[1]}"


def shown_lines(short: bool, dry_run: bool) -> Shown:
    """Which of Snakemake's lines the console has.

    short: whether Snakemake is to be quiet about rules (`--quiet rules`, as in profiles/default) and not `--verbose`.
    """
    if not short:
        return Shown.ALL
    return Shown.DRY_RUN if dry_run else Shown.RUN


def show_own_lines(shown: Shown) -> Console:
    """From now on the console of this process has a user's mistakes as one line, and those of Snakemake's lines."""
    console = Console(shown)
    for handler in logging.getLogger(LOGGER).handlers:
        if handler.name == CONSOLE and not isinstance(handler.formatter, _OwnFormat):
            handler.setFormatter(_OwnFormat(console, handler.formatter))
    return console


def say_errors() -> None:
    """From now on this process prints its fatal error (a lock, a mistake) on standard error, despite `--quiet all`."""
    logger = logging.getLogger(LOGGER)
    if not any(isinstance(handler, _ErrorLines) for handler in logger.handlers):
        logger.addHandler(_ErrorLines())


#: Events in Snakemake's log: of a job, which a dry run also emits; of a run's cores, before its first job; of the jobs
#: that are done, with their number.
JOB, RESOURCES, PROGRESS = "job_info", "resources_info", "progress"
#: Beginning of the last line of a dry run.
LAST = "This was a dry-run"
#: Rules that ask a model or read recorded responses.
ASKING = ("generate", "import_responses")
#: Rules that only collect targets.
TARGETS = ("all", "study", "tables", "figures", "report", "published", "suite_export", "suite_zip", "reference_model")
#: Snakemake's reasons, and ours. The first match is the cause; the last entry only follows from other causes.
REASONS = {
    "Missing output files": "no output yet",
    "Code has changed": "changed program",
    "Params have changed": "changed setting",
    "Software environment": "changed environment",
    "Set of input files": "other input files",
    "Updated input files": "changed input files",
    "Forced execution": "forced",
    "always executed": "whenever asked for",
    "Input files updated by another job": "inputs are made again",
}
#: Lines on the time of sweeps, by the share of their prompts that is asked.
Times = Callable[[Mapping[tuple[str, str], float]], list[str]]
#: What a run makes of answers, by the rule.
WORDS = {"plot_figure": "figures as soon as their answers are there", "make_report": "results/report.html"}
#: Rules whose outputs decide the prompts and the identity of a sweep, by the wildcard that they share with it.
DECIDING = {"make_examples": "experiment", "identify_model": "model"}
#: Bytes of examples and journals from which on they are not compared here: it would take longer than ten seconds.
MOST_COMPARED = 100_000_000
#: Why answers may apply but are not counted.
MADE_FIRST = "examples are made first"
IDENTIFIED_FIRST = "the model is identified first"
TOO_LARGE = "examples and journals are too large to compare here"
#: The summary of a dry run whose only jobs are targets.
NOTHING_RUNS = "Nothing would run: all results of this selection are there."


@dataclass(frozen=True)
class Job:
    """A job of a dry run; wildcards: by name; reason: in Snakemake's words."""

    rule: str
    wildcards: Mapping[str, str]
    reason: str

    @property
    def sweep(self) -> tuple[str, str] | None:
        """The model and experiment of a job that asks, else None."""
        return (self.wildcards["model"], self.wildcards["experiment"]) if self.rule in ASKING else None

    @property
    def cause(self) -> str:
        """The cause of the job."""
        return next((words for theirs, words in REASONS.items() if theirs in self.reason), "other reasons")


@dataclass(frozen=True)
class SweepSize:
    """A model and an experiment. prompts: upper limit, or the distinct prompts of its examples; answered: of these, by
    journals; unknown: why that is not known although there are answers, "" if it is known.
    """

    model: str
    experiment: str
    prompts: int
    answered: int = 0
    unknown: str = ""


class _Summary(logging.Handler):
    """Collects the jobs in Snakemake's log, and prints the summary after the last one."""

    def __init__(self, plan: Plan, renamed: str) -> None:
        super().__init__()
        self._plan, self._renamed = plan, renamed
        self._jobs: list[Job] = []

    def emit(self, record: Any) -> None:
        if getattr(record, "event", None) == JOB:
            rule = own_name(record.rule_name, self._renamed)
            self._jobs.append(Job(rule, dict(record.wildcards or {}), str(record.reason or "")))
        elif record.getMessage().startswith(LAST):
            sizes = list(sweep_sizes(self._plan, self._jobs))
            print(*dry_run_lines(self._jobs, sizes, self._plan.inference.times), sep="\n", flush=True)


class _StartAndEnd(logging.Handler):
    """Calls `start` before the first job of a run, and `end` after the last one."""

    def __init__(self, start: Callable[[], None], end: Callable[[], None]) -> None:
        super().__init__()
        self._start, self._end, self._has_begun = start, end, False

    def emit(self, record: Any) -> None:
        event = getattr(record, "event", None)
        if event == RESOURCES and not self._has_begun:
            self._has_begun = True
            self._start()
        elif event == PROGRESS and record.done == record.total:
            self._end()


def at_start_and_end(start: Callable[[], None], end: Callable[[], None]) -> None:
    """Call these functions before the first job of this process's run and after the last one, if none has failed.

    Unlike `onstart` and `onsuccess`, which Snakemake ignores in a workflow that another one imports.
    """
    logging.getLogger(LOGGER).addHandler(_StartAndEnd(start, end))


def say_what_would_run(plan: Plan, renamed: str) -> None:
    """Make this process, a dry run, end with a summary of the jobs that would run. renamed: see `own_name`."""
    logging.getLogger(LOGGER).addHandler(_Summary(plan, renamed))


def own_name(rule: str, renamed: str) -> str:
    """The name that this workflow gives a rule. renamed: how an importing workflow names it, with `*` for the name."""
    before, _, after = renamed.partition("*")
    return rule.removeprefix(before).removesuffix(after)


def sweep_sizes(plan: Plan, jobs: Iterable[Job]) -> Iterator[SweepSize]:
    """Each sweep of a study with its size. jobs: those that run; a sweep that asks is compared with journals."""
    jobs = list(jobs)
    asked = {job.sweep for job in jobs if job.sweep}
    made = {(job.rule, job.wildcards.get(DECIDING[job.rule], "")) for job in jobs if job.rule in DECIDING}
    journals = all_journals(JOURNALS)
    for pair, prompts in plan.sweeps.prompts.items():
        is_compared = pair in asked and pair[0] in plan.models.asked and journals
        yield _compared(plan, pair, prompts, made, journals) if is_compared else SweepSize(*pair, prompts)


def _compared(
    plan: Plan, pair: tuple[str, str], prompts: int, made: Container[tuple[str, str]], journals: Iterable[Path]
) -> SweepSize:
    """The size of a sweep by its examples and the journals, if both are known."""
    model, experiment = pair
    wildcards = cast(Wildcards, SimpleNamespace(model=model, experiment=experiment))
    examples = [Path(file) for file in plan.examples.files(wildcards)]
    source, own = Path(f"results/models/{model}.json"), plan.estimate.journal(wildcards)
    if ("make_examples", experiment) in made or not all(file.exists() for file in examples):
        # Journals of other sweeps rarely have its prompts: only its own are worth a line.
        return SweepSize(*pair, prompts, unknown=MADE_FIRST if journal_files(own) else "")
    if ("identify_model", model) in made or not source.exists():
        return SweepSize(*pair, prompts, unknown=IDENTIFIED_FIRST if journal_files(own) else "")
    if sum(file.stat().st_size for file in (*examples, *journals)) > MOST_COMPARED:
        return SweepSize(*pair, prompts, unknown=TOO_LARGE)
    try:
        present = _present(plan, wildcards, source, examples)
    except UserError as error:
        return SweepSize(*pair, prompts, unknown=str(error))
    return SweepSize(*pair, len({prompt.key for prompt in present.prompts}), len(present.keys))


def _present(plan: Plan, wildcards: Wildcards, source: Path, examples: Iterable[Path]) -> Present:
    found, settings = read_json(source), json.loads(plan.inference.settings(wildcards))
    device = json.loads(plan.inference.run(wildcards)).get("device", "auto")
    if number_format := number_format_of(settings, found, device):
        settings["dtype"] = number_format.name
    template = next(map(read_prompt_template, plan.models.template(wildcards)), None)
    asking = Asking(found, settings, template, json.loads(plan.inference.decoding(wildcards)), number_format)
    identity = asking.identity(plan.models.tokenizer(wildcards) or None)
    return present_answers(read_examples(*examples), asking, identity, plan.estimate.journal(wildcards), JOURNALS)


def dry_run_lines(
    jobs: Iterable[Job],
    sweeps: Iterable[SweepSize],
    times: Times = lambda shares: [],
) -> list[str]:
    """The summary of these jobs. times: see `_asked_lines`."""
    jobs, sweeps = [job for job in jobs if job.rule not in TARGETS], list(sweeps)
    if not jobs:
        return [NOTHING_RUNS]
    asked = {job.sweep for job in jobs if job.sweep}
    lines = ["What would run:", *_asked_lines([one for one in sweeps if (one.model, one.experiment) in asked], times)]
    if not asked:
        lines.append("  asks no model")
    elif left := len(sweeps) - len(asked):
        lines.append(f"  asks nothing in {left} of {len(sweeps)} pairs of a model and an experiment")
    others = [job for job in jobs if not job.sweep]
    for cause in dict.fromkeys(job.cause for job in others):
        rules = Counter(job.rule for job in others if job.cause == cause)
        lines.append(f"  runs {_some([f'{count} {rule}' for rule, count in rules.most_common()])} ({cause})")
    if asked:
        lines.append(
            "  An answer in a journal is used again for the same prompt, weights and settings. "
            "The target `estimate` counts the prompts that are new, their tokens, hours and money."
        )
    return [*lines, "  `--quiet host` lists every job with its files and its reason."]


def start_lines(plan: Plan, jobs: Iterable[Any], renamed: str = "*") -> list[str]:
    """What a run asks, about how long that takes here, and what it makes; no lines if it asks nothing.

    jobs: Snakemake's, which the run consists of; renamed: see `own_name`.
    """
    ours = [Job(own_name(job.rule.name, renamed), dict(job.wildcards_dict), "") for job in jobs]
    asking = {job.sweep for job in ours if job.sweep}
    sweeps = [size for size in sweep_sizes(plan, ours) if (size.model, size.experiment) in asking]
    makes = [f"{WORDS[rule]}" for rule in WORDS if any(job.rule == rule for job in ours)]
    last = [f"  makes {', then '.join(makes)}"] if makes else []
    return ["This run:", *_asked_lines(sweeps, plan.inference.times), *last] if sweeps else []


def _asked_lines(sweeps: Sequence[SweepSize], times: Times) -> list[str]:
    """A line for each model, one for each reason why answers are not counted, and those on time.

    times: makes lines on time from the share of prompts without an answer, by model and experiment.
    """
    by_model = [list(some) for _, some in groupby(sweeps, key=lambda size: size.model)]
    lines = [_model_in_words(some) for some in by_model[:SHOWN]]
    if len(by_model) > SHOWN:
        lines.append(f"  asks {len(by_model) - SHOWN} more models")
    for why in dict.fromkeys(sweep.unknown for sweep in sweeps if sweep.unknown):
        names = list(dict.fromkeys(sweep.experiment for sweep in sweeps if sweep.unknown == why))
        lines.append(f"  how many answers in journals apply to {_some(names)} is not known: {why}")
    return lines + times({(one.model, one.experiment): 1 - one.answered / max(1, one.prompts) for one in sweeps})


def _model_in_words(sweeps: list[SweepSize]) -> str:
    total = sum(sweep.prompts - sweep.answered for sweep in sweeps)
    return f"  asks {sweeps[0].model} at most {total:,} prompts: {_some([_sweep_in_words(sweep) for sweep in sweeps])}"


def _sweep_in_words(sweep: SweepSize) -> str:
    if not sweep.answered:
        return f"{sweep.experiment} {sweep.prompts:,}"
    return f"{sweep.experiment} {sweep.prompts - sweep.answered:,} of {sweep.prompts:,} (the others have answers)"


def _some(words: list[str]) -> str:
    more = len(words) - SHOWN
    return ", ".join(words[:SHOWN]) + (f" and {more} more" if more > 0 else "")
