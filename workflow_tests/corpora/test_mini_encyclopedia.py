"""The mini-encyclopedia: hard distractors, and answers found in one passage only."""

import re
import string
from collections import Counter, defaultdict
from dataclasses import replace

import pytest

from litm.corpora.encyclopedia import names
from litm.corpora.encyclopedia.articles import FAMILY_SIZE, KINDS, WORDS, Article, make_articles
from litm.corpora.encyclopedia.kinds import ASKED, Kind
from litm.corpora.source import CorpusSettings
from litm.corpora.sources import mini_encyclopedia

SETTINGS = CorpusSettings(passages=3000, seed=0)


@pytest.fixture(scope="module")
def articles() -> list[Article]:
    return list(make_articles(SETTINGS.seed, SETTINGS.passages))


@pytest.fixture(scope="module")
def questions() -> list[dict]:
    return [record.to_json() for record in mini_encyclopedia.questions(SETTINGS)]


def plain(text: str) -> str:
    """Lower case without punctuation, articles and double spaces, as the scorer compares."""
    text = text.lower().translate(str.maketrans("", "", string.punctuation))
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def families(articles: list[Article]) -> list[list[Article]]:
    """The families that are complete."""
    return [articles[i : i + FAMILY_SIZE] for i in range(0, len(articles) - FAMILY_SIZE + 1, FAMILY_SIZE)]


def stem_of(family: list[Article]) -> str:
    return names.stem(SETTINGS.seed, int(family[0].id.split("/")[0]))


def slots(wording: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(wording) if name}


def test_a_seed_gives_the_same_passages_and_questions_every_time(questions):
    small = replace(SETTINGS, passages=50)
    first = list(mini_encyclopedia.passages(None, small))
    assert first == list(mini_encyclopedia.passages(None, small)) and len(first) == 50
    assert questions == [record.to_json() for record in mini_encyclopedia.questions(SETTINGS)]


def test_ids_are_the_family_and_the_member(articles):
    assert articles[0].id == "00000/0" and articles[8].id == "00000/8" and articles[2999].id == "00333/2"


@pytest.mark.parametrize("count", [0, 1, 8, 9, 10, 31])
def test_more_passages_keep_the_earlier_ones(articles, count):
    assert list(make_articles(SETTINGS.seed, count)) == articles[:count]


def test_ids_and_titles_are_unique_also_in_a_corpus_of_ten_thousand_and_more():
    many = list(make_articles(5, 10_080))
    assert len({article.id for article in many}) == len({article.title for article in many}) == len(many)


def test_stems_and_values_repeat_only_after_the_last_of_them():
    assert len({names.stem(0, index) for index in range(20_000)}) == 20_000
    assert len({names.coined_name(0, index) for index in range(20_000)}) == 20_000
    assert len({names.date(0, index) for index in range(41_040)}) == 41_040
    assert len({names.number(0, index) for index in range(90_000)}) == 90_000
    assert names.date(0, 41_040) == names.date(0, 0)


def test_no_two_choices_of_the_parts_of_a_name_make_the_same_name():
    # Consonants and vowels take turns in the parts, so a name has one reading.
    for parts, endings in ((names._STEM, names.CODAS), (names._COINED[:-1], ())):
        for position, part in enumerate((*parts, endings) if endings else parts):
            vowels = position % 2 == 1
            assert all((letter in "aeiou") == vowels for word in part for letter in word.lower())
            assert len(set(part)) == len(part)
    assert all(ending[0] in "aeiou" for ending in names._COINED[-1])
    assert len(set(names._COINED[-1])) == len(names._COINED[-1])


def test_passages_are_of_40_to_75_words(articles):
    lengths = [len(article.text.split()) for article in articles]
    assert WORDS == (40, 75) and min(lengths) >= 40 and max(lengths) <= 75
    assert 50 < sum(lengths) / len(lengths) < 62


def test_the_name_is_in_the_first_sentence_and_in_another(articles):
    for article in articles:
        first, rest = article.text.split(". ", 1)
        assert article.title in first and article.title in rest


def test_all_four_facts_of_an_entity_are_in_its_passage(articles):
    for article in articles:
        assert set(article.facts) == set(ASKED)
        assert all(value in article.text for value in article.facts.values())


