"""Articles about the members of a family: entities of three kinds with names that are easy to confuse."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from litm.corpora.encyclopedia import names
from litm.corpora.encyclopedia.kinds import ASKED, Form, Kind
from litm.corpora.encyclopedia.people import COMPANY, GIVEN_NAMES, PERSON, WOMEN
from litm.corpora.encyclopedia.places import RIVER, TOWN
from litm.corpora.encyclopedia.things import MINERAL, STRUCTURE
from litm.corpora.encyclopedia.ventures import FESTIVAL, SHIP

KINDS = (TOWN, RIVER, PERSON, COMPANY, SHIP, FESTIVAL, STRUCTURE, MINERAL)
_KINDS = {kind.label: kind for kind in KINDS}
KINDS_OF_FAMILY = 3
MEMBERS_OF_KIND = 3
FAMILY_SIZE = KINDS_OF_FAMILY * MEMBERS_OF_KIND
#: Words: shortest and longest article.
WORDS = (40, 75)

_REGIONS = ("{} Province", "the {} valley", "the {} district", "the county of {}", "the {} highlands")
# Last sentences; anything after one could be read as about the other entity.
_NAMESAKES = (
    "{s} should not be confused with {namesake}.",
    "Apart from the name, {s} has nothing to do with {namesake}.",
    "Older indexes sometimes list {s} under {namesake}.",
    "{s} is mentioned in one source together with {namesake}.",
)
# Numbers of fillers, drawn per article; share of the articles in which a namesake replaces a filler.
_FILLERS = (0, 0, 1, 1, 1, 2)
_NAMESAKE_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class Article:
    """A passage about one entity, with a question about it.

    id: the family and the member; facts: by the names of `ASKED`, as written in the text; asked: the fact that the
    question is about; answers: the one in the text first, then other spellings; subject: the entity's name in
    questions, with its region; possessive: of that entity.
    """

    id: str
    kind: str
    title: str
    text: str
    facts: Mapping[str, str]
    asked: str
    question: str
    answers: tuple[str, ...]
    subject: str
    possessive: str

    def ask(self, rng: Random, fact: str) -> str:
        """A question about one of the facts, in one of its kind's wordings."""
        return rng.choice(_KINDS[self.kind].facts[fact].questions).format(n=self.subject, her=self.possessive)


@dataclass(frozen=True, slots=True)
class _Entity:
    """A member of a family before its text is written; number: its index in the corpus."""

    number: int
    kind: Kind
    title: str
    noun: str
    region: str

    @property
    def name(self) -> str:
        """The name within a sentence."""
        return self.kind.article + self.title


def make_family(seed: int, index: int) -> tuple[Article, ...]:
    """The `FAMILY_SIZE` articles of one family; they depend only on the seed and the index.

    Three members of each of three kinds, in random order. Within a kind, two differ only in the base name and two only
    in the rest of the name: Varnholt, Varnholm, Upper Varnholt.
    """
    rng = Random(f"{seed}/mini_encyclopedia/family/{index}")
    entities = _make_entities(rng, names.stem(seed, index), index * FAMILY_SIZE)
    return tuple(
        _write_article(seed, f"{index:05d}/{member}", entity, entities) for member, entity in enumerate(entities)
    )


def _make_entities(rng: Random, stem: str, first_number: int) -> list[_Entity]:
    """The members of a family. Each one lies in a region that is named after the other base name.

    All articles thus contain both base names, and so does each question, which names the region: a search for it finds
    the whole family.
    """
    bases = tuple(stem + coda for coda in rng.sample(names.CODAS, 2))
    regions = [rng.choice(_REGIONS).format(base) for base in bases]
    named: list[tuple[Kind, Form, int]] = []
    for kind in rng.sample(KINDS, KINDS_OF_FAMILY):
        base = rng.randrange(2)
        form, similar_form = rng.choice(kind.forms)
        named += [(kind, form, base), (kind, form, 1 - base), (kind, similar_form, base)]
    rng.shuffle(named)
    return [
        _Entity(first_number + member, kind, form.title.format(bases[base]), rng.choice(form.nouns), regions[1 - base])
        for member, (kind, form, base) in enumerate(named)
    ]


