"""A mistake in the configuration gives one line that names the key and lists the allowed values."""

import datetime
import shutil

import pytest
from configs import DEFAULT, KV, config, define
from conftest import ROOT

from litm.base.messages import UserError
from litm.config.study import load_study

HUB = {"engine": "transformers", "hub": "a/b", "prompt_template": "raw"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"modls": ["reference"]},
            "config: unknown key 'modls' (did you mean 'models'?); allowed: models, experiments,",
        ),
        ({"models": "reference"}, "config.models: must be a list, as in [one, two], found 'reference'"),
        ({"seed": "one"}, "config.seed: must be a whole number, found 'one'"),
        (
            {"models": ["refrence"]},
            "models: unknown name 'refrence' (did you mean 'reference'?); allowed: reference, ",
        ),
        (
            {"models": ["reference-hu"], **define("models", **{"reference-hub": HUB})},
            "models: unknown name 'reference-hu' (did you mean 'reference', which is installed, or 'reference-hub', "
            "which is not?); allowed: ",
        ),
        (
            {"models": ["referenc"], **define("models", **{"reference-hub": HUB})},
            "models: unknown name 'referenc' (did you mean 'reference'?); allowed: ",
        ),
        (
            {"models": ["llama-3.2-1b-instruc"]},
            "models: unknown name 'llama-3.2-1b-instruc' (did you mean 'llama-3.2-1b-instruct'?); allowed: ",
        ),
        (
            define("models", reference={"max_new_tokens": 50}),
            "models.reference: 'max_new_tokens' is a key of an experiment, set it there",
        ),
        ({"experiments": ["kv"]}, "experiments: unknown name 'kv'; allowed: "),
        ({"figures": ["nothing"]}, "figures: unknown name 'nothing'; allowed: "),
        (
            {"figures": ["figure1"], "experiments": ["multi_document_qa"]},
            "figures.figure1: it shows nothing of the selection (its models are gpt-3.5-turbo-0613; its sizes are 20)",
        ),
        (define("figures", f={"experiments": ["kv_retrieval"], "models": ["x"]}), "figures.f.models: unknown name 'x'"),
        (
            {
                "figures": ["f"],
                "experiments": ["closed_book_qa"],
                **define("figures", f={"experiments": ["closed_book_qa"], "kind": "mean_accuracy_by_size"}),
            },
            "figures.f: closed_book_qa has no positions, a figure of 'kind: mean_accuracy_by_size' is of",
        ),
        (
            define("figures", f={"experiments": ["kv_retrieval"], "kind": "accuracy_by_positon"}),
            "figures.f.kind: unknown name 'accuracy_by_positon' (did you mean 'accuracy_by_position'?)",
        ),
        (
            {"figures": ["f"], **define("figures", f={"experiments": ["kv_retrieval_small"], "kind": "pbi_forest"})},
            "figures.f: a figure of 'kind: pbi_forest' is always made, of all curves; take this one out of the config",
        ),
        ({"figures": ["multi_document_qa"]}, "figures.multi_document_qa: experiments selected in this config: unknown"),
        (
            define("models", reference={"dtype": "fp16"}),
            "models.reference.dtype: 'fp16' is not allowed; allowed: auto, float32",
        ),
        (
            define("models", reference={"hub": "a/b"}),
            "models.reference: give either 'path' (a folder or a GGUF file), 'package'",
        ),
        (
            define("models", reference={"engine": "vlm"}),
            "models.reference.engine: unknown name 'vlm' (did you mean 'vllm'?); allowed: anthropic, ",
        ),
        (
            define("models", reference={"prompt_template": "x"}),
            "models.reference.prompt_template: unknown name 'x'; allowed: raw, chat, claude",
        ),
        (
            define("models", reference={"path": "no/such"}),
            "models.reference.path: no/such does not exist (searched from ",
        ),
        (
            define("models", reference={"device": "gpu"}),
            "models.reference.device: 'gpu' is not allowed; it is: auto (a GPU if there is one), cpu, cuda,",
        ),
        (define("experiments", x={**KV, "task": "kv"}), "experiments.x.task: unknown name 'kv'"),
        (
            define("experiments", x={**KV, "positions": {4: [0, 4]}}),
            "experiments.x.positions.4: position 4 is impossible, positions in a context of 4 are 0 to 3",
        ),
        (
            define("experiments", x={**KV, "positions": {4: [-1]}}),
            "experiments.x.positions.4.0: -1 is less than the minimum of 0",
        ),
        (
            define("experiments", x={**KV, "positions": {"four": [1]}}),
            "experiments.x.positions: unknown key 'four'; allowed: Positions of the gold item, from 0",
        ),
        (define("experiments", x={"task": "kv_retrieval", "examples": 3}), "experiments.x: 'positions' is missing"),
        (define("experiments", x={**KV, "examples": None}), "experiments.x: 'examples' is missing: the number of"),
        (
            define("experiments", x={**KV, "examples": "ten"}),
            "experiments.x.examples: must be a whole number or null, found 'ten'",
        ),
        (
            define("experiments", x={**KV, "prompt": "y"}),
            "experiments.x.prompt: unknown name 'y'; allowed: closed_book_qa,",
        ),
        (
            define("experiments", x={**KV, "metric": "f1"}),
            "experiments.x.metric: unknown name 'f1'; allowed: best_subspan_em, value_in_answer",
        ),
        (define("experiments", x={**KV, "dataset": {5: "kv_75_keys"}}), "experiments.x.dataset: no dataset for size 4"),
        (define("experiments", x={**KV, "dataset": "nq"}), "experiments.x.dataset: unknown name 'nq'"),
        (
            define("experiments", x={"task": "multi_document_qa", "positions": {2: [0]}}),
            "experiments.x: the task multi_document_qa needs a 'dataset'",
        ),
        (
            define("experiments", x={"task": "oracle_qa", "dataset": "nq_open_oracle", "positions": {2: [0]}}),
            "experiments.x: the task oracle_qa takes no 'positions'",
        ),
        ({"data_mirror": "no/such"}, "config.data_mirror: no/such is not a folder"),
        (define("models", reference={"path": "config"}), "model folder config has no config.json"),
        (define("models", m={"engine": "transformers", "hub": "a/b/c"}), "models.m.hub: 'a/b/c' is not allowed"),
        (
            define("figures", f={"experiments": ["kv_retrieval"], "references": {"x": "X"}}),
            "figures.f.references: unknown",
        ),
        (define("datasets", d={"path": "config"}), "datasets.d.path: config is not a file"),
        (
            define("experiments", x={**KV, "prompt": "closed_book_qa"}),
            f"{ROOT}/resources/prompts/closed_book_qa.txt: the prompt must contain {{context}} once",
        ),
        (define("models", **{"a/b": {}}), "models: the name 'a/b' is not allowed; use letters,"),
        ({"define": {"models": {"m": {"engine": ["dummy"]}}}}, "models.m.engine: "),
        (define("models", reference={"threads": 2.0}), "models.reference.threads: must be a whole number, found 2.0"),
        (define("models", reference={"tokenizer": "config"}), "models.reference.tokenizer: config is not a file"),
        (
            {
                "figures": ["f"],
                **define("figures", f={"experiments": ["closed_book_qa"]}),
                "experiments": ["closed_book_qa"],
            },
            "figures.f: none of its experiments has positions",
        ),
        (
            define("datasets", nq_v1={"url": "https://x/kv-retrieval-75_keys.jsonl.gz", "sha256": "0" * 64}),
            "datasets.nq_v1: kv_75_keys is another file with the same base name kv-retrieval-75_keys.jsonl.gz;",
        ),
        (
            define("datasets", d={"url": "x/y", "sha256": "0" * 64}),
            "datasets.d.url: 'x/y' is not allowed; it is: Address of the file",
        ),
        (define("datasets", d={"url": "https://x/y"}), "datasets.d: a remote file needs its 'sha256'"),
        (
            define("datasets", d={"url": "https://me:secret@x/y", "sha256": "0" * 64}),
            "datasets.d.url: has a user or a password in it, which logs and results would repeat",
        ),
        (
            define("datasets", d={"url": "ssh://me:secret@x/y", "sha256": "0" * 64}),
            "datasets.d.url: 'ssh://***@x/y' is not allowed",
        ),
        (
            define("experiments", x={**KV, "depths": {500: [0, 1]}, "tokens_of": "reference"}),
            "experiments.x: give either 'positions' or 'depths'; 'positions: null' removes those of the catalogue",
        ),
        (
            define("experiments", x={**KV, "positions": None, "depths": {500: [0, 1]}}),
            "experiments.x: 'depths' (for each number of tokens) and 'tokens_of' (a model) go together",
        ),
        (
            define("experiments", x={**KV, "positions": None, "depths": {500: [0, 1.5]}, "tokens_of": "reference"}),
            "experiments.x.depths.500.1: 1.5 is greater than the maximum of 1",
        ),
        (
            define("experiments", x={**KV, "positions": None, "depths": {500: [0, 1]}, "tokens_of": "gpt"}),
            "experiments.x.tokens_of: unknown name 'gpt'; allowed: gpt",
        ),
        (define("experiments", x={**KV, "oracle": "y"}), "experiments.x.oracle: unknown name 'y'"),
        (
            {"experiments": ["x", "x_4"], **define("experiments", x={**KV, "positions": {4: [0, 3], 6: [0]}}, x_4=KV)},
            "experiments.x_4: x also has a curve named x_4; rename one of the two experiments",
        ),
        (define("experiments", pbi_forest=KV) | {"experiments": ["pbi_forest"]}, "the name pbi_forest is taken by"),
        (
            {"model_defaults": {"quantization": "nf5"}},
            "config.model_defaults.quantization: 'nf5' is not allowed; allowed: none, nf4, int8",
        ),
        (
            {"model_defaults": {"quantisation": "nf4"}},
            "config.model_defaults: unknown key 'quantisation' (did you mean 'quantization'?); allowed: dtype,",
        ),
        ({"model_defaults": {"path": "/m"}}, "config.model_defaults: unknown key 'path'"),
        (define("models", **{"a.zip": {}}), "models: the name 'a.zip' is not allowed; it would be taken for a file"),
        (
            define("experiments", x={**KV, "positions": {4: [[0, 1, 2]]}}),
            "experiments.x.positions.4: [0, 1, 2] is not a placement: questions of this task have 1 gold",
        ),
        (
            define("experiments", x={**KV, "task": "multi_needle", "positions": {6: [[0, 1]]}}),
            "experiments.x.positions.6: [0, 1] is not a placement: questions of this task have 3 gold",
        ),
        (
            define("experiments", x={**KV, "task": "multi_needle", "positions": {6: [[0, 3, 3]]}}),
            "experiments.x.positions.6: [0, 3, 3] must ascend, because the gold items keep their order",
        ),
        (
            define(
                "experiments",
                x={**KV, "positions": None, "depths": {500: [0.5, 0.50000001]}, "tokens_of": "reference"},
            ),
            "experiments.x.depths.500: gold_at_depth_0.5 is there 2 times",
        ),
        (
            define(
                "experiments",
                x={
                    "task": "multi_document_qa",
                    "dataset": "mini_encyclopedia_bm25",
                    "depths": {400: [0, 1]},
                    "tokens_of": "reference",
                },
            ),
            "experiments.x: sizes in tokens are for generated contexts, the task multi_document_qa has documents",
        ),
        (
            define("experiments", x={**KV, "on_overflow": "cut"}),
            "experiments.x.on_overflow: 'cut' is not allowed; allowed: leave_out, fail",
        ),
        (define("datasets", d={"path": "no/such.gz"}), "datasets.d.path: no/such.gz does not exist"),
        ({"models": []}, "config.models: [] has too few entries, the minimum is 1"),
        ({"models": [1]}, "config.models.0: must be a text, found 1"),
        ({"audit": {"prompt": 1}}, "config.audit: unknown key 'prompt'; allowed: prompts_per_cell"),
        ({"define": {"modles": {}}}, "config.define: unknown key 'modles' (did you mean 'models'?); allowed: models,"),
        ({"define": {"models": {"m": 3}}}, "config.define.models.m: must be a mapping, as in {key: value}, found 3"),
        (define("models", m={}), "models.m: 'engine' is missing; allowed: anthropic, "),
        (
            define("models", reference={"about": {"parameters": 0}}),
            "models.reference.about.parameters: 0 must be more than 0",
        ),
        (define("models", reference={"parameters": "7b"}), "models.reference.parameters: must be a number or null, fo"),
        (
            define("models", reference={"reasoning": True}),
            "models.reference.reasoning: True is not allowed; allowed: off, strip, budget",
        ),
        (define("experiments", x={"examples": 3}), "experiments.x: 'task' is missing: the kind of questions and"),
        (
            define("experiments", x={**KV, "positions": {4: ["a"]}}),
            "experiments.x.positions.4.0: must be a whole number or a list, as in [one, two], found 'a'",
        ),
        (
            define("experiments", x={**KV, "positions": {4: [[0, "a"]]}}),
            "experiments.x.positions.4.0.1: must be a whole number, found 'a'",
        ),
        (
            define("experiments", x={**KV, "positions": {4: [[0]]}}),
            "experiments.x.positions.4.0: [0] has too few entries, the minimum is 2",
        ),
        (
            define("experiments", x={**KV, "positions": {4: [0, 0]}}),
            "experiments.x.positions.4: gold_at_0 is there 2 times",
        ),
        (define("experiments", x={**KV, "dataset": {4: 5}}), "experiments.x.dataset.4: must be a text, found 5"),
        (
            define("experiments", x={"task": "open_domain_qa", "dataset": "nq_open_as_retrieved", "sizes": [5, 5]}),
            "experiments.x.sizes.5: as_retrieved is there 2 times",
        ),
    ],
)
def test_a_mistake_is_one_line_with_the_key_and_the_allowed_values(changes, message, monkeypatch):
    selected = {"experiments": ["x"]} if "x" in changes.get("define", {}).get("experiments", {}) else {}
    monkeypatch.chdir(ROOT)
    with pytest.raises(UserError) as caught:
        load_study({**DEFAULT, **selected, **changes}, ROOT)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("model.safetensors", "has no weights"),
        ("config.json", "has no config.json"),
        ("tokenizer*.json", "has no tokenizer"),
    ],
)
def test_a_model_folder_that_is_not_whole_is_refused_before_any_job(tmp_path, missing, message):
    folder = tmp_path / "model"
    shutil.copytree(ROOT / "resources" / "reference_model", folder)
    for path in folder.glob(missing):
        path.unlink()
    with pytest.raises(UserError, match=f"model folder {folder} {message}"):
        load_study(config(**define("models", reference={"path": str(folder)})), ROOT)


