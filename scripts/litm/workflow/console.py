"""What the console shows: Snakemake's lines that say something, what would run or runs, and how a run ended.

A dry run has a summary of its own: the models and experiments to ask, an upper limit of prompts, and the rules that run
with their reasons. Answers count only for prompts that are known: those of examples that exist and stay.
"""

import logging
import re
import sys
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from litm.analysis.run_summary import compared_lines, labelled, run_summary
from litm.analysis.sentences import (
    answer_sentences,
    check_sentences,
    cluster_sentences,
    gold_sentences,
    remedies_in_words,
    to_know_first,
)
from litm.analysis.table import tables as all_tables
from litm.base.cli import ending_in_a_line, signals_handled
from litm.base.formats import plain_rows, read_json
from litm.base.messages import UserError, first_of
from litm.config.local_models import Model
from litm.config.study import Study
from litm.inference.journal import JOURNALS, journal_files
from litm.inference.setup import SweepOptions
from litm.inference.sweep import present_answers
from litm.questions.released_format import filled_sentences
from litm.records import read_examples
from litm.workflow.prompt_lengths import assumed, fitting, prompts_by_size, too_long
from litm.workflow.resources import SHOWN
from litm.workflow.sweep_inputs import SweepInputs

#: Snakemake's logger, its handler for the console, and its events: of a fatal exception; of a job, which a dry run also
#: emits; of a run's cores, before its first job; of the jobs that are done, with their number.
LOGGER, CONSOLE = "snakemake.logging", "DefaultStreamHandler"
ERROR, JOB, RESOURCES, PROGRESS = "error", "job_info", "resources_info", "progress"
#: Events of the scheduler, and beginnings of lines that are the same in every run. `N of M steps` and the programs' own
#: lines tell what is done.
SCHEDULING = ("job_started", "job_finished")
SAME_IN_EVERY_RUN = (
    "Select jobs to execute...",
    "Assuming unrestricted shared filesystem usage.",
    "Building DAG of jobs...",
    "Using shell: ",
    "Rules claiming more threads will be scaled down.",
    "Conda environments: ignored",
    "Provided resources: ",
)
#: Beginnings of Snakemake's lines if no job is left, at the end of a dry run, and at the end of any other.
NOTHING, LAST, ENDED = "Nothing to be done", "This was a dry-run", "Elapsed time: "
#: A program that failed, with its whole command, and the end of all our commands.
FAILED_PROGRAM = re.compile(
    r"RuleException:\nCalledProcessError in file .*?\nCommand '(.*)' ([^'\n]*)\.(\n  File \"[^\n]*)?\s*", re.DOTALL
)
PROGRAM, LOG = re.compile(r"\$LITM_SCRIPTS(/\S+\.py)"), re.compile(r"tee -i '?([^')]+?)'?\)?$")
#: How a shell ends that a signal has stopped.
BY_SIGNAL = re.compile(r"died with <Signals\.SIG(INT|TERM|HUP)")
#: Snakemake's lines when it is told to stop, each with the signal and with what follows.
STOPPING = {
    "Will exit after finishing currently running jobs": (
        "SIGTERM",
        "no further job starts, and this run ends with the running jobs; Ctrl-C, or SIGINT to all its "
        "processes, ends those too and loses no answer",
    ),
    "Terminating processes on user request": (
        "Ctrl-C",
        "this run ends with the running jobs, which keep their answers",
    ),
}
#: Snakemake's lines after that, which say no more.
AFTER_STOP = ("Shutting down, this might take some time.", "WorkflowError:\nAt least one job did not complete")