def _write_article(seed: int, id_: str, entity: _Entity, family: Sequence[_Entity]) -> Article:
    rng = Random(f"{seed}/mini_encyclopedia/article/{id_}")
    facts, aliases, year = _make_facts(seed, rng, entity)
    others = [member for member in family if member is not entity]
    text, longest = "", WORDS[1]
    while not WORDS[0] <= len(text.split()) <= longest:
        # Drawn anew each time: shorter texts are kept more often, and the loop terminates.
        longest = rng.randint(50, WORDS[1])
        fixed = facts | {"region": entity.region, "namesake": rng.choice(others).name}
        text = " ".join(
            _fill(wording, subject, mention, fixed | _make_slots(seed, rng, entity, year, wording))
            for wording, subject, mention in _plan_sentences(rng, entity)
        )
    asked = rng.choice(ASKED)
    name = f"{entity.name} {entity.kind.origin} {entity.region}"
    question = rng.choice(entity.kind.facts[asked].questions).format(n=name, her=_possessive(entity))
    answers = (facts[asked], *aliases.get(asked, ()))
    return Article(
        id_, entity.kind.label, entity.title, text, facts, asked, question, answers, name, _possessive(entity)
    )


def _make_facts(seed: int, rng: Random, entity: _Entity) -> tuple[dict[str, str], dict[str, tuple[str, ...]], int]:
    """(facts, other spellings of some, the year of the date).

    The unique part of a fact is derived from the entity's number, not drawn.
    """
    day, month, year = names.date(seed, entity.number)
    number = names.number(seed, entity.number)
    surname, place = (names.coined_name(seed, 2 * entity.number + offset) for offset in (0, 1))
    facts = {
        "date": f"{day} {month} {year}",
        "number": f"{number:,}",
        "person": f"{rng.choice(GIVEN_NAMES)} {surname}",
        "name": rng.choice(entity.kind.coined).format(place),
    }
    return facts, {"date": (f"{month} {day}, {year}",), "number": (str(number),)}, year


def _make_slots(seed: int, rng: Random, entity: _Entity, year: int, wording: str) -> dict[str, str]:
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
        slots["other"] = _filler_name(seed, rng)
    if "{detail}" in wording:
        slots["detail"] = rng.choice(entity.kind.details).format(noun=entity.noun)
    return slots | {"noun": entity.noun, "her": _possessive(entity)}


def _plan_sentences(rng: Random, entity: _Entity) -> Iterator[tuple[str, str, str]]:
    """(wording, the entity as its subject, the entity within it) of each sentence of an article.

    An opening with the name, then the facts that it does not state and up to two fillers, in any order.
    """
    kind = entity.kind
    opening = rng.choice(kind.openings)
    body = [rng.choice(fact.sentences) for name, fact in kind.facts.items() if f"{{{name}}}" not in opening]
    fillers = rng.sample(kind.fillers, rng.choice(_FILLERS))
    has_namesake = bool(fillers) and rng.random() < _NAMESAKE_SHARE
    body += fillers[has_namesake:]
    rng.shuffle(body)
    if has_namesake:
        body.append(rng.choice(_NAMESAKES))
    yield opening, entity.name, entity.name
    named = rng.randrange(len(body))
    for position, (wording, before) in enumerate(zip(body, [opening, *body], strict=False)):
        # After a sentence about her teacher, "she" could be the teacher.
        pronoun_is_clear = before.startswith("{S}") and "{person}" not in before
        yield wording, *_references(rng, entity, position == named, pronoun_is_clear)


def _references(rng: Random, entity: _Entity, named: bool, pronoun_is_clear: bool) -> tuple[str, str]:
    """The entity at the start of a sentence and within it; `named`: use its name in both."""
    short = f"the {entity.noun}"
    if named or rng.random() < 0.15:
        return entity.name, entity.name
    return (_pronoun(entity) if pronoun_is_clear and rng.random() < 0.5 else short), short


def _fill(wording: str, subject: str, mention: str, slots: Mapping[str, str]) -> str:
    sentence = wording.format(S=subject, s=mention, **slots)
    return sentence[0].upper() + sentence[1:]


def _pronoun(entity: _Entity) -> str:
    return "it" if entity.kind is not PERSON else "she" if _is_woman(entity) else "he"


def _possessive(entity: _Entity) -> str:
    return "her" if _is_woman(entity) else "his"


def _is_woman(entity: _Entity) -> bool:
    return entity.kind is PERSON and entity.title.split()[0] in WOMEN


def _filler_name(seed: int, rng: Random) -> str:
    """A coined name from the far half of the shuffle; facts use its beginning."""
    return names.coined_name(seed, rng.randrange(names.COINED_NAMES // 2, names.COINED_NAMES))


def make_articles(seed: int, count: int) -> Iterator[Article]:
    """The first `count` articles, family by family; a larger count keeps earlier articles."""
    for number in range(0, count, FAMILY_SIZE):
        yield from make_family(seed, number // FAMILY_SIZE)[: count - number]
