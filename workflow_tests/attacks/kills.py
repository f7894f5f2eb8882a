"""Runs are killed at seeded moments and run again: the results have the bytes of an undisturbed run."""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from signal import SIGHUP, SIGINT, SIGKILL, SIGTERM, Signals

from fault_server import FaultServer, answer_to
from outcomes import RIGHT, WRONG, Arena, Case, Family, Outcome, traceback_in
from sweeps import (
    BATCH,
    CONCURRENCY,
    COUNT,
    Sweep,
    journal_records,
    kv_examples,
    local_sweep,
    repeated_keys,
    served_sweep,
    short_examples,
)
from waiting import HANG, wait_until
from workbench import Workbench

#: Threads of the program with a local model, each of which computes one prompt while one of all is written down.
WORKERS = 2
#: Seconds until the server answers a prompt.
PAUSE = 0.05
#: The program, which writes a line into a file for each batch that it begins.
NOTED = """
import runpy, sys
notes, script, *sys.argv[1:] = sys.argv[1:]
sys.argv[0] = script
sys.path.insert(0, sys.argv[0].rpartition("/")[0])
from litm.inference import generation
compute = generation.generate_batch
def noted(model, prompts, *more):
    with open(notes, "a") as file:
        print(len(prompts), file=file)
    return compute(model, prompts, *more)
generation.generate_batch = noted
runpy.run_path(script, run_name="__main__")
"""
#: The same in a copy of the project, for jobs of Snakemake.
NOTING = """

_compute = generate_batch


def generate_batch(model, prompts, *more):
    with open("batches", "a") as file:
        print(len(prompts), file=file)
    return _compute(model, prompts, *more)
"""
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
        """The name of the case, with all its facts."""
        program = "generate of snakemake" if self.under and self.whom == GENERATE else self.whom
        return f"{self.number.name} to {program}, {self.model} model, seed {self.seed}"


