"""Summary of a dry run (`snakemake -n`), printed instead of Snakemake's own lines, or after them if they are shown.

It names the models and experiments to ask, an upper limit of prompts, and the rules that run with their reasons.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from litm.workflow.console import LOGGER
from litm.workflow.plan import Plan

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
    """A model and an experiment; prompts: upper limit; kept: answers in its journal, to any prompts."""

    model: str
    experiment: str
    prompts: int
    kept: int


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
            print(*dry_run_lines(self._jobs, list(sweep_sizes(self._plan)), self._times), sep="\n", flush=True)

    def _times(self, asked: Iterable[tuple[str, str]]) -> list[str]:
        return self._plan.inference.times(asked)


def _job(record: Any) -> Job:
    return Job(record.rule_name, dict(record.wildcards or {}), str(record.reason or ""))


def say_what_would_run(plan: Plan) -> None:
    """Make this process, a dry run, end with a summary of the jobs that would run."""
    logging.getLogger(LOGGER).addHandler(_Summary(plan))


def sweep_sizes(plan: Plan) -> Iterator[SweepSize]:
    """Each sweep of a study with its size."""
    for (model, experiment), prompts in plan.sweeps.prompts.items():
        journal = Path(f"results/journal/{model}/{experiment}.jsonl")
        yield SweepSize(model, experiment, prompts, _answers(journal))


def _answers(journal: Path) -> int:
    """The number of answers in a journal: its lines except the first, which holds the identity."""
    if not journal.is_file():
        return 0
    with journal.open("rb") as file:
        return max(0, sum(1 for _ in file) - 1)


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
    by_model: dict[str, list[SweepSize]] = {}
    for sweep in sweeps:
        if (sweep.model, sweep.experiment) in asked:
            by_model.setdefault(sweep.model, []).append(sweep)
    lines = ["What would run:", *map(_model_in_words, list(by_model.values())[:SHOWN])]
    if len(by_model) > SHOWN:
        lines.append(f"  asks {len(by_model) - SHOWN} more models")
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
    asking = {(job.wildcards.model, job.wildcards.experiment) for job in jobs if job.rule.name in ASKING}
    sweeps = [size for size in sweep_sizes(plan) if (size.model, size.experiment) in asking]
    by_model = groupby(sweeps, key=lambda size: size.model)
    lines = [_model_in_words(list(sizes)) for _, sizes in by_model]
    return [*lines, *plan.inference.times((size.model, size.experiment) for size in sweeps)]


def _model_in_words(sweeps: list[SweepSize]) -> str:
    total = sum(sweep.prompts for sweep in sweeps)
    return f"  asks {sweeps[0].model} at most {total:,} prompts: {_some([_sweep_in_words(sweep) for sweep in sweeps])}"


def _sweep_in_words(sweep: SweepSize) -> str:
    kept = f" ({sweep.kept:,} answers in its journal)" if sweep.kept else ""
    return f"{sweep.experiment} {sweep.prompts:,}{kept}"


def _some(words: list[str]) -> str:
    more = len(words) - SHOWN
    return ", ".join(words[:SHOWN]) + (f" and {more} more" if more > 0 else "")
