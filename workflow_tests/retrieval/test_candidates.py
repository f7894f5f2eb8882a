"""Candidates: gold document first, distractors in order and without an answer, every omission reported."""

import pytest

from litm.answers import dpr_check, metric_check
from litm.base.messages import UserError
from litm.corpora.passages import Passage
from litm.questions.released_format import Document, QuestionRecord
from litm.retrieval.candidates import (
    CandidateSettings,
    candidate_row,
    complete_gold,
    distractors,
    enough,
    filled,
    random_rows,
)
from litm.retrieval.search import retrieved_records

GOLD = Document.from_fields("Rome", "It was founded by Romulus.", is_gold=True)


def document(name: str, text: str) -> Document:
    return Document.from_fields(f"Title {name}", text, id=name)


def question(*documents: dict | Document, text: str = "who", answers: tuple[str, ...] = ("y",), line: int = 1):
    fields = [one.fields if isinstance(one, Document) else one for one in documents]
    record = {"question": text, "answers": list(answers), "ctxs": fields}
    return QuestionRecord.from_json(record, f"q, line {line}")


def settings(**changes) -> CandidateSettings:
    usual = {"kind": "gold_and_retrieved", "documents": 3, "distractor_check": "dpr", "too_few": "error", "seed": None}
    return CandidateSettings(**{**usual, **changes})


def test_distractors_keep_their_order_and_those_with_an_answer_or_the_gold_text_or_its_id_are_passed_over():
    texts = ("Remus", "romulus, they say", GOLD.text.replace("Romulus", "him"), GOLD.text, "Livy", "Ovid")
    found = [document(str(number), text) for number, text in enumerate(texts, start=1)]
    kept = distractors([GOLD], ["Romulus"], found, dpr_check, 3)
    assert [one.id for one in kept] == ["1", "3", "5"]
    assert all(one.fields["isgold"] is False and one.fields["hasanswer"] is False for one in kept)
    # Another cut of the gold passage has its id.
    gold = Document({**GOLD.fields, "id": "7"})
    kept = distractors([gold], ["x"], [document("7", "another cut of it"), document("8", "Livy")], dpr_check, 3)
    assert [one.id for one in kept] == ["8"]


def test_the_metric_check_finds_answers_inside_words_and_in_titles_and_dpr_does_not():
    inside, titled = document("1", "Romuluses abound"), Document.from_fields("Romulus", "a king", id="2")
    assert [one.id for one in distractors([GOLD], ["Romulus"], [inside, titled], dpr_check, 3)] == ["1", "2"]
    assert distractors([GOLD], ["Romulus"], [inside, titled], metric_check, 3) == []


@pytest.mark.parametrize(
    ("contexts", "message"),
    [
        ([], r'q, line 1: 0 documents have "isgold": true, there must be exactly one'),
        ([GOLD.fields, GOLD.fields], r'q, line 1: 2 documents have "isgold": true'),
        ([{"isgold": True, "title": "Rome"}], r"q, line 1: the gold document has neither a 'text' nor the 'id'"),
        ([{"isgold": True, "text": 5}], r"q, line 1: the 'text' of the gold document must be a text, found 5"),
        ([{**GOLD.fields, "title": None}], r"q, line 1: the 'title' of the gold document must be a text, found None"),
    ],
)
def test_a_question_without_exactly_one_usable_gold_document_is_an_error(contexts, message):
    with pytest.raises(UserError, match=message):
        question(*contexts).gold_with_text_or_id()


def test_a_gold_document_that_gives_only_an_id_which_may_be_a_number_is_completed_from_the_corpus():
    gold, passages = Document({"id": "7", "isgold": True}), {"7": Passage("7", "Rome", "Romulus")}
    completed = complete_gold(gold, passages, "q, line 1")
    assert completed.fields == {"id": "7", "isgold": True, "title": "Rome", "text": "Romulus"}
    with pytest.raises(UserError, match=r"q, line 4: its gold passage 7 is not in the corpus"):
        complete_gold(gold, {}, "q, line 4")
    asked = [question({"id": 7, "isgold": True}), question({"id": "8", "text": "z", "isgold": True})]
    assert asked[0].gold_with_text_or_id().fields["id"] == "7"
    records = retrieved_records(asked, [[("7", 1.0)]] * 2, passages, dpr_check)
    assert [record.retrieved_gold_id for record in records] == ["7", None]


