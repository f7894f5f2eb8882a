"""Full and read-only disks: the run ends with one line and keeps finished work, and the next run resumes."""

import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from outcomes import REFUSED, RIGHT, TRACEBACK, WRONG, Arena, Case, Family, Outcome, refusal_fault
from sweeps import ANSWERS, COUNT, answer_records, dummy_sweep, repeated_keys, short_examples
from workbench import CONFIG, Workbench

#: Kilobytes of the disks for whole runs; bytes of the longest file that the program may write.
DISKS = (64, 128, 192, 256, 320, 384, 448, 512, 640, 768, 896, 1024)
LONGEST_FILES = (0, 100, 700, 2000, 4000, 6000)
#: The case of `make test-all`.
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
    subprocess.run(["mount", "-o", f"remount,rw,size={ENOUGH}", folder], check=True)


def limited(longest: int) -> Callable[[], None]:
    """Limit the length of files, which needs no separate disk."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (longest, resource.RLIM_INFINITY))

    return limit


def undisturbed(folder: Path) -> None:
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
    kept = len(answer_records(place / ANSWERS))
    fault = refusal_fault(done.stderr.strip().splitlines()[-1]) if done.stderr.strip() else "nothing is said"
    if done.returncode and ("Traceback" in done.stderr or fault):
        return Outcome(case, WRONG, fault or done.stderr[-300:])
    subprocess.run(command, capture_output=True, check=True)
    responses = [folder / "responses.jsonl.gz" for folder in (place, whole)]
    same = responses[0].exists() and responses[0].read_bytes() == responses[1].read_bytes()
    if not same or repeated_keys(place / ANSWERS):
        return Outcome(case, WRONG, "other responses, or an answer twice, after the next run")
    return Outcome(case, REFUSED if done.returncode else RIGHT, done.stderr.strip()[-200:], numbers={"kept": kept})


def attack_limited(longest: int, arena: Arena) -> Iterator[Outcome]:
    yield attempt(f"files of at most {longest} bytes", arena, arena.folder, preexec_fn=limited(longest))


def attack_program(kilobytes: int, arena: Arena) -> Iterator[Outcome]:
    case = f"a disk of {kilobytes} kB for the program"
    with small_disk(arena.folder / "disk", f"{kilobytes}k") as disk:
        if disk is None:
            yield Outcome(f"{case}: cannot be mounted here", RIGHT, count=0)
        else:
            yield attempt(case, arena, disk, lambda: grow(disk))


def attack_read_only(arena: Arena) -> Iterator[Outcome]:
    """The program without the right to write one of its folders, or to read them."""
    before = obeying()
    if before is None:
        yield Outcome("read only: root cannot be stopped here", RIGHT, count=0)
        return
    (identity,) = (arena.made_once("undisturbed disk", undisturbed) / ANSWERS).iterdir()
    for case, name, mode in (
        ("a folder that is read only", ".", 0o555),
        ("answers that are read only", ANSWERS, 0o555),
        ("an identity that is read only", f"{ANSWERS}/{identity.name}", 0o555),
        ("locks that are read only", "asking", 0o555),
        ("a folder that cannot be looked into", ".", 0o000),
    ):
        place = arena.folder / case.replace(" ", "_")
        (place / name).mkdir(parents=True)
        place.chmod(0o777)
        (place / name).chmod(mode)
        outcome = attempt(case, arena, place, partial((place / name).chmod, 0o777), before)
        yield outcome if outcome.result != RIGHT else Outcome(case, WRONG, "the program could write all the same")


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
        # A traceback on the console may be Snakemake's own.
        of_programs = sum("Traceback" in path.read_text(errors="replace") for path in disk.glob("logs/**/*.log"))
        of_programs += "scripts/litm" in said.partition(TRACEBACK)[2]
        kept = len(answer_records(disk / "answers"))
        grow(disk)
        again = bench.snakemake("tables")
        expected = Workbench(arena.made_once("undisturbed results", lambda place: _whole_run(arena, place)))
        if again.returncode:
            yield Outcome(case, WRONG, f"the next run fails: {(again.stdout + again.stderr)[-400:]}")
        elif of_programs:
            yield Outcome(case, WRONG, f"{of_programs} tracebacks: {said[-300:]}")
        elif other := different(bench, expected):
            yield Outcome(case, WRONG, f"other bytes after the next run: {other}")
        else:
            yield Outcome(case, REFUSED if done.returncode else RIGHT, numbers={"kept": kept})


def _whole_run(arena: Arena, place: Path) -> None:
    bench = arena.project().moved_to(place)
    bench.configure(DUMMY)
    bench.run("tables")


def different(bench: Workbench, expected: Workbench) -> list[str]:
    """Tables, responses and scores that differ."""
    patterns = ("tables/*.csv", "responses/*/*.jsonl.gz", "scores/*/*.parquet")
    whole = [path for pattern in patterns for path in sorted(expected.folder.glob(f"results/{pattern}"))]
    found = {path: bench.folder / path.relative_to(expected.folder) for path in whole}
    return [path.name for path, own in found.items() if not own.exists() or own.read_bytes() != path.read_bytes()]


FAMILY = Family(
    "disks",
    "The inference program and whole runs cannot write: on a small disk (if this user may mount one), with a limit "
    "on the size of files, and as a user without write permission. The run ends with one line, and no program prints "
    "a traceback. Once there is room, the next run gives the same bytes as an undisturbed run. The program has "
    f"{COUNT} prompts.",
    [
        *(
            Case(f"files of at most {longest} bytes", partial(attack_limited, longest), longest == FAST_LONGEST)
            for longest in LONGEST_FILES
        ),
        *(Case(f"a disk of {size} kB for the program", partial(attack_program, size)) for size in (4, 8, 12)),
        Case("read only", attack_read_only),
        *(Case(f"results on {size} kB", partial(attack_run, size)) for size in DISKS),
    ],
)
