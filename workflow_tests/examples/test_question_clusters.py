"""The cluster of a question: from the file with the questions to the scores."""

import json

import pytest

from litm.base.messages import UserError
from litm.examples.examples import examples_of
from litm.examples.task import ExampleSettings
from litm.examples.tasks.question_answering import closed_book_qa, multi_document_qa
from litm.records.examples import Example
from litm.records.responses import SweepResponse
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
    settings = ExampleSettings(None, None, "ranked", cluster="title")
    in_file = closed_book_qa.questions(0, settings, str(tmp_path / "questions.jsonl"))
    assert [record.cluster for record in in_file] == ["Own", "Ann"]


@pytest.mark.parametrize("value", [None, "", True, 1.5])
def test_a_question_without_a_usable_cluster_is_refused_with_its_line(tmp_path, value):
    records = question("How old?", article="x"), question("Which age?", article=value, line=9)
    where = r"questions.jsonl, line 2: .* 'Which age\?' \(line 9 of your questions\) .*'article'.*'cluster' names"
    with pytest.raises(UserError, match=where):
        examples(tmp_path, *records, cluster="article")


@pytest.mark.parametrize(("field", "cluster"), [(None, None), ("article", ["x"])])
def test_examples_and_scores_have_the_cluster_of_the_question_or_no_such_field(tmp_path, field, cluster):
    (one,) = examples(tmp_path, question("How old?", article="x"), cluster=field)
    read = Example.from_json(json.loads(json.dumps(one.to_json())))
    response = SweepResponse(one.id, one.size, one.placement, "key", "5", "stop", 1, 1)
    scores = score_sweep(Sweep("m", "e", "t", "best_subspan_em"), [read], [response])
    assert read == one and ("cluster" in one.to_json()) == ("cluster" in scores) == bool(cluster)
    assert not cluster or scores["cluster"].to_list() == cluster
