"""Kinds of entities: their names, their facts and the wordings of both, as data.

Slots of a wording:
    {S}            the entity as the subject at the start of the sentence: its name, "The town", "It"
    {s}            the entity elsewhere: its name or "the town", never a pronoun
    {date}, {number}, {person}, {name}   the four facts that can be asked, see `Kind`
    {detail}       what it is, with its article; {noun}: in one word
    {region}       its region; {other}: a made-up name that is nowhere else
    {few}, {some}, {many}   numbers from 3 to 29, from 30 to 99 and from 100 to 480
    {later}        a year 20 to 40 years after the date; {latest}: 45 to 80 years after it
    {her}          the possessive of a person
Slots of a question: {n}, the name and the region of the entity, as within a sentence; {her}.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

ASKED = ("date", "number", "person", "name")


@dataclass(frozen=True, slots=True)
class Fact:
    """One fact that can be asked: sentences that state it and questions about it."""

    sentences: tuple[str, ...]
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """A way to name an entity after the base name of its family, and the words for such a thing."""

    title: str
    nouns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of entity.

    article: "the " or nothing, before the name within a sentence; origin: "in" or "from", between the name and the
    region; forms: pairs of forms easy to confuse; details: what {detail} can be, with a slot {noun}; openings: first
    sentences, with a region, which may state some of the facts; facts: one for each of `ASKED`; coined: forms of the
    fact {name}; fillers: sentences that are never asked.
    """

    label: str
    article: str
    origin: str
    forms: tuple[tuple[Form, Form], ...]
    details: tuple[str, ...]
    openings: tuple[str, ...]
    facts: Mapping[str, Fact]
    coined: tuple[str, ...]
    fillers: tuple[str, ...]

    def wordings(self) -> Iterator[str]:
        """Every sentence wording of the kind."""
        yield from self.openings
        for fact in self.facts.values():
            yield from fact.sentences
        yield from self.fillers