def test_a_chat_prompt_without_a_chat_template_is_refused_before_any_job(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(ROOT / "resources" / "reference_model", folder)
    entry = config(**define("models", reference={"path": str(folder), "prompt_template": "chat"}))
    with pytest.raises(UserError, match=r"reference\.prompt_template: .* has no chat template: use 'raw'"):
        load_study(entry, ROOT)
    (folder / "chat_template.jinja").write_text("{{ messages[0].content }}")
    load_study(entry, ROOT)


LONG_CONFIGS = {
    "a path": define("models", mine={"engine": "transformers", "path": "p" * 5000}) | {"models": ["mine"]},
    "a tokenizer": define("models", dummy={"tokenizer": "p" * 5000}) | {"models": ["reference"]},
    "a name": {"models": ["m" * 5000]},
    "a value": {"seed": "1" * 5000},
    "a key": {"k" * 5000: 1},
    "a key inside": define("experiments", x={**KV, "dataset": {"k" * 5000: 1}}) | {"experiments": ["x"]},
    "a list": {"seed": list(range(5000))},
    "a name of nobody's home": define("models", mine={"engine": "transformers", "path": "~nobody_at_all/m"})
    | {"models": ["mine"]},
}


@pytest.mark.parametrize("changes", LONG_CONFIGS.values(), ids=LONG_CONFIGS)
def test_messages_are_short_for_any_long_value(changes, monkeypatch):
    monkeypatch.chdir(ROOT)
    with pytest.raises(UserError) as caught:
        load_study({**DEFAULT, **changes}, ROOT)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (datetime.date(2020, 1, 1), "datetime.date(2020, 1, 1) is of the kind 'date': write it as a text"),
        ({1}, "{1} is of the kind 'set': write it as a text"),
        (b"hi", "b'hi' is of the kind 'bytes': write it as a text"),
        (float("nan"), "nan is not a number: write one, or leave it out"),
        ([0.5, float("inf")], "inf is not a number: write one, or leave it out"),
        ("half \ud83d", "'half \\ud83d' has half a character"),
    ],
)
def test_values_of_another_workflow_that_json_lacks_are_named_with_their_keys(value, said, monkeypatch):
    monkeypatch.chdir(ROOT)
    changes = define("models", mine={"engine": "openai", "api_model": "m", "request": {"x": value}})
    with pytest.raises(UserError) as caught:
        load_study({**DEFAULT, **changes}, ROOT)
    assert str(caught.value).startswith("config.define.models.mine.request.x") and said in str(caught.value)


def test_a_config_that_contains_itself_is_one_line(monkeypatch):
    monkeypatch.chdir(ROOT)
    own: dict = {}
    own["define"] = own
    with pytest.raises(UserError, match=r"config.*contains itself"):
        load_study({**DEFAULT, **own}, ROOT)
