"""GGUF files: headers, unpacked folders, and refused files."""

import json
import re
import struct
from pathlib import Path

import numpy as np
import pytest
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf_files import TEMPLATE, WINDOW, write_gguf
from programs import load_program, refused

from litm.base.store import file_sha256
from litm.models.gguf import KINDS, number_format, read_gguf, unpacked
from litm.models.identity import check_identified


@pytest.fixture(scope="module")
def identified(tmp_path_factory):
    """A model in a GGUF file: its source as identify_model.py writes it, the file, its weights before quantising."""
    folder = tmp_path_factory.mktemp("gguf")
    path = folder / "tiny-instruct.gguf"
    weights = write_gguf(path)
    return identified_now(path), path, weights


def identified_now(path: Path, tokenizer: str | None = None) -> dict:
    """The source of the model in a GGUF file, with the store next to it."""
    location = {"path": str(path), "hub": None, "revision": None, "dtype": "float32"}
    return load_program("identify_model").identify(location, tokenizer, None, str(path.parent / "store"))


def test_the_number_formats_are_those_of_the_package_gguf():
    assert {kind.value: (kind.name, *GGML_QUANT_SIZES[kind]) for kind in GGMLQuantizationType} == KINDS


@pytest.mark.parametrize(
    ("kind", "dtype", "read_as"),
    [
        (GGMLQuantizationType.Q8_0, "auto", "float32"),
        (GGMLQuantizationType.F16, "auto", "float16"),
        (GGMLQuantizationType.BF16, "auto", "bfloat16"),
        (GGMLQuantizationType.Q8_0, "bfloat16", "bfloat16"),
    ],
)
def test_weights_are_unpacked_without_loss_unless_the_entry_names_a_format(tmp_path, kind, dtype, read_as):
    write_gguf(tmp_path / "m.gguf", kind=kind)
    header = read_gguf(tmp_path / "m.gguf")
    assert (header.architecture, header.name, header.window, header.parts) == ("llama", "Tiny Instruct", WINDOW, 1)
    assert header.has_tokenizer and header.has_chat_template
    # The norms' float32 is less than one in a hundred.
    assert header.kind == kind.name and set(header.kinds) == {kind.name, "F32"}
    assert number_format(header, dtype) == read_as


def test_a_file_is_identified_by_its_hash_and_unpacked_to_a_folder_with_its_tokenizer_and_template(identified):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source, path, weights = identified
    assert source["identity"] == {"files": {"tiny-instruct.gguf": file_sha256(path)}}
    assert (source["weights"], source["context_window"]) == ("Q8_0", WINDOW)
    tokenizer = AutoTokenizer.from_pretrained(source["location"])
    assert tokenizer.chat_template == TEMPLATE
    assert tokenizer.decode(tokenizer("ab c!")["input_ids"]) == "ab c!"
    loaded = AutoModelForCausalLM.from_pretrained(source["location"]).state_dict()
    wanted = weights["blk.1.ffn_up.weight"]
    read = loaded["model.layers.1.mlp.up_proj.weight"].numpy()
    # Q8_0 has 8 bits and a scale for each 32 weights, which are at most 1.4.
    assert 0 < np.abs(read - wanted).max() < 1.4 / 127


def test_a_file_or_an_unpacked_one_that_has_changed_since_is_refused(identified, tmp_path):
    source, path, _ = identified
    check_identified("m", source, None)
    config = Path(source["location"]) / "config.json"
    was = config.read_bytes()
    config.write_text(json.dumps({**json.loads(was), "rope_theta": 5.0}))
    said = refused(check_identified, "m", source, None)
    assert re.search("config.json has changed since .* identify_model`, which unpacks the GGUF file", said)
    config.write_bytes(was)
    other = tmp_path / path.name
    write_gguf(other, kind=GGMLQuantizationType.F16)
    said = refused(check_identified, "m", {**source, "gguf": str(other)}, None)
    assert "tiny-instruct.gguf has changed since the model was identified" in said
    said = refused(check_identified, "m", {**source, "location": str(tmp_path / "nothing")}, None)
    assert "is gone from the store: make it again" in said


