"""Full and read-only disks: the run ends with one line and keeps finished work, and the next run resumes."""

import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from outcomes import REFUSED, RIGHT, WRONG, Arena, Case, Family, Outcome, refusal_fault
from sweeps import COUNT, dummy_sweep, journal_records, repeated_keys, short_examples
from workbench import CONFIG, Workbench

#: Kilobytes of the disks for whole runs; bytes of the longest file that the program may write.
DISKS = (64, 128, 192, 256, 320, 384, 448, 512, 640, 768, 896, 1024)
LONGEST_FILES = (0, 100, 700, 2000, 4000, 6000)
#: The case of `make test`.
FAST_LONGEST = 2000
ENOUGH = "64m"
DUMMY = {**CONFIG, "experiments": ["kv", "qa"], "figures": []}


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path | None]:
    """A mounted disk of that size in `folder`; None if this user may not mount one."""
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder]
    if subprocess.run(command, capture_output=True, check=False).returncode:
        yield None
        return
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def grow(folder: Path) -> None:
    """Give a small disk enough space."""
    subprocess.run(["mount", "-o", f"remount,rw,size={ENOUGH}", folder], check=True)


def limited(longest: int) -> Callable[[], None]:
    """Limit the length of files, which needs no separate disk."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (longest, resource.RLIM_INFINITY))

    return limit


def undisturbed(folder: Path) -> None:
    """The sweep without a fault."""
    done = subprocess.run(dummy_sweep(short_examples(folder)).command(folder), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def attempt(
    case: str,
    arena: Arena,
    place: Path,
    restore: Callable[[], object] = lambda: None,
    before: Sequence[str] = (),
    **how: Any,
) -> Outcome:
    """The outcome of the program without room in a folder, and of the next run, with room.

    restore: gives it room; before: words before the command; how: the first process is started.
    """
    whole = arena.made_once("undisturbed disk", undisturbed)
    command = dummy_sweep(whole).command(place)
    done = subprocess.run([*before, *command], capture_output=True, text=True, check=False, **how)
    restore()
    kept = len(journal_records(place / "journal.jsonl"))
    fault = refusal_fault(done.stderr.strip().splitlines()[-1]) if done.stderr.strip() else "nothing is said"
    if done.returncode and ("Traceback" in done.stderr or fault):
        return Outcome(case, WRONG, fault or done.stderr[-300:])
    subprocess.run(command, capture_output=True, check=True)
    responses = [folder / "responses.jsonl.gz" for folder in (place, whole)]
    same = responses[0].exists() and responses[0].read_bytes() == responses[1].read_bytes()
    if not same or repeated_keys(place / "journal.jsonl"):
        return Outcome(case, WRONG, "other responses, or an answer twice, after the next run")
    return Outcome(case, REFUSED if done.returncode else RIGHT, done.stderr.strip()[-200:], numbers={"kept": kept})


def attack_limited(longest: int, arena: Arena) -> Iterator[Outcome]:
    """The program with a limit on the length of files."""
    yield attempt(f"files of at most {longest} bytes", arena, arena.folder, preexec_fn=limited(longest))


def attack_small_journal_disk(kilobytes: int, arena: Arena) -> Iterator[Outcome]:
    """The program on a disk that is too small for its output."""
    case = f"a disk of {kilobytes} kB for the program"
    with small_disk(arena.folder / "disk", f"{kilobytes}k") as disk:
        if disk is None:
            yield Outcome(f"{case}: cannot be mounted here", RIGHT, count=0)
        else:
            yield attempt(case, arena, disk, lambda: grow(disk))


def attack_read_only(arena: Arena) -> Iterator[Outcome]:
    """The program without the right to write the folder or the journal, or to read the folder."""
    before = obeying()
    if before is None:
        yield Outcome("read only: root cannot be stopped here", RIGHT, count=0)
        return
    for case, name, mode in (
        ("a folder that is read only", ".", 0o555),
        ("a journal that is read only", "journal.jsonl", 0o444),
        ("a folder that cannot be looked into", ".", 0o000),
    ):
        place = arena.folder / case.replace(" ", "_")
        place.mkdir()
        (place / "journal.jsonl").touch()
        place.chmod(0o777)
        (place / name).chmod(mode)

        def restore(place: Path = place) -> None:
            place.chmod(0o777)
            (place / "journal.jsonl").chmod(0o666)

        outcome = attempt(case, arena, place, restore, before)
        is_refused = outcome.result != RIGHT
        yield outcome if is_refused else Outcome(case, WRONG, "the program could write all the same")


def obeying() -> list[str] | None:
    """The prefix of a command that makes file modes apply even to root; None if there is none."""
    if os.geteuid():
        return []
    found = shutil.which("setpriv")
    return [found, "--bounding-set=-dac_override,-dac_read_search"] if found else None


def attack_run(kilobytes: int, arena: Arena) -> Iterator[Outcome]:
    """A whole run of Snakemake whose results are on a disk without room for them."""
    case = f"results on {kilobytes} kB"
    bench = arena.project().moved_to(arena.folder / "bench")
    bench.configure(DUMMY)
    with small_disk(arena.folder / "disk", f"{kilobytes}k") as disk:
        if disk is None:
            yield Outcome(f"{case}: cannot be mounted here", RIGHT, count=0)
            return
        shutil.rmtree(bench.path("results"))
        bench.path("results").symlink_to(disk)
        done = bench.snakemake("tables")
        said = done.stdout + done.stderr
        tracebacks = [line for line in said.splitlines() if "Traceback (most recent call last)" in line]
        logs = [path.read_text(errors="replace") for path in disk.glob("logs/**/*.log")]
        of_ours = sum("Traceback" in text for text in logs)
        kept = len(journal_records(disk / "journal/dummy/kv.jsonl"))
        grow(disk)
        again = bench.snakemake("tables")
        if again.returncode:
            yield Outcome(case, WRONG, f"the next run fails: {(again.stdout + again.stderr)[-400:]}")
            return
        expected = Workbench(arena.made_once("undisturbed results", lambda place: _whole_run(arena, place)))
        other = different(bench, expected)
        if of_ours or (tracebacks and _of_a_program(said)):
            yield Outcome(case, WRONG, f"{of_ours} tracebacks in logs, {len(tracebacks)} on the console: {said[-300:]}")
        elif other:
            yield Outcome(case, WRONG, f"other bytes after the next run: {other}")
        else:
            yield Outcome(case, REFUSED if done.returncode else RIGHT, numbers={"kept": kept})


def _of_a_program(said: str) -> bool:
    """Whether a traceback is of the project's programs, and not of Snakemake itself."""
    return "scripts/litm" in said.partition("Traceback (most recent call last)")[2]


