"""Several programs that keep answers in one shared folder at once, against one program.

    python benchmarks/writers.py --answers 20000 --writers 4

Each program is a study of its own, as on another machine, and asks its shard of one sweep of the model `dummy`; then
one reads what all have kept, and asks nothing. Its responses are those of one program that asked alone.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring import ROOT

PROGRAM = ROOT / "scripts" / "inference" / "generate.py"
IDENTITY = {"engine": "dummy", "version": 1}
SOURCE = {"location": "dummy", "revision": None, "context_window": None, "identity": IDENTITY}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=20_000, help="number of prompts")
    parser.add_argument("--writers", type=int, default=4, help="programs at once")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "source.json").write_text(json.dumps(SOURCE))
        with (folder / "examples.jsonl").open("w", encoding="utf-8") as lines:
            lines.writelines(f"{json.dumps(_example(number))}\n" for number in range(args.answers))
        alone = _timed([_command(folder, "alone", "alone")])
        shards = [f"{number}_of_{args.writers}" for number in range(1, args.writers + 1)]
        together = _timed([_command(folder, "shared", shard, "--shard", shard) for shard in shards])
        _timed([_command(folder, "shared", "all")])
        asked = json.loads((folder / "all.json").read_text())["asked"]
        same = (folder / "all.jsonl.gz").read_bytes() == (folder / "alone.jsonl.gz").read_bytes()
        kept = sum(1 for file in (folder / "shared").glob("*/*.jsonl") for _ in file.open("rb"))
        print(
            f"{args.answers:,} prompts: {alone:.1f} s alone, {together:.1f} s by {args.writers} at once "
            f"({together / alone:.2f} of it); {kept:,} lines kept, {asked} asked again, same responses: {same}"
        )


def _example(number: int) -> dict:
    targets = [{"name": "t", "position": None, "depth": None, "span": None, "answers": ["x"]}]
    prompt = {"id": str(number), "size": 0, "placement": "closed_book", "question": "q", "prompt": f"prompt {number}"}
    return prompt | {"answer_in_distractors": False, "targets": targets}


def _command(folder: Path, answers: str, name: str, *more: str) -> list[str]:
    decoding = json.dumps({"max_new_tokens": 30, "stop": "end_token"})
    settings = json.dumps({"engine": "dummy", "prompt_template": "raw"})
    files = {"source": folder / "source.json", "examples": folder / "examples.jsonl", "answers": folder / answers}
    files |= {
        "asking": folder / f"{name}.asking",
        "responses": folder / f"{name}.jsonl.gz",
        "manifest": folder / f"{name}.json",
    }
    options = {"model": "m", "experiment": "e", "settings": settings, "decoding": decoding, "run": "{}"} | files
    return [
        sys.executable,
        str(PROGRAM),
        *(str(word) for item in options.items() for word in (f"--{item[0]}", item[1])),
        *more,
    ]


def _timed(commands: list[list[str]]) -> float:
    started = time.monotonic()
    running = [
        subprocess.Popen(command, env={"PYTHONPATH": str(ROOT / "scripts")}, stderr=subprocess.DEVNULL)
        for command in commands
    ]
    if any(program.wait() for program in running):
        sys.exit("a program failed")
    return time.monotonic() - started


if __name__ == "__main__":
    main()
