"""Inputs of the jobs of configs, for tests without Snakemake."""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from conftest import ROOT, write_lines

from litm.config.study import Study, load_study
from litm.workflow.data_inputs import DataInputs
from litm.workflow.export_files import ExportFiles
from litm.workflow.figure_files import FigureFiles
from litm.workflow.report_files import ReportFiles
from litm.workflow.rules_help import Programs
from litm.workflow.sweep_inputs import SweepInputs
from litm.workflow.table_files import TableFiles

MIXED = yaml.safe_load((ROOT / "workflow_tests" / "golden" / "mixed.yaml").read_text())
#: One of everything that the configs of config/ do not have.
OTHER = {
    "models": ["here", "chat", "completions", "keyless", "recorded", "parts"],
    "experiments": ["kv", "kv_in_tokens", "qa", "open", "oracle", "closed"],
    "only": {"recorded": ["qa", "closed"]},
    "data_mirror": "mirror",
    "define": MIXED["define"],
}


#: The wildcards of a job.
of = SimpleNamespace


@dataclass(frozen=True)
class Inputs:
    """What the rules take the inputs, params and resources of a study's jobs from, as in rules/common.smk."""

    study: Study
    data: DataInputs
    sweeps: SweepInputs
    tables: TableFiles
    figures: FigureFiles
    reports: ReportFiles
    exports: ExportFiles


def inputs_of(study: Study, runs_here: bool = True) -> Inputs:
    file, data = Programs(ROOT).file, DataInputs(study)
    sweeps = SweepInputs(study, data, file, lambda: runs_here)
    tables = TableFiles(study, data, sweeps, file)
    figures = FigureFiles(study, data, sweeps, tables)
    reports = ReportFiles(study, data, sweeps, tables, figures)
    return Inputs(study, data, sweeps, tables, figures, reports, ExportFiles(study))


def plan(name: str = "toy", **changes: object) -> Inputs:
    """The inputs of one of the configs in config/, run in the project's folder."""
    files = [ROOT / "config" / "config.yaml", ROOT / "config" / f"{name}.yaml"]
    config = {key: value for file in files for key, value in yaml.safe_load(file.read_text()).items()}
    return inputs_of(load_study({**config, **changes}, ROOT))


def plan_in(folder: Path, name: str = "toy", **changes: object) -> Inputs:
    """As `plan`, run in a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return plan(name, **changes)


@pytest.fixture
def in_the_project(monkeypatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="module")
def demo() -> Inputs:
    return plan_in(ROOT)


@pytest.fixture(scope="module")
def paper() -> Inputs:
    return plan_in(ROOT, "paper")


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory) -> tuple[Path, Inputs]:
    """A folder with the user's files that `OTHER` names, and its plan with one of everything."""
    folder = tmp_path_factory.mktemp("elsewhere")
    for name in ("asked.jsonl", "answers.jsonl"):
        write_lines(folder / name, ["{}"])
    (folder / "kept.txt").write_text("0")
    for name in ("notes", "mirror"):
        (folder / name).mkdir()
        (folder / name / "a.txt").write_text("a")
    (folder / "resources").symlink_to(ROOT / "resources")
    return folder, plan_in(folder, **OTHER)


@pytest.fixture
def other(elsewhere, monkeypatch) -> Inputs:
    """The plan with one of everything, in its folder."""
    folder, one = elsewhere
    monkeypatch.chdir(folder)
    return one
