"""A mistake in the configuration gives one line that names the key and lists the allowed values."""

import datetime
import shutil
from pathlib import Path

import pytest
import yaml
from configs import KV, define, of_row, study
from conftest import ROOT
from programs import refused

from litm.base.schema import check_plain
from litm.config.study import load_study

MISTAKES = yaml.safe_load((Path(__file__).parent / "mistakes.yaml").read_text())["mistakes"]
REFERENCE = ROOT / "resources" / "reference_model"


@pytest.mark.parametrize("row", MISTAKES, ids=[row["says"][:60] for row in MISTAKES])
def test_a_mistake_is_one_line_with_the_key_and_the_allowed_values(row, monkeypatch):
    monkeypatch.chdir(ROOT)
    said = refused(load_study, of_row({key: value for key, value in row.items() if key != "says"}), ROOT)
    assert said.removeprefix(f"{ROOT}/").startswith(row["says"])


@pytest.mark.parametrize(
    ("missing", "message"),
    [("model.safetensors", "no weights"), ("config.json", "no config.json"), ("tokenizer*.json", "no tokenizer")],
)
def test_a_model_folder_that_is_not_whole_is_refused_before_any_job(tmp_path, missing, message):
    folder = shutil.copytree(REFERENCE, tmp_path / "model")
    for path in folder.glob(missing):
        path.unlink()
    said = refused(study, models={"reference": {"path": str(folder)}})
    assert said.startswith(f"model folder {folder} has {message}")
    if "tokenizer" in missing:
        said = refused(study, **define("retrievers", x={"method": "dense", "path": str(folder)}))
        assert said == f"retrievers.x.path: {folder} has no tokenizer: copy the model's there"


def test_a_chat_prompt_without_a_chat_template_is_refused_before_any_job(tmp_path):
    folder = shutil.copytree(REFERENCE, tmp_path / "model")
    models = {"reference": {"path": str(folder), "prompt_template": "chat"}}
    assert "has no chat template: use 'raw'" in refused(study, models=models)
    (folder / "chat_template.jinja").write_text("{{ messages[0].content }}")
    study(models=models)


LONG_CONFIGS = {
    "a path": {"models": {"mine": {"engine": "transformers", "path": "p" * 5000}}},
    "a tokenizer": {"define": {"models": {"dummy": {"tokenizer": "p" * 5000}}}},
    "a name": {"models": ["m" * 5000]},
    "a value": {"seed": "1" * 5000},
    "a key": {"k" * 5000: 1},
    "a key inside": {"experiments": {"x": {**KV, "dataset": {"k" * 5000: 1}}}},
    "a list": {"seed": list(range(5000))},
    "a name of nobody's home": {"models": {"mine": {"engine": "transformers", "path": "~nobody_at_all/m"}}},
}


@pytest.mark.parametrize("changes", LONG_CONFIGS.values(), ids=LONG_CONFIGS)
def test_messages_are_short_for_any_long_value(changes, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert len(refused(study, **changes)) < 600


@pytest.mark.parametrize("value", [datetime.date(2020, 1, 1), {1}, b"hi", float("nan"), [0.5, float("inf")]])
def test_values_of_another_workflow_that_json_lacks_are_named_with_their_keys(value):
    said = refused(study, models={"mine": {"engine": "openai", "api_model": "m", "request": {"x": value}}})
    assert said.startswith("config.define.models.mine.request.x")
    assert "is no text, finite number, true, false or null: write one" in said


def test_half_a_character_is_named_with_its_key():
    said = refused(study, models={"mine": {"engine": "openai", "api_model": "half \ud83d"}})
    assert said.startswith("config.define.models.mine.api_model: 'half \\ud83d' has half a character")


def test_a_config_that_contains_itself_or_repeats_aliases_a_billion_times_is_one_line():
    own: dict = {}
    own["define"] = own
    many: list = ["x"]
    for _ in range(12):
        many = [many] * 9
    for value in (own, many):
        said = refused(check_plain, value, "config")
        assert said.startswith("config: more than 1,000,000 values, or more than 100 in one another")