#: Rules that ask a model or read recorded responses, and rules that only collect targets.
ASKING, MEASURING = ("generate", "import_responses"), "measure"
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
#: What a run makes of answers, by the rule.
MAKES = {"plot_figure": "figures as soon as their answers are there", "make_report": "results/report.html"}
#: Rules whose outputs decide the prompts and the identity of a sweep, by the wildcard that they share with it.
DECIDING = {"make_examples": "experiment", "identify_model": "model"}
#: Bytes of examples and journals from which on they are not compared here: it would take longer than ten seconds.
MOST_COMPARED = 100_000_000
#: Why answers may apply but are not counted.
MADE_FIRST = "examples are made first"
IDENTIFIED_FIRST = "the model is identified first"
TOO_LARGE = "examples and journals are too large to compare here"
#: Fraction: a difference between positions that enough questions show.
LARGE = 0.1
#: The summary of a dry run whose only jobs are targets, and its other last lines.
NOTHING_RUNS = "Nothing would run: all results of this selection are there."
USED_AGAIN = (
    "  Answers in journals are reused for the same prompt, weights and settings. "
    "The target `{}` counts the new prompts and their tokens, hours and cost."
)
ALL_LINES = "  `--quiet host` lists every job with its files and its reason."

TABLES = Path("results/tables")


class Console(logging.Formatter):
    """What this process shows of Snakemake's lines from now on; an empty text is not printed.

    is_short: without those of the scheduler, with a failed program's whole command as one line, and with lines of ours
    at a stop; of a dry run, which has a summary of its own, problems alone, and that nothing is left. A formatter and
    not a filter, which would change the lines of the log file too.
    """

    def __init__(self, is_short: bool, is_dry: bool) -> None:
        super().__init__()
        self._is_short, self._is_dry = is_short, is_dry
        #: The signal that has stopped the run, "" for none.
        self._stopped_by = ""
        self._theirs = logging.Formatter()
        for handler in logging.getLogger(LOGGER).handlers:
            if handler.name == CONSOLE and not isinstance(handler.formatter, Console):
                self._theirs = handler.formatter or self._theirs
                handler.setFormatter(self)
                if is_short and is_dry:
                    # Their handler writes an empty line before jobs, also where no line on them follows.
                    handler.addFilter(lambda record: getattr(record, "event", None) != JOB)

    def format(self, record: logging.LogRecord) -> str:
        """The lines to show for a record; "" for none."""
        text = self._theirs.format(record) or ""
        stop = next((words for theirs, words in STOPPING.items() if text.startswith(theirs)), None)
        was_stopped, self._stopped_by = self._stopped_by, stop[0] if stop else self._stopped_by
        if not self._is_short:
            return text
        if stop:
            return "" if was_stopped == stop[0] else f"stopping ({stop[0]}): {stop[1]}"
        return "" if self._is_left_out(record, text) else without_command(text)

    def last_lines(self) -> list[str]:
        """The line at the end of a run that was stopped."""
        kept = "finished jobs and all answers so far are kept, and the same command continues from there"
        return [f"stopped by {self._stopped_by}: {kept}"] if self._stopped_by else []

    def _is_left_out(self, record: logging.LogRecord, text: str) -> bool:
        if self._is_dry:
            return record.levelno < logging.WARNING and not text.startswith(NOTHING)
        if getattr(record, "event", None) in SCHEDULING or text.startswith(SAME_IN_EVERY_RUN):
            return True
        failed = FAILED_PROGRAM.fullmatch(text)
        if failed and (self._stopped_by or BY_SIGNAL.search(failed[2])):
            # Its own last line says why it ended.
            return True
        return bool(self._stopped_by) and text.startswith(AFTER_STOP)


def without_command(text: str) -> str:
    """A program's failure with name, exit status and log instead of its command; any other text as it is."""
    failed = FAILED_PROGRAM.fullmatch(text)
    if failed and (program := PROGRAM.search(failed[1])) and (log := LOG.search(failed[1])):
        return f"failed: scripts{program[1]} {failed[2]}; its messages are in {log[1]}"
    return text


class _Listener(logging.Handler):
    def __init__(self, hear: Callable[[str | None, Any], None]) -> None:
        super().__init__()
        self._hear = hear

    def emit(self, record: logging.LogRecord) -> None:
        with ending_in_a_line():
            self._hear(getattr(record, "event", None), record)


