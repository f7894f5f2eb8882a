"""Identity of models."""

import json
from hashlib import sha256
from pathlib import Path

import pytest
from conftest import ROOT
from programs import refused

from litm.base.store import digest, file_sha256
from litm.models.configuration import answer_window_of, context_window_of, load_config
from litm.models.identity import check_identified, folder_identity, hub_identity
from litm.models.locations import check_model_folder, model_files, tokenizer_files

REFERENCE = ROOT / "resources" / "reference_model"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda folder: (folder / "model.safetensors").write_bytes(b"x"), "model.safetensors has changed"),
        (lambda folder: (folder / "config.json").write_text("{}"), "config.json has changed"),
        (lambda folder: (folder / "vocab.txt").write_text("new"), "vocab.txt is new"),
        (lambda folder: (folder / "tokenizer.json").unlink(), "tokenizer.json is gone"),
        (lambda folder: (folder.parent / "tokenizer.model").write_text("b"), "tokenizer.model has changed"),
    ],
)
def test_a_folder_whose_files_are_others_than_when_it_was_identified_is_refused(tmp_path, model_folder, edit, said):
    folder, tokenizer = model_folder, tmp_path / "tokenizer.model"
    tokenizer.write_text("a")
    identity = {**folder_identity(folder), "tokenizer": file_sha256(tokenizer)}
    source = {"location": str(folder), "identity": identity}
    (folder / "README.md").write_text("another card")
    (folder / "config.json").touch()
    check_identified("m", source, str(tokenizer))
    assert folder_identity(folder) == folder_identity(REFERENCE)
    edit(folder)
    message = refused(check_identified, "m", source, str(tokenizer))
    assert message.startswith(f"model m ({folder}): ") and f"{said} since the model was identified" in message
    assert "`--forcerun identify_model`" in message


@pytest.mark.parametrize("name", ["source.spm", "qwen.tiktoken", "vocab.bpe", "spiece.model", "merges.txt"])
def test_every_kind_of_tokenizer_file_is_part_of_the_identity(name, model_folder):
    identities = [folder_identity(model_folder)]
    for text in ("one", "another"):
        (model_folder / name).write_text(text)
        identities.append(folder_identity(model_folder))
    assert len(set(map(digest, identities))) == 3
    assert model_folder / name in tokenizer_files(model_folder)


@pytest.mark.parametrize("index", ["model.safetensors.index.json", "pytorch_model.bin.index.json"])
def test_weights_in_subfolders_that_an_index_names_are_part_of_the_identity(index, model_folder):
    folder = model_folder
    (folder / "sub").mkdir()
    names = {"sub/w.safetensors": "sub/w.safetensors", "./model.safetensors": "model.safetensors", "v.part": "v.part"}
    (folder / "sub" / "w.safetensors").write_text("a")
    (folder / "sub" / "not named.safetensors").write_text("a")
    (folder / "v.part").write_text("a")
    (folder / index).write_text(json.dumps({"weight_map": dict.fromkeys("ab", "gone.bin") | dict(enumerate(names))}))
    before = folder_identity(folder)
    assert before["files"].keys() == {*folder_identity(REFERENCE)["files"], index, *names.values()}
    assert folder / "sub" / "w.safetensors" not in tokenizer_files(folder)
    (folder / "sub" / "w.safetensors").write_text("b")
    after = folder_identity(folder)
    assert {name for name in before["files"] if before["files"][name] != after["files"][name]} == {"sub/w.safetensors"}
    # Those of the index alone are weights too.
    (folder / "model.safetensors").unlink()
    check_model_folder(folder)


