"""What all measurements share: what a process costs, how a cost grows, and tables in Markdown."""

import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: ru_maxrss is in kilobytes, but on macOS in bytes.
RSS_UNIT = 1 if sys.platform == "darwin" else 1024


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


def median_cost(costs: Sequence[Cost]) -> Cost:
    """The median of each part."""
    return Cost(*(statistics.median(getattr(cost, part) for cost in costs) for part in Cost.__dataclass_fields__))


def sum_of(costs: Sequence[Cost]) -> Cost:
    """The total cost of processes that run one after another."""
    return Cost(sum(c.wall for c in costs), sum(c.processor for c in costs), max(c.memory for c in costs))


def times_faster(first: Sequence[Cost], other: Sequence[Cost], part: str) -> str:
    """Ratio of the first cost to the other, turn by turn, because the load of the machine changes."""
    return spread(getattr(a, part) / getattr(b, part) for a, b in zip(first, other, strict=True))


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The k of cost ~ size**k, by least squares of the logarithms: 1 is linear, n·log(n) about 1.1 at these sizes."""
    return statistics.linear_regression(list(map(math.log, sizes)), list(map(math.log, costs))).slope


def spread(values: Iterable[float], digits: int = 2) -> str:
    """Median, with minimum and maximum if there are several values."""
    ordered = sorted(values)
    median = f"{statistics.median(ordered):.{digits}f}"
    return median if len(ordered) == 1 else f"{median} ({ordered[0]:.{digits}f} to {ordered[-1]:.{digits}f})"


def growth_table(named: Mapping[str, Mapping[int, Sequence[Cost]]], unit: str) -> str:
    """A row for each thing measured and size: seconds, memory, and the exponents from the size before.

    named: by name and size the costs of all turns. From one size to the next, since the start of a process, which is
    most of the smallest, makes one fit through all of them look better than it is.
    """
    rows = []
    for name, by_size in named.items():
        before: tuple[int, Cost] | None = None
        for size, costs in by_size.items():
            cost = median_cost(costs)
            row = [name, f"{size:,}", spread(c.wall for c in costs), spread(c.processor for c in costs)]
            row += [f"{cost.memory / 2**20:,.0f}", "", ""]
            if before:
                parts = [(getattr(before[1], part), getattr(cost, part)) for part in ("processor", "memory")]
                row[-2:] = [f"{exponent((before[0], size), pair):.2f}" for pair in parts]
            rows.append(row)
            before = size, cost
    columns = ["what", unit, "seconds", "processor seconds", "peak MiB", "exponent of seconds", "of memory"]
    return table(columns, rows)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