def test_a_changed_unpacked_model_is_unpacked_again(identified, capfd):
    source, path, _ = identified
    folder = Path(source["location"])
    weights, facts = folder / "model.safetensors", folder.with_name(f"{folder.name}.json")
    was, about = weights.read_bytes(), json.loads(facts.read_text())
    assert about["facts"]["files"] == source["unpacked"] and "model.safetensors" in source["unpacked"]
    weights.write_bytes(was[:-8] + was[:7:-1][:8])
    assert weights.read_bytes() != was
    assert identified_now(path) == source
    assert weights.read_bytes() == was
    said = capfd.readouterr().err
    assert "what was made of tiny-instruct.gguf: it is made again" in said
    # The progress bar of transformers has no whole lines, which other jobs' lines would join.
    assert "tiny-instruct.gguf: de-quantising it into" in said and "Converting" not in said
    check_identified("m", source, None)


def test_a_separate_tokenizer_of_a_gguf_file_is_part_of_its_identity_and_compared_before_answers_are_kept(
    identified, tmp_path
):
    own = tmp_path / "tokenizer.json"
    own.write_text("one")
    source = identified_now(identified[1], str(own))
    assert source["identity"]["tokenizer"] == file_sha256(own)
    check_identified("m", source, str(own))
    own.write_text("another")
    said = refused(check_identified, "m", source, str(own))
    assert "tokenizer.json has changed since the model was identified" in said


TEXT = struct.pack("<I", 8)


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value)) + value.encode()


def with_field(name: str, value: bytes) -> bytes:
    """The header of a model of llama with one more field; value: its type and its value."""
    fields = text("general.architecture") + TEXT + text("llama") + text(name) + value
    return b"GGUF" + struct.pack("<IQQ", 3, 0, 2) + fields + bytes(64)


#: What a file may have instead, or the number of bytes that are left of it, and what is said.
UNSOUND = {
    **{f"{size} bytes": (size, "get it again") for size in (0, 3, 30, 600, 60_000)},
    "zip": (b"PK\x03\x04" + b"x" * 100, "not a GGUF file"),
    "alignment": (with_field("general.alignment", TEXT + text("x")), "general.alignment is 'x', which is no whole"),
    "window": (with_field("llama.context_length", TEXT + text("x")), "llama.context_length is 'x'"),
    "parts": (with_field("split.count", struct.pack("<If", 6, 2.5)), "split.count is 2.5"),
    "arrays": (with_field("a", struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 5000), "maximum recursion depth"),
}


@pytest.mark.parametrize("what", UNSOUND)
def test_a_file_that_is_cut_short_or_has_no_sound_header_is_refused_in_one_line(tmp_path, what):
    path, (content, said) = tmp_path / "m.gguf", UNSOUND[what]
    if isinstance(content, int):
        write_gguf(path)
        assert path.stat().st_size > content
        content = path.read_bytes()[:content]
    path.write_bytes(content)
    assert said in refused(read_gguf, path)


def test_an_architecture_that_transformers_does_not_read_is_one_line(tmp_path):
    path = tmp_path / "m.gguf"
    write_gguf(path, architecture="brain")
    said = refused(unpacked, path, read_gguf(path), "float32", tmp_path / "store", file_sha256)
    assert re.search(r"does not read this GGUF file \(.*brain.*\): use the model from the hub", said)


def test_a_file_that_is_replaced_while_it_is_read_is_not_kept_under_the_hash_of_the_other(tmp_path):
    path = tmp_path / "m.gguf"
    write_gguf(path)
    hashes = iter(["a" * 64, "b" * 64])
    said = refused(unpacked, path, read_gguf(path), "float32", tmp_path / "store", lambda _: next(hashes))
    assert "it was replaced while it was read" in said
    assert not list((tmp_path / "store").glob("[0-9a-f]*"))
