"""From NaturalQuestions annotations to questions with a gold paragraph: small pages, and the released oracle file."""

import gzip
import html
import json
import re

import pytest
from programs import refused

from litm.base.json_files import read_jsonl
from litm.questions.natural_questions import (
    agreed_long_answer,
    chunk_with_answer,
    derive,
    join_tokens,
    located_records,
    sentence_starts,
    text_of_html,
)

ORACLE = "nq-open-oracle.jsonl.gz"

QUESTION = "who got the first nobel prize in physics"
PAGE = (
    "<H1>List of Nobel laureates</H1>"
    '<P>The first <a href="/prize">Nobel Prize</a> was awarded in 1901 to <b>Wilhelm R&ouml;ntgen</b>, of Germany'
    '<sup id="r1" class="reference">[1]</sup>; it wasn\'t "late" (no).</P>'
    "<Table><Tr><Td>1901</Td><Td>Wilhelm R&ouml;ntgen</Td></Tr></Table>"
    "<Ul><Li>Marie Curie, 1903</Li></Ul>"
    "<P>Pierre Curie was born in Paris.</P>"
)
PARAGRAPH, TABLE, LIST, SECOND = "<P>The first", "<Table>", "<Ul>", "<P>Pierre"
ENDS = {PARAGRAPH: "</P>", TABLE: "</Table>", LIST: "</Ul>", SECOND: "</P>"}
NO_ANSWER = (None, [])


def nq_record(question: str, *annotations: tuple[str | None, list[str]], page: str = PAGE) -> dict:
    """A record of the original format: `annotations` are where the long answer begins, and its short answers."""
    source = page.encode()
    # Inline tags and citation marks are no tokens in NaturalQuestions; words, entities and punctuation are.
    found = re.finditer(rb"<sup.*?</sup>|</?[ab]\b[^>]*>|<[^>]+>|(?:\w|&\w+;)+|[^\w\s<]", source)
    spans = [m for m in found if not re.match(rb"<sup|</?[ab]\b", m[0])]
    tokens = [
        {
            "token": html.unescape(m[0].decode()), "html_token": m[0].startswith(b"<"),
            "start_byte": m.start(), "end_byte": m.end(),
        }
        for m in spans
    ]  # fmt: skip

    def between(first: int, last: int) -> dict:
        start = next(n for n, t in enumerate(tokens) if t["start_byte"] >= first)
        end = max(n for n, t in enumerate(tokens) if t["end_byte"] <= last) + 1
        places = {"start_byte": tokens[start]["start_byte"], "end_byte": tokens[end - 1]["end_byte"]}
        return {**places, "start_token": start, "end_token": end}

    def annotated(long_answer: str | None, short_answers: list[str]) -> dict:
        if long_answer is None:
            nothing = dict.fromkeys(("start_byte", "end_byte", "start_token", "end_token", "candidate_index"), -1)
            return {"long_answer": nothing, "short_answers": [], "yes_no_answer": "NONE"}
        start = source.index(long_answer.encode())
        end = source.index(ENDS[long_answer].encode(), start) + len(ENDS[long_answer])
        places = [(source.index(answer.encode(), start, end), len(answer.encode())) for answer in short_answers]
        shorts = [between(at, at + length) for at, length in places]
        return {"long_answer": between(start, end), "short_answers": shorts, "yes_no_answer": "NONE"}

    return {
        "example_id": 797803103760793766,
        "question_text": question,
        "document_title": "List of Nobel laureates in Physics",
        "document_url": "https://en.wikipedia.org//w/index.php?title=Nobel_laureates_%26_co&amp;oldid=814071202",
        "document_html": page,
        "document_tokens": tokens,
        "long_answer_candidates": [],
        "annotations": [annotated(*one) for one in annotations],
    }


def simplified(record: dict) -> dict:
    """The same record as the authors of NaturalQuestions simplify it."""
    text = " ".join(token["token"].replace(" ", "_") for token in record["document_tokens"])
    kept = {k: record[k] for k in ("example_id", "question_text", "document_url", "annotations")}
    return {**kept, "document_text": text}


def without(record: dict, field: str) -> dict:
    return {key: value for key, value in record.items() if key != field}


