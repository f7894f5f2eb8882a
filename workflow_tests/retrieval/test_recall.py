"""Recall of a retriever."""

from litm.questions.released_format import Document, QuestionRecord
from litm.retrieval.search import recall_rows, retrieved_elsewhere


def record(answers_at: int | None, gold_id: str | None = None) -> QuestionRecord:
    documents = [Document.from_fields("", "", id=str(rank), has_answer=rank == answers_at) for rank in range(10)]
    return QuestionRecord.from_documents("who", ["he"], []).retrieved(documents, gold_id)


def test_recall_counts_an_answer_among_the_first_k_and_only_ks_that_were_retrieved():
    rows = [*recall_rows({"retriever": "r"}, [record(0), record(3), record(9), record(None)], 10, None, 0)]
    assert [(row["k"], row["recall"]) for row in rows] == [(1, 0.25), (5, 0.5), (10, 0.75)]
    assert all(row["n"] == 4 and row["ci_low"] < row["recall"] < row["ci_high"] for row in rows)
    assert rows[0]["retriever"] == "r"


def test_recall_is_measured_at_the_sizes_of_a_study_too():
    rows = [*recall_rows({}, [record(3), record(None)], 10, None, 0, sizes=[4, 5, 12])]
    assert [(row["k"], row["recall"]) for row in rows] == [(1, 0), (4, 0.5), (5, 0.5), (10, 0.5)]


def test_recall_of_the_gold_passage_is_over_the_questions_whose_gold_passage_is_in_the_corpus():
    rows = [*recall_rows({}, [record(0, "4"), record(0, "99"), record(0)], 5, None, 0)]
    assert [(row["k"], row["n_gold"], row["recall_gold"]) for row in rows] == [(1, 2, 0.0), (5, 2, 0.5)]
    (row,) = recall_rows({}, [record(0)], 1, 0.9, 200)
    assert row["recall_gold"] is None and (row["recall_against_exact"], row["n_against_exact"]) == (0.9, 200)


def test_a_question_with_fewer_passages_than_k_counts_as_it_is():
    short = QuestionRecord.from_documents("who", ["he"], []).retrieved(
        [Document.from_fields("", "", id="0", has_answer=True)], None
    )
    assert [row["recall"] for row in recall_rows({}, [short], 5, None, 0)] == [1.0, 1.0]


def test_documents_retrieved_elsewhere_have_the_flags_of_their_file_or_else_of_dpr_s_check():
    texts = [("he", False), ("he", None), ("she", None), ("she", True)]
    documents = [Document.from_fields("He", text, has_answer=flag) for text, flag in texts]
    read = retrieved_elsewhere(QuestionRecord.from_documents("who", ["he"], documents))
    assert [one.has_answer for one in read.documents] == [False, True, False, True]
    assert read.retrieved_gold_id is None
