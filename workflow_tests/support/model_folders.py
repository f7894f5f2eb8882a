"""Fixtures of model folders: a copy of the reference model, to spoil, and tiny models with random weights."""

import json
import shutil
from pathlib import Path

import pytest
from conftest import ROOT
from engine_settings import changed_settings

from litm.engines.interface import EngineSettings


@pytest.fixture
def model_folder(tmp_path) -> Path:
    return Path(shutil.copytree(ROOT / "resources" / "reference_model", tmp_path / "model"))


def change(path: Path, **values: object) -> None:
    """Set fields of a JSON file."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


@pytest.fixture(scope="session")
def settings_of(tmp_path_factory):
    """Settings for the model of a family, which is made when it is first asked for."""
    from families import ATTENTION, save_model
    from local_engines import TINY

    made: dict[str, EngineSettings] = {}

    def settings(family: str) -> EngineSettings:
        if family not in made:
            folder = tmp_path_factory.mktemp(family)
            save_model(family, folder)
            attention = ATTENTION.get(family, TINY.keys.attention)
            made[family] = changed_settings(TINY, location=str(folder), attention=attention)
        return made[family]

    return settings


@pytest.fixture(scope="session")
def babbler(tmp_path_factory) -> str:
    """The folder of a model whose vocabulary is rich in line ends."""
    from local_engines import save_babbler

    folder = tmp_path_factory.mktemp("babbler")
    save_babbler(folder)
    return str(folder)