def test_no_slot_is_left_open_and_every_sentence_begins_with_a_capital(articles):
    for article in articles:
        assert not set("{}") & set(article.text + article.question)
        assert article.text.endswith(".") and "  " not in article.text
        assert all(sentence[0].isupper() for sentence in article.text.split(". "))
        assert not re.search(r"\b[Aa] (?!use\b)[aeiou]|\b[Aa]n [^aeiou]|\b(\w+) \1\b", article.text)


def test_a_later_event_is_in_a_later_year(articles):
    for article in articles:
        year = int(article.facts["date"].split()[-1])
        others = {int(found) for found in re.findall(r"(?<![\d,])1[7-9]\d\d|20\d\d(?![\d,])", article.text)} - {year}
        assert all(year + 20 <= other <= year + 80 for other in others)


def test_a_person_is_he_or_she_throughout_and_a_thing_neither(articles):
    used = set()
    for article in articles:
        words = set(article.text.lower().replace(".", "").split())
        pronouns = ("she" in words or "her" in words, "he" in words or "his" in words)
        assert pronouns != (True, True)
        assert article.kind == "person" or pronouns == (False, False)
        used.add(pronouns)
    assert {(True, False), (False, True)} < used


def test_a_family_has_three_members_of_each_of_three_kinds(articles):
    for family in families(articles):
        assert sorted(Counter(article.kind for article in family).values()) == [3, 3, 3]
    assert {article.kind for article in articles} == {kind.label for kind in KINDS} and len(KINDS) >= 6


def test_two_other_items_of_the_family_state_the_same_fact_with_other_values(articles):
    for family in families(articles):
        for article in family:
            others = [other for other in family if other.kind == article.kind and other is not article]
            assert len(others) == 2
            for other in others:
                assert other.facts[article.asked] in other.text
                assert other.facts[article.asked] != article.facts[article.asked]


def test_both_base_names_of_a_family_are_in_all_its_passages_and_questions(articles):
    for family in families(articles):
        shared = set.intersection(*(set(re.findall(r"\w+", f"{a.title} {a.text} {a.question}")) for a in family))
        bases = {word for word in shared if word.startswith(stem_of(family))}
        assert len(bases) == 2
        assert all(bases <= set(re.findall(r"\w+", article.question)) for article in family)


def test_of_three_items_of_a_kind_two_share_all_but_the_base_name_and_two_share_only_it(articles):
    for family in families(articles):
        base_name = re.compile(stem_of(family) + r"\w+")
        titles = defaultdict(list)
        for article in family:
            (base,) = base_name.findall(article.title)
            titles[article.kind].append((base, base_name.sub("_", article.title)))
        for of_kind in titles.values():
            for part in zip(*of_kind, strict=True):
                assert sorted(Counter(part).values()) == [1, 2]


def test_a_record_is_in_the_released_format_with_its_passage_as_the_only_document(questions):
    passages = {passage.id: passage for _, passage in mini_encyclopedia.passages(None, SETTINGS)}
    for record in questions:
        assert set(record) == {"question", "answers", "ctxs"}
        (gold,) = record["ctxs"]
        passage = passages.pop(gold["id"])
        assert gold == {
            "id": passage.id,
            "title": passage.title,
            "text": passage.text,
            "hasanswer": True,
            "isgold": True,
        }
    assert not passages


def test_the_first_question_of_every_family_comes_before_the_second_of_any(questions):
    of_families = [record["ctxs"][0]["id"].split("/")[0] for record in questions]
    count = len(set(of_families))
    assert count == 334 and len(set(of_families[:count])) == count
    assert len(set(of_families[count : 2 * count - 1])) == count - 1


def test_the_first_questions_are_about_all_kinds_and_all_facts(articles, questions):
    by_id = {article.id: article for article in articles}
    first = [by_id[record["ctxs"][0]["id"]] for record in questions[:400]]
    assert len({(article.kind, article.asked) for article in first}) == len(KINDS) * len(ASKED)


def test_a_question_names_the_entity_and_begins_in_lower_case(articles, questions):
    for article in articles:
        assert article.title in article.question
        assert article.question[0].islower() and not article.question.endswith("?")
    assert len({record["question"] for record in questions}) == len(questions)


