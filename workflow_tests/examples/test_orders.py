"""Orders of retrieved documents, and cuts by score."""

from random import Random

import pytest
from conftest import write_lines

from litm.base.messages import UserError
from litm.examples.examples import examples_of
from litm.examples.orders import distinct_orders, in_order
from litm.examples.task import ExampleSettings
from litm.examples.tasks import load_task
from litm.records.conditions import Cut

#: What `LostInTheMiddleRanker` of haystack-ai 3.4.0 makes of 1, 2, ... documents 0, 1, 2, ..., best first.
HAYSTACK = ["0", "01", "021", "0231", "02431", "024531", "0246531", "02467531", "024687531", "0246897531"]
#: The same of `LongContextReorder` of langchain-community 0.4.2.
LANGCHAIN = ["0", "10", "021", "1320", "02431", "135420", "0246531", "13576420", "024687531", "1357986420"]


@pytest.mark.parametrize(("name", "published"), [("ends", HAYSTACK), ("ends_langchain", LANGCHAIN)])
def test_orders_with_the_best_at_both_ends_are_those_of_haystack_and_of_langchain(name, published):
    assert ["".join(in_order(name, "0123456789"[: len(order)], Random(0))) for order in published] == published


def test_an_order_that_is_the_same_as_another_at_a_size_is_left_out_there():
    names = ["reversed", "ends", "ends_langchain", "random"]
    assert distinct_orders(names, 1) == []
    # Of two documents the ends are the ranked order, and LangChain's the reversed one.
    assert distinct_orders(names, 2) == ["reversed", "random"]
    assert distinct_orders(names, 5) == ["reversed", "ends", "random"]
    assert distinct_orders(names, 6) == names


def retrieved(scores, question="what?"):
    ctxs = [{"title": f"t{n}", "text": f"text {n}", "score": str(score)} for n, score in enumerate(scores)]
    return {"question": question, "answers": ["a"], "ctxs": ctxs}


def made(tmp_path, records, size, **settings):
    path = write_lines(tmp_path / "retrieved.jsonl", records)
    asked = ExampleSettings(examples=None, seed=3, distractor_order="ranked", **settings)
    questions = (task := load_task("open_domain_qa")).questions(size, asked, str(path))
    return list(examples_of(task, questions, size, "as_retrieved", "{context}|{question}", asked))


def shown_texts(example) -> list[str]:
    return [line.split(") ")[1] for line in example.prompt.partition("|")[0].splitlines()]


@pytest.mark.parametrize(
    ("order", "shown"),
    [("ranked", [0, 1, 2, 3]), ("reversed", [3, 2, 1, 0]), ("ends", [0, 2, 3, 1]), ("ends_langchain", [1, 3, 2, 0])],
)
def test_a_prompt_shows_the_first_documents_in_the_order_and_numbers_them_anew(tmp_path, order, shown):
    (example,) = made(tmp_path, [retrieved([9, 8, 7, 6, 5])], 4, order=order)
    assert shown_texts(example) == [f"text {number}" for number in shown]
    assert example.prompt.startswith(f"Document [1](Title: t{shown[0]})")


def test_a_random_order_is_the_same_each_time_and_another_for_each_question(tmp_path):
    records = [retrieved(range(20, 0, -1), question) for question in ("one?", "two?")]
    first, again = (list(map(shown_texts, made(tmp_path, records, 20, order="random"))) for _ in range(2))
    assert first == again and first[0] != first[1] and sorted(first[0]) == sorted(first[1])


def test_a_cut_leaves_the_documents_that_are_good_enough_and_then_they_are_ordered(tmp_path):
    records = [retrieved([9, 8, 4, 3], "far?"), retrieved([9, 8.5, 8, 7.5], "near?"), retrieved([1, 0, 0, 0], "bad?")]
    # Filler was not retrieved: it has no score, or that of a reranker.
    filler = [{"title": "t", "text": "drawn", "isfiller": True, **score} for score in ({}, {"score": "8.5"})]
    records += [retrieved([9, 8], "few?"), retrieved([], "none?")]
    records[3]["ctxs"] += filler
    records[4]["ctxs"] = filler * 2
    examples = made(tmp_path, records, 4, order="reversed", cut={"margin": 2, "score": 5})
    # The best one is always shown.
    shown = [["text 1", "text 0"], ["text 3", "text 2", "text 1", "text 0"], ["text 0"], ["text 1", "text 0"], []]
    assert [shown_texts(one) for one in examples] == shown
    assert [(one.size, one.items) for one in examples] == [(4, 2), (4, 4), (4, 1), (4, 2), (4, 0)]


def test_a_margin_counts_from_the_best_document_and_includes_its_limit():
    assert Cut(margin=2).kept([9.0, 7.0, 6.9, 7.0]) == 2
    assert Cut(score=7).kept([9.0, 7.0, 6.9, 7.0]) == 2
    assert str(Cut(score=0.5, margin=2)) == "scores of at least 0.5, scores at most 2 below the best"


@pytest.mark.parametrize(
    ("record", "message"),
    [
        (retrieved([9, 8]), "it has 2 documents, but a context of 3 needs 3"),
        (retrieved([9, 7, 8]), r"ctxs\[2\]: its score 8 is higher than the 7 before it"),
        (retrieved([9, "good", 8]), r"ctxs\[1\]: 'score' must be a number, found 'good'"),
        (retrieved([9, "nan", 8]), r"ctxs\[1\]: 'score' must be a number"),
    ],
)
def test_documents_that_cannot_be_cut_are_an_error_with_their_names(tmp_path, record, message):
    with pytest.raises(UserError, match=message):
        made(tmp_path, [record], 3, cut={"margin": 1})


def test_without_a_cut_no_scores_are_needed(tmp_path):
    record = {"question": "what?", "answers": ["a"], "ctxs": [{"title": "t", "text": f"text {n}"} for n in range(3)]}
    assert shown_texts(made(tmp_path, [record], 3, order="reversed")[0]) == ["text 2", "text 1", "text 0"]
