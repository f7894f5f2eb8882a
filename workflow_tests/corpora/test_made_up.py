"""The made-up corpora: the same texts for a seed, hard distractors, and answers found in one passage only."""

import hashlib
import json
import re
import string

import pytest
from programs import run_program

from litm.base.json_files import read_jsonl
from litm.base.messages import UserError
from litm.corpora import made_up
from litm.corpora.made_up import FAMILY_SIZE, Article, make_articles
from litm.corpora.passages import CorpusSettings, json_line, read_source

SOURCES = ("mini_encyclopedia", "mini_gazetteer")
#: Digests of 3,000 passages as written in shards, and of their questions, by source and seed.
DIGESTS = {
    ("mini_encyclopedia", 0): ("0b883de83deaaebe6bfaa52e5df24513", "f3149f1e03544366e1b87b9d86b3050e"),
    ("mini_encyclopedia", 1): ("6c19ecb76200884c687d25ef9e9e37b9", "a8cc4fe447e5bc48ee27c8e39b76d66b"),
    ("mini_gazetteer", 0): ("e8d14ada4faabb808944e576d870e698", "b97e12cff915cf8131bf1f43b6c50445"),
    ("mini_gazetteer", 1): ("82141e984c4ba56274ab9f0d6d1a1a43", "ccef13017eca424889deb928af2c8eec"),
}


def settings(seed: int = 0, passages: int = 3000) -> CorpusSettings:
    return CorpusSettings(passages=passages, seed=seed)


def digest(lines: list[str]) -> str:
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:32]


@pytest.fixture(scope="module")
def articles() -> list[Article]:
    return list(make_articles("mini_encyclopedia", 0, 3000))


@pytest.fixture(scope="module")
def entries() -> list[Article]:
    return list(make_articles("mini_gazetteer", 0, made_up.most_entries()))


@pytest.fixture(scope="module", params=SOURCES)
def questions(request) -> tuple[str, list[dict]]:
    return request.param, [record.to_json() for record in made_up.questions(request.param, settings())]


def families(articles: list[Article]) -> list[list[Article]]:
    """The families that are complete."""
    return [articles[i : i + FAMILY_SIZE] for i in range(0, len(articles) - FAMILY_SIZE + 1, FAMILY_SIZE)]


def plain(text: str) -> str:
    """Lower case without punctuation, articles and double spaces, as the scorer compares."""
    text = text.lower().translate(str.maketrans("", "", string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


@pytest.mark.parametrize(("source", "seed"), DIGESTS)
def test_a_seed_gives_these_passages_and_questions(source, seed):
    passages = [json_line(passage) for _, passage in read_source(source, None, settings(seed))]
    asked = [json.dumps(record.to_json()) + "\n" for record in made_up.questions(source, settings(seed))]
    assert (digest(passages), digest(asked)) == DIGESTS[source, seed]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("count", [0, 1, 8, 9, 10, 31])
def test_more_passages_keep_the_earlier_ones(source, count):
    assert list(make_articles(source, 0, count)) == list(make_articles(source, 0, 31))[:count]


def test_a_record_is_in_the_released_format_with_its_passage_as_the_only_document(questions):
    source, records = questions
    passages = {passage.id: passage for _, passage in read_source(source, None, settings())}
    for record in records:
        passage = passages.pop(record["ctxs"][0]["id"])
        gold = {"id": passage.id, "title": passage.title, "text": passage.text, "hasanswer": True, "isgold": True}
        assert record == {"question": record["question"], "answers": record["answers"], "ctxs": [gold]}
        assert record["answers"][0] in passage.text and passage.title in record["question"]
    assert not passages and len({record["question"] for record in records}) == len(records)


@pytest.mark.parametrize("taken", [[], [7]])
def test_the_first_questions_are_taken_or_all(tmp_path, taken):
    given = ["--source", "mini_gazetteer", "--settings", json.dumps({"passages": 40, "seed": 0})]
    run = run_program("generate_questions", *given, "--taken", *taken, "--output", tmp_path / "q.jsonl")
    assert run.returncode == 0
    records = [record.to_json() for record in made_up.questions("mini_gazetteer", settings(passages=40))]
    assert [record for _, record in read_jsonl(tmp_path / "q.jsonl")] == records[: taken[0] if taken else None]


def test_no_two_entries_have_the_same_title_question_or_person(entries):
    for values in zip(*((entry.title, entry.question, entry.answers) for entry in entries), strict=True):
        assert len(set(values)) == len(values)
    with pytest.raises(UserError, match=f"has {len(entries)} passages at most, asked for: {len(entries) + 1}"):
        list(make_articles("mini_gazetteer", 0, len(entries) + 1))


def test_a_person_is_named_in_the_gold_passage_alone(entries):
    text = "\n".join(entry.text for entry in entries[:1000])
    for entry in entries[:1000]:
        (person,) = entry.answers
        assert text.count(person) == entry.text.count(person) == 1


def test_an_answer_is_in_no_other_passage_of_its_family_and_hardly_in_any_other(articles):
    texts = [plain(f"{article.title} {article.text}") for article in articles]
    corpus = "\n".join(texts)
    elsewhere = 0
    for index, article in enumerate(articles):
        found = [plain(answer) for answer in article.answers]
        assert all(len(answer) >= 4 and len(answer.split()) <= 3 for answer in found)
        assert not any(answer in plain(f"{article.question} {article.title}") for answer in found)
        start = index - index % FAMILY_SIZE
        family = texts[start:index] + texts[index + 1 : start + FAMILY_SIZE]
        assert not any(answer in text for answer in found for text in family)
        elsewhere += any(corpus.count(answer) > texts[index].count(answer) for answer in found)
    assert elsewhere <= 0.005 * len(articles)
