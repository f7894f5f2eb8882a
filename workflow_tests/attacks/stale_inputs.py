"""Inputs replaced without a newer time: the answers are always those of a fresh directory."""

import threading
from collections.abc import Callable, Iterator

from fuzzed_configs import refused_by_snakemake
from outcomes import REFUSED, RIGHT, WRONG, Arena, Case, Family, Outcome
from replaced_files import CASES, Stale
from waiting import wait_until
from workbench import Workbench

#: Results that are compared with those of a fresh directory.
RESULTS = ("results/responses/*/*.jsonl.gz", "results/accuracy/*/*.parquet", "results/tables/accuracy.csv")
TARGET = "results/tables/accuracy.csv"


def results(bench: Workbench) -> dict[str, bytes]:
    """The bytes of all results that are compared."""
    paths = [path for pattern in RESULTS for path in sorted(bench.folder.glob(pattern))]
    return {str(path.relative_to(bench.folder)): path.read_bytes() for path in paths}


def fresh(stale: Stale, arena: Arena, name: str, *changes: Callable[[Workbench], None]) -> dict[str, bytes]:
    """The results of a run in a new directory, after the changes."""
    bench = arena.project().moved_to(arena.folder / name)
    for change in (stale.prepare, *changes):
        change(bench)
    bench.configure(stale.config)
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


def attack(stale: Stale, arena: Arena) -> Iterator[Outcome]:
    """Run, replace, run again and compare with a fresh directory; then put the first files back and repeat."""
    bench = arena.project().moved_to(arena.folder / "bench")
    stale.prepare(bench)
    bench.configure(stale.config)
    if stale.during:
        _run_while_replaced(stale, bench)
    else:
        # The target first: `--until` reads everything after it as names of rules.
        bench.run(TARGET, *stale.until)
        stale.replace(bench)
    outcome = run(bench, stale.name)
    expected = fresh(stale, arena, "fresh", stale.replace)
    yield _compared(outcome, results(bench), expected)
    if stale.back:
        stale.back(bench)
        back = f"{stale.name}, and back"
        first = fresh(stale, arena, "first")
        if first == expected:
            yield Outcome(back, WRONG, "the attack changes no answer")
        yield _compared(run(bench, back), results(bench), first)


def _compared(outcome: Outcome, found: dict[str, bytes], expected: dict[str, bytes]) -> Outcome:
    if outcome.result == WRONG or found == expected:
        return outcome
    other = [name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)]
    return Outcome(outcome.case, WRONG, f"stale: {', '.join(sorted(other))}")


def _run_while_replaced(stale: Stale, bench: Workbench) -> None:
    """Run, and replace as soon as an answer is in a journal, or the model is identified."""
    journal, started = bench.path("results/journal/mine/kv.jsonl"), bench.path("results/models/mine.json")

    done = threading.Event()

    def replace() -> None:
        wait_until(lambda: done.is_set() or (started.exists() and journal.exists()))
        stale.replace(bench)

    thread = threading.Thread(target=replace)
    thread.start()
    bench.snakemake(TARGET)
    done.set()
    thread.join()


FAMILY = Family(
    "stale",
    "An input is replaced by a file that is older than the results, and the same command runs again. The results are "
    "the bytes of a run in a fresh directory, also after the first file is put back; or one line refuses the file, and "
    "its advice helps.",
    [Case(stale.name, lambda arena, stale=stale: attack(stale, arena)) for stale in CASES],
)
