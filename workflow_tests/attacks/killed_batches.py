"""Sweeps in batches are killed at seeded points and run again: nothing is billed twice, and nothing is lost."""

import gzip
import multiprocessing
import os
import random
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import count
from pathlib import Path
from signal import SIGINT, SIGKILL, SIGTERM, default_int_handler, signal

from api_engines import HASTE, PROTOCOLS
from batch_server import ANTHROPIC, DONE, LATE, LOST, OPENAI, BatchServer, Fate
from outcomes import RIGHT, WRONG, Arena, Case, Family, Outcome, traceback_in
from programs import load_program
from sweeps import ANSWERS, COUNT, repeated_keys, served_sweep, short_examples
from waiting import HANG

from litm.base.cli import run
from litm.inference.named_batches import named_batches
from litm.servers.retrying import Patience

#: Kills of a case, and cases of each protocol; prompts of a batch where sweeps are divided.
KILLS, CASES, MOST = 10, 10, 9
#: A signal, and when: at a request and its stage, or before a file operation.
POINTS = [(SIGKILL, -1, "", operation) for operation in range(20)] * 4
for kind in (SIGKILL, SIGKILL, SIGTERM, SIGINT):
    POINTS += [(kind, request, stage, -1) for request in range(12) for stage in ("before", "after", "sent")]
PROMPTS = Counter(f"prompt {number:02}" for number in range(COUNT))
FATES = [Fate(), Fate(looks=3), Fate(LATE, share=0.5), Fate(DONE, share=0.7, others=LOST)]
PROCESSES = multiprocessing.get_context("forkserver")


def work(protocol: str, words: list[str], log: Path, most: int, fatal: int) -> None:
    """Run the program, in a process of its own that is killed before its file operation number `fatal`, from 0."""
    signal(SIGINT, default_int_handler)
    sys.stderr, sys.argv, operations = log.open("a"), ["generate.py", *words], count()
    Patience.from_settings = lambda settings: HASTE  # type: ignore[method-assign, assignment]
    engine = import_module(f"litm.engines.modules.{protocol}").Engine
    engine.provider = replace(engine.provider, batches=replace(engine.provider.batches, most_requests=most))

    def audit(event: str, arguments: tuple) -> None:
        is_ours = event in ("open", "os.rename", "os.remove") and str(arguments[0]).startswith(str(log.parent))
        _ = is_ours and next(operations) == fatal and os.kill(os.getpid(), SIGKILL)

    sys.addaudithook(audit)
    run(load_program("generate").main)


def ran(server: BatchServer, protocol: str, words: list[str], log: Path, most: int, *point: int | str) -> int | None:
    number, at, stage, fatal = point or (0, -1, "", -1)
    process = PROCESSES.Process(target=work, args=(protocol, words, log, most, fatal))
    point = (at + server.done.total(), stage)
    server.hear = lambda *now: now == point and os.kill(process.pid, number)
    process.start()
    process.join(HANG)
    return process.exitcode


def attack(protocol: str, kills: int, seed: int, arena: Arena) -> Iterator[Outcome]:
    PROCESSES.set_forkserver_preload(["killed_batches", *(f"litm.engines.modules.{one}" for one in PROTOCOLS)])
    examples, rng, killed = arena.made_once("batches short", short_examples), random.Random(f"{protocol} {seed}"), 0
    with BatchServer() as server:
        ran(server, protocol, served_sweep(examples, server.url, protocol).words(arena.folder), arena.folder / "log", 1)
    while killed < kills:
        fate, most, folder = rng.choice(FATES), rng.choice([1000, MOST]), arena.folder / f"{protocol} {seed} {killed}"
        points = rng.sample(POINTS, min(rng.choice([1, 1, 2, 3]), kills - killed))
        killed += len(points)
        folder.mkdir()
        with BatchServer(fate=lambda at, fate=fate: fate if at == 2 else Fate(), page=2, lag=killed % 2) as server:
            for size in (COUNT, MOST):
                others = {f"{size} {key}": {"model": "m", "messages": [{"content": "other"}]} for key in range(size)}
                server.submit({"openai": OPENAI, "anthropic": ANTHROPIC}[protocol], None, others)
            server.billed.clear()
            words = served_sweep(examples, server.url, protocol, batch=True).words(folder)
            *_, status = [ran(server, protocol, words, folder / "log", most, *one) for one in (*points, ())]
        log, twice, lost = (folder / "log").read_text(), server.billed - PROMPTS, PROMPTS - server.billed
        texts = [gzip.decompress((one / "responses.jsonl.gz").read_bytes()) for one in (arena.folder, folder)]
        faults = {
            f"status {status}, {log[-300:]}": status,
            traceback_in(log): traceback_in(log),
            f"{twice} billed twice, {lost} lost": twice or lost,
            "two answers": repeated_keys(folder / ANSWERS),
            "other bytes": len({data.replace(b', "batch": true', b"") for data in texts}) > 1,
            "files of batches are left": named_batches(folder / "asking"),
        }
        found = [text for text, is_so in faults.items() if is_so]
        numbers = {"kills": len(points), "billed twice": twice.total(), "lost": lost.total()}
        yield Outcome(f"{folder.name}: {points}", WRONG if found else RIGHT, "; ".join(found), numbers=numbers)


FAMILY = Family(
    "batches",
    f"A sweep of {COUNT} prompts in batches, in both protocols, gets signals at seeded requests (before or after they "
    "are done) or is killed before seeded file operations, and runs again. Some batches expire or are incomplete. No "
    "prompt is billed twice or lost, and the responses have the bytes of a sweep without batches.",
    [Case("a sample of kills", partial(attack, "anthropic", 3, 100), fast=True)]
    + [Case(f"{one}, seed {seed}", partial(attack, one, KILLS, seed)) for one in PROTOCOLS for seed in range(CASES)],
)
