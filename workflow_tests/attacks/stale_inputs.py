"""Inputs replaced without a newer time: the answers are always those of a fresh directory."""

import json
import os
import shutil
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from conftest import qa_record, write_lines
from fuzzed_configs import refused_by_snakemake
from outcomes import REFUSED, RIGHT, WRONG, Arena, Case, Family, Outcome
from sweeps import MODEL
from waiting import wait_until
from workbench import Workbench

from litm.inference.kept_answers import answer_files

#: Results that are compared with those of a fresh directory.
RESULTS = ("results/responses/*/*.jsonl.gz", "results/accuracy/*/*.parquet", "results/tables/accuracy.csv")
TARGET = "results/tables/accuracy.csv"
#: Seconds since 1970: the time of files that replace newer ones.
LONG_AGO = 1_600_000_000
TABLE = yaml.safe_load(Path(__file__).with_name("stale_inputs.yaml").read_text())

Stale = dict[str, Any]


class Steps:
    """The steps of stale_inputs.yaml, in a bench."""

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench

    def age(self, name: str) -> None:
        """Give a file, or all in a folder, an old time."""
        path = self.bench.path(name)
        for one in [path, *(path.rglob("*") if path.is_dir() else ())]:
            os.utime(one, (LONG_AGO, LONG_AGO), follow_symlinks=False)

    def put(self, source: str, place: str) -> None:
        """`cp -p` of an old file or folder over another."""
        self.age(source)
        old, new = self.bench.path(source), self.bench.path(place)
        if old.is_dir():
            shutil.rmtree(new, ignore_errors=True)
            shutil.copytree(old, new)
        else:
            shutil.copy2(old, new)

    def link(self, name: str, target: str) -> None:
        """`ln -sfn`, with an old time."""
        path = self.bench.path(name)
        path.unlink(missing_ok=True)
        path.symlink_to(target)
        os.utime(path, (LONG_AGO, LONG_AGO), follow_symlinks=False)

    def two_models(self) -> None:
        """models/a and models/b, as old as each other; the second is the first with the sign of each weight turned."""
        for name in ("a", "b"):
            shutil.copytree(MODEL, self.bench.path(f"models/{name}"))
        path = self.bench.path("models/b/model.safetensors")
        weights = path.read_bytes()
        begin = header_length(weights)
        numbers = bytearray(weights[begin:])
        numbers[1::2] = bytes(byte ^ 0x80 for byte in numbers[1::2])
        path.write_bytes(weights[:begin] + bytes(numbers))
        self.age("models")

    def sharded(self, name: str) -> None:
        """Weights in a sub-folder that an index names."""
        folder = self.bench.path(f"models/{name}")
        (folder / "parts").mkdir()
        weights = (folder / "model.safetensors").rename(folder / "parts" / "w.safetensors").read_bytes()
        tensors = set(json.loads(weights[8 : header_length(weights)])) - {"__metadata__"}
        index = {"metadata": {}, "weight_map": dict.fromkeys(sorted(tensors), "parts/w.safetensors")}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))

    def edit_json(self, name: str, key: str, value: object) -> None:
        path = self.bench.path(name)
        path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
        self.age(name)

    def edit(self, name: str, old: str, new: str) -> None:
        self.bench.edit(name, old, new)
        self.age(name)

    def edit_in_place(self, name: str, old: str, new: str) -> None:
        """Change a text in a file, but neither its length nor its time."""
        before = self.bench.path(name).stat()
        self.bench.edit(name, old, new)
        os.utime(self.bench.path(name), ns=(before.st_atime_ns, before.st_mtime_ns))

    def clock_back(self) -> None:
        """Give all results a time one hour ahead."""
        later = time.time() + 3600
        for path in [*self.bench.folder.glob("results/**/*"), *self.bench.folder.glob(".snakemake/metadata/*")]:
            if path.is_file():
                os.utime(path, (later, later))

    def write(self, name: str, records: list) -> None:
        self.bench.path(name).parent.mkdir(parents=True, exist_ok=True)
        write_lines(self.bench.path(name), records)

    def questions(self, name: str, word: str) -> None:
        self.write(name, [json.loads(json.dumps(qa_record(number, 3)).replace("Text", word)) for number in range(4)])

    def labels(self, name: str, kept: list[int]) -> None:
        self.write(name, [{"question": f"what is number {number}", "keep": number in kept} for number in range(4)])

    def recorded(self, folder: str, answer: str) -> None:
        records = [{"question": f"what is number {n}", "answer": answer.format(n)} for n in range(4)]
        for position in (0, 2):
            self.write(f"{folder}/r-gold_at_{position}.jsonl", records)

    def documents(self, name: str, count: int, word: str) -> None:
        """A file of documents with this word, whose ids and titles are the file's."""
        made = [(f"{Path(name).stem}{n}", f"{word} text of {n}.") for n in range(count)]
        self.write(name, [{"id": one, "title": f"T{one}", "text": text} for one, text in made])

    def asked(self) -> None:
        """Questions whose other documents are drawn from a corpus."""
        gold = [{"title": "G", "text": f"It is a{n}.", "isgold": True} for n in range(3)]
        self.write("asked.jsonl", [{"question": f"who {n}", "answers": [f"a{n}"], "ctxs": [gold[n]]} for n in range(3)])