def open_questions(*records: dict) -> list[tuple[str, dict]]:
    return [(f"open, line {n}", record) for n, record in enumerate(records, start=1)]


def derive_one(*annotations: dict, answers: tuple[str, ...] = ("Wilhelm Röntgen",)):
    located = [(f"nq, line {n}", record) for n, record in enumerate(annotations, start=1)]
    records, funnel = derive(open_questions({"question": QUESTION, "answer": list(answers)}), located)
    return [record.to_json() for record in records], [count for _, count in funnel]


RECORD = nq_record(QUESTION, (PARAGRAPH, ["Wilhelm R&ouml;ntgen"]))


def test_an_original_record_gives_the_paragraph_as_it_is_written_on_the_page():
    (record,), funnel = derive_one(RECORD)
    text = 'The first Nobel Prize was awarded in 1901 to Wilhelm Röntgen, of Germany; it wasn\'t "late" (no).'
    title = "List of Nobel laureates in Physics"
    assert record == {
        "question": QUESTION,
        "answers": ["Wilhelm Röntgen"],
        "ctxs": [{"title": title, "text": text, "hasanswer": True, "isgold": True}],
        "nq_annotated_gold": {
            "title": title, "long_answer": text, "chunked_long_answer": text, "short_answers": ["Wilhelm Röntgen"]
        },
    }  # fmt: skip
    assert funnel == [1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("given", "title"),
    [
        (simplified(RECORD), "Nobel laureates & co"),
        (without(RECORD, "document_html"), "List of Nobel laureates in Physics"),
    ],
    ids=["simplified", "without the page"],
)
def test_a_record_without_the_page_gives_the_paragraph_from_its_tokens_and_the_title_if_need_be_from_the_address(
    given, title
):
    (record,), funnel = derive_one(given)
    gold = record["nq_annotated_gold"]
    assert gold["long_answer"].startswith("The first Nobel Prize was awarded in 1901 to Wilhelm Röntgen, of Germany;")
    assert "<" not in gold["long_answer"] and gold["short_answers"] == ["Wilhelm Röntgen"]
    assert (gold["title"], funnel) == (title, [1, 1, 1, 1, 1])


@pytest.mark.parametrize("form", [lambda record: record, simplified])
@pytest.mark.parametrize(
    ("annotations", "funnel"),
    [
        ([NO_ANSWER] * 5, [1, 1, 0, 0, 0]),
        ([(PARAGRAPH, [])] * 5, [1, 1, 0, 0, 0]),
        ([(TABLE, ["Wilhelm R&ouml;ntgen"])] * 5, [1, 1, 1, 0, 0]),
        ([(LIST, ["Marie Curie"])] * 5, [1, 1, 1, 0, 0]),
        ([NO_ANSWER] * 4 + [(PARAGRAPH, ["Wilhelm R&ouml;ntgen"])], [1, 1, 1, 1, 1]),
        ([(TABLE, ["1901"])] + [(PARAGRAPH, ["1901"])] * 2 + [(LIST, ["1903"])] + [NO_ANSWER], [1, 1, 1, 1, 1]),
        ([(TABLE, ["1901"])] * 2 + [(PARAGRAPH, ["1901"])] * 2 + [NO_ANSWER], [1, 1, 1, 0, 0]),
        ([(PARAGRAPH, ["1901"])] * 2 + [(TABLE, ["1901"])] * 2 + [NO_ANSWER], [1, 1, 1, 1, 1]),
    ],
)
def test_of_five_annotations_the_long_answer_of_most_with_a_short_answer_counts(form, annotations, funnel):
    assert derive_one(form(nq_record(QUESTION, *annotations)))[1] == funnel


