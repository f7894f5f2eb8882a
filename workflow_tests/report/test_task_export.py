"""Exported tasks: records, files of frameworks, and a metric that stands alone and judges as ours."""

import ast
import json
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
import record_makers
import yaml
from conftest import ROOT
from programs import run_program

from litm.base import extensions
from litm.base.json_files import read_jsonl
from litm.records.examples import Example, write_examples
from litm.report.task_export import measures, task_facts, task_record
from litm.scoring.metrics import JUDGED, METRICS, RECORDED, Metric
from litm.verdicts import judge_prompt, read_verdict
from litm.workflow.export_files import TASK_TEMPLATES
from litm.workflow.rules_help import local_modules

TEMPLATES = ROOT / "resources" / "task_export"
ABOUT = {"task": "t", "title": "A title", "metric": "best_subspan_em", "max_new_tokens": 7, "stop": "first_line"}
#: Answers that the metrics read in different ways.
PARTS = (
    "Paris", "the paris.", "*", "TRK-5938", "trk\u20115938", "TRK-59381", "b-1", "42.84", "4284", "12 x $357 = 4284",
)  # fmt: skip
ANSWERS = ["", "  \n", *PARTS, *map(": ".join, product(PARTS, repeat=2)), *map("\n".join, product(PARTS, repeat=2))]
GOLDS = (["Paris"], ["*"], ["TRK-5938", "b-1"], ["4284"], ["first", "FIRST"])


def gold(name: str, position: int, text: str, prompt: str) -> dict:
    start = prompt.index(text)
    return {"name": name, "position": position, "depth": 0.5, "answers": [text], "span": [start, start + len(text)]}


def example(placement: str, *names: str, **fields) -> Example:
    prompt = "\nWhat is {{ it }}?\n ab cd \n"
    targets = [gold(name, place, ("ab", "cd")[place], prompt) for place, name in enumerate(names)]
    return record_makers.example(placement=placement, prompt=prompt, targets=targets, **fields)


def export(folder: Path, name: str, examples: list[Example], judge: str = "", **about) -> Path:
    """The folder that the program writes for these examples; judge: the prompt of one."""
    about = {**ABOUT, "name": name, **about}
    write_examples(folder / "examples.jsonl.gz", examples)
    module = extensions.file_of(METRICS.module_of(about["metric"]) or Metric.__module__)
    code = local_modules(module, ROOT / "scripts")
    words = ["--about", json.dumps(about), "--examples", folder / "examples.jsonl.gz"]
    if judge:
        (folder / "judge.txt").write_text(judge)
        code = (*code, extensions.file_of(read_verdict.__module__))
        words += ["--judge", folder / "judge.txt", "--only-unclear"]
    templates = [TEMPLATES / one for one in TASK_TEMPLATES[bool(judge)]]
    words += ["--code", *code, "--templates", *templates]
    done = run_program("export_task", *words, "--output", folder / name)
    assert done.returncode == 0, done.stderr
    return folder / name


MESSAGES = [
    {"role": role, "content": text} for role, text in (("user", "one"), ("assistant", "two"), ("user", "three"))
]


def test_a_prompt_stays_a_text_to_the_character_and_a_conversation_stays_messages():
    text, chat = (task_record(example("gold_at_0", "gold", messages=messages)) for messages in (None, MESSAGES))
    assert text["input"] == "\nWhat is {{ it }}?\n ab cd \n" and "prompt" not in text["metadata"]
    assert chat["input"] == MESSAGES and chat["metadata"]["prompt"] == text["input"]
    assert text["metadata"]["prompt_sha256"] != chat["metadata"]["prompt_sha256"]


def test_a_record_has_what_a_scorer_needs_of_each_target():
    record = task_record(example("gold_at_0_1", "first", "second", cluster="c", items=9))
    assert record["id"] == "4-gold_at_0_1-q" and record["target"] == ["ab", "cd"]
    metadata = record["metadata"]
    assert [(one["name"], one["item"]) for one in metadata["targets"]] == [("first", "ab"), ("second", "cd")]
    assert (metadata["position"], metadata["cluster"], metadata["documents"]) == (None, "c", 9)
    assert task_record(example("gold_at_0", "gold"))["metadata"]["cluster"] == "q"


@pytest.mark.parametrize(
    ("placements", "names", "expected"),
    [
        (["gold_at_0"], ["gold"], ["accuracy"]),
        (["gold_at_0", "gold_at_3"], ["gold"], ["accuracy", "accuracy_4_gold_at_0", "accuracy_4_gold_at_3"]),
        (["gold_at_0_1"], ["a", "b"], ["accuracy_a", "accuracy_b"]),
    ],
    ids=["one cell", "two cells", "two targets"],
)  # fmt: skip
def test_each_target_and_cell_has_a_measure(placements, names, expected):
    facts = task_facts({**ABOUT, "name": "x"}, [task_record(example(one, *names)) for one in placements])
    assert measures(facts) == expected


