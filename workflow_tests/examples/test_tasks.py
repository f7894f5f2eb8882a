"""The generator of key-value questions, the orders of documents, and the released files as sources."""

import ast
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ROOT, qa_record, write_lines

from litm.base.extensions import VARIABLE
from litm.base.messages import UserError
from litm.examples.examples import examples_of, reordered
from litm.examples.task import ExampleSettings
from litm.examples.tasks import load_task, task_names
from litm.examples.tasks.key_values import kv_retrieval
from litm.examples.tasks.question_answering import multi_document_qa

SETTINGS = ExampleSettings(examples=20, seed=0, distractor_order="ranked")


def test_a_random_order_has_the_items_of_the_ranked_one_in_another_order():
    for ranked in kv_retrieval.questions(20, SETTINGS, None):
        shuffled = reordered(ranked, 9, "random", seed=0)
        assert set(shuffled.distractors) == set(ranked.distractors[:9])
        assert shuffled.distractors != ranked.distractors[:9]
        assert shuffled == reordered(ranked, 9, "random", seed=0) != reordered(ranked, 9, "random", seed=1)


def test_the_authors_order_is_that_of_their_scripts_which_shuffle_all_questions_from_one_seed(tmp_path):
    path = write_lines(tmp_path / "data.jsonl", [qa_record(number, 9) for number in range(3)])
    questions = list(multi_document_qa.questions(5, SETTINGS, str(path)))
    random.seed(0)
    orders = [[one[0] for one in question.distractors[:4]] for question in questions]
    for order in orders:
        random.shuffle(order)
    asked = replace(SETTINGS, distractor_order="authors")
    for position in (1, 3):
        examples = examples_of(multi_document_qa, questions, 5, f"gold_at_{position}", "{context}", asked)
        for number, (order, example) in enumerate(zip(orders, examples, strict=True)):
            titles = [*order[:position], f"Gold title {number}", *order[position:]]
            assert re.findall(r"Title: ([^)]*)\)", example.prompt) == titles


def released_kv(keys: int = 3) -> dict:
    pairs = [[f"key{i}", f"value{i}"] for i in range(keys)]
    return {"ordered_kv_records": pairs, "key": "key1", "value": "value1"}


def test_a_released_kv_example_keeps_the_order_of_its_other_pairs(tmp_path):
    path = write_lines(tmp_path / "kv.jsonl.gz", [released_kv(4)])
    (question,) = kv_retrieval.questions(4, replace(SETTINGS, examples=None), str(path))
    assert question.golds[0].item == ("key1", "value1")
    assert question.distractors == (("key0", "value0"), ("key2", "value2"), ("key3", "value3"))


QA = qa_record(2, 2)


def without(record: dict, field: str) -> dict:
    return {name: value for name, value in record.items() if name != field}


def with_isgold(record: dict, flags: list) -> dict:
    documents = [{**document, "isgold": flag} for document, flag in zip(record["ctxs"], flags, strict=True)]
    return {**record, "ctxs": documents}


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ('{"question": "wh', r"line 2: not valid JSON"),
        ("[1, 2]", r"line 2: expected a JSON object, found list"),
        (without(QA, "answers"), r"line 2: the field 'answers' is missing"),
        ({**QA, "answers": [" "]}, r"line 2: 'answers' must be a list of one or more non-empty strings"),
        ({**QA, "answers": []}, r"line 2: 'answers' must be a list of one or more non-empty strings"),
        ({**QA, "answers": "one"}, r"line 2: 'answers' must be a list, found str"),
        (with_isgold(QA, [True, True, False]), r'line 2: 2 documents have "isgold": true'),
        (with_isgold(QA, [False, False, False]), r'line 2: 0 documents have "isgold": true'),
        *(
            (with_isgold(QA, [True, False, wrong]), r"line 2, ctxs\[2\]: 'isgold' must be true or false")
            for wrong in ("true", "false", 1, 0, None)
        ),
        ({**QA, "ctxs": [{"text": "x", "isgold": True}]}, r"line 2, ctxs\[0\]: the field 'title' is missing"),
        ({**QA, "question": "what is number 1"}, r"line 2: the question .* is already on line 1"),
    ],
)
def test_a_bad_qa_record_is_refused_with_file_and_line(tmp_path, bad, message):
    path = write_lines(tmp_path / "qa.jsonl.gz", [qa_record(1, 2), bad])
    with pytest.raises(UserError, match=f"qa.jsonl.gz, {message}"):
        list(multi_document_qa.questions(3, replace(SETTINGS, examples=None), str(path)))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({**released_kv(), "ordered_kv_records": [["key1", "value1"], ["a", "b"], ["a", "c"]]}, "duplicate key 'a' in"),
        ({**released_kv(), "value": ""}, "'key' and 'value' must not be empty"),
        ({**released_kv(), "value": "other"}, "the pair of key 'key1' and value 'other' is not among"),
        ({**released_kv(), "ordered_kv_records": [["key1"]]}, "expected .key, value., two strings"),
        (without(released_kv(), "key"), "the field 'key' is missing"),
        ({**released_kv(), "ordered_kv_records": [["key1", "value1"], ["a", "value1"]]}, "'value1' of .* key 'a' too"),
        (
            {**released_kv(), "ordered_kv_records": [["key1", "value1"], ["value1", "b"]]},
            "'value1' of .* key 'value1' too",
        ),
    ],
)
def test_a_bad_kv_record_is_refused_with_file_and_line(tmp_path, bad, message):
    path = write_lines(tmp_path / "kv.jsonl.gz", [bad])
    with pytest.raises(UserError, match=f"kv.jsonl.gz, line 1.*{message}"):
        list(kv_retrieval.questions(3, replace(SETTINGS, examples=None), str(path)))


