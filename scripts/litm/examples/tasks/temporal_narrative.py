"""The task temporal_narrative: a chronicle of one event per year, with unveilings of similar statues among them.

Years belong to the slots of the context, not to the events: the first event happened in `FIRST_YEAR`, the next a year
later. The chronicle is therefore in order at every position of the target, the target's year is that of its position,
and moving it changes no other word. Questions do not ask for years.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from random import Random

from litm.domain.question import Gold, Item, Question
from litm.examples.other_items import other_coded_lines
from litm.examples.seeding import seeded_questions
from litm.examples.task import ExampleSettings, TaskDefaults
from litm.examples.text.codes import random_codes
from litm.examples.text.events import event_clauses
from litm.examples.text.wordings import places_for

DEFAULTS = TaskDefaults(
    prompt="temporal_narrative",
    metric="exact_code",
    stop="end_token",
    max_new_tokens=30,
    needs_dataset=False,
    item="event",
)
SEPARATOR = "\n"
other_items = other_coded_lines

FIRST_YEAR = 1001
#: Number of materials and of places: each place has a statue of each material, so that both identify a statue.
SIDE = 3
MATERIALS = ("basalt", "bronze", "copper", "granite", "iron", "limestone", "marble", "oak", "sandstone", "slate")


def questions(size: int, settings: ExampleSettings, dataset: str | None) -> Iterator[Question]:
    """Generated questions; an item is an event, without its year."""
    return seeded_questions("temporal_narrative", size, settings, dataset, generate_question)


def generate_question(id_: str, size: int, rng: Random) -> Question:
    """The unveiling asked for, and `size` - 1 other events in random order, including the eight other unveilings.

    Shorter chronicles have fewer unveilings.
    """
    places = places_for(rng, size)
    statues = list(product(rng.sample(MATERIALS, SIDE), rng.sample(places, SIDE)))
    (material, place), *_ = statues
    codes = random_codes(rng, len(statues))
    gold, *others = (_unveiling(*statue, code) for statue, code in zip(statues, codes, strict=True))
    others = others[: max(0, size - 1)]
    events = others + event_clauses(rng, places, size - 1 - len(others))
    text = (
        f"What code is carved into the plinth of the statue of {material} that was unveiled in {place}? "
        "Answer with only the code."
    )
    return Question(
        id_,
        text,
        (Gold("gold", (gold,), (codes[0],)),),
        tuple((event,) for event in rng.sample(events, len(events))),
    )


def _unveiling(material: str, place: str, code: str) -> str:
    return f"a statue of {material} was unveiled in {place}, with the code {code} carved into its plinth"


def format_items(items: Sequence[Item]) -> list[str]:
    """One event per line, each in the year of its slot."""
    return [f"In {year}, {event}." for year, (event,) in enumerate(items, start=FIRST_YEAR)]
