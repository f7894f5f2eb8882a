"""Models with recorded responses in the configuration."""

from collections import Counter
from pathlib import Path

import configs
import yaml
from conftest import ROOT, qa_record, write_lines
from programs import refused
from snakemake.utils import update_config

from litm.base.json_files import read_jsonl
from litm.config.study import load_study
from litm.records.cells import Cell

TOKENIZER = ROOT / "resources" / "reference_model" / "tokenizer.json"
FIELDS = {"response": "model_answer", "question": "question"}
QA = {"task": "multi_document_qa", "dataset": "d", "positions": {3: [0, 2], 4: [1]}}


def study(folder: Path, entry: dict, **changes):
    file = {"path": str(write_lines(folder / "d.jsonl", [qa_record(0, 4)]))}
    define = {
        "datasets": {"d": file, "all.jsonl": file},
        "experiments": {"qa": QA, "cb": {"task": "closed_book_qa", "dataset": "d"}},
        "models": {"m": {"engine": "recorded", **entry}},
    }
    return configs.study(**{"models": ["m"], "experiments": ["qa"], "define": define, **changes})


def test_a_path_is_filled_in_for_each_cell_and_defaults_of_models_do_not_count(tmp_path):
    for name in ("3-gold_at_0", "3-gold_at_2", "4-gold_at_1"):
        write_lines(tmp_path / f"{name}.jsonl", [])
    pattern = str(tmp_path / "{size}-{placement}.jsonl")
    entry = {"responses": {"qa": pattern}, "fields": FIELDS}
    one = study(tmp_path, entry, model_defaults={"quantization": "nf4"}, models=["reference", "m"])
    files = one.models["m"].files["qa"]
    assert [(Path(file).name, cells) for file, cells in files] == [
        ("3-gold_at_0.jsonl", [Cell(3, "gold_at_0")]), ("3-gold_at_2.jsonl", [Cell(3, "gold_at_2")]),
        ("4-gold_at_1.jsonl", [Cell(4, "gold_at_1")]),
    ]  # fmt: skip
    with_position = entry | {"responses": {"qa": str(tmp_path / "{size}-gold_at_{position}.jsonl")}}
    assert study(tmp_path, with_position).models["m"].files["qa"] == files


def test_a_dataset_may_be_named_and_an_experiment_without_responses_is_left_out(tmp_path):
    one = study(tmp_path, {"responses": {"qa": "all.jsonl"}}, models=["reference", "m"], experiments=["cb", "qa"])
    ((file, cells),) = one.models["m"].files["qa"]
    assert file == "all.jsonl" and len(cells) == 3
    assert one.pairs() == [("reference", "cb"), ("reference", "qa"), ("m", "qa")]
    assert one.not_recorded == [("m", "cb")]
    assert one.left_out == ["no recorded responses, left out: m/cb"]


def test_the_recorded_study_has_one_response_to_each_question_at_each_position():
    config: dict = {}
    for name in ("config", "laptop", "laptop_recorded"):
        update_config(config, yaml.safe_load((ROOT / "config" / f"{name}.yaml").read_text()))
    one = load_study(config, ROOT)
    ((_, model),) = one.models.items()
    assert [experiment for _, experiment in one.pairs()] == config["experiments"]
    for name, ((file, cells),) in model.files.items():
        records = [record for _, record in read_jsonl(ROOT / file)]
        asked = Counter((record["size"], record["placement"]) for record in records)
        assert asked == {(cell.size, cell.placement): one.experiments[name].examples for cell in cells}, name
        assert len({(record["id"], record["size"], record["placement"]) for record in records}) == len(records)


def test_a_tokenizer_that_is_still_to_supply_is_told_and_its_model_is_read_without(tmp_path):
    (tmp_path / "preds.jsonl").write_text("{}\n")
    models = {"gpt-3.5-turbo-0613": {"responses": {"closed_book_qa": str(tmp_path / "preds.jsonl")}}}
    selected = {"models": models, "experiments": ["closed_book_qa"]}
    without = configs.study(**selected)
    supplied = configs.study(**selected, **configs.define("datasets", cl100k_tokenizer={"path": str(TOKENIZER)}))
    (told,) = without.notes
    assert "no tokens are counted: gpt-3.5-turbo-0613" in told and "cl100k_tokenizer" in told and supplied.notes == []
    tokenizers = [one.models["gpt-3.5-turbo-0613"].tokenizer for one in (without, supplied)]
    assert tokenizers == [None, "cl100k_tokenizer"]