def test_short_answers_of_all_who_chose_the_paragraph_are_joined_and_more_than_five_tokens_do_not_count():
    whole = (PARAGRAPH, ["Wilhelm R&ouml;ntgen"])
    (made,), _ = derive_one(nq_record(QUESTION, whole, (SECOND, ["Paris"]), (PARAGRAPH, ["R&ouml;ntgen"]), whole))
    assert made["nq_annotated_gold"]["short_answers"] == ["Röntgen", "Wilhelm Röntgen"]
    five, six = "was awarded in 1901 to", "was awarded in 1901 to <b>Wilhelm"
    assert derive_one(nq_record(QUESTION, (PARAGRAPH, [six])))[1] == [1, 1, 0, 0, 0]
    assert derive_one(nq_record(QUESTION, (PARAGRAPH, [five])))[1] == [1, 1, 1, 1, 1]
    assert agreed_long_answer([((0, 9), [(1, 7)])]) is None


def test_questions_are_in_the_order_of_nq_open_and_annotations_of_others_are_ignored():
    asked = open_questions(*({"question": text, "answer": ["Paris"]} for text in ("b", "a", "without", "c")))
    located = [("nq", nq_record(text, (SECOND, ["Paris"]))) for text in ("c", "other", "a", "b")]
    records, funnel = derive(asked, iter([*located, ("nq", {"question_text": "other", "document_text": 3})]))
    assert [record.text for record in records] == ["b", "a", "c"]
    assert [count for _, count in funnel] == [4, 3, 3, 3, 3]


def test_of_two_records_about_a_question_the_one_that_gets_furthest_counts_then_the_first():
    table, first = nq_record(QUESTION, (TABLE, ["1901"])), nq_record(QUESTION, (PARAGRAPH, ["1901"]))
    second = nq_record(QUESTION, (SECOND, ["Paris"]))
    for order in ((table, first, second), (first, second, table)):
        (record,), _ = derive_one(*order)
        assert record["ctxs"][0]["text"].startswith("The first Nobel Prize")


NQ = nq_record(QUESTION, (PARAGRAPH, ["1901"]))
OLD = {"question": QUESTION}
GOLD = {"title": "T", "long_answer": "x", "chunked_long_answer": "x", "short_answers": ["x"]}


def with_answer(long_answer: dict, *short_answers: dict) -> dict:
    return {**NQ, "annotations": [{"long_answer": long_answer, "short_answers": list(short_answers)}]}


def places(first: int, last: int) -> dict:
    return {"start_token": first, "end_token": last}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ({"question": QUESTION, "ctxs": []}, "not an annotation: expected 'document_tokens'"),
        ({"document_text": "<P> a </P>"}, "the field 'question_text' is missing"),
        ({**NQ, "annotations": None}, "'annotations' must be a list, found NoneType"),
        ({**NQ, "annotations": [{"short_answers": []}]}, "annotations[0]: the field 'long_answer' is missing"),
        (with_answer(places(4, 4000)), "annotations[0], long_answer: tokens 4 to 4000 are outside the document, which"),
        (with_answer(places(1, 5), places(4, 4000)), "annotations[0], short_answers[0]: tokens 4 to 4000 are outside"),
        (with_answer(places(7, 7)), "tokens 7 to 7 are outside"),
        ({**NQ, "document_html": "<P>short"}, "are outside document_html, which has 8"),
        ({**NQ, "document_tokens": [{"Token": "in"}]}, "document_tokens[0]: expected an object with 'token'"),
        ({**simplified(NQ), "document_text": "too short"}, "are outside the document, which has 2"),
        (without(simplified(NQ), "document_url"), "the fields 'document_title' and 'document_url' are missing"),
        ({**OLD, "nq_annotated_gold": []}, "'nq_annotated_gold' must be a dict, found list"),
        ({**OLD, "nq_annotated_gold": {**GOLD, "short_answers": "x"}}, "'short_answers' must be a list, found str"),
        ({**OLD, "nq_annotated_gold": {"title": "T"}}, "nq_annotated_gold: the field 'long_answer' is missing"),
    ],
)
def test_a_broken_annotation_is_an_error_that_names_the_place(record, message):
    said = refused(derive_one, record)
    assert said.startswith("nq, line 1") and message in said


BROKEN = {
    "open, line 2: the question 'a' occurs": [{"question": "a", "answer": ["x"]}] * 2,
    "open, line 1: the field 'answer' is missing": [{"question": "a"}],
    "open, line 1: 'answer' must be a list of one or more strings": [{"question": "a", "answer": []}],
}


