"""The mini-gazetteer: plain questions, each answered by one passage."""

import json
from collections import Counter
from dataclasses import asdict, replace

import pytest
from programs import run_program

from litm.base.messages import UserError
from litm.base.records import read_jsonl
from litm.corpora.source import CorpusSettings
from litm.corpora.sources import mini_gazetteer
from litm.corpora.sources.mini_gazetteer import BEGINNINGS, ENDINGS, GIVEN_NAMES, MOST_PASSAGES, OFFICES, SURNAMES

SETTINGS = CorpusSettings(passages=1000, seed=0)


@pytest.fixture(scope="module")
def entries() -> list[mini_gazetteer.GazetteerEntry]:
    return [mini_gazetteer.make_entry(0, number) for number in range(MOST_PASSAGES)]


@pytest.fixture(scope="module")
def questions() -> list[dict]:
    return [record.to_json() for record in mini_gazetteer.questions(SETTINGS)]


def test_a_seed_gives_the_same_passages_and_questions_every_time(questions):
    passages = list(mini_gazetteer.passages(None, SETTINGS))
    assert passages == list(mini_gazetteer.passages(None, SETTINGS)) and len(passages) == 1000
    assert questions == [record.to_json() for record in mini_gazetteer.questions(SETTINGS)]
    assert passages != list(mini_gazetteer.passages(None, replace(SETTINGS, seed=1)))


def test_more_passages_keep_the_earlier_ones():
    few = list(mini_gazetteer.passages(None, replace(SETTINGS, passages=17)))
    assert few == list(mini_gazetteer.passages(None, SETTINGS))[:17]


def test_no_two_entries_have_the_same_title_question_or_person(entries):
    for values in ([e.title for e in entries], [e.question for e in entries], [e.person for e in entries]):
        assert len(set(values)) == len(values)


def test_two_parts_of_names_make_each_name_in_one_way_only():
    places = [beginning + ending for beginning in BEGINNINGS for ending in ENDINGS]
    assert len(set(places)) == len(places)
    assert not {*SURNAMES, *GIVEN_NAMES} & {*places}


def test_a_person_is_named_in_the_gold_passage_alone(entries):
    text = "\n".join(entry.text for entry in entries[:1000])
    assert all(text.count(entry.person) == entry.text.count(entry.person) == 1 for entry in entries[:1000])


def test_a_question_and_its_passage_name_the_office_and_the_thing(entries):
    for number, entry in enumerate(entries[:100]):
        role = OFFICES[number % len(OFFICES)].role
        assert role in entry.question and role in entry.text
        assert entry.title in entry.question and entry.title in entry.text


def test_there_is_a_question_about_each_passage_with_the_gold_document_alone(questions):
    passages = {passage.id: passage for _, passage in mini_gazetteer.passages(None, SETTINGS)}
    assert len(questions) == len(passages)
    for record in questions:
        (document,) = record["ctxs"]
        passage = passages.pop(document["id"])
        assert (document["title"], document["text"]) == (passage.title, passage.text)
        assert document["isgold"] and record["answers"][0] in document["text"]


def test_the_first_questions_are_about_all_offices_and_different_places(questions):
    first = [record["ctxs"][0]["id"].split("/") for record in questions[:50]]
    assert len({place for place, _ in first}) == 50
    assert set(Counter(member for _, member in first).values()) == {5}


@pytest.mark.parametrize("taken", [[], [7]])
def test_the_first_questions_are_taken_or_all(questions, tmp_path, taken):
    settings = json.dumps(asdict(SETTINGS))
    words = ["--source", "mini_gazetteer", "--settings", settings, "--taken", *taken, "--output", tmp_path / "q.jsonl"]
    assert run_program("generate_questions", *words).returncode == 0
    assert [record for _, record in read_jsonl(tmp_path / "q.jsonl")] == questions[: taken[0] if taken else None]


def test_more_passages_than_there_are_names_is_an_error():
    with pytest.raises(UserError, match=f"has {MOST_PASSAGES} passages at most, asked for: {MOST_PASSAGES + 1}"):
        list(mini_gazetteer.passages(None, replace(SETTINGS, passages=MOST_PASSAGES + 1)))
