"""Inputs of the jobs of configs, for tests without Snakemake."""

from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from conftest import ROOT, write_lines

from litm.config.study import Study, load_study
from litm.workflow.data_inputs import DataInputs
from litm.workflow.result_files import PageFiles, TableFiles
from litm.workflow.rules_help import Programs
from litm.workflow.sweep_inputs import SweepInputs

SHA256 = "0" * 64
#: One of everything that the configs of config/ do not have.
OTHER = {
    "models": ["here", "chat", "completions", "keyless", "recorded", "parts"],
    "experiments": ["kv", "kv_in_tokens", "qa", "open", "oracle", "closed"],
    "only": {"recorded": ["qa", "closed"]},
    "data_mirror": "mirror",
    "define": {
        "datasets": {
            "asked": {"path": "asked.jsonl"},
            "tokenizer": {"url": "https://example.org/tokenizer.json", "sha256": SHA256},
            "far": {"url": "https://example.org/a/far.jsonl.gz", "sha256": SHA256},
            "kept": {"path": "kept.txt", "labels": "txt"},
        },
        "corpora": {"notes": {"source": "documents", "path": "notes", "shards": 2, "passages_per_shard": 11_000}},
        "retrievers": {
            "exact": {"method": "dense", "hub": "someone/encoder", "threads": 8},
            "near": {"method": "dense", "hub": "someone/encoder", "index": "hnsw", "device": "cpu", "batch_tokens": 9},
            "words": {"method": "bm25"},
        },
        "candidates": {
            "by_near": {"questions": "far", "corpus": "notes", "retriever": "near", "documents": 5},
            "by_words": {
                "questions": "asked", "corpus": "notes", "retriever": "words", "documents": 6, "kind": "as_retrieved"
            },
            "drawn": {
                "questions": "asked", "corpus": "mini_encyclopedia", "documents": 6, "kind": "gold_and_random"
            },
        },
        "models": {
            "here": {
                "engine": "transformers", "path": "resources/reference_model", "device": "cpu", "mem_mb": 100,
                "context_window": 100,
            },
            "chat": {
                "engine": "openai", "api_model": "gpt", "base_url": "http://localhost/v1", "concurrency": 3,
                "request_timeout": 50, "request_attempts": 4, "prices": {"input": 1, "output": 2},
            },
            "completions": {
                "engine": "openai", "api_model": "gpt", "endpoint": "completions", "context_window": 100,
                "tokenizer": "resources/reference_model",
            },
            "keyless": {"engine": "anthropic", "api_model": "c", "tokenizer": "tokenizer"},
            "recorded": {
                "engine": "recorded", "responses": {"qa": "answers.jsonl", "closed": "far"},
                "fields": {"response": "r", "id": "i", "prompt": "p"},
            },
            "parts": {
                "engine": "vllm", "hub": "someone/x-7b-chat", "prompt_template": "chat", "shards": 3, "gpus": 2,
                "gpu_model": "a100", "tokenizer": "tokenizer", "on_failure": "count", "context_window": 4096,
                "batch_tokens": 99, "threads": 4, "tokens_per_second": 10,
            },
            "counter": {"engine": "transformers", "hub": "someone/y", "prompt_template": "vicuna_v1_1"},
        },
        "experiments": {
            "kv": {"task": "kv_retrieval", "positions": {4: [0, 3], 6: [0, 5]}, "examples": 3},
            "kv_in_tokens": {
                "task": "kv_retrieval", "tokens_of": "counter", "depths": {500: [0, 0.5, 1], 900: [0, 1]}, "examples": 3
            },
            "qa": {
                "task": "multi_document_qa", "dataset": {3: "by_near", 4: "drawn"}, "positions": {3: [0, 2], 4: [1]},
                "subset": "kept", "closed_book": "closed", "oracle": "oracle",
            },
            "open": {"task": "open_domain_qa", "dataset": "by_words", "sizes": [2, 4]},
            "oracle": {"task": "oracle_qa", "dataset": "asked"},
            "closed": {"task": "closed_book_qa", "dataset": "asked"},
        },
    },
}  # fmt: skip


@dataclass(frozen=True)
class Inputs:
    """What the rules take the inputs, params and resources of a study's jobs from, as in rules/common.smk."""

    study: Study
    data: DataInputs
    sweeps: SweepInputs
    tables: TableFiles
    pages: PageFiles


def inputs_of(study: Study, runs_here: bool = True) -> Inputs:
    """Those of a study."""
    file = Programs(ROOT).file
    data = DataInputs(study)
    sweeps = SweepInputs(study, data, file, lambda: runs_here)
    tables = TableFiles(study, data, sweeps, file)
    return Inputs(study, data, sweeps, tables, PageFiles(study, data, sweeps, tables))


def of(**wildcards: str) -> SimpleNamespace:
    """The wildcards of a job."""
    return SimpleNamespace(**wildcards)


def plan(name: str = "toy", **changes: object) -> Inputs:
    """The inputs of one of the configs in config/, run in the project's folder."""
    files = [ROOT / "config" / "config.yaml", ROOT / "config" / f"{name}.yaml"]
    config = {key: value for file in files for key, value in yaml.safe_load(file.read_text()).items()}
    return inputs_of(load_study({**config, **changes}, ROOT))


def plan_in(folder: Path, name: str = "toy", **changes: object) -> Inputs:
    """As `plan`, run in a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return plan(name, **changes)


def user_folder(folder: Path) -> Path:
    """The folder, with the files that `OTHER` names."""
    for name in ("asked.jsonl", "answers.jsonl"):
        write_lines(folder / name, ["{}"])
    (folder / "kept.txt").write_text("0")
    for name in ("notes", "mirror"):
        (folder / name).mkdir()
        (folder / name / "a.txt").write_text("a")
    (folder / "resources").symlink_to(ROOT / "resources")
    return folder


@pytest.fixture
def in_the_project(monkeypatch) -> None:
    """The working directory is the project."""
    monkeypatch.chdir(ROOT)


@pytest.fixture(scope="module")
def demo() -> Inputs:
    """The plan of the default config."""
    return plan_in(ROOT)


@pytest.fixture(scope="module")
def paper() -> Inputs:
    """The plan of config/paper.yaml."""
    return plan_in(ROOT, "paper")


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory) -> tuple[Path, Inputs]:
    """A folder with a user's files, and its plan with one of everything."""
    folder = user_folder(tmp_path_factory.mktemp("elsewhere"))
    return folder, plan_in(folder, **OTHER)


@pytest.fixture
def other(elsewhere, monkeypatch) -> Inputs:
    """The plan with one of everything, in its folder."""
    folder, one = elsewhere
    monkeypatch.chdir(folder)
    return one