def header_length(weights: bytes) -> int:
    return 8 + int.from_bytes(weights[:8], "little")


def take(bench: Workbench, stale: Stale, *parts: str) -> None:
    for part in parts:
        for name, *arguments in stale.get(part, ()):
            getattr(Steps(bench), name)(*arguments)


def results(bench: Workbench) -> dict[str, bytes]:
    paths = [path for pattern in RESULTS for path in sorted(bench.folder.glob(pattern))]
    return {str(path.relative_to(bench.folder)): path.read_bytes() for path in paths}


def fresh(stale: Stale, arena: Arena, name: str, *parts: str) -> dict[str, bytes]:
    """The results of a run in a new directory, after the steps."""
    bench = arena.project().moved_to(arena.folder / name)
    take(bench, stale, *parts)
    bench.configure(TABLE["configs"][stale["config"]])
    bench.run(TARGET)
    return results(bench)


def run(bench: Workbench, case: str) -> Outcome:
    """Run. If one line refuses this and gives advice, follow the advice."""
    done = bench.snakemake(TARGET)
    if done.returncode == 0:
        return Outcome(case, RIGHT)
    outcome = refused_by_snakemake(case, done)
    if outcome.result == WRONG:
        return outcome
    told = done.stdout + done.stderr
    words = ("--forcerun", "identify_model") if "--forcerun identify_model" in told else ()
    again = bench.snakemake(TARGET, *(f"--forcerun={word}" for word in words[1:]))
    if again.returncode:
        return Outcome(case, WRONG, f"refused again: {(again.stdout + again.stderr)[-400:]}")
    return Outcome(case, REFUSED, told.strip()[-300:])


def attack(name: str, stale: Stale, arena: Arena) -> Iterator[Outcome]:
    """Run, replace, run again and compare with a fresh directory; then put the first files back and repeat."""
    bench = arena.project().moved_to(arena.folder / "bench")
    take(bench, stale, "prepare")
    bench.configure(TABLE["configs"][stale["config"]])
    if stale.get("during"):
        _run_while_replaced(stale, bench)
    else:
        # The target first: `--until` reads everything after it as names of rules.
        bench.run(TARGET, *stale.get("until", ()))
        take(bench, stale, "replace")
    outcome = run(bench, name)
    expected = fresh(stale, arena, "fresh", "prepare", "replace")
    yield _compared(outcome, results(bench), expected)
    if "back" in stale:
        take(bench, stale, "back")
        back = f"{name}, and back"
        first = fresh(stale, arena, "first", "prepare")
        if first == expected:
            yield Outcome(back, WRONG, "the attack changes no answer")
        yield _compared(run(bench, back), results(bench), first)


def _compared(outcome: Outcome, found: dict[str, bytes], expected: dict[str, bytes]) -> Outcome:
    if outcome.result == WRONG or found == expected:
        return outcome
    other = [name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)]
    return Outcome(outcome.case, WRONG, f"stale: {', '.join(sorted(other))}")


def _run_while_replaced(stale: Stale, bench: Workbench) -> None:
    """Run, and replace as soon as there is a file of answers, or the model is identified."""
    answers, started = bench.path("results/answers"), bench.path("results/models/mine.json")

    done = threading.Event()

    def replace() -> None:
        wait_until(lambda: done.is_set() or (started.exists() and answer_files([answers])))
        take(bench, stale, "replace")

    thread = threading.Thread(target=replace)
    thread.start()
    bench.snakemake(TARGET)
    done.set()
    thread.join()


FAMILY = Family(
    "stale",
    "A file older than the results replaces an input, and the same command runs again. The results have the same "
    "bytes as those of a run in a fresh directory, also after the first file is put back; or one line refuses the "
    "file, and its advice helps.",
    [Case(name, partial(attack, name, stale)) for name, stale in TABLE["cases"].items()],
)
