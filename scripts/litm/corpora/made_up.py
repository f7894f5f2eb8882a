"""Made-up corpora with a question about each passage that only reading can answer. Their words are in resources/words.

The encyclopedia: entities come in families of nine with similar names, three of each of three kinds. Entities of one
kind have the same facts with different values, so the other members of a family are the hard distractors of a question.
Answers are made-up names, five-digit numbers and dates; no two entities share one (up to 41,040 entities for dates,
90,000 for numbers, 2 million for names). Each seed has its own names and values; wordings, kinds and given names are
the same for all seeds. Among 3000 passages, about one title in 25,000 also occurs with another seed, and no pair of
question and answer does. Dates and numbers alone may repeat, because they come from the same ranges.

The gazetteer, with questions that a small model can answer: a place has ten entries (the town itself, its school, its
brewery, ...) of two short sentences. The first names the person who holds an office there, and the question asks who
that is. The hard distractors are the other entries of the place, and entries about the same office in other places. No
two entries name the same person.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from itertools import zip_longest
from math import prod
from pathlib import Path
from random import Random
from typing import Any

from litm.base.messages import UserError
from litm.corpora.passages import CorpusSettings, Passage
from litm.questions.released_format import Document, QuestionRecord

_WORDS = Path(__file__).resolve().parents[3] / "resources" / "words"
ASKED = ("date", "number", "person", "name")
KINDS_OF_FAMILY = 3
MEMBERS_OF_KIND = 3
FAMILY_SIZE = KINDS_OF_FAMILY * MEMBERS_OF_KIND
#: Words: shortest and longest article.
SHORTEST, LONGEST = 40, 75
# Numbers of fillers, drawn per article; share of the articles in which a namesake replaces a filler.
_FILLERS = (0, 0, 1, 1, 1, 2)
_NAMESAKE_SHARE = 0.4
# Two-digit days, because 4 May 1850 is contained in 14 May 1850.
_FIRST_DAY, _DAYS = 10, 19
_FIRST_YEAR, _YEARS = 1741, 180
_FIRST_NUMBER, _NUMBER_SIDE = 10_000, 300


@cache
def words(name: str) -> dict[str, Any]:
    """The file of words with this name."""
    return tomllib.loads((_WORDS / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def _parts(corpus: str, name: str) -> tuple[str, ...]:
    return tuple(words(corpus)[name].split())


@dataclass(frozen=True, slots=True)
class Article:
    """A passage about one made-up thing, with a question about it."""

    id: str
    """Family or place, and the member."""
    title: str
    """Title of the passage."""
    text: str
    """Text of the passage."""
    question: str
    """Question about the thing."""
    answers: tuple[str, ...]
    """Accepted answers: the one in the text first, then other spellings."""
    kind: str = ""
    """Kind of the thing; only in the encyclopedia."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """Facts by the names of `ASKED`, as written in the text; only in the encyclopedia."""
    subject: str = ""
    """Name of the entity in questions, with its region; only in the encyclopedia."""
    possessive: str = ""
    """Possessive pronoun of that entity; only in the encyclopedia."""

    def ask(self, rng: Random, fact: str) -> str:
        """A question about one of the facts, in one of its kind's wordings."""
        return rng.choice(_kind(self.kind)["facts"][fact]["questions"]).format(n=self.subject, her=self.possessive)


# --- Names, dates and numbers -----------------------------------------------------------------------------------


def shuffled(rows: int, columns: int, key: str, index: int) -> tuple[int, int]:
    """The position (row, column) of the index-th cell in a seeded shuffle of a table: a Feistel network.

    Each round adds to one coordinate a hash of the other, which is invertible, so the whole is a bijection: values that
    are numbered by it do not repeat, in any order of access and without memory, up to their total number.
    """
    row, column = divmod(index % (rows * columns), columns)
    for round_ in range(3):
        row = (row + _hash(f"{key}/{round_}/column/{column}")) % rows
        column = (column + _hash(f"{key}/{round_}/row/{row}")) % columns
    return row, column


def _hash(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest()[:8])


@cache
def name_parts(kind: str) -> tuple[tuple[str, ...], ...]:
    """The parts of made-up names: of a `stem`, of a `coined` name, or of the `coda` after a stem."""
    return tuple(tuple(part.split()) for part in words("encyclopedia")["names"][kind])


