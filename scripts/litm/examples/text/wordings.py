"""Sentences from wordings with slots, without repetition.

Slots of a wording:
    {place}, {other}          two different made-up places
    {person}, {helper}        two different persons, by their trade: "the ferryman"
    {building}, {second}      two different buildings, without article
    {things}, {goods}         things in the plural, and a good that is not counted, both without article
    {season}, {hour}          when, in the year or in the day: "in early spring", "on most mornings"
A wording may begin with any slot: first letters are made capital where a sentence begins.
"""

from collections.abc import Iterator, Sequence
from random import Random

from litm.examples.text.names import coined_names

PERSONS = (
    "the apothecary", "the baker", "the beekeeper", "the bell-ringer", "the blacksmith", "the bookbinder",
    "the carpenter", "the clockmaker", "the cooper", "the ferryman", "the forester", "the gardener",
    "the glazier", "the innkeeper", "the lamplighter", "the librarian", "the miller", "the organist",
    "the postman", "the potter", "the roofer", "the saddler", "the schoolmaster", "the shepherd",
    "the stationmaster", "the surveyor", "the tailor", "the weaver",
)  # fmt: skip
BUILDINGS = (
    "bakery", "bathhouse", "boathouse", "brewery", "chapel", "dairy", "fire station", "granary", "guildhall",
    "lighthouse", "market hall", "mill", "museum", "post office", "railway station", "ropewalk",
    "schoolhouse", "smithy", "tannery", "theatre", "toll house", "town hall", "warehouse", "water tower",
)  # fmt: skip
THINGS = (
    "barrels", "baskets", "benches", "brooms", "buckets", "candles", "clay jars", "copper kettles", "fishing nets",
    "garden tools", "hurdles", "ladders", "lanterns", "leather boots", "oars", "picture frames", "ropes",
    "seed trays", "sledges", "stools", "tablecloths", "wagon wheels", "wooden bowls", "woollen blankets",
)  # fmt: skip
GOODS = (
    "barley", "charcoal", "cider", "firewood", "flour", "hay", "honey", "leather", "linen", "malt",
    "paper", "peat", "rye", "salt", "straw", "tar", "timber", "tobacco", "wax", "wool",
)  # fmt: skip
SEASONS = (
    "in early spring", "in the last weeks of spring", "at the height of summer", "at the end of summer",
    "in the first days of autumn", "in late autumn", "in the middle of winter", "in dry years", "after the harvest",
    "in the rainy months", "after the first frost", "when the days grow short", "once the snow has melted",
)  # fmt: skip
HOURS = (
    "on most mornings", "around noon", "late in the afternoon", "toward evening", "on quiet afternoons",
    "on rainy days", "at the end of the week", "before the market opens", "after the last delivery",
    "early in the day", "on holidays", "when there is little to do",
)  # fmt: skip

#: Minimum number of places, and sentences per further place: longer texts mention more places.
_PLACES, _SENTENCES_A_PLACE = 24, 25
#: Successive draws without a new text, after which the wordings count as exhausted.
_MOST_DRAWS = 1000


def places_for(rng: Random, sentences: int) -> list[str]:
    """Made-up places for a text of `sentences` sentences."""
    return coined_names(rng, _PLACES + sentences // _SENTENCES_A_PLACE)


def distinct_texts(
    rng: Random, wordings: Sequence[tuple[str, ...]], places: Sequence[str], count: int
) -> list[tuple[str, ...]]:
    """`count` filled wordings, with all parts distinct.

    A wording has one or more parts whose slots are filled alike (a question and its answer). Wordings take turns, in a
    new random order in every round.
    """
    seen: set[str] = set()
    texts: list[tuple[str, ...]] = []
    turns = _turns(rng, wordings)
    while len(texts) < count:
        wording = next(turns)
        for _ in range(_MOST_DRAWS):
            parts = _fill(wording, rng, places)
            if seen.isdisjoint(parts):
                break
        else:
            raise AssertionError(f"the wording {wording!r} has nothing new left to say after {len(texts)} texts")
        seen.update(parts)
        texts.append(parts)
    return texts


def capitalised(text: str) -> str:
    """The text with a capital first letter and otherwise unchanged."""
    return text[:1].upper() + text[1:]


def _turns(rng: Random, wordings: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    while True:
        yield from rng.sample(wordings, len(wordings))


def _fill(wording: tuple[str, ...], rng: Random, places: Sequence[str]) -> tuple[str, ...]:
    place, other = rng.sample(places, 2)
    person, helper = rng.sample(PERSONS, 2)
    building, second = rng.sample(BUILDINGS, 2)
    slots = {
        "place": place,
        "other": other,
        "person": person,
        "helper": helper,
        "building": building,
        "second": second,
        "things": rng.choice(THINGS),
        "goods": rng.choice(GOODS),
        "season": rng.choice(SEASONS),
        "hour": rng.choice(HOURS),
    }
    return tuple(part.format_map(slots) for part in wording)
