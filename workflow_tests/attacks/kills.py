"""Runs are killed at seeded moments and run again: the results have the bytes of an undisturbed run."""

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from signal import SIGHUP, SIGINT, SIGKILL, SIGTERM, Signals

import yaml
from conftest import ROOT
from fault_server import FaultServer, answer_to
from outcomes import RIGHT, WRONG, Arena, Case, Family, Outcome, traceback_in
from sweeps import (
    ANSWERS,
    BATCH,
    CONCURRENCY,
    COUNT,
    answer_records,
    hear_signals,
    kv_examples,
    local_sweep,
    repeated_keys,
    served_sweep,
    short_examples,
)
from waiting import HANG, wait_until
from workbench import Workbench

#: Threads of the program with a local model. Each computes one prompt, while one more is written to a file.
WORKERS = 2
#: Seconds until the server answers a prompt.
PAUSE = 0.05
#: What a copy of the project has at the end of generation.py: a line in a file for each batch that is begun.
NOTING = """

_compute = generate_batch


def generate_batch(model, prompts, *more):
    with open("batches", "a") as file:
        print(len(prompts), file=file)
    return _compute(model, prompts, *more)
"""
LOCAL_MODEL = """
{engine: transformers, path: resources/reference_model, dtype: float32, device: cpu, batch_tokens: 600, threads: 1}
"""
SERVED_MODEL = "{{engine: openai, api_model: m, base_url: '{url}/v1', revision: '1', concurrency: {concurrency}}}"
SERVED, LOCAL = "served", "local"
GENERATE, SNAKEMAKE, GROUP = "generate", "snakemake", "the group"


@dataclass(frozen=True)
class Kill:
    """model: `LOCAL` or `SERVED`; whom: `GENERATE` alone, `SNAKEMAKE` alone, or all of its `GROUP`; under: whether
    generate is a job of Snakemake. The moment is the seed's.
    """

    model: str
    whom: str
    number: Signals
    seed: int
    under: bool

    @property
    def name(self) -> str:
        program = "generate of snakemake" if self.under and self.whom == GENERATE else self.whom
        return f"{self.number.name} to {program}, {self.model} model, seed {self.seed}"


def slow_answer(prompt: str) -> str:
    time.sleep(PAUSE)
    return answer_to(prompt)


@dataclass
class Trial:
    """A sweep in one folder that can be started repeatedly.

    at_work: prompts that may be asked twice for each signal; server: None for a local model.
    """

    folder: Path
    scripts: Path
    command: list[str]
    answers: Path
    responses: Path
    at_work: int
    server: FaultServer | None

    def start(self, *more: str) -> subprocess.Popen:
        """Start the sweep in a new session."""
        log = (self.folder / "log").open("ab")
        return subprocess.Popen(
            [*self.command, *more],
            cwd=self.folder,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=hear_signals,
            env={**os.environ, "OMP_NUM_THREADS": str(WORKERS), "PYTHONPATH": str(self.scripts)},
        )

    def computed(self) -> int:
        if self.server:
            return len(self.server.asked)
        notes = self.folder / "batches"
        return sum(map(int, notes.read_text().split())) if notes.exists() else 0