def test_task_files_are_whole_and_send_nothing_but_the_prompt(tmp_path):
    folder = export(tmp_path, "my-qa", [example("gold_at_0", "gold")])
    assert [one for _, one in read_jsonl(folder / "examples.jsonl")] == [task_record(example("gold_at_0", "gold"))]
    for file in (folder / "my_qa.py", folder / "utils.py"):
        assert "EXPERIMENT" not in file.read_text() and ast.parse(file.read_text())
    text = (folder / "my_qa.yaml").read_text()
    task = yaml.safe_load(text.replace("!function ", ""))
    assert task["task"] == "my_qa" and task["metric_list"][0]["metric"] == "accuracy"
    assert task["generation_kwargs"] == {"until": [], "do_sample": False, "temperature": 0.0, "max_gen_toks": 7}
    assert (task["num_fewshot"], task["target_delimiter"]) == (0, "")


JUDGE = """
import json, sys
sys.path.insert(0, sys.argv[1])
from my_qa_metric import METRIC
answers, golds = json.load(sys.stdin)
print(json.dumps([METRIC.verdicts(answer, gold) for gold in golds for answer in answers]))
print(json.dumps(sorted(name for name in sys.modules if name.partition(".")[0] in ("litm", "my_task"))))
"""


@pytest.mark.parametrize("metric", [*(name for name in METRICS if name not in (JUDGED, RECORDED)), "first_word"])
def test_the_exported_metric_judges_as_ours_without_this_library(tmp_path, monkeypatch, metric):
    monkeypatch.setenv(extensions.VARIABLE, "")
    if metric == "first_word":
        extensions.use([str(ROOT / "examples" / "my_task")])
    folder = export(tmp_path, "my_qa", [example("gold_at_0", "gold")], metric=metric)
    golds = [["4284"]] if "integer" in metric else GOLDS
    ours = [METRICS[metric].verdicts(answer, gold) for gold in golds for answer in ANSWERS]
    # Isolated: neither the library's path nor the extensions in use.
    done = subprocess.run(
        [sys.executable, "-I", "-c", JUDGE, folder], input=json.dumps([ANSWERS, golds]), capture_output=True, text=True,
        env={}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    verdicts, library = map(json.loads, done.stdout.splitlines())
    assert verdicts == ours and library == []
    assert len({one["correct"] for one in ours}) > 1


ASK = """
import json, sys
sys.path.insert(0, sys.argv[1])
from my_qa_metric.litm.verdicts import judge_prompt, read_verdict
facts = json.load(open(sys.argv[1] + "/task.json"))
prompt = judge_prompt(facts["judge"]["prompt"], "Which?", ["ab", "cd"], "one\\ntwo")
print(json.dumps([prompt, read_verdict("It is not right."), facts["judge"]["only_unclear"]]))
"""


def test_a_judged_experiment_is_a_task_of_inspect_alone_that_asks_a_judge_as_this_library_does(tmp_path):
    template = "{question} {answers}\n{answer}"
    folder = export(tmp_path, "my-qa", [example("gold_at_0", "gold")], judge=template, metric=JUDGED)
    assert not [*folder.glob("*.yaml")] and not (folder / "utils.py").exists()
    task = (folder / "my_qa.py").read_text()
    assert ast.parse(task) and "EXPERIMENT" not in task and 'get_model(role="grader", required=True)' in task
    done = subprocess.run(
        [sys.executable, "-I", "-c", ASK, folder], capture_output=True, text=True, env={}, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [judge_prompt(template, "Which?", ["ab", "cd"], "one\ntwo"), "wrong", True]


def test_the_card_names_the_file_of_each_experiment(tmp_path):
    folders = [export(tmp_path, name, [example("gold_at_0", "gold")]) for name in ("one", "two")]
    sources = [{"name": "questions", "source": "https://example.org/q.gz", "version": None}]
    words = ["--sources", json.dumps(sources), "--tasks", *folders, "--template", TEMPLATES / "card.md.j2"]
    outputs = ["--output", tmp_path / "README.md", "--pyproject", tmp_path / "pyproject.toml"]
    done = run_program("export_card", *words, "--project", TEMPLATES / "pyproject.toml", *outputs)
    assert done.returncode == 0, done.stderr
    _, header, text = (tmp_path / "README.md").read_text().split("---\n", 2)
    for config, folder in zip(yaml.safe_load(header)["configs"], folders, strict=True):
        assert config["config_name"] == folder.name and config["data_files"][0]["split"] == "test"
        assert (tmp_path / config["data_files"][0]["path"]).is_file()
    assert "- questions: https://example.org/q.gz\n" in text and "| `two`: A title | 1 | 1 | 4_gold_at_0 |" in text
