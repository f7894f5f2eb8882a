"""Code that comes with a model is never run, whatever the folder, the configuration or standard input say."""

import ast
import io
import json
import re
import shutil
from inspect import getsource
from pathlib import Path

import pytest
from conftest import ROOT

from litm.base.errors import UserError
from litm.config.catalogue import read_catalogue_entry
from litm.config.models import NOT_OF_CONFIG
from litm.inference.engine import EngineSettings
from litm.models.context_window import load_config
from litm.prompting.tokenizer import load_tokenizer

REFUSAL = "it needs Python code of its own, which is never run here"


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A model whose configuration, tokenizer and network are code of its own, and a user who says yes to everything."""
    folder = tmp_path / "model"
    shutil.copytree(ROOT / "resources" / "reference_model", folder)
    ran = tmp_path / "ran"
    (folder / "own.py").write_text(f"open({str(ran)!r}, 'w')\n")
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n" * 100))
    return folder


def change(path: Path, **values) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_a_configuration_that_is_code_is_refused_in_one_line(folder):
    change(folder / "config.json", model_type="mine", auto_map={"AutoConfig": "own.Config"})
    with pytest.raises(UserError, match=f"configuration of {folder}: {REFUSAL}") as caught:
        load_config(str(folder), None)
    assert "\n" not in str(caught.value) and not (folder.parent / "ran").exists()


def test_a_tokenizer_that_is_code_is_refused_in_one_line(folder):
    change(folder / "config.json", model_type="mine")
    change(
        folder / "tokenizer_config.json",
        tokenizer_class="Mine",
        auto_map={"AutoTokenizer": ["own.Tokenizer", None]},
    )
    with pytest.raises(UserError, match=f"tokenizer of {folder}: {REFUSAL}") as caught:
        load_tokenizer(str(folder))
    assert "\n" not in str(caught.value) and not (folder.parent / "ran").exists()


def test_a_network_that_is_code_gives_way_to_that_of_transformers(folder):
    import torch

    from litm.inference.local.loading import load_model

    change(folder / "config.json", auto_map={"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"})
    config = load_config(str(folder), None)
    settings = EngineSettings(str(folder), None, None, "raw", None, 1, "end_token")
    assert type(load_model(settings, config, torch.device("cpu"))).__module__.startswith("transformers.")
    assert not (folder.parent / "ran").exists()


def test_whatever_transformers_loads_is_told_to_run_no_code():
    calls = []
    for path in sorted((ROOT / "scripts").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("from_pretrained"):
                told = {argument.arg: ast.unparse(argument.value) for argument in node.keywords}
                calls.append((f"{path.name}: {ast.unparse(node.func)}", told.get("trust_remote_code")))
    # These classes are given, not looked up, so that there is no code but theirs.
    plain = [name for name, told in calls if told != "False"]
    assert [name.split(": ")[1] for name in plain] == [
        "GenerationConfig.from_pretrained",
        "PreTrainedTokenizerFast.from_pretrained",
    ]
    assert len(calls) > 5


def test_a_models_config_cannot_say_how_or_from_where_it_is_loaded():
    from transformers import AutoConfig, PreTrainedConfig

    source = getsource(AutoConfig.from_pretrained) + getsource(PreTrainedConfig._get_config_dict)
    taken = set(re.findall(r'kwargs(?:\.pop\(|\.get\(|\[)"(\w+)"', source))
    assert {"trust_remote_code", "code_revision", "revision", "cache_dir", "token", "subfolder"} <= taken
    # The model's own type is a key of its config.json.
    for key in (taken | NOT_OF_CONFIG) - {"model_type"}:
        with pytest.raises(UserError, match=f"models.m.config: '{key}' is no key of a config.json but says how"):
            read_catalogue_entry("models", "m", {"engine": "transformers", "hub": "a/b", "config": {key: True}})