@pytest.mark.parametrize(
    ("index", "error"),
    [
        *(
            ({"weight_map": {"a": name}}, f"'weight_map' names '{name}', which is not in the model's folder: copy")
            for name in ("../w.bin", "sub/../../w.bin", "/w.bin")
        ),
        ({"weight_map": {"a": 1}}, "'weight_map' must have names of files, found 1; get the file again"),
        ({"weight_map": []}, "'weight_map' must be a dict, found list"),
        ({}, "the field 'weight_map' is missing"),
        ([], "expected a JSON object, found list"),
    ],
)
def test_an_index_that_leaves_its_folder_or_is_none_is_refused_on_one_line(index, error, model_folder):
    (model_folder.parent / "w.bin").write_text("a")
    path = model_folder / "model.safetensors.index.json"
    path.write_text(json.dumps(index))
    for refuses in (check_model_folder, model_files, folder_identity):
        assert refused(refuses, model_folder).startswith(f"{path}: {error}")


def test_the_identity_of_a_folder_without_such_files_is_as_it_was():
    names = {"config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"}
    hashes = {name: sha256((REFERENCE / name).read_bytes()).hexdigest() for name in names}
    assert folder_identity(REFERENCE) == {"files": hashes}
    assert {path.name for path in tokenizer_files(REFERENCE)} == names - {"model.safetensors"}


def test_a_hub_model_is_its_commit_also_without_a_network(tmp_path, monkeypatch):
    repository = tmp_path / "models--org--name"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(COMMIT)
    (repository / "snapshots" / COMMIT).mkdir(parents=True)
    (repository / "snapshots" / COMMIT / "config.json").write_text(json.dumps({}))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.file_download.HF_HUB_CACHE", str(tmp_path), raising=False)
    assert hub_identity("org/name", None) == {"hub": "org/name", "commit": COMMIT}
    said = refused(hub_identity, "org/other", None)
    assert said.startswith("model org/other (revision main): the hub cannot be reached")


def configured(folder: Path, config: dict, changes: dict | None = None):
    (folder / "config.json").write_text(json.dumps(config))
    return load_config(str(folder), None, changes)


@pytest.mark.parametrize(
    ("config", "window", "of_answer"),
    [
        ({"model_type": "llama", "max_position_embeddings": 4096}, 4096, None),
        ({"model_type": "llama"}, 2048, None),
        ({"model_type": "mpt", "max_seq_len": 8192}, 8192, None),
        ({"model_type": "gemma3", "text_config": {"model_type": "gemma3_text"}}, 131072, None),
        ({"model_type": "t5"}, None, None),
        # As Flan-T5-XXL and Flan-UL2 have it, which read further.
        ({"model_type": "t5", "n_positions": 512}, None, None),
        ({"model_type": "gpt2", "n_positions": 512}, 512, None),
        ({"model_type": "bart"}, 1024, 1024),
        ({"model_type": "bart", "max_position_embeddings": 2048}, 2048, 2048),
        ({"model_type": "led", "max_encoder_position_embeddings": 16384}, 16384, 1024),
        ({"model_type": "led", "max_decoder_position_embeddings": 512}, 16384, 512),
        ({"model_type": "t5gemma", "encoder": {"max_position_embeddings": 4096}}, 4096, 8192),
        ({"model_type": "t5gemma", "decoder": {"max_position_embeddings": 4096}}, 8192, 4096),
    ],
)
def test_the_windows_of_prompt_and_answer_are_the_configurations_or_its_architectures_default(
    tmp_path, config, window, of_answer
):
    found = configured(tmp_path, config)
    assert context_window_of(found) == window
    # That of a decoder of its own.
    assert not found.is_encoder_decoder or answer_window_of(found) == of_answer


def test_values_for_keys_of_a_configuration_replace_its_own_and_a_key_that_it_has_not_is_named(tmp_path):
    own = {"model_type": "llama", "max_position_embeddings": 64, "rope_scaling": {"type": "linear", "factor": 2.0}}
    rotary = {"rope_type": "linear", "factor": 8.0, "rope_theta": 10000.0}
    changed = configured(tmp_path, own, {"max_position_embeddings": 512, "rope_parameters": rotary})
    assert context_window_of(changed) == 512 and changed.rope_parameters == rotary
    said = refused(configured, tmp_path, own, {"rope_ratio": 8})
    assert said == f"configuration of {tmp_path}: it has no 'rope_ratio': fix the model's 'config'"
