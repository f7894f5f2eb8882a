"""Records of the stages: read as written, and refused with file, line and field."""

import hashlib
import json
import re

import pytest
from programs import refused
from record_makers import example, response

from litm.questions.released_format import QuestionRecord, read_question_records, write_question_records
from litm.records.examples import Example, Target, read_examples, write_examples
from litm.records.responses import SweepResponse, read_responses, write_responses

EXAMPLE = {
    "id": "q1",
    "size": 3,
    "placement": "gold_at_1",
    "question": "which?",
    "answer_in_distractors": False,
    "prompt": "a b c\nwhich?",
    "messages": [{"role": "user", "content": "which?"}],
    "targets": [{"name": "gold", "position": 1, "depth": 0.5, "span": [2, 3], "answers": ["b"]}],
    "items": 3,
    "made_by": "a task of mine",
}
RESPONSE = {
    "id": "q1", "size": 3, "placement": "gold_at_1", "key": "ab", "response": "<think>b</think>b",
    "finish_reason": "stop", "prompt_tokens": 9, "response_tokens": 4, "answer": "b",
}  # fmt: skip


def test_the_digest_of_a_prompt_covers_its_text_and_its_messages():
    text = Example.from_json(without(EXAMPLE, "messages"))
    assert text.prompt_sha256 == hashlib.sha256(text.prompt.encode()).hexdigest()
    both = '["a b c\\nwhich?",[{"content":"which?","role":"user"}]]'
    assert Example.from_json(EXAMPLE).prompt_sha256 == hashlib.sha256(both.encode()).hexdigest()


def without(record: dict, *names: str) -> dict:
    return {name: value for name, value in record.items() if name not in names}


@pytest.mark.parametrize("missing", [(), ("messages",), ("items", "made_by"), ("messages", "items", "made_by")])
def test_an_example_is_written_as_it_was_read_with_unknown_keys(missing):
    record = without(EXAMPLE, *missing)
    assert json.dumps(Example.from_json(record).to_json()) == json.dumps(record)


def test_a_target_without_a_gold_item_has_no_place():
    record = {"name": "gold", "position": None, "depth": None, "span": None, "answers": ["b"]}
    target = Target.from_json(record, "here")
    assert target.to_json() == record and target.text_in("anything") == ""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"prompt": None}, "'prompt' must be a str, found NoneType"),
        ({"size": "3"}, "'size' must be a int, found str"),
        ({"targets": [{"name": "gold"}]}, r"targets\[0\]: the field 'answers' is missing"),
        ({"targets": [{**EXAMPLE["targets"][0], "span": [2]}]}, r"targets\[0\]: 'span' must be two whole numbers"),
        ({"targets": [{**EXAMPLE["targets"][0], "answers": [7]}]}, r"targets\[0\]: 'answers' must be strings"),
    ],
)
def test_an_example_with_a_wrong_field_is_refused_with_file_and_line(tmp_path, change, message):
    path = tmp_path / "e.jsonl"
    path.write_text(json.dumps(EXAMPLE) + "\n" + json.dumps({**EXAMPLE, **change}) + "\n")
    assert re.search(rf"e\.jsonl, line 2,? ?.*{message}", refused(list, read_examples(path)))


def test_examples_of_several_files_come_one_after_the_other(tmp_path):
    for number in range(2):
        write_examples(tmp_path / f"{number}.jsonl.gz", [example(id=f"{number}a"), example(id=f"{number}b")])
    read = read_examples(tmp_path / "0.jsonl.gz", tmp_path / "1.jsonl.gz")
    assert [one.id for one in read] == ["0a", "0b", "1a", "1b"]


def test_only_a_chat_takes_messages_and_only_if_the_prompt_has_them():
    turns = EXAMPLE["messages"]
    assert example(prompt="p", messages=turns).content(as_chat=True) == turns
    assert example(prompt="p", messages=turns).content(as_chat=False) == "p"
    assert example(prompt="p").content(as_chat=True) == "p"


@pytest.mark.parametrize(
    "record", [RESPONSE, without(RESPONSE, "answer"), {**RESPONSE, "response": None, "answer": None}]
)
def test_a_response_is_written_as_it_was_read(tmp_path, record):
    (tmp_path / "r.jsonl").write_text(json.dumps(record) + "\n")
    write_responses(tmp_path / "again.jsonl", read_responses(tmp_path / "r.jsonl"))
    assert (tmp_path / "again.jsonl").read_text() == (tmp_path / "r.jsonl").read_text()


def test_the_answer_is_scored_where_there_is_one_of_its_own():
    assert SweepResponse.from_json(RESPONSE).scored_text == "b"
    assert SweepResponse.from_json(without(RESPONSE, "answer")).scored_text == RESPONSE["response"]
    assert response(response="x", answer=None).scored_text is None


def test_a_response_without_a_field_is_refused_with_file_and_line(tmp_path):
    (tmp_path / "r.jsonl").write_text(json.dumps(without(RESPONSE, "finish_reason")) + "\n")
    said = refused(list, read_responses(tmp_path / "r.jsonl"))
    assert said.endswith("r.jsonl, line 1: the field 'finish_reason' is missing")


def test_a_question_record_is_written_as_it_was_read_with_unknown_keys(tmp_path):
    document = {"isgold": True, "id": 7, "text": "b", "title": "B", "mine": [1]}
    line = json.dumps({"source": "me", "question": "which?", "answers": ["b"], "ctxs": [document], "more": None}) + "\n"
    (tmp_path / "q.jsonl").write_text(line)
    write_question_records(tmp_path / "again.jsonl", read_question_records(tmp_path / "q.jsonl"))
    assert (tmp_path / "again.jsonl").read_text() == line


def test_a_document_that_is_no_object_is_refused():
    said = refused(QuestionRecord.from_json, {"question": "which?", "answers": ["b"], "ctxs": ["b"]}, "q, line 1")
    assert said.startswith("q, line 1, ctxs[0]: expected an object with 'title' and 'text'")