def listen(hear: Callable[[str | None, Any], None]) -> None:
    """From now on this process calls a function with each of Snakemake's events, None for a plain line, and its record.

    Unlike `onstart`, `onsuccess` and `onerror`, this is not ignored in a workflow that another one imports.
    """
    logging.getLogger(LOGGER).addHandler(_Listener(hear))


def listens() -> bool:
    """Whether this process calls any function with Snakemake's events."""
    return any(isinstance(handler, _Listener) for handler in logging.getLogger(LOGGER).handlers)


def say_errors(event: str | None, record: Any) -> None:
    """Print Snakemake's fatal error, such as a lock, which `--quiet all` hides."""
    if event == ERROR:
        print(record.getMessage(), file=sys.stderr, flush=True)


# What runs


class Jobs:
    """The jobs that run or would run, in a few lines.

    times: makes lines on time and money from the prompts without an answer by size, for each model and experiment;
    renamed: how an importing workflow names a rule, with `*` for the name that it has here.
    """

    def __init__(
        self,
        study: Study,
        sweeps: SweepInputs,
        times: Callable[[Mapping[tuple[str, str], Counter[int]]], list[str]],
        renamed: str = "*",
    ) -> None:
        self._study = study
        self._sweeps = sweeps
        self._times = times
        self._before, _, self._after = renamed.partition("*")
        self._asked: set[tuple[str, str]] = set()
        self._measured: set[tuple[str, str]] = set()
        #: Number of the other jobs by cause and rule.
        self._others: Counter[tuple[str, str]] = Counter()
        self._made: set[tuple[str, str]] = set()

    def add(self, rule: str, wildcards: Mapping[str, str], reason: str = "") -> None:
        """Count a job. reason: in Snakemake's words."""
        rule = rule.removeprefix(self._before).removesuffix(self._after)
        if rule in ASKING:
            self._asked.add((wildcards["model"], wildcards["experiment"]))
        elif rule == MEASURING:
            self._measured.add((wildcards["model"], wildcards["experiment"]))
        elif rule not in TARGETS:
            cause = next((words for theirs, words in REASONS.items() if theirs in reason), "other reasons")
            self._others[cause, rule] += 1
        if rule in DECIDING:
            self._made.add((rule, wildcards.get(DECIDING[rule], "")))

    def at_start(self) -> list[str]:
        """The lines before the first job of a run; none if it asks nothing."""
        made = [words for rule, words in MAKES.items() if any(rule == one for _, one in self._others)]
        makes = [f"  makes {', then '.join(made)}"] if made else []
        return ["This run:", *self.asked(), *makes] if self._asked | self._measured else []

    def summary(self) -> list[str]:
        """The lines at the end of a dry run."""
        if not self._asked and not self._measured and not self._others:
            return [NOTHING_RUNS]
        lines = ["What would run:", *self.asked()]
        pairs = self._study.run
        if not self._asked | self._measured:
            lines.append("  asks no model")
        elif self._asked and (left := len(pairs) - len(self._asked)):
            lines.append(f"  asks nothing in {left} of {len(pairs)} pairs of a model and an experiment")
        for cause in dict.fromkeys(cause for cause, _ in self._others):
            rules = Counter({rule: count for (why, rule), count in self._others.items() if why == cause})
            # Jobs come in any order, and rules of as many jobs must not.
            counts = sorted(rules.items(), key=lambda one: (-one[1], one[0]))
            lines.append(f"  runs {first_of([f'{count} {rule}' for rule, count in counts], SHOWN)} ({cause})")
        used_again = USED_AGAIN.format(f"{self._before}estimate{self._after}")
        return [*lines, *([used_again] if self._asked else []), ALL_LINES]

    def asked(self) -> list[str]:
        """A line for each model, one for each reason why answers are not counted, and those on the time it takes and on
        what few questions show.
        """
        asked = [(*pair, *self.size(pair)) for pair in self._study.run if pair in self._asked]
        by_model = [(model, list(own)) for model, own in groupby(asked, key=lambda sweep: sweep[0])]
        lines = [
            f"  {self._asks(model)} at most {_total(own):,} prompts"
            + (" in batches: " if getattr(self._sweeps.asked.get(model), "batch", False) else ": ")
            + first_of([_in_words(*sweep[1:4]) for sweep in own], SHOWN)
            for model, own in by_model[:SHOWN]
        ]
        if len(by_model) > SHOWN:
            left, whole = (sum(_total(own) for _, own in some) for some in (by_model[SHOWN:], by_model))
            lines.append(f"  asks {len(by_model) - SHOWN} more models at most {left:,} prompts; all models {whole:,}")
        for why in dict.fromkeys(unknown for *_, unknown in asked if unknown):
            names = list(dict.fromkeys(experiment for _, experiment, *_, unknown in asked if unknown == why))
            lines.append(f"  the number of journal answers for {first_of(names, SHOWN)} is unknown: {why}")
        to_ask = {(model, one): prompts for model, one, prompts, *_ in asked}
        for model, own in groupby((pair for pair in self._study.measured if pair in self._measured), itemgetter(0)):
            measured = {pair[1]: self._most(*pair) for pair in own}
            told = first_of([f"{name} {prompts.total():,}" for name, prompts in measured.items()], SHOWN)
            number = sum(prompts.total() for prompts in measured.values())
            lines.append(f"  measures {model} on at most {number:,} prompts, no answers: {told}")
            to_ask |= {(model, one): to_ask.get((model, one), Counter()) + measured[one] for one in measured}
        notes = [*too_long(self._study, to_ask), *assumed(self._study, self._uncounted(to_ask))]
        lines += [f"  {line}" for line in notes]
        return [*lines, *self._times(to_ask), *few_questions(self._study, [(model, one) for model, one, *_ in asked])]

    def _uncounted(self, to_ask: Mapping[tuple[str, str], Counter[int]]) -> dict[str, None]:
        """The experiments whose prompts are an upper limit: those of others have been counted."""
        return dict.fromkeys(pair[1] for pair, prompts in to_ask.items() if prompts >= self._most(*pair))

    def _most(self, model: str, experiment: str) -> Counter[int]:
        return prompts_by_size(fitting(self._study, model, self._study.experiment_of(model, experiment)))

    def _asks(self, model: str) -> str:
        return f"asks {model}" if model in self._sweeps.asked else f"reads the recorded answers of {model} to"

    def size(self, pair: tuple[str, str]) -> tuple[Counter[int], int, str]:
        """By size, a sweep's prompts without an answer (an upper limit, or the distinct ones of its examples), the
        number that has one, and why that is not known although there are answers.
        """
        model, experiment = pair
        most = self._most(*pair)
        if model not in self._sweeps.asked or not self._sweeps.journals:
            return most, 0, ""
        examples = [Path(file) for file in self._sweeps.examples(SimpleNamespace(model=model, experiment=experiment))]
        source, own = Path(f"results/models/{model}.json"), Path(JOURNALS, model) / f"{experiment}.jsonl"
        if ("make_examples", experiment) in self._made or not all(file.exists() for file in examples):
            # Journals of other sweeps rarely have its prompts: only its own are worth a line.
            return most, 0, MADE_FIRST if journal_files(own) else ""
        if ("identify_model", model) in self._made or not source.exists():
            return most, 0, IDENTIFIED_FIRST if journal_files(own) else ""
        if sum(file.stat().st_size for file in (*examples, *self._sweeps.journals)) > MOST_COMPARED:
            return most, 0, TOO_LARGE
        try:
            return *self._present(model, experiment, source, examples, own), ""
        except UserError as error:
            return most, 0, str(error)

    def _present(
        self, model: str, experiment: str, source: Path, examples: list[Path], own: Path
    ) -> tuple[Counter[int], int]:
        entry, prompting = self._sweeps.asked[model], self._sweeps.prompting[model]
        decoding, template = self._study.experiments[experiment].decoding(), next(iter(prompting.template), None)
        options = (entry.answer_settings(), decoding, (), prompting.tokenizer or None, template, entry.run_settings())
        sweep = SweepOptions(model, experiment, *options).sweep(str(source))
        prompts, answers = present_answers(read_examples(*examples), sweep, own, JOURNALS)
        fit = self._most(model, experiment)
        sizes = {prompt.key: prompt.size for prompt in prompts if prompt.size in fit}
        left = Counter(size for key, size in sizes.items() if key not in answers)
        return left, len(sizes) - left.total()


