"""A copy of the reference model, to spoil."""

import json
import shutil
from pathlib import Path

import pytest
from conftest import ROOT


@pytest.fixture
def model_folder(tmp_path) -> Path:
    return Path(shutil.copytree(ROOT / "resources" / "reference_model", tmp_path / "model"))


def change(path: Path, **values: object) -> None:
    """Set fields of a JSON file."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))
