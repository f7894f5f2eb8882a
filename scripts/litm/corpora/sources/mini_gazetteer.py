"""The source mini_gazetteer: made-up places, with one plain question per entry that a small model can answer.

A place has ten entries (the town itself, its school, its brewery, ...). An entry is two short sentences, and the first
names the person who holds an office there; the question asks who that is. The hard distractors of a question are the
other entries of the place, and entries about the same office in other places. No two entries name the same person.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from random import Random

from litm.base.messages import UserError
from litm.corpora.encyclopedia.names import shuffled
from litm.corpora.passages import Passage
from litm.corpora.source import CorpusSettings
from litm.questions.released_format import Document, QuestionRecord


@dataclass(frozen=True)
class Office:
    """An institution and the office asked for; thing: its name, with a slot for the place."""

    thing: str
    role: str


OFFICES = (
    Office("{}", "mayor"),
    Office("{} School", "head teacher"),
    Office("{} Brewery", "owner"),
    Office("{} Museum", "director"),
    Office("{} Hospital", "chief doctor"),
    Office("{} Bank", "manager"),
    Office("{} Theatre", "director"),
    Office("{} Hotel", "manager"),
    Office("{} Bakery", "owner"),
    Office("{} Farm", "owner"),
)


def _parts(text: str) -> tuple[str, ...]:
    return tuple(text.split())


# Every pair of beginning and ending makes a distinct name: no beginning extends another by letters of an ending.
BEGINNINGS = _parts(
    "Ash Barn Beck Birch Black Bram Brook Burn Cald Carl Chad Clay Cole Cran Dal Dart Dun Elm Ever Fair Fen Fern Flax "
    "Ford Garth Glen Gold Graf Hart Hawk Hazel Heath Holm Ivy Kel King Lang Lark Lin Lock Mal March Mill Moor North "
    "Oak Oxen Pel Pine Quarr Ran Red Rock Rush Sel Shep Silver South Stan Stock Swan Tarn Thorn Ul Wal Wood"
)
ENDINGS = _parts("bridge bury by cote dale don field ham hill hurst ley mere mouth pool stead thorpe ton wick worth")
GIVEN_NAMES = _parts(
    "Adam Alice Anna Arthur Carl Clara David Edith Ellen Emma Eric Frank George Grace Hannah Harry Helen Henry Hugh "
    "Irene Jack James Jane Julia Karl Kate Laura Leo Louis Lucy Maria Mark Martin Mary Nora Oliver Oscar Paul Peter "
    "Rachel Robert Rose Ruth Sarah Simon Sophie Susan Thomas Victor Walter"
)
SURNAMES = _parts(
    "Abbot Adler Archer Baker Barlow Becker Bell Berg Bishop Bond Bowen Brandt Brewer Carter Chapman "
    "Clark Cooper Cross Curtis Dawson Dean Dixon Doyle Drake Duncan Ellis Evans Farmer Fisher Fletcher "
    "Foster Fowler Fox Frost Gardner Gibson Gilbert Graham Grant Greene Griffin Hall Harper Harris Hayes "
    "Hobbs Holmes Hudson Hughes Hunter Jensen Jordan Keller Kennedy Kerr Klein Lambert Larsen Lawson "
    "Lewis Lloyd Marsh Mason Meyer Miller Morris Murphy Nash Nelson Norris Novak Olsen Owens Palmer "
    "Parker Payne Perry Porter Powell Price Quinn Reeves Reid Rhodes Rogers Russell Sanders Schmidt Sharp "
    "Shaw Simmons Spencer Stone Sutton Taylor Tucker Turner Vance Vogel Walker Wallace Walsh Watson "
    "Weaver Weber Webb West Wheeler White Wilson Winter Wolfe Wright Young"
)
#: Largest number of entries without a repeated person or place.
MOST_PASSAGES = min(len(BEGINNINGS) * len(ENDINGS) * len(OFFICES), len(GIVEN_NAMES) * len(SURNAMES))

_NAMING = "The {role} of {thing} is {person}."
_DETAILS = (
    "Visitors are welcome on {day}.",
    "Its colours are {colour} and {other}.",
    "It was first mentioned in {year}.",
    "It celebrated a jubilee in {year}.",
    "Its sign is {colour}, with a {other} star.",
    "Letters are answered on {day}.",
)
_DAYS = _parts("Mondays Tuesdays Wednesdays Thursdays Fridays Saturdays Sundays")
_COLOURS = _parts("blue brown green grey red white yellow")
_YEARS = (1801, 1999)


@dataclass(frozen=True, slots=True)
class GazetteerEntry:
    """An entry with its question; id: place and entry; person: the answer."""

    id: str
    title: str
    text: str
    question: str
    person: str


def make_entry(seed: int, number: int) -> GazetteerEntry:
    """The entry with this number in the gazetteer of this seed."""
    place, member = divmod(number, len(OFFICES))
    office = OFFICES[member]
    beginning, ending = shuffled(len(BEGINNINGS), len(ENDINGS), f"{seed}/gazetteer/place", place)
    given, surname = shuffled(len(GIVEN_NAMES), len(SURNAMES), f"{seed}/gazetteer/person", number)
    person = f"{GIVEN_NAMES[given]} {SURNAMES[surname]}"
    title = office.thing.format(BEGINNINGS[beginning] + ENDINGS[ending])
    thing = title if member == 0 else f"the {title}"
    rng = Random(f"{seed}/gazetteer/entry/{number}")
    colour, other = rng.sample(_COLOURS, 2)
    slots = {
        "thing": thing,
        "role": office.role,
        "person": person,
        "year": rng.randint(*_YEARS),
        "day": rng.choice(_DAYS),
        "colour": colour,
        "other": other,
    }
    text = f"{_NAMING} {rng.choice(_DETAILS)}".format(**slots)
    return GazetteerEntry(f"{place:05d}/{member}", title, text, f"who is the {office.role} of {thing}", person)


def passages(source: Path | None, settings: CorpusSettings) -> Iterator[tuple[str, Passage]]:
    """`settings.passages` entries; more passages keep the earlier ones. `source` is not read.

    Raises `UserError` for more than `MOST_PASSAGES`.
    """
    for number, entry in enumerate(_entries(settings)):
        yield f"mini_gazetteer, passage {number}", Passage(entry.id, entry.title, entry.text)


def questions(settings: CorpusSettings) -> Iterator[QuestionRecord]:
    """A question about each passage, as a record in the released format with only its gold document.

    First one of each place, with changing offices, then a second one, and so on: any first part covers many places and
    all offices.
    """
    entries = list(_entries(settings))
    places = (entries[start : start + len(OFFICES)] for start in range(0, len(entries), len(OFFICES)))
    turned = ((*place[index % len(place) :], *place[: index % len(place)]) for index, place in enumerate(places))
    for round_ in zip_longest(*turned):
        for entry in filter(None, round_):
            document = Document.of(entry.title, entry.text, id=entry.id, has_answer=True, is_gold=True)
            yield QuestionRecord.of(entry.question, (entry.person,), [document])


def _entries(settings: CorpusSettings) -> Iterator[GazetteerEntry]:
    seed, passages = settings.seed_and_passages
    if passages > MOST_PASSAGES:
        raise UserError(f"the mini-gazetteer has {MOST_PASSAGES} passages at most, asked for: {passages}")
    for number in range(passages):
        yield make_entry(seed, number)