def few_questions(study: Study, asked: Iterable[tuple[str, str]]) -> list[str]:
    """A line for each number of questions that shows only large differences between positions; none without scipy."""
    try:
        from litm.analysis.power import detectable_effect, earlier, shown_in_words
    except ModuleNotFoundError:
        return []
    groups: dict[tuple, dict[str, None]] = {}
    others = [name for name in study.models if name not in study.stand_ins]
    for model, name in asked:
        if n := study.experiments[name].curve_questions:
            groups.setdefault((n, *earlier(Path("results"), model, name, others)), {})[name] = None
    lines = []
    for (n, expected, source), names in groups.items():
        effect = detectable_effect("primacy", n, expected)
        if effect is None or effect > LARGE:
            lines.append(f"  {first_of(list(names), SHOWN)}: {shown_in_words(n, expected, source)}")
    return lines


def at_start_and_end(start: Callable[[], None], end: Callable[[], None], fail: Callable[[], None]) -> None:
    """Call `start` before the first job of this process's run, and after its last line `end` if all jobs are done,
    otherwise `fail`.

    Not with the last job: Snakemake then holds a lock for which its handlers of signals wait for ever.
    """
    has_begun = is_done = False

    def hear(event: str | None, record: Any) -> None:
        nonlocal has_begun, is_done
        if event == RESOURCES and not has_begun:
            has_begun = True
            start()
        elif event == PROGRESS:
            is_done = record.done == record.total
        elif record.getMessage().startswith(ENDED):
            # Snakemake's own handlers only end jobs, and no job is left.
            with signals_handled():
                (end if is_done else fail)()

    listen(hear)