def stem(seed: int, index: int) -> str:
    """The beginning of all names of a family, such as "Varnho"; the first 183,600 are distinct."""
    return _name("stem", 2, f"{seed}/stem", index)


def coined_names() -> int:
    """The number of distinct coined names."""
    return prod(map(len, name_parts("coined")))


def coined_name(seed: int, index: int) -> str:
    """A proper name outside any family, such as "Melitor"; the first `coined_names()` are distinct."""
    return _name("coined", 3, f"{seed}/coined", index)


def _name(kind: str, split: int, key: str, index: int) -> str:
    """One choice per part; the parts before `split` are the rows of the shuffle, the others its columns."""
    parts = name_parts(kind)
    cell = shuffled(prod(map(len, parts[:split])), prod(map(len, parts[split:])), key, index)
    return "".join(_mixed_radix(parts[:split], cell[0]) + _mixed_radix(parts[split:], cell[1]))


def _mixed_radix(parts: tuple[tuple[str, ...], ...], value: int) -> list[str]:
    chosen = []
    for part in reversed(parts):
        value, digit = divmod(value, len(part))
        chosen.append(part[digit])
    return chosen[::-1]


def date(seed: int, index: int) -> tuple[int, str, int]:
    """(day, month, year) with a day from 10 to 28; the first 41,040 are distinct."""
    months = _parts("encyclopedia", "months")
    year, day_of_year = shuffled(_YEARS, len(months) * _DAYS, f"{seed}/date", index)
    month, day = divmod(day_of_year, _DAYS)
    return _FIRST_DAY + day, months[month], _FIRST_YEAR + year


def number(seed: int, index: int) -> int:
    """A five-digit number; the first 90,000 are distinct."""
    row, column = shuffled(_NUMBER_SIDE, _NUMBER_SIDE, f"{seed}/number", index)
    return _FIRST_NUMBER + row * _NUMBER_SIDE + column


# --- The encyclopedia -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Entity:
    """A member of a family before its text is written."""

    number: int
    """Index in the corpus."""
    kind: Mapping[str, Any]
    """Kind, with its words."""
    title: str
    """Name without its article."""
    noun: str
    """Noun that says what it is."""
    region: str
    """Region that it lies in."""

    @property
    def name(self) -> str:
        """The name within a sentence."""
        return self.kind["article"] + self.title

    @property
    def pronouns(self) -> tuple[str, str]:
        """The pronoun and the possessive."""
        if self.kind["label"] != "person":
            return "it", "its"
        is_woman = any(self.title.split()[0] == woman for woman, _ in _given_names())
        return ("she", "her") if is_woman else ("he", "his")


@cache
def _given_names() -> tuple[tuple[str, str], ...]:
    """Pairs of names that are easy to confuse, of a woman and of a man."""
    pairs = (pair.split() for pair in words("encyclopedia")["given_names"].split("|"))
    return tuple((woman, man) for woman, man in pairs)


def given_names() -> list[str]:
    """The given names of persons."""
    return [name for pair in _given_names() for name in pair]


@cache
def _kind(label: str) -> Mapping[str, Any]:
    (kind,) = (kind for kind in words("encyclopedia")["kinds"] if kind["label"] == label)
    return kind


@cache
def _forms(label: str) -> Sequence[tuple[str, str]]:
    """Pairs of forms of names of a kind; a person's have two names of one pair, either first."""
    if "forms" in _kind(label):
        return [(first, second) for first, second in _kind(label)["forms"]]
    return [(f"{a} {{}}", f"{b} {{}}") for pair in _given_names() for a, b in (pair, pair[::-1])]


def make_family(seed: int, index: int) -> tuple[Article, ...]:
    """The `FAMILY_SIZE` articles of one family; they depend only on the seed and the index.

    Three members of each of three kinds, in random order. Within a kind, two differ only in the base name and two only
    in the rest of the name: Varnholt, Varnholm, Upper Varnholt. Each one lies in a region that is named after the other
    base name. All articles thus contain both base names, and so does each question, which names the region: a search
    for it finds the whole family.
    """
    rng = Random(f"{seed}/mini_encyclopedia/family/{index}")
    bases = tuple(stem(seed, index) + coda for coda in rng.sample(name_parts("coda")[0], 2))
    regions = [rng.choice(words("encyclopedia")["regions"]).format(base) for base in bases]
    named: list[tuple[Mapping[str, Any], str, int]] = []
    for kind in rng.sample(words("encyclopedia")["kinds"], KINDS_OF_FAMILY):
        base = rng.randrange(2)
        form, similar_form = rng.choice(_forms(kind["label"]))
        named += [(kind, form, base), (kind, form, 1 - base), (kind, similar_form, base)]
    rng.shuffle(named)
    entities = []
    for member, (kind, form, base) in enumerate(named):
        nouns = kind["nouns"] if isinstance(kind["nouns"], list) else kind["nouns"][form]
        title, noun = form.format(bases[base]), rng.choice(nouns)
        entities.append(_Entity(index * FAMILY_SIZE + member, kind, title, noun, regions[1 - base]))
    return tuple(
        _write_article(seed, f"{index:05d}/{member}", entity, entities) for member, entity in enumerate(entities)
    )


