"""The cluster of a question: from the file with the questions to the scores."""

import json

import pytest

from litm.base.messages import UserError
from litm.examples.examples import examples_of
from litm.examples.task import ExampleSettings
from litm.examples.tasks.question_answering import closed_book_qa, multi_document_qa
from litm.records import Example, SweepResponse
from litm.scoring.scores import Sweep, score_sweep

PROMPT = "{context}\nQuestion: {question}\nAnswer:"


def question(text: str, **fields) -> dict:
    gold = {"title": "Ann", "text": "Ann is 5.", "isgold": True}
    return {"question": text, "answers": ["5"], "ctxs": [gold, {"title": "Bob", "text": "Bob is 6."}], **fields}


def examples(tmp_path, *records: dict, cluster: str | None, task=multi_document_qa) -> list[Example]:
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    settings = ExampleSettings(None, None, "ranked", cluster=cluster)
    return list(examples_of(task, task.questions(2, settings, str(path)), 2, "gold_at_1", PROMPT, settings))


def test_the_cluster_is_a_field_of_the_question_or_else_of_its_gold_document(tmp_path):
    records = question("How old?", article=7, title="Own"), question("Which age?", article="x")
    assert [one.cluster for one in examples(tmp_path, *records, cluster="article")] == ["7", "x"]
    assert [one.cluster for one in examples(tmp_path, *records, cluster="title")] == ["Own", "Ann"]


def test_closed_book_questions_have_clusters_too(tmp_path):
    (record,) = closed_book_qa.questions(0, ExampleSettings(None, None, "ranked", cluster="title"), _file(tmp_path))
    assert record.cluster == "Ann"


def _file(tmp_path) -> str:
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps(question("How old?")) + "\n")
    return str(path)


@pytest.mark.parametrize("value", [None, "", True, 1.5])
def test_a_question_without_a_usable_cluster_is_refused_with_its_line(tmp_path, value):
    records = question("How old?", article="x"), question("Which age?", article=value)
    with pytest.raises(UserError, match=r"questions.jsonl, line 2: .*'article'.*'cluster' names"):
        examples(tmp_path, *records, cluster="article")


def test_without_a_cluster_examples_and_scores_have_no_such_field(tmp_path):
    (one,) = examples(tmp_path, question("How old?", article="x"), cluster=None)
    assert "cluster" not in one.to_json() and "cluster" not in _scores(one)


def test_scores_have_the_cluster_of_the_question(tmp_path):
    (one,) = examples(tmp_path, question("How old?", article="x"), cluster="article")
    read = Example.from_json(json.loads(json.dumps(one.to_json())))
    assert read == one and _scores(read)["cluster"].to_list() == ["x"]


def _scores(example: Example):
    response = SweepResponse(example.id, example.size, example.placement, "key", "5", "stop", 1, 1)
    return score_sweep(Sweep("m", "e", "t", "best_subspan_em"), [example], [response])