def config(url: str | None) -> dict:
    """The sweep as a config: 24 prompts."""
    model = yaml.safe_load(LOCAL_MODEL if url is None else SERVED_MODEL.format(url=url, concurrency=CONCURRENCY))
    kv = {"task": "kv_retrieval", "positions": {8: [0, 3, 7]}, "examples": COUNT // 3, "max_new_tokens": 30}
    return {"models": ["mine"], "experiments": ["kv"], "define": {"models": {"mine": model}, "experiments": {"kv": kv}}}


def members(session: int) -> dict[int, str]:
    """The processes of a session, with their command lines."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if os.getsid(int(path.name)) == session:
                found[int(path.name)] = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
    return {number: words for number, words in found.items() if words}


def send(kill: Kill, process: subprocess.Popen) -> None:
    if kill.whom == GROUP:
        os.killpg(process.pid, kill.number)
    elif kill.whom == GENERATE and kill.under:
        for number, words in members(process.pid).items():
            if "python" in words.split()[0] and "generate.py" in words and "bash" not in words.split()[0]:
                os.kill(number, kill.number)
    else:
        os.kill(process.pid, kill.number)


def attack(kill: Kill, arena: Arena) -> list[Outcome]:
    if kill.model == LOCAL:
        return [_attack(kill, _trial(kill, arena, arena.folder, None), _undisturbed(kill, arena, None), None)]
    with FaultServer(answer=slow_answer) as server:
        expected = _undisturbed(kill, arena, server)
        server.asked.clear()
        server.answered.clear()
        return [_attack(kill, _trial(kill, arena, arena.folder, server), expected, server)]


def _trial(kill: Kill, arena: Arena, folder: Path, server: FaultServer | None) -> Trial:
    if kill.under:
        bench = noting(arena).moved_to(folder / "bench")
        bench.configure(config(server.url if server else None))
        words = ["snakemake", "--configfile", "small.yaml", "--cores", "1", "results/responses/mine/kv.jsonl.gz"]
        command = [sys.executable, "-m", *words]
        results, scripts = bench.path("results"), bench.path("scripts")
        files = results / "answers", results / "responses/mine/kv.jsonl.gz"
        return Trial(bench.folder, scripts, command, *files, CONCURRENCY if server else BATCH, server)
    if server:
        scripts, at_work = ROOT / "scripts", CONCURRENCY
        sweep = served_sweep(arena.made_once("killed short", short_examples), server.url)
    else:
        scripts, at_work = noting(arena).path("scripts"), WORKERS + 1
        sweep = local_sweep(arena.made_once("killed kv", kv_examples))
    command = [sys.executable, str(scripts / "inference/generate.py"), *sweep.words(folder)]
    return Trial(folder, scripts, command, folder / ANSWERS, folder / "responses.jsonl.gz", at_work, server)


def noting(arena: Arena) -> Workbench:
    """A bench whose library notes its batches, with the examples made; not to be changed."""

    def prepare(place: Path) -> None:
        bench = arena.project().moved_to(place)
        file = bench.path("scripts/litm/local/generation.py")
        file.write_text(file.read_text() + NOTING)
        bench.configure(config(None))
        bench.run("results/example_checks/kv.json")

    return Workbench(arena.made_once("killed bench", prepare))


def _undisturbed(kill: Kill, arena: Arena, server: FaultServer | None) -> bytes:
    def make(folder: Path) -> None:
        trial = _trial(kill, arena, folder, server)
        assert trial.start().wait(HANG) == 0, (trial.folder / "log").read_text()
        (folder / "expected").write_bytes(trial.responses.read_bytes())

    return (arena.made_once(f"undisturbed {kill.model} {kill.under}", make) / "expected").read_bytes()


def _attack(kill: Kill, trial: Trial, expected: bytes, server: FaultServer | None) -> Outcome:
    rng = random.Random(kill.name)
    # Early: before there is any answer; late: when nearly all are there.
    moment, pause = rng.choice([0, *range(COUNT)]), rng.uniform(0, 0.15)
    process = trial.start()
    wait_until(lambda: trial.computed() >= moment or process.poll() is not None)
    time.sleep(pause)
    if process.poll() is None:
        send(kill, process)
    status = process.wait(HANG)
    # A Snakemake that was killed alone leaves its job running.
    wait_until(lambda: not members(process.pid), lambda: f"processes are left: {members(process.pid)}")
    kept, begun = len(answer_records(trial.answers)), trial.computed()
    fault = _finish(kill, trial)
    twice = max(0, trial.computed() - COUNT)
    numbers = {"kills": 1, "asked twice": twice, "asked": COUNT}
    detail = f"status {status}, {begun} asked and {kept} kept at the signal, {twice} asked twice"
    most = max(Counter(prompt for _, prompt, _ in server.asked).values()) if server else 0
    faults = {
        fault: fault,
        "other bytes": not fault and trial.responses.read_bytes() != expected,
        f"{repeated_keys(trial.answers)} answers twice": repeated_keys(trial.answers),
        f"{twice} asked twice": twice > trial.at_work,
        f"{begun - kept} lost": begun - kept > trial.at_work,
        "a prompt was asked more than twice": most > 2 and kill.number != SIGKILL,
    }
    found = [text for text, is_so in faults.items() if text and is_so]
    return Outcome(kill.name, WRONG if found else RIGHT, "; ".join([*found, detail]), numbers=numbers)


def _finish(kill: Kill, trial: Trial) -> str | None:
    """Run again to the end; returns the fault, if any."""
    log = trial.folder / "log"
    if fault := traceback_in(log.read_text()):
        return fault
    # Only an outright kill of Snakemake may leave its lock.
    if kill.under and kill.number == SIGKILL and kill.whom != GENERATE:
        trial.start("--unlock").wait(HANG)
    if trial.start().wait(HANG):
        return f"the next run fails: {log.read_text().strip()[-300:]}"
    return None


def kills() -> Iterator[Kill]:
    for model, most in ((LOCAL, 12), (SERVED, 6)):
        for number, count in {SIGKILL: most, SIGTERM: 3, SIGINT: 3, SIGHUP: 2}.items():
            yield from (Kill(model, GENERATE, number, seed, False) for seed in range(count))
    whole = [(number, whom) for number in (SIGKILL, SIGTERM, SIGINT, SIGHUP) for whom in (GENERATE, SNAKEMAKE, GROUP)]
    yield from (Kill(SERVED, whom, number, 0, True) for number, whom in whole)
    some = [(SIGKILL, SNAKEMAKE), (SIGKILL, GROUP), (SIGTERM, SNAKEMAKE), (SIGINT, GROUP), (SIGHUP, GROUP)]
    yield from (Kill(LOCAL, whom, number, 0, True) for number, whom in some)


#: The case of `make test-all`; test_generate.py and test_api_faults.py have more.
FAST = Kill(SERVED, GENERATE, SIGKILL, 100, False)
FAMILY = Family(
    "kills",
    f"A sweep of {COUNT} prompts receives a signal at a seeded moment and runs again. A local model has at most "
    f"{WORKERS + 1} prompts in progress (one is being written to a file), a served model {CONCURRENCY}. The "
    "result has the same bytes as an undisturbed run, no answer is kept twice, only prompts in progress are "
    "sent twice, and only an outright kill of Snakemake leaves a lock.",
    [Case(kill.name, lambda arena, kill=kill: attack(kill, arena), fast=kill is FAST) for kill in [FAST, *kills()]],
)
