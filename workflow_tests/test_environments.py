"""The lock and the conda environments name the same versions."""

import re

import pytest
import yaml
from conftest import ROOT


def pins(text: str) -> dict[str, str]:
    found = re.findall(r"^([A-Za-z0-9._-]+)==(\S+)$", text, re.MULTILINE)
    return {name.lower().replace("_", "-"): version for name, version in found}


LOCK = pins((ROOT / "requirements.lock").read_text())
DIRECT = pins((ROOT / "requirements.in").read_text())


def test_the_lock_has_every_direct_requirement_at_its_version():
    assert len(DIRECT) > 15
    assert {name: LOCK.get(name) for name in DIRECT} == DIRECT


@pytest.mark.parametrize("path", sorted((ROOT / "envs").glob("*.yaml")), ids=lambda path: path.stem)
def test_a_conda_environment_has_the_versions_of_the_lock(path):
    dependencies = yaml.safe_load(path.read_text())["dependencies"]
    (packages,) = [entry["pip"] for entry in dependencies if isinstance(entry, dict)]
    named = pins("\n".join(packages))
    assert len(named) == len(packages)
    assert named == {name: DIRECT[name] for name in named}