def test_too_few_documents_are_an_error_or_leave_the_question_out_if_asked_for_and_noted():
    left_out: list[str] = []
    records = [question(GOLD, GOLD, GOLD, text="a"), question(GOLD, GOLD, text="b", line=2)]
    with pytest.raises(UserError, match=r"q, line 2: the question 'b' has 2 documents, but .* is 3"):
        list(enough(records, settings(), []))
    assert [one.text for one in enough(records, settings(too_few="leave_out"), left_out)] == ["a"]
    assert left_out == ["b"]


def test_random_rows_depend_on_seed_and_question_alone_and_are_distinct():
    rows = random_rows("abc", 19, 1000, 0)
    assert rows == random_rows("abc", 19, 1000, 0) and len(set(rows)) == len(rows) == 58
    assert rows != random_rows("abc", 19, 1000, 1) and rows != random_rows("abd", 19, 1000, 0)
    assert sorted(random_rows("abc", 19, 30, 0)) == list(range(30))


def test_the_table_counts_questions_with_an_answer_elsewhere_by_each_check():
    records = [
        question(GOLD, document("1", "Romuluses abound"), answers=("Romulus",)),
        question(GOLD, document("2", "by Livy"), answers=("Livy",)),
        question(GOLD, document("3", "nobody"), answers=("Ovid",)),
    ]
    row = candidate_row("c", settings(), records, 4, {"dpr": dpr_check, "metric": metric_check})
    assert (row["n"], row["n_left_out"]) == (3, 4)
    assert row["n_gold_without_answer"] == 2
    assert (row["n_answer_in_others_dpr"], row["n_answer_in_others_metric"]) == (1, 2)
    # A check that is not asked for has its column: tables of several candidates are one.
    assert row["n_answer_in_others_words"] is None


def test_random_passages_without_an_answer_fill_up_a_question_after_its_own_documents():
    record = question(GOLD, document("1", "Livy"), answers=("Romulus",))
    texts = {"1": "again", "2": "romulus", "3": "Livy", "4": "Ovid", "5": "Varro"}
    drawn = [document(id_, text) for id_, text in texts.items()]
    full = filled(record, drawn, dpr_check, 3)
    assert [one.text for one in full.documents] == [GOLD.text, "Livy", "Ovid"]
    assert full.documents[2].fields["isgold"] is False
    assert filled(record, drawn, dpr_check, 2) == record
    left_out: list[str] = []
    assert list(enough([full, record], settings(too_few="fill"), left_out)) == [full] and left_out == ["who"]


def test_an_export_has_the_gold_document_at_its_position_among_the_first_distractors():
    record = question(GOLD, *(document(str(i), f"t{i}") for i in range(4)))
    exported = record.exported(4, 2)
    assert [one.id or "gold" for one in exported.documents] == ["0", "1", "gold", "2"]
    assert record.documents[0] == GOLD, "the record itself is not changed"
    for size, position in ((3, 3), (3, 7), (0, 0)):
        with pytest.raises(UserError, match=rf"position {position} is impossible"):
            record.exported(size, position)
    with pytest.raises(UserError, match=r"q, line 1: 4 distractors, but 6 documents need 5"):
        record.exported(6, 0)


def test_retrieved_passages_are_numbered_by_rank_and_equal_scores_of_rows_are_in_the_order_of_ids():
    gold = Passage("8", "C", "y")
    passages = {0: Passage("9", "A", "x"), 1: Passage("10", "B", "the answer"), 2: gold, "8": gold}
    asked = question({"isgold": True, "id": "8", "text": "y"}, answers=("answer",))
    hits = [[(0, 1.5), (1, 1.5), (2, 2.0)]]
    (record,) = retrieved_records([asked], hits, passages, dpr_check)
    assert [one.id for one in record.documents] == ["8", "10", "9"]
    assert [one.fields["original_retrieval_index"] for one in record.documents] == [0, 1, 2]
    assert [one.has_answer for one in record.documents] == [False, True, False]
    assert record.retrieved_gold_id == "8" and record.documents[0].fields["score"] == "2.0"
