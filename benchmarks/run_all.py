"""Run all measurements of speed and memory, and write benchmarks/results.md.

    python benchmarks/run_all.py --data FOLDER --passages psgs.tsv.gz \\
        --questions nq-open-oracle.jsonl.gz --encoder FOLDER

Each measurement is a command of the other programs here, at sizes with which all of them take half an hour. Those that
need a file which is not given are left out, and the results say so. With `--only` the sections of others are kept.
"""

import argparse
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from measuring import ROOT, machine

FILES = {
    "data": "a folder with the authors' files, see peers.py",
    "passages": "a file in DPR's format",
    "questions": "a file of questions in the released format",
    "encoder": "a folder with an encoder",
}
FAILED = "Failed:"
#: Java writes its log together with the results.
LOG_LINE = re.compile(r"^\d{4}-\d{2}-\d{2} .*\n", re.MULTILINE)
INTRODUCTION = """# Results

Written by `make benchmarks`. Seconds are of one machine and of what else it did: compare ratios, exponents and memory.
Values are medians, followed by the least and the most of several measurements. An exponent is that of the
growth from the size before: 1 is linear, n·log(n) about 1.1.
"""


@dataclass(frozen=True)
class Measurement:
    """A command. arguments: {name} stands for a file of the user's; quick: arguments of a trial run."""

    title: str
    program: str
    arguments: str
    quick: str

    @property
    def needs(self) -> set[str]:
        """The user's files that it needs."""
        return set(re.findall(r"\{(\w+)\}", self.arguments))


MEASUREMENTS = {
    "plan": Measurement("Planning a run", "growth.py", "plan --turns 2", "plan --sizes 20"),
    "paper": Measurement("Planning the paper's run", "growth.py", "paper --turns 2", "paper"),
    "overhead": Measurement("A study of five models", "growth.py", "study", "study"),
    "journal": Measurement("Reading a journal", "growth.py", "journal", "journal --sizes 20 40"),
    "sweep": Measurement("A sweep whose prompts have all been answered", "growth.py", "sweep", "sweep --sizes 20 40"),
    "tables": Measurement("Tables of scores", "growth.py", "tables", "tables --sizes 50000"),
    "passages": Measurement("Passages", "growth.py", "passages", "passages --sizes 200 400"),
    "inference_pairs": Measurement(
        "Inference by the reference model, key-value pairs",
        "peers.py",
        "--reference --prompts kv75 ask75 --questions 16",
        "--reference --prompts kv75 ask75 --questions 1",
    ),
    "inference_documents": Measurement(
        "Inference by the reference model, documents",
        "peers.py",
        "--reference --prompts qa10 --questions 8 --data {data}",
        "--reference --prompts qa10 --questions 1 --data {data}",
    ),
    "attention": Measurement("Attention on a processor", "attention.py", "", "--turns 1"),
    "memory": Measurement("Memory of sweeps, predicted and measured", "memory.py", "", "--cases 1"),
    "bm25": Measurement(
        "BM25, against pyserini's own",
        "retrieval.py",
        "bm25 --passages {passages} --questions {questions}",
        "bm25 --passages {passages} --questions {questions} --turns 1",
    ),
    "dense": Measurement(
        "Dense search, against pyserini's own",
        "retrieval.py",
        "dense --passages {passages} --encoder {encoder}",
        "dense --passages {passages} --encoder {encoder} --turns 1 --count 20",
    ),
    "search": Measurement("Searches as the corpus grows", "retrieval.py", "growth", "growth --sizes 200 --turns 1"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, what in FILES.items():
        parser.add_argument(f"--{name}", help=what)
    parser.add_argument("--only", nargs="+", choices=MEASUREMENTS, default=list(MEASUREMENTS))
    parser.add_argument("--quick", action="store_true", help="the smallest sizes: whether all programs run")
    parser.add_argument("--output", default=ROOT / "benchmarks" / "results.md", type=Path)
    args = parser.parse_args()
    files = {name: value for name in FILES if (value := vars(args)[name])}
    sections = read_sections(args.output) if args.output.exists() else {}
    failed = False
    for name in args.only:
        measurement = MEASUREMENTS[name]
        print(f"{measurement.title} ...", file=sys.stderr, flush=True)
        sections[measurement.title] = measure(measurement, files, args.quick)
        failed |= sections[measurement.title].startswith(FAILED)
        # After each, so that an interrupted run leaves what it has measured.
        args.output.write_text(results(sections), encoding="utf-8")
    sys.exit(int(failed))


def measure(measurement: Measurement, files: Mapping[str, str], quick: bool) -> str:
    """What the program of a measurement printed, below its command and the machine; or why there is nothing."""
    missing = sorted(measurement.needs - files.keys())
    if missing:
        return f"Not measured: it needs {' and '.join(f'`--{name}`' for name in missing)}."
    words = (measurement.quick if quick else measurement.arguments).split()
    command = [
        sys.executable,
        str(ROOT / "benchmarks" / measurement.program),
        *(word.format(**files) for word in words),
    ]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts")}
    done = subprocess.run(command, env=environment, text=True, capture_output=True)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return f"{FAILED} {' '.join(done.stderr.split())[-200:]}"
    shown = {name: Path(file).name for name, file in files.items()}
    heading = f"`{measurement.program} {' '.join(words).format(**shown)}` on {machine()}"
    # Below the headings of the page.
    return f"{heading}\n\n{re.sub('^#', '###', LOG_LINE.sub('', done.stdout).strip(), flags=re.MULTILINE)}"


def results(sections: Mapping[str, str]) -> str:
    """The page, sections in the order of `MEASUREMENTS`."""
    titles = [measurement.title for measurement in MEASUREMENTS.values()]
    parts = [f"## {title}\n\n{sections.get(title, 'Not measured.')}\n" for title in titles]
    return "\n".join([INTRODUCTION, *parts])


def read_sections(path: Path) -> dict[str, str]:
    """The sections of a page that `results` made."""
    _, *parts = re.split(r"^## (.*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))


if __name__ == "__main__":
    main()
