"""Run all measurements of speed and memory, and write benchmarks/results.md.

    PYTHONPATH=scripts python benchmarks/run_all.py --data FOLDER --passages psgs.tsv.gz \\
        --questions nq-open-oracle.jsonl.gz --encoder FOLDER

Each measurement is a command of the other programs here, at sizes with which all of them take half an hour. Those that
need a file which is not given are left out, and the results say so. With `--only` the sections of others are kept.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Mapping
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

Written by `benchmarks/run_all.py`. Seconds are of one machine and its other work: compare ratios, exponents and memory.
Values are medians, followed by the least and the most of several measurements. An exponent is that of the
growth from the size before: 1 is linear, n·log(n) about 1.1.
"""


#: Title on the page, the command, where {name} stands for a file of the user's, and what a trial run adds to it.
MEASUREMENTS = {
    "plan": ("Planning a run", "growth.py plan --turns 2", "--turns 1 --sizes 20"),
    "paper": ("Planning the paper's run", "growth.py paper --turns 2", "--turns 1"),
    "overhead": ("A study of five models", "growth.py study", ""),
    "answers": ("Reading kept answers", "growth.py answers", "--sizes 20 40"),
    "sweep": ("A sweep whose prompts have all been answered", "growth.py sweep", "--sizes 20 40"),
    "kept": ("A plan and a sweep over kept answers", "kept.py", "--turns 1 --answers 20"),
    "tables": ("Tables of scores", "growth.py tables", "--sizes 50000"),
    "passages": ("Passages", "growth.py passages", "--sizes 200 400"),
    "inference_pairs": (
        "Inference by the reference model, key-value pairs",
        "peers.py --reference --prompts kv75 ask75 --questions 16",
        "--questions 1",
    ),
    "inference_documents": (
        "Inference by the reference model, documents",
        "peers.py --reference --prompts qa10 --questions 8 --data {data}",
        "--questions 1",
    ),
    "attention": ("Attention on a processor", "attention.py", "--turns 1"),
    "memory": ("Memory of sweeps, predicted and measured", "memory.py", "--cases 1"),
    "bm25": (
        "BM25, against pyserini's own",
        "retrieval.py bm25 --passages {passages} --questions {questions}",
        "--turns 1",
    ),
    "dense": (
        "Dense search, against pyserini's own",
        "retrieval.py dense --passages {passages} --encoder {encoder}",
        "--turns 1 --count 20",
    ),
    "search": ("Searches as the corpus grows", "retrieval.py growth", "--turns 1 --sizes 200"),
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
    is_failed = False
    for name in args.only:
        title, command, trial = MEASUREMENTS[name]
        print(f"{title} ...", file=sys.stderr, flush=True)
        sections[title] = measure(f"{command} {trial}" if args.quick else command, files)
        is_failed |= sections[title].startswith(FAILED)
        # After each, so that an interrupted run leaves what it has measured.
        parts = (f"## {title}\n\n{sections.get(title, 'Not measured.')}\n" for title, *_ in MEASUREMENTS.values())
        args.output.write_text("\n".join([INTRODUCTION, *parts]), encoding="utf-8")
    sys.exit(is_failed)


def measure(command: str, files: Mapping[str, str]) -> str:
    """What a command printed, below it and the machine; or why there is nothing."""
    missing = [f"`--{name}`" for name in FILES if f"{{{name}}}" in command and name not in files]
    if missing:
        return f"Not measured: it needs {' and '.join(missing)}."
    program, *words = command.split()
    arguments = [ROOT / "benchmarks" / program, *(word.format(**files) for word in words)]
    done = subprocess.run([sys.executable, *arguments], text=True, capture_output=True)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return f"{FAILED} {' '.join(done.stderr.split())[-200:]}"
    heading = f"`{command.format(**{name: Path(file).name for name, file in files.items()})}` on {machine()}"
    # Below the headings of the page.
    return f"{heading}\n\n{re.sub('^#', '###', LOG_LINE.sub('', done.stdout).strip(), flags=re.MULTILINE)}"


def read_sections(path: Path) -> dict[str, str]:
    """The sections of the page by title."""
    _, *parts = re.split(r"^## (.*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[::2], map(str.strip, parts[1::2]), strict=True))


if __name__ == "__main__":
    main()
