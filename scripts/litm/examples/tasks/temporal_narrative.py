"""The task temporal_narrative: a chronicle of one event per year, with unveilings of similar statues among them.

Years belong to the slots of the context, not to the events: the first event happened in `FIRST_YEAR`, the next a year
later. The chronicle is therefore in order at every position of the target, the target's year is that of its position,
and moving it changes no other word. Questions do not ask for years.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from random import Random

from litm.examples.task import PLAIN, SUITE, ExampleSettings, TaskDefaults, Wording, fill, seeded_questions
from litm.examples.wording import event_clauses, other_coded_lines, places_for, random_codes
from litm.records import Gold, Item, Question

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
#: Plain: all nine statues have a code, and a place has a statue of each of three materials, so that both identify a
#: statue. Suite: only the statue asked for has a code, and the others have other materials and other places.
SIDE = 3
MATERIALS = ("basalt", "bronze", "copper", "granite", "iron", "limestone", "marble", "oak", "sandstone", "slate")
SUITE_STATUE = ("golden", "the central square")
SUITE_MATERIALS = ("bronze", "copper", "granite", "limestone", "marble", "silver", "slate", "stone", "tin", "wooden")
SUITE_PLACES = (
    "the town square", "the royal gardens", "the old harbor", "the cathedral close", "the market hall",
    "the northern cemetery", "the city park", "the palace courtyard", "the western quarter", "the college court",
)  # fmt: skip
_CODED = ("In {{year}}, a statue of {material} was unveiled in {place}, with the code {code} carved into its plinth.",)
WORDINGS = {
    PLAIN: Wording(
        _CODED,
        "What code is carved into the plinth of the statue of {material} that was unveiled in {place}? "
        "Answer with only the code.",
        other=_CODED,
    ),
    SUITE: Wording(
        ("Year {{year}}: a {material} statue was unveiled in {place} (CODE: {code}).",),
        "What is the secret code for the {material} statue that was unveiled in {place}?",
        other=("Year {{year}}: a {material} statue was unveiled in {place}.",),
        code="??-####",
    ),
}
_EVENTS = {PLAIN: "In {{year}}, {event}.", SUITE: "Year {{year}}: {event}."}


def questions(size: int, settings: ExampleSettings, dataset: str | None) -> Iterator[Question]:
    """Generated questions; an item is an event."""
    generate = partial(generate_question, wording=settings.wording)
    return seeded_questions("temporal_narrative", size, settings, dataset, generate)


def generate_question(id_: str, size: int, rng: Random, wording: str) -> Question:
    """The unveiling asked for, and `size` - 1 other events in random order, including the eight other unveilings.

    Shorter chronicles have fewer unveilings. wording: a key of `WORDINGS`.
    """
    words = WORDINGS[wording]
    places = places_for(rng, size)
    statues = _statues(rng, places, wording)
    (material, place), *rest = statues
    code, *codes = random_codes(rng, len(statues), words.code)
    others = [
        fill(words.other, material=other, place=where, code=its_code)
        for (other, where), its_code in zip(rest, codes, strict=True)
    ][: max(0, size - 1)]
    clauses = event_clauses(rng, places, size - 1 - len(others))
    events = others + [fill((_EVENTS[wording],), event=clause) for clause in clauses]
    return Question(
        id_,
        words.question.format(material=material, place=place),
        (Gold("gold", fill(words.item, material=material, place=place, code=code), (code,)),),
        tuple(rng.sample(events, len(events))),
    )


def _statues(rng: Random, places: Sequence[str], wording: str) -> list[tuple[str, str]]:
    """Material and place of nine statues; the first is asked for."""
    if wording == PLAIN:
        return list(product(rng.sample(MATERIALS, SIDE), rng.sample(places, SIDE)))
    others = SIDE**2 - 1
    return [SUITE_STATUE, *zip(rng.sample(SUITE_MATERIALS, others), rng.sample(SUITE_PLACES, others), strict=True)]


def format_items(items: Sequence[Item]) -> list[str]:
    """One event per line, each in the year of its slot."""
    return [event.replace("{year}", str(year)) for year, (event,) in enumerate(items, start=FIRST_YEAR)]