def summarize(jobs: Jobs) -> None:
    """Make this process, a dry run, end with a summary of the jobs that would run."""

    def hear(event: str | None, record: Any) -> None:
        if event == JOB:
            jobs.add(record.rule_name, dict(record.wildcards or {}), str(record.reason or ""))
        elif record.getMessage().startswith(LAST):
            print(*jobs.summary(), sep="\n", flush=True)

    listen(hear)


def _total(sweeps: Iterable[tuple]) -> int:
    return sum(prompts.total() for _, _, prompts, *_ in sweeps)


def _in_words(experiment: str, left: Counter[int], answered: int) -> str:
    others = f" of {left.total() + answered:,} (the others have answers)" if answered else ""
    return f"{experiment} {left.total():,}{others}"


# How a run ended


def outcome(
    study: Study,
    tables: Container[str],
    accuracies: Iterable[str],
    results: Iterable[str],
    filled: Mapping[str, Mapping[str, tuple[str, str]]],
    since: float,
) -> Iterator[str]:
    """The answers, accuracies by position, paths of figures, tables and report, documents that were filled in, and
    answers that were cut or may be to other prompts; no lines on results if no table, figure or report was made since
    then.

    tables: names of the study's tables; accuracies: those of each sweep; results: figures and the report; filled: see
    `SweepInputs`; since: time of the start, in seconds since the epoch. The last line names a table that is damaged and
    ends the outcome.
    """
    files = {name: Path(f"results/scores/{model}/{name}.parquet") for model, name in study.run}
    scores = {name: path for name, path in files.items() if path.exists()}
    try:
        made = [path for path in results if Path(path).exists()]
        if any(path.stat().st_mtime >= since for path in [*TABLES.glob("*.csv"), *map(Path, made)]):
            yield from _made(study, tables, made)
            yield from cluster_sentences((one.settings() for one in study.experiments.values()), scores)
            yield from filled_sentences(filled)
        read = all_tables()["accuracy"].read
        rows = [row for path in accuracies if Path(path).exists() for row in plain_rows(read(path))]
        answered = [Path(f"results/responses/{model}/{name}.manifest.json") for model, name in study.run]
        yield from answer_sentences(rows, [read_json(path) for path in answered if path.exists()])
        yield from _readings(study, tables)
    except UserError as error:
        # The run itself has succeeded.
        yield f"error: {error}"