def _write_article(seed: int, id_: str, entity: _Entity, family: Sequence[_Entity]) -> Article:
    rng = Random(f"{seed}/mini_encyclopedia/article/{id_}")
    # The unique part of a fact is derived from the entity's number, not drawn.
    day, month, year = date(seed, entity.number)
    amount = number(seed, entity.number)
    surname, place = (coined_name(seed, 2 * entity.number + offset) for offset in (0, 1))
    facts = {
        "date": f"{day} {month} {year}",
        "number": f"{amount:,}",
        "person": f"{rng.choice(given_names())} {surname}",
        "name": rng.choice(entity.kind["coined"]).format(place),
    }
    aliases = {"date": (f"{month} {day}, {year}",), "number": (str(amount),)}
    others = [member for member in family if member is not entity]
    text, longest = "", LONGEST
    while not SHORTEST <= len(text.split()) <= longest:
        # Drawn anew each time: shorter texts are kept more often, and the loop terminates.
        longest = rng.randint(50, LONGEST)
        fixed = facts | {"region": entity.region, "namesake": rng.choice(others).name}
        text = " ".join(
            _fill(wording, S=subject, s=mention, **fixed, **_slots(seed, rng, entity, year, wording))
            for wording, subject, mention in _sentences(rng, entity)
        )
    asked = rng.choice(ASKED)
    subject, possessive = f"{entity.name} {entity.kind['origin']} {entity.region}", entity.pronouns[1]
    article = Article(id_, entity.title, text, "", (), entity.kind["label"], facts, subject, possessive)
    return replace(article, question=article.ask(rng, asked), answers=(facts[asked], *aliases.get(asked, ())))


