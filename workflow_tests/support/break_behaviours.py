"""Breaks each behaviour of behaviours.yaml in a copy of the project, and shows whether its test fails.

python break_behaviours.py [ID ...]     all behaviours, or those named
"""

import ast
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from conftest import ROOT
from workbench import copy_project

BEHAVIOURS = ROOT / "workflow_tests" / "support" / "behaviours.yaml"
HELD, NOT_HELD, NOT_BROKEN = "failed as it must", "NOT HELD", "did not run"

Row = Mapping[str, str]


def read_behaviours() -> dict[str, Row]:
    """The behaviours by their ids: `is`, `file`, `old` and `new` text, and the `test` that must fail."""
    return yaml.safe_load(BEHAVIOURS.read_text(encoding="utf-8"))


def mistake(row: Row) -> str:
    """What is wrong with a row: its text is not once in its file, or there is no such test; "" for nothing."""
    file, (test, _, name) = ROOT / row["file"], row["test"].partition("::")
    times = file.read_text(encoding="utf-8").count(row["old"]) if file.is_file() else 0
    if times != 1 or row["old"] == row["new"]:
        return f"{row['file']} has {times} times, not once: {row['old']!r}"
    path = ROOT / "workflow_tests" / test
    tree = ast.parse(path.read_text(encoding="utf-8")) if path.is_file() else ast.Module([], [])
    if not any(isinstance(one, ast.FunctionDef) and one.name == name.partition("[")[0] for one in tree.body):
        return f"no test {row['test']}"
    return ""


def run_tests(folder: Path, tests: Sequence[str]) -> subprocess.CompletedProcess:
    """Run tests of a copy. Compiled modules are new each time: one of the same size and second would hide a break."""
    words = ["-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
    words += [f"workflow_tests/{one}" for one in tests]
    with TemporaryDirectory() as compiled:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": compiled, "PYTHONPATH": str(folder / "scripts")}
        return subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True)


def broken(folder: Path, row: Row) -> str:
    """Break a behaviour in a copy, run its test, restore it; what came of it."""
    file = folder / row["file"]
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(row["old"], row["new"]), encoding="utf-8")
    try:
        return {0: NOT_HELD, 1: HELD}.get(run_tests(folder, [row["test"]]).returncode, NOT_BROKEN)
    finally:
        file.write_text(text, encoding="utf-8")


def main(named: Sequence[str]) -> int:
    """Break the named behaviours or all; the exit status is 1 if a test does not hold one."""
    rows = {name: row for name, row in read_behaviours().items() if not named or name in named}
    results: dict[str, str] = {}
    with TemporaryDirectory() as folder:
        copy_project(Path(folder))
        # As tests want it.
        subprocess.run(["git", "init", "--quiet"], cwd=folder, check=True)
        whole = run_tests(Path(folder), sorted({row["test"] for row in rows.values()}))
        if whole.returncode:
            print(whole.stdout, "\nerror: a test fails without any break", file=sys.stderr)
            return 1
        for name, row in rows.items():
            results[name] = mistake(row) or broken(Path(folder), row)
            print(f"{name:<12} {results[name]:<18} {row['is']}  [{row['test']}]", flush=True)
    held = sum(result == HELD for result in results.values())
    print(f"{held} of {len(rows)} behaviours are held by their tests")
    return held < len(rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
