"""The columns of tables of questions: right answers, and those of a system."""

import pytest
from programs import refused

from litm.questions.columns import columns_of

#: Columns of frameworks, and which has the right answers.
TABLES = {
    "question answer contexts ground_truth": "ground_truth",
    "question truth answer context latency": "truth",
    "question answer true_answer": "true_answer",
    "question answer gold": "gold",
    "user_input retrieved_contexts response reference faithfulness": "reference",
    "input actual_output expected_output context retrieval_context": "expected_output",
    "query query_id expected_response expected_chunks": "expected_response",
    "inputs.question outputs.answer reference.answer feedback.correctness": "reference.answer",
    "inputs/question outputs expectations/expected_response": "expectations/expected_response",
    "input expectedOutput output": "expectedOutput",
    "sample_id input target score": "target",
    "Question Ground-Truth Answer": "Ground-Truth",
    "question answer response": "answer",
    "question answer context": "answer",
    "question answer source model tokens": "answer",
}


@pytest.mark.parametrize("names", TABLES)
def test_the_right_answers_of_a_framework_are_used(names):
    columns = columns_of(names.split(), names.split(), "q.csv")
    assert columns.answers == (TABLES[names],) and TABLES[names] not in columns.said


@pytest.mark.parametrize(
    "names",
    [
        "question response",
        "question answer contexts",
        "question answer source_nodes",
        "question answer faithfulness answer_relevancy",
        "question answer score",
        "question answer label is_correct",
        "question answer model latency_ms",
        "input output reference",
        "inputs outputs",
        "question prediction",
    ],
)
def test_names_that_leave_it_open_are_refused(names):
    said = refused(columns_of, names.split(), names.split(), "q.csv")
    assert said.startswith("q.csv: the names") and "ground_truth" in said


def test_an_empty_column_decides_nothing():
    names = ["question", "answer", "ground_truth"]
    assert columns_of(names, names[:2], "q.csv").answers == ("answer",)


def test_the_context_of_a_system_is_no_place_of_the_answer():
    assert columns_of(names := ["question", "answer", "context"], names, "q.csv").text == ("context",)
    assert columns_of(names := ["question", "answer", "context", "output"], names, "q.csv").text == ()