def _made(study: Study, tables: Container[str], results: list[str]) -> Iterator[str]:
    # Experiments that only differ by a remedy are rows of one table.
    units = {name: one.unit for name, one in study.experiments.items() if one.is_plain}
    yield from _answers(study, tables, units)
    accuracies = [_under_condition(row, study) for row in _rows("accuracy", tables)]
    yield from run_summary(accuracies, _rows("position_bias", tables), units)
    if figures := [path for path in results if path.endswith(".png")]:
        yield f"figures: {first_of(figures, 3)}"
    yield "tables: results/tables/"
    yield from (f"report: {path}, to open in a browser" for path in results if path.endswith(".html"))
    yield from gold_sentences(_table("gold_counts", tables))
    yield from check_sentences(_rows("answer_checks", tables))


def _under_condition(row: dict[str, Any], study: Study) -> dict[str, Any]:
    """The row of an experiment with remedies as one of the experiment without, named by model and remedies."""
    condition = study.conditions.get(row["experiment"])
    if condition is None or sum(one.study == condition.study for one in study.conditions.values()) == 1:
        return row
    told = ", ".join(remedies_in_words(condition))
    model = f"{row['model']}, {told}" if len(study.models) > 1 else told
    return {**row, "experiment": condition.study, "model": model}


def _readings(study: Study, tables: Container[str]) -> list[str]:
    """Conclusions that depend on how much of the answers is read."""
    if (table := _table("reading_sensitivity", tables)) is None:
        return []
    from litm.analysis.cells import reading_warnings

    models = [name for name, one in study.models.items() if isinstance(one, Model)]
    stops = {(model, experiment): one.stop for model in models for experiment, one in study.experiments.items()}
    return reading_warnings(table[~table["model"].isin(study.stand_ins)], stops)


def _answers(study: Study, tables: Container[str], experiments: Container[str]) -> Iterator[str]:
    """What a reader wants to know first; experiments: those in which models are compared."""
    settings = [one.settings() for one in study.experiments.values()]
    first = to_know_first(lambda name: _rows(name, tables), settings, study.stand_ins)
    yield from (*first.useless, *first.able, *first.probable)
    pairs = labelled(_rows("model_pairs", tables), _rows("accuracy", tables))
    yield from compared_lines(pairs, experiments, study.stand_ins, first.silent)
    for headline, details in first.advice:
        yield headline
        yield from [f"  {details}"] if details else []


def _table(name: str, tables: Container[str]) -> Any:
    """One of the study's tables as a data frame; None if it is missing."""
    path = TABLES / f"{name}.csv"
    return all_tables()[name].read(path) if name in tables and path.exists() else None


def _rows(name: str, tables: Container[str]) -> list[dict[str, Any]]:
    """The rows of one of the study's tables; none if it is missing."""
    table = _table(name, tables)
    return [] if table is None else plain_rows(table)


def error_messages(folder: str | Path, since: float) -> Iterator[str]:
    """The last line of each log written after `since` that ends in an error message, with the log, sorted by its name.

    since: seconds since the epoch.
    """
    for path in sorted(Path(folder).rglob("*.log")):
        last = path.read_text(errors="replace").strip().rpartition("\n")[2]
        if last.startswith("error: ") and path.stat().st_mtime >= since:
            yield f"{path}:\n  {last}"
