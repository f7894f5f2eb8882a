"""Answers in passages: by DPR's check and by the scorer's."""

import pytest

from litm.answer_words import CHECKS
from litm.answers import contains_answer_dpr, contains_normalized, dpr_tokens
from litm.base.json_files import read_jsonl
from litm.corpora.passages import Passage
from litm.scoring.metrics import METRICS

QA_20 = "nq-open-20_total_documents_gold_at_0.first441.jsonl.gz"


def test_tokens_are_runs_of_letters_numbers_and_marks_or_single_visible_characters():
    assert dpr_tokens("Röntgen's $150,782\u00a0(1901)\u200b!") == [
        *("ro\u0308ntgen", "'", "s", "$", "150", ",", "782", "(", "1901", ")", "!")
    ]


@pytest.mark.parametrize(
    ("text", "answer", "dpr", "metric"),
    [
        ("It was awarded to Wilhelm Conrad Röntgen, of Germany.", "wilhelm conrad RÖNTGEN", True, True),
        ("decomposed Ro\u0308ntgen", "R\u00f6ntgen", True, False),
        ("the Nigerian economy", "Nigeria", False, True),
        ("the economy of Nigeria.", "Nigeria", True, True),
        ("in 2014 and 2015", "14", False, True),
        ("It covers the Indian   Ocean", "Indian Ocean", True, True),
        ("off the coast of Indian Ocean states", "the Indian Ocean", False, True),
        ("Super Bowl LII was won", "Super Bowl LII,", False, True),
        ("a rate of 20 percent", "20%", False, True),
        ("Wilhelm Röntgen and Conrad", "Wilhelm Conrad", False, False),
        ("New York and York New", "York New York", False, False),
        # Nothing separates the words of some scripts, and particles stick to Korean words.
        ("本社は2024年に品川に移転した", "品川", True, True),
        ("本社は2024年に品川に移転した", "2024", True, True),
        ("メーター2台", "メーター", True, True),
        ("กรุงเทพมหานครเป็นเมืองหลวง", "มหานคร", True, True),
        ("서울에 있다", "서울", True, True),
        ("각하", "가", False, False),
        # Articles and prepositions are written before Hebrew and Arabic words.
        ("המלון נמצא בחיפה ומנהל אותו", "חיפה", True, True),
        ("الفندق يقع بالقاهرة ومديره", "القاهرة", True, True),
        ("המלון בחיפהית", "חיפה", False, True),
        # Other letters are of the word: of a food, of a sword in Persian; and one letter is no word.
        *(("يحب الطعام والماء", "عام", False, True), ("شمشیر تیز", "شیر", False, True), ("לא", "א", False, True)),
        *(("وَبِالقاهرة", "القاهرة", True, True), ("בְּחיפה", "חיפה", True, True)),
    ],
)
def test_dpr_wants_the_same_tokens_in_a_row_and_the_metric_a_normalised_substring(text, answer, dpr, metric):
    assert CHECKS["dpr"](Passage("1", "", text), [answer]) is dpr
    assert CHECKS["metric"](Passage("1", "", text), [answer]) is metric


def test_a_title_counts_for_the_metric_and_not_for_dpr():
    titled = Passage("1", "Mars", "the red planet")
    assert CHECKS["metric"](titled, ["mars"]) and not CHECKS["dpr"](titled, ["mars"])


def test_the_distractor_check_metric_agrees_with_the_scorer():
    for text, answer in (("the Nigerian economy", "Nigeria"), ("the star key", "*"), ("An  Apple!", "apple")):
        assert contains_normalized(text, [answer]) is METRICS["best_subspan_em"].judge(text, [answer])


def test_any_of_the_answers_is_enough():
    for check in CHECKS.values():
        assert check(Passage("1", "", "the red planet Mars"), ["Venus", "Mars"])
        assert not check(Passage("1", "", "the red planet Mars"), ["Venus", "Jupiter"])
        assert not check(Passage("1", "", "the red planet Mars"), [])


def test_an_answer_without_tokens_is_in_no_text():
    for text in ("", " ", "some text", "\u200b"):
        assert not contains_answer_dpr(text, ["", " ", "\u200b"])


def test_an_answer_of_symbols_alone_is_looked_for_as_a_word():
    for check in CHECKS.values():
        assert check(Passage("1", "", "the * key"), ["*"])
        assert not check(Passage("1", "", "the star key"), ["*"])


def test_dprs_check_agrees_with_every_flag_of_the_released_file(data):
    flags, found = [], []
    for _, record in read_jsonl(data / QA_20):
        for document in record["ctxs"]:
            flags.append(document["hasanswer"])
            found.append(contains_answer_dpr(document["text"], record["answers"]))
    assert (len(flags), sum(flags)) == (441 * 20, 441)
    assert found == flags


def test_the_released_flags_were_made_without_the_titles(data):
    in_title = [
        document
        for _, record in read_jsonl(data / QA_20)
        for document in record["ctxs"]
        if not document["hasanswer"] and contains_answer_dpr(document["title"], record["answers"])
    ]
    assert len(in_title) == 92


def test_the_metric_finds_an_answer_in_released_distractors_of_a_tenth_of_the_questions(data):
    per_question = [
        sum(contains_normalized(d["text"], record["answers"]) for d in record["ctxs"] if not d["isgold"])
        for _, record in read_jsonl(data / QA_20)
    ]
    assert (len(per_question), sum(map(bool, per_question)), sum(per_question)) == (441, 43, 149)