@pytest.mark.parametrize("message", BROKEN)
def test_a_broken_file_of_questions_is_an_error_that_names_the_place(message):
    assert message in refused(derive, open_questions(*BROKEN[message]), [])


def test_html_and_tokens_become_a_line_of_ordinary_writing_whose_sentences_are_known():
    source = 'A&amp;B<sup class="reference">[1]</sup> is\n<i>m<sup>2</sup></i>,<!-- no --> or<br/>two'
    assert text_of_html(source) == "A&B is m2, or two"
    tokens = "In `` The Delivery '' Dwight 's 6 - inch ( 15 cm ) bat did n't hit , 1990 \u2013 1992 . It cost $ 5 !"
    written = "In \"The Delivery\" Dwight's 6-inch (15 cm) bat didn't hit, 1990\u20131992. It cost $5!"
    assert join_tokens(tokens.split()) == written
    text = 'Dr. J. K. Rowling came (at 5 p.m. or so). "Then St. Louis won 3.5 points!" 12 left. no capital. End'
    assert [text.split()[n] for n in sentence_starts(text.split())] == ['"Then', "12", "End"]


def sentence(name: str, length: int) -> str:
    return " ".join([name.capitalize(), *(f"{name}{n}" for n in range(length - 2)), f"{name}."])


def words_of(*names_and_lengths: tuple[str, int]) -> str:
    return " ".join(sentence(*one) for one in names_and_lengths)


@pytest.mark.parametrize(
    ("sentences", "answers", "first", "last"),
    [
        *(
            ([("a", 50), ("b", 50), ("c", 20), ("d", 60)], answers, first, first + 100)
            for answers, first in ((["a3"], 0), (["c3"], 60), (["d3"], 80), (["b3", "c3"], 35), (["b3"], 25))
        ),
        pytest.param([("a", 60), ("b", 40)], ["nowhere"], 0, 100, id="whole"),
        # Sentences with answers are not cut.
        pytest.param([("a", 30), ("b", 50), ("c", 40), ("d", 50), ("e", 30)], ["b1", "d1"], 30, 170, id="longer"),
    ],
)
def test_a_longer_paragraph_is_cut_to_a_hundred_words_around_the_sentences_with_an_answer(
    sentences, answers, first, last
):
    paragraph = words_of(*sentences)
    assert chunk_with_answer(paragraph, answers) == " ".join(paragraph.split()[first:last])


def test_without_an_answer_a_longer_paragraph_has_no_chunk_and_a_chunk_does_not_count():
    assert chunk_with_answer(words_of(("a", 150)), ["b"]) is None
    without = {"question": QUESTION, "nq_annotated_gold": {**GOLD, "chunked_long_answer": "nothing"}}
    assert derive_one(without) == ([], [1, 1, 1, 1, 0])


def test_the_released_oracle_file_is_reproduced_byte_for_byte_from_its_own_annotations(data):
    records, funnel = derive(located_records([data / "NQ-open.dev.jsonl"]), located_records([data / ORACLE]))
    assert [count for _, count in funnel] == [3610, 2655, 2655, 2655, 2655]
    with gzip.open(data / ORACLE, "rt", encoding="utf-8") as lines:
        released = {json.loads(line)["question"]: line for line in lines}
    asked = [record["question"] for _, record in read_jsonl(data / "NQ-open.dev.jsonl")]
    assert [record.text for record in records] == [question for question in asked if question in released]
    assert all(json.dumps(record.to_json()) + "\n" == released[record.text] for record in records)


def test_the_rule_for_chunks_gives_the_words_of_nearly_all_released_ones(data):
    same, longer, same_longer = 0, 0, 0
    for _, record in read_jsonl(data / ORACLE):
        gold = record["nq_annotated_gold"]
        chunk = chunk_with_answer(gold["long_answer"], gold["short_answers"])
        agrees = chunk.split() == gold["chunked_long_answer"].split()
        is_longer = len(gold["long_answer"].split()) > 100
        same, longer, same_longer = same + agrees, longer + is_longer, same_longer + (agrees and is_longer)
    assert (same, longer, same_longer) == (2502, 966, 816)
