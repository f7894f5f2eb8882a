"""Changes of docs/what_re_runs_when.yaml, made on the workbench of their study and compared with their rows."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from functools import reduce
from typing import Any

import pytest
import yaml
from conftest import ROOT
from workbench import Workbench

PAGE = ROOT / "docs" / "what_re_runs_when.yaml"


def changes(study: str = "reruns") -> pytest.MarkDecorator:
    """One test for each change to a study, with its row as `row`; the first is none at all."""
    every = yaml.safe_load(PAGE.read_text())["changes"]
    rows = [every[0], *(row for row in every[1:] if row.get("study", "reruns") == study)]
    return pytest.mark.parametrize("row", rows, ids=[row.get("do") or row["case"] for row in rows])


def with_keys(config: Mapping, values: Mapping[str, Any]) -> dict:
    """A config with other values of keys, each a path with dots."""
    new: Any = deepcopy(config)
    for path, value in values.items():
        *outer, last = path.split(".")
        reduce(lambda one, key: one.setdefault(key, {}), outer, new)[last] = value
    return new


def check(bench: Workbench, config: Mapping, row: Mapping, actions: Mapping[str, Callable] | None = None) -> None:
    """Make the change of a row in a finished workbench: the jobs are those of the row, and so are the prompts."""
    for file in row.get("comment", [None]):
        with change(bench, config, row, file, actions or {}):
            planned = bench.plan()
            assert planned == row.get("jobs", {}), f"{file or row}: {planned}"
            asks(bench, row, "asked")
    asks(bench, row, "back")


def asks(bench: Workbench, row: Mapping, key: str) -> None:
    """Run a sweep of the row and compare how many prompts it asked and found, if the row has these numbers."""
    if key in row:
        sweep = row.get("sweep", "dummy/kv")
        bench.run("--", f"results/responses/{sweep}.jsonl.gz")
        assert bench.asked(*reversed(sweep.split("/"))) == tuple(row[key])


@contextmanager
def change(bench: Workbench, config: Mapping, row: Mapping, file: str | None, actions: Mapping) -> Iterator[None]:
    """The workbench with the change of a row, which is taken back unless it is an action."""
    edited = file or row.get("edit", [None])[0]
    before = bench.path(edited).read_bytes() if edited else b""
    if "config" in row:
        bench.configure(with_keys(config, row["config"]))
    if "action" in row:
        actions[row["action"]](bench)
    if "edit" in row:
        bench.edit(*row["edit"])
    if file:
        bench.path(file).write_bytes(before + b"# A comment.\n")
    yield
    if edited:
        bench.path(edited).write_bytes(before)
    if "config" in row:
        bench.configure(config)