def _whole_run(arena: Arena, place: Path) -> None:
    bench = arena.project().moved_to(place)
    bench.configure(DUMMY)
    bench.run("tables")


def different(bench: Workbench, expected: Workbench) -> list[str]:
    """Tables, responses and scores that differ."""
    patterns = ("tables/*.csv", "responses/*/*.jsonl.gz", "scores/*/*.parquet")
    names = sorted(
        str(path.relative_to(expected.path("results")))
        for pattern in patterns
        for path in expected.path("results").glob(pattern)
    )
    found = {name: bench.path(f"results/{name}") for name in names}
    return [
        name
        for name, path in found.items()
        if not path.exists() or path.read_bytes() != expected.path(f"results/{name}").read_bytes()
    ]


FAMILY = Family(
    "disks",
    "The inference program and whole runs have no room to write: on a small disk (if this user may mount one), with a "
    "limit on the size of files, and as a user without the right to write. The run ends with one line; no program "
    "prints a traceback. With room, the next run gives the bytes of an undisturbed run. The program has "
    f"{COUNT} prompts.",
    [
        *(
            Case(
                f"files of at most {longest} bytes",
                lambda arena, n=longest: attack_limited(n, arena),
                fast=longest == FAST_LONGEST,
            )
            for longest in LONGEST_FILES
        ),
        *(
            Case(f"a disk of {size} kB for the program", lambda arena, n=size: attack_small_journal_disk(n, arena))
            for size in (4, 8, 12)
        ),
        Case("read only", attack_read_only),
        *(Case(f"results on {size} kB", lambda arena, n=size: attack_run(n, arena)) for size in DISKS),
    ],
)