def _slots(seed: int, rng: Random, entity: _Entity, year: int, wording: str) -> dict[str, str]:
    """Values for the slots of one wording that are not facts; each sentence gets its own numbers and names."""
    bounds = {
        "few": (3, 29),
        "some": (30, 99),
        "many": (100, 480),
        "later": (year + 20, year + 40),
        "latest": (year + 45, year + 80),
    }
    slots = {name: str(rng.randint(*ends)) for name, ends in bounds.items() if f"{{{name}}}" in wording}
    if "{other}" in wording:
        # From the far half of the shuffle; facts use its beginning.
        slots["other"] = coined_name(seed, rng.randrange(coined_names() // 2, coined_names()))
    if "{detail}" in wording:
        slots["detail"] = rng.choice(entity.kind["details"]).format(noun=entity.noun)
    return slots | {"noun": entity.noun, "her": entity.pronouns[1]}


def _sentences(rng: Random, entity: _Entity) -> Iterator[tuple[str, str, str]]:
    """(wording, the entity as its subject, the entity within it) of each sentence of an article.

    An opening with the name, then the facts that it does not state and up to two fillers, in any order.
    """
    kind = entity.kind
    opening = rng.choice(kind["openings"])
    body = [rng.choice(kind["facts"][name]["sentences"]) for name in ASKED if f"{{{name}}}" not in opening]
    fillers = rng.sample(kind["fillers"], rng.choice(_FILLERS))
    has_namesake = bool(fillers) and rng.random() < _NAMESAKE_SHARE
    body += fillers[has_namesake:]
    rng.shuffle(body)
    if has_namesake:
        body.append(rng.choice(words("encyclopedia")["namesakes"]))
    yield opening, entity.name, entity.name
    named = rng.randrange(len(body))
    for position, (wording, before) in enumerate(zip(body, [opening, *body], strict=False)):
        short = f"the {entity.noun}"
        if position == named or rng.random() < 0.15:
            yield wording, entity.name, entity.name
        # After a sentence about her teacher, "she" could be the teacher.
        elif before.startswith("{S}") and "{person}" not in before and rng.random() < 0.5:
            yield wording, entity.pronouns[0], short
        else:
            yield wording, short, short


def _fill(wording: str, **slots: str) -> str:
    sentence = wording.format(**slots)
    return sentence[0].upper() + sentence[1:]


# --- The gazetteer ----------------------------------------------------------------------------------------------


def most_entries() -> int:
    """The largest number of entries without a repeated person or place."""
    places = len(_parts("gazetteer", "beginnings")) * len(_parts("gazetteer", "endings"))
    persons = len(_parts("gazetteer", "given_names")) * len(_parts("gazetteer", "surnames"))
    return min(places * len(words("gazetteer")["offices"]), persons)


def _drawn_pair(seed: int, what: str, first: str, second: str, index: int) -> tuple[str, str]:
    first_parts, second_parts = _parts("gazetteer", first), _parts("gazetteer", second)
    row, column = shuffled(len(first_parts), len(second_parts), f"{seed}/gazetteer/{what}", index)
    return first_parts[row], second_parts[column]


def make_entry(seed: int, number: int) -> Article:
    """The entry with this number in the gazetteer of this seed."""
    every = words("gazetteer")
    place, member = divmod(number, len(every["offices"]))
    title, role = every["offices"][member]
    title = title.format("".join(_drawn_pair(seed, "place", "beginnings", "endings", place)))
    person = " ".join(_drawn_pair(seed, "person", "given_names", "surnames", number))
    thing = title if member == 0 else f"the {title}"
    rng = Random(f"{seed}/gazetteer/entry/{number}")
    colour, other = rng.sample(_parts("gazetteer", "colours"), 2)
    slots = {"thing": thing, "role": role, "person": person, "year": rng.randint(*every["years"])}
    slots |= {"day": rng.choice(_parts("gazetteer", "days")), "colour": colour, "other": other}
    text = f"{every['naming']} {rng.choice(every['details'])}".format(**slots)
    return Article(f"{place:05d}/{member}", title, text, f"who is the {role} of {thing}", (person,))


# --- Both as corpora --------------------------------------------------------------------------------------------


def make_articles(source: str, seed: int, count: int) -> Iterator[Article]:
    """The first `count` articles of a source; a larger count keeps the earlier ones.

    Raises `UserError` for more than the gazetteer has.
    """
    if source == "mini_encyclopedia":
        for first in range(0, count, FAMILY_SIZE):
            yield from make_family(seed, first // FAMILY_SIZE)[: count - first]
        return
    if count > most_entries():
        raise UserError(f"the mini-gazetteer has {most_entries()} passages at most, asked for: {count}")
    yield from (make_entry(seed, index) for index in range(count))


def mini_encyclopedia(_: None, settings: CorpusSettings) -> Iterator[tuple[str, Passage]]:
    """The source of this name."""
    return _passages("mini_encyclopedia", settings)


def mini_gazetteer(_: None, settings: CorpusSettings) -> Iterator[tuple[str, Passage]]:
    """The source of this name."""
    return _passages("mini_gazetteer", settings)


def _passages(source: str, settings: CorpusSettings) -> Iterator[tuple[str, Passage]]:
    for index, article in enumerate(make_articles(source, *settings.seed_and_passages)):
        yield f"{source}, passage {index}", Passage(article.id, article.title, article.text)


def questions(source: str, settings: CorpusSettings) -> Iterator[QuestionRecord]:
    """A question about each passage, as a record in the released format with only its gold document.

    First one of each family or place, then a second one, and so on: any first part covers many of them, all kinds and
    all offices.
    """
    articles = list(make_articles(source, *settings.seed_and_passages))
    size = FAMILY_SIZE if source == "mini_encyclopedia" else len(words("gazetteer")["offices"])
    groups: Iterable[list[Article]] = (articles[first : first + size] for first in range(0, len(articles), size))
    if source == "mini_gazetteer":
        # Members of a family are in random order, entries of a place are not: each place begins with another office.
        groups = ([*group[turn % len(group) :], *group[: turn % len(group)]] for turn, group in enumerate(groups))
    for article in (article for round_ in zip_longest(*groups) for article in round_ if article is not None):
        gold = Document.from_fields(article.title, article.text, id=article.id, has_answer=True, is_gold=True)
        yield QuestionRecord.from_documents(article.question, article.answers, [gold])