def generate_changed(change):
    """The task's function, which makes other distractors."""

    def generate(id_, size, rng, wording):
        question = kv_retrieval.generate(id_, size, rng, wording)
        return replace(question, distractors=change(question.distractors))

    return generate


STRINGS = generate_changed(lambda items: tuple("".join(item) for item in items))
ONE_TOO_FEW = generate_changed(lambda items: items[1:])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"generate": STRINGS}, "the task mine: 'generate' must make items that are tuples, such as (text,)"),
        ({"generate": ONE_TOO_FEW}, "the task mine: 'generate' makes 4 items for a context of 5"),
        ({"format_items": lambda items: list(map(str, items[1:]))}, "the task mine: 'format_items' must return"),
        ({"format_items": str}, "the task mine: 'format_items' must return a list with a text for each item"),
    ],
)
def test_a_task_that_makes_another_number_of_items_than_it_is_asked_for_is_named_with_its_function(change, message):
    task = replace(kv_retrieval, name="mine", **change)
    with pytest.raises(UserError, match=re.escape(message)):
        list(examples_of(task, task.questions(5, SETTINGS, None), 5, "gold_at_0", "{context} {question}", SETTINGS))


MINE = {"name": "mine", "asks": "?", "prompt": "mine", "metric": "exact_code", "max_new_tokens": 9}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": "mine", "asks": "?"}, ".* missing 4 required keyword-only arguments: 'p"),
        ({**MINE, "stop": "endtoken"}, "the task mine: 'stop' must be first_line or end_token, found 'endtoken'$"),
        ({**MINE, "tokens_per_item": "30"}, "the task mine: 'tokens_per_item' must be int, found '30'$"),
        ({**MINE, "generate": 3}, "the task mine: 'generate' must be Callable or NoneType, found 3$"),
    ],
)
def test_a_task_that_lacks_a_part_or_has_one_of_another_type_is_one_line(monkeypatch, tmp_path, fields, message):
    written = "".join(f", {name}={value!r}" for name, value in fields.items())
    functions = ", format_items=list" if len(fields) > 2 else ""
    file = tmp_path / "tasks" / "mine.py"
    file.parent.mkdir()
    file.write_text(f"from litm.examples.task import Task\nmine = Task({written[2:]}{functions})\n")
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(UserError, match=rf"^{file}:2: TypeError: {message}"):
        load_task("mine")


def listed_tasks(path: Path) -> set[str]:
    """Names of tasks in the lists, sets, keys and types of a module."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.List(elts=inner) | ast.Set(elts=inner) | ast.Tuple(elts=inner) | ast.Dict(keys=inner):
                found |= {one.value for one in inner if isinstance(one, ast.Constant) and isinstance(one.value, str)}
    return found & set(task_names())


#: What is about some tasks: the paper's tables, claims.
OF_SOME_TASKS = ("examples/tasks/", "claims/")


def test_nothing_about_a_task_stands_in_a_list_outside_of_it():
    listed = {path.relative_to(ROOT).as_posix(): listed_tasks(path) for path in ROOT.glob("scripts/**/*.py")}
    assert "kv_retrieval" in listed["scripts/litm/claims/statements.py"]
    others = {name: tasks for name, tasks in listed.items() if not any(f"litm/{one}" in name for one in OF_SOME_TASKS)}
    assert not any(others.values()), others