def test_the_gold_passage_has_the_first_answer_verbatim(questions):
    assert all(record["answers"][0] in record["ctxs"][0]["text"] for record in questions)


def test_answers_are_short_but_not_so_short_that_they_are_found_by_chance(questions):
    for record in questions:
        for answer in record["answers"]:
            assert len(plain(answer)) >= 4 and len(answer.split()) <= 3


def test_an_answer_is_not_in_the_question_nor_the_title(questions):
    for record in questions:
        known = plain(record["question"]), plain(record["ctxs"][0]["title"])
        assert not any(plain(answer) in text for answer in record["answers"] for text in known)


def test_an_answer_is_in_no_other_passage_of_its_family_and_hardly_in_any_other(articles):
    texts = [plain(f"{article.title} {article.text}") for article in articles]
    corpus = "\n".join(texts)
    elsewhere = 0
    for index, article in enumerate(articles):
        found = [plain(answer) for answer in article.answers]
        start = index - index % FAMILY_SIZE
        family = texts[start:index] + texts[index + 1 : start + FAMILY_SIZE]
        assert not any(answer in text for answer in found for text in family)
        elsewhere += any(corpus.count(answer) > texts[index].count(answer) for answer in found)
    assert elsewhere <= 0.005 * len(articles)


def test_other_ways_to_write_an_answer_are_the_same_answer(articles):
    for article in articles:
        main, *others = article.answers
        assert main == article.facts[article.asked]
        for other in others:
            assert sorted(re.findall(r"[a-z]+|\d+", other.lower().replace(",", ""))) == sorted(
                re.findall(r"[a-z]+|\d+", main.lower().replace(",", ""))
            )


def test_another_seed_has_other_titles_values_and_questions(articles):
    other = list(make_articles(1, 3000))
    titles = {article.title for article in articles} & {article.title for article in other}
    assert len(titles) < 0.001 * len(articles)
    stems = [{names.stem(seed, index) for index in range(334)} for seed in (0, 1)]
    assert len(stems[0] & stems[1]) < 0.01 * 334
    asked = [{(article.question, article.answers[0]) for article in corpus} for corpus in (articles, other)]
    assert not asked[0] & asked[1]
    values = [{article.facts["person"].split()[-1] for article in corpus} for corpus in (articles, other)]
    assert len(values[0] & values[1]) < 0.01 * len(articles)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.label)
def test_every_fact_has_several_wordings_all_different(kind: Kind):
    for asked, fact in kind.facts.items():
        assert len(set(fact.sentences)) >= 4 and len(set(fact.questions)) >= 3
        assert all(asked in slots(wording) for wording in fact.sentences)
        assert all("n" in slots(wording) for wording in fact.questions)
    wordings = list(kind.wordings())
    assert len(set(wordings)) == len(wordings)
    assert set(kind.facts) == set(ASKED)
    assert all({"S", "s"} & slots(wording) for wording in wordings), "a sentence that does not mention the entity"
    assert all({"region", "detail"} <= slots(wording) for wording in kind.openings)
    for wording in wordings:
        assert "{S}" not in wording[1:], "a pronoun as a subject within a sentence"
        assert not re.search(r"{S}.*{s}|{s}.*{s}", wording), "the entity twice"


def test_hardly_two_passages_have_their_sentences_in_the_same_words(articles):
    shapes = defaultdict(set)
    for article in articles:
        text = re.sub(r"\b[A-Z]\w+|\d[\d,]*", "_", article.text)
        shapes[article.kind].add(text)
    assert all(len(found) > 0.98 * sum(a.kind == kind for a in articles) for kind, found in shapes.items())


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.label)
def test_every_wording_is_used(kind: Kind, articles):
    of_kind = [article for article in articles if article.kind == kind.label]
    texts, questions = (" ".join(getattr(article, part) for article in of_kind) for part in ("text", "question"))
    for wording in kind.wordings():
        assert max(re.split(r"{\w+}", wording), key=len) in texts
    for fact in kind.facts.values():
        for wording in fact.questions:
            assert max(re.split(r"{\w+}", wording), key=len) in questions