def test_an_entry_with_an_engine_of_another_kind_keeps_only_the_facts_about_the_model(tmp_path):
    def read(name: str, entry: dict) -> dict:
        defaults = {"dtype": "float32", "concurrency": 3}
        selected = {"models": {name: entry}, "experiments": {"kv": configs.KV}, "model_defaults": defaults}
        return configs.study(**selected).models[name].model_dump()

    recorded = {"engine": "recorded", "responses": {"kv": str(write_lines(tmp_path / "r.jsonl", []))}}
    served = {"engine": "openai", "api_model": "x", "base_url": "http://localhost:1/v1"}
    for name, entry in (("mpt-30b-instruct", recorded), ("llama-2-70b-chat", recorded), ("llama-2-70b-chat", served)):
        known = read(name, {})
        assert read(name, entry) == {**read("mine", entry), "about": known["about"]}, name
        assert known["about"]
    kept = read("llama-2-70b-chat", {"engine": "vllm"})
    assert kept == {key: {**known, "engine": "vllm", "engine_options": {}}[key] for key in kept}
    # What another engine of the kind lacks is told, and not dropped.
    assert "is not for 'engine: vllm', only for 'engine: transformers'" in refused(read, "mpt-30b", {"engine": "vllm"})


def test_a_missing_file_beside_others_is_not_recorded_and_said(tmp_path):
    write_lines(tmp_path / "3.jsonl", [])
    entry = {"responses": {"qa": str(tmp_path / "{size}.jsonl")}, "fields": FIELDS | {"position": "at"}}
    one = study(tmp_path, entry)
    assert [cells for _, cells in one.models["m"].files["qa"]] == [[Cell(3, "gold_at_0"), Cell(3, "gold_at_2")]]
    assert one.left_out == ["no file of recorded responses of m to qa at 4 gold_at_1: not recorded"]
    (tmp_path / "3.jsonl").unlink()
    assert "3.jsonl does not exist" in refused(study, tmp_path, entry)


def test_files_named_by_positions_from_1_are_refused_until_the_scale_is_given(tmp_path):
    for name in ("3-1", "3-2", "3-3", "4-2"):
        write_lines(tmp_path / f"{name}.jsonl", [])
    entry = {"responses": {"qa": str(tmp_path / "{size}-{position}.jsonl")}, "fields": FIELDS}
    assert "counted from 1: set 'position_scale' to from_1" in refused(study, tmp_path, entry)
    files = study(tmp_path, {**entry, "position_scale": "from_1"}).models["m"].files["qa"]
    assert [(Path(file).name, *cells) for file, cells in files] == [
        ("3-1.jsonl", Cell(3, "gold_at_0")), ("3-3.jsonl", Cell(3, "gold_at_2")), ("4-2.jsonl", Cell(4, "gold_at_1")),
    ]  # fmt: skip


def test_the_config_of_other_peoples_answers_has_files_for_all_its_models(tmp_path, monkeypatch):
    config = yaml.safe_load((ROOT / "config" / "others.yaml").read_text())
    entries = config["define"]["models"]
    assert config["models"] == [*entries]
    patterns = {pattern for entry in entries.values() for pattern in entry["responses"].values()}
    for pattern in patterns:
        for size in (10, 20, 30) if "{size}" in pattern else (None,):
            path = tmp_path / pattern.replace("{size}", str(size))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    monkeypatch.chdir(tmp_path)
    whole = yaml.safe_load((ROOT / "config" / "config.yaml").read_text())
    update_config(whole, config)
    one = load_study(whole, ROOT)
    assert len(one.pairs()) == 3 * len(entries)
    assert one.models["gpt-4.1"].rows["oracle_qa"] == {"condition": "oracle"}
