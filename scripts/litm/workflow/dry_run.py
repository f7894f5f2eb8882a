"""Summary of a dry run (`snakemake -n`), printed instead of Snakemake's own lines, or after them if they are shown.

It names the models and experiments to ask, an upper limit of prompts, and the rules that run with their reasons.
Answers count only for prompts that are known: those of examples that exist and stay.
"""

import json
import logging
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from litm.base.messages import UserError
from litm.base.records import read_json
from litm.domain.example import read_examples
from litm.inference.arguments import number_format_of
from litm.inference.journal import journal_files
from litm.inference.other_sweeps import JOURNALS, all_journals
from litm.inference.present_answers import Present, present_answers
from litm.inference.sweep_setup import Asking
from litm.prompting.render import read_prompt_template
from litm.workflow.console import LOGGER
from litm.workflow.plan import Plan
from litm.workflow.wildcards import Wildcards

#: Event of a job in Snakemake's log, which a dry run also emits.
JOB = "job_info"
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
#: Rules whose outputs decide the prompts and the identity of a sweep, by the wildcard that they share with it.
DECIDING = {"make_examples": "experiment", "identify_model": "model"}
#: Bytes of examples and journals from which on they are not compared here: it would take longer than ten seconds.
MOST_COMPARED = 100_000_000
#: Why answers may apply but are not counted.
MADE_FIRST = "examples are made first"
IDENTIFIED_FIRST = "the model is identified first"
TOO_LARGE = "examples and journals are too large to compare here"
#: Number of models, or of names in a line, that are shown; the rest is counted.
SHOWN = 6
#: The summary of a dry run whose only jobs are targets.
NOTHING = "Nothing would run: all results of this selection are there."


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

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self._plan = plan
        self._jobs: list[Job] = []

    def emit(self, record: logging.LogRecord) -> None:
        if getattr(record, "event", None) == JOB:
            self._jobs.append(_job(record))
        elif record.getMessage().startswith(LAST):
            sizes = list(sweep_sizes(self._plan, self._jobs))
            print(*dry_run_lines(self._jobs, sizes, self._times), sep="\n", flush=True)

    def _times(self, asked: Iterable[tuple[str, str]]) -> list[str]:
        return self._plan.inference.times(asked)


def _job(record: Any) -> Job:
    return Job(record.rule_name, dict(record.wildcards or {}), str(record.reason or ""))


def say_what_would_run(plan: Plan) -> None:
    """Make this process, a dry run, end with a summary of the jobs that would run."""
    logging.getLogger(LOGGER).addHandler(_Summary(plan))


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
    times: Callable[[Iterable[tuple[str, str]]], list[str]] = lambda asked: [],
) -> list[str]:
    """The summary of these jobs. times: lines on the time that pairs of model and experiment take."""
    jobs, sweeps = [job for job in jobs if job.rule not in TARGETS], list(sweeps)
    if not jobs:
        return [NOTHING]
    asked = {job.sweep for job in jobs if job.sweep}
    lines = ["What would run:", *_asked_lines(one for one in sweeps if (one.model, one.experiment) in asked)]
    lines += times([pair for pair in ((one.model, one.experiment) for one in sweeps) if pair in asked])
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


def start_lines(plan: Plan, jobs: Iterable[Any]) -> list[str]:
    """What a run asks, and about how long that takes here. jobs: Snakemake's, which the run consists of."""
    ours = [Job(job.rule.name, dict(job.wildcards_dict), "") for job in jobs]
    asking = {job.sweep for job in ours if job.sweep}
    sweeps = [size for size in sweep_sizes(plan, ours) if (size.model, size.experiment) in asking]
    lines = _asked_lines(sweeps)
    return [*lines, *plan.inference.times((size.model, size.experiment) for size in sweeps)]


def _asked_lines(sweeps: Iterable[SweepSize]) -> list[str]:
    """A line for each model, and one for each reason why answers are not counted."""
    sweeps = list(sweeps)
    by_model = [list(some) for _, some in groupby(sweeps, key=lambda size: size.model)]
    lines = [_model_in_words(some) for some in by_model[:SHOWN]]
    if len(by_model) > SHOWN:
        lines.append(f"  asks {len(by_model) - SHOWN} more models")
    for why in dict.fromkeys(sweep.unknown for sweep in sweeps if sweep.unknown):
        names = list(dict.fromkeys(sweep.experiment for sweep in sweeps if sweep.unknown == why))
        lines.append(f"  how many answers in journals apply to {_some(names)} is not known: {why}")
    return lines


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
