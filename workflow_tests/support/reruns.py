"""Changes of docs/what_re_runs_when.yaml, made on the workbench of their study and compared with their rows."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from functools import reduce
from typing import Any

import pytest
import yaml
from conftest import ROOT
from workbench import PlannedJob, Workbench, jobs_by_rule, needed_for

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
    comments = row.get("comment", [])
    # Files that make nothing again one by one do so together, in one plan.
    groups = [[file] for file in comments] if row.get("jobs") else [comments]
    for files in groups or [[]]:
        with change(bench, config, row, files, actions or {}):
            planned = bench.planned()
            assert jobs_by_rule(planned) == row.get("jobs", {}), f"{files or row}: {jobs_by_rule(planned)}"
            asks(bench, row, "asked", planned)
    asks(bench, row, "back", [])


def asks(bench: Workbench, row: Mapping, key: str, planned: Sequence[PlannedJob]) -> None:
    """Run a sweep of the row and compare how many prompts it asked and found, if the row has these numbers.

    Snakemake runs it only where the jobs are those of edited code, or are planned anew after the change is undone.
    """
    if key in row:
        sweep = row.get("sweep", "dummy/kv")
        responses = f"results/responses/{sweep}.jsonl.gz"
        if {"back", "comment", "edit"} & {*row}:
            bench.run("--", responses)
        else:
            done = bench.run_programs(job.command for job in needed_for(responses, planned))
            assert done.returncode == 0, done.stdout + done.stderr
        assert bench.asked(*reversed(sweep.split("/"))) == tuple(row[key])


@contextmanager
def change(
    bench: Workbench, config: Mapping, row: Mapping, files: Sequence[str], actions: Mapping[str, Callable]
) -> Iterator[None]:
    """The workbench with the change of a row, which is taken back unless it is an action.

    files: those to which a comment is added.
    """
    before = {name: bench.path(name).read_bytes() for name in (*files, *row.get("edit", [])[:1])}
    if "config" in row:
        bench.configure(with_keys(config, row["config"]))
    if "action" in row:
        actions[row["action"]](bench)
    if "edit" in row:
        bench.edit(*row["edit"])
    for file in files:
        bench.path(file).write_bytes(before[file] + b"# A comment.\n")
    yield
    for name, content in before.items():
        bench.path(name).write_bytes(content)
    if "config" in row:
        bench.configure(config)