def hear_signals() -> None:
    """Handle signals again: background processes of a shell and their children ignore SIGINT."""
    for number in (SIGINT, SIGTERM, SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def slow_answer(prompt: str) -> str:
    time.sleep(PAUSE)
    return answer_to(prompt)


class Trial:
    """A sweep in one folder that can be started repeatedly, and the prompts that it computed."""

    journal: Path
    responses: Path
    #: Prompts that may be asked twice for each signal.
    at_work: int

    def start(self) -> subprocess.Popen:
        """Start the sweep in a new session."""
        raise NotImplementedError

    def computed(self) -> int:
        """The number of prompts that were begun."""
        raise NotImplementedError

    def popen(self, command: list[str], folder: Path) -> subprocess.Popen:
        """A process whose output goes to a file."""
        log = (folder / "log").open("ab")
        return subprocess.Popen(
            command,
            cwd=folder,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=hear_signals,
            env={**os.environ, "OMP_NUM_THREADS": str(WORKERS)},
        )


class LocalProgram(Trial):
    """The program alone, with the reference model."""

    at_work = WORKERS + 1

    def __init__(self, sweep: Sweep, folder: Path) -> None:
        self.sweep, self.folder = sweep, folder
        self.journal, self.responses = folder / "journal.jsonl", folder / "responses.jsonl.gz"

    def start(self) -> subprocess.Popen:
        words = [sys.executable, "-c", NOTED, str(self.folder / "batches"), *self.sweep.command(self.folder)[1:]]
        return self.popen(words, self.folder)

    def computed(self) -> int:
        return batches(self.folder)


class ServedProgram(Trial):
    """The program alone, with a server."""

    at_work = CONCURRENCY

    def __init__(self, sweep: Sweep, folder: Path, server: FaultServer) -> None:
        self.sweep, self.folder, self.server = sweep, folder, server
        self.journal, self.responses = folder / "journal.jsonl", folder / "responses.jsonl.gz"

    def start(self) -> subprocess.Popen:
        return self.popen(self.sweep.command(self.folder), self.folder)

    def computed(self) -> int:
        return len(self.server.asked)


class SnakemakeRun(Trial):
    """The same sweep as a job of Snakemake."""

    def __init__(self, bench: Workbench, server: FaultServer | None) -> None:
        self.bench, self.server = bench, server
        self.at_work = CONCURRENCY if server else BATCH
        self.journal = bench.path("results/journal/mine/kv.jsonl")
        self.responses = bench.path("results/responses/mine/kv.jsonl.gz")

    def start(self) -> subprocess.Popen:
        return self.popen(self.words(str(self.responses.relative_to(self.bench.folder))), self.bench.folder)

    def words(self, *more: str) -> list[str]:
        """Snakemake with the small config."""
        return [sys.executable, "-m", "snakemake", "--configfile", "small.yaml", "--cores", "1", *more]

    def computed(self) -> int:
        return len(self.server.asked) if self.server else batches(self.bench.folder)


def batches(folder: Path) -> int:
    """The number of prompts in the batches that were begun."""
    notes = folder / "batches"
    return sum(map(int, notes.read_text().split())) if notes.exists() else 0


def config(url: str | None) -> dict:
    """The sweep as a config: 24 prompts."""
    local = {
        "engine": "transformers", "path": "resources/reference_model", "dtype": "float32", "device": "cpu",
        "batch_tokens": 600, "threads": 1,
    }  # fmt: skip
    served = {
        "engine": "openai", "api_model": "m", "base_url": f"{url}/v1", "revision": "1", "concurrency": CONCURRENCY
    }  # fmt: skip
    kv = {"task": "kv_retrieval", "positions": {8: [0, 3, 7]}, "examples": COUNT // 3, "max_new_tokens": 30}
    return {
        "models": ["mine"],
        "experiments": ["kv"],
        "define": {"models": {"mine": served if url else local}, "experiments": {"kv": kv}},
    }


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
    """Send the signal to its receivers."""
    if kill.whom == GROUP:
        os.killpg(process.pid, kill.number)
    elif kill.whom == GENERATE and kill.under:
        for number, words in members(process.pid).items():
            if "python" in words.split()[0] and "generate.py" in words and "bash" not in words.split()[0]:
                os.kill(number, kill.number)
    else:
        os.kill(process.pid, kill.number)


def attack(kill: Kill, arena: Arena) -> list[Outcome]:
    """Start, kill at the seed's moment, and run again to the end."""
    if kill.model == LOCAL:
        return [_attack(kill, _trial(kill, arena, arena.folder, None), _undisturbed(kill, arena, None), None)]
    with FaultServer(answer=slow_answer) as server:
        expected = _undisturbed(kill, arena, server)
        server.asked.clear()
        server.answered.clear()
        return [_attack(kill, _trial(kill, arena, arena.folder, server), expected, server)]


def _trial(kill: Kill, arena: Arena, folder: Path, server: FaultServer | None) -> Trial:
    if not kill.under:
        if server is None:
            return LocalProgram(local_sweep(arena.made_once("killed kv", kv_examples)), folder)
        return ServedProgram(served_sweep(arena.made_once("killed short", short_examples), server.url), folder, server)
    bench = Workbench(arena.made_once("killed bench", lambda place: _prepare(arena, place))).moved_to(folder / "bench")
    bench.configure(config(server.url if server else None))
    return SnakemakeRun(bench, server)


def _prepare(arena: Arena, place: Path) -> None:
    """A bench with the examples made."""
    bench = arena.project().moved_to(place)
    file = bench.path("scripts/litm/inference/generation.py")
    file.write_text(file.read_text() + NOTING)
    bench.configure(config(None))
    bench.run("results/example_checks/kv.json")


def _undisturbed(kill: Kill, arena: Arena, server: FaultServer | None) -> bytes:
    """The responses of a run that nobody disturbs."""

    def make(folder: Path) -> None:
        trial = _trial(kill, arena, folder, server)
        assert trial.start().wait(HANG) == 0, (folder / "log").read_text()
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
    kept, begun = len(journal_records(trial.journal)), trial.computed()
    fault = _finish(kill, trial)
    twice = max(0, trial.computed() - COUNT)
    numbers = {"kills": 1, "asked twice": twice, "asked": COUNT}
    detail = f"status {status}, {begun} asked and {kept} kept at the signal, {twice} asked twice"
    faults = [
        *([fault] if fault else []),
        *(["other bytes"] if not fault and trial.responses.read_bytes() != expected else []),
        *([f"{repeated_keys(trial.journal)} answers twice"] if repeated_keys(trial.journal) else []),
        *([f"{twice} asked twice"] if twice > trial.at_work else []),
        *([f"{begun - kept} lost"] if begun - kept > trial.at_work else []),
    ]
    if server and kill.number != SIGKILL and max(Counter(prompt for _, prompt, _ in server.asked).values()) > 2:
        faults.append("a prompt was asked more than twice")
    return Outcome(kill.name, WRONG if faults else RIGHT, "; ".join([*faults, detail]), numbers=numbers)


def _finish(kill: Kill, trial: Trial) -> str | None:
    """Run again to the end; returns the fault, if any."""
    folder = trial.folder if isinstance(trial, LocalProgram | ServedProgram) else trial.bench.folder
    log = folder / "log"
    if fault := traceback_in(log.read_text()):
        return fault
    # Only an outright kill of Snakemake may leave its lock.
    if isinstance(trial, SnakemakeRun) and kill.number == SIGKILL and kill.whom != GENERATE:
        trial.popen(trial.words("--unlock"), folder).wait(HANG)
    if trial.start().wait(HANG):
        return f"the next run fails: {log.read_text().strip()[-300:]}"
    return None


def kills() -> Iterator[Kill]:
    """All of them; `under` is only of those through Snakemake."""
    numbers = {SIGKILL: 12, SIGTERM: 3, SIGINT: 3, SIGHUP: 2}
    yield from (Kill(LOCAL, GENERATE, number, seed, False) for number, n in numbers.items() for seed in range(n))
    numbers = {SIGKILL: 6, SIGTERM: 3, SIGINT: 3, SIGHUP: 2}
    yield from (Kill(SERVED, GENERATE, number, seed, False) for number, n in numbers.items() for seed in range(n))
    for number in (SIGKILL, SIGTERM, SIGINT, SIGHUP):
        for whom in (GENERATE, SNAKEMAKE, GROUP):
            yield Kill(SERVED, whom, number, 0, True)
    for number, whom in (
        (SIGKILL, SNAKEMAKE),
        (SIGKILL, GROUP),
        (SIGTERM, SNAKEMAKE),
        (SIGINT, GROUP),
        (SIGHUP, GROUP),
    ):
        yield Kill(LOCAL, whom, number, 0, True)


#: The case of `make test`; test_generate.py and test_api_faults.py have more.
FAST = Kill(SERVED, GENERATE, SIGKILL, 100, False)
FAMILY = Family(
    "kills",
    f"A sweep of {COUNT} prompts gets a signal at a seeded moment and runs again. A local model has up to "
    f"{WORKERS + 1} prompts in progress, one of which is written down, the server {CONCURRENCY}. The result is the "
    "bytes of an undisturbed run, the journal has no answer twice, only prompts in progress are asked twice, and only "
    "an outright kill of Snakemake leaves a lock.",
    [Case(kill.name, lambda arena, kill=kill: attack(kill, arena), fast=kill is FAST) for kill in [FAST, *kills()]],
)
