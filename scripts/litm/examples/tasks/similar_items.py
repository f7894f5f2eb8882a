"""Tasks on similar items: a code among those of other countries, statues or requests, one item a line."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from random import Random

from litm.base.messages import UserError
from litm.examples.task import PLAIN, SUITE, Task, any_of, one_gold
from litm.examples.wording import (
    coined_names,
    distinct_texts,
    other_coded_lines,
    places_for,
    random_codes,
    similar_names,
    subjects,
    word_list,
    wording_of,
)
from litm.records.questions import Item, Question

#: Names of the countries: in families that differ in two letters, or all different.
_NAMES = {PLAIN: similar_names, SUITE: coined_names}
FIRST_YEAR = 1001
#: Statues in a row of materials and in a column of places.
SIDE = 3


def _lines(items: Sequence[Item]) -> list[str]:
    return [line for (line,) in items]


def _generate_countries(id_: str, size: int, rng: Random, wording: str) -> Question:
    """A country asked for, and `size` - 1 others; all names and codes are distinct, all statements of the same form."""
    words = wording_of("semantic_distractors", wording)
    pairs = zip(_NAMES[wording](rng, size), random_codes(rng, size, words["code"]), strict=True)
    (country, code), *others = pairs
    items = [(words["item"].format(country=name, code=its_code),) for name, its_code in [(country, code), *others]]
    return one_gold(id_, words["question"].format(country=country), items[0], code, items[1:])


semantic_distractors = Task(
    name="semantic_distractors",
    asks="the code of one made-up country among those of other countries.",
    prompt="semantic_distractors",
    metric="exact_code",
    max_new_tokens=30,
    item="statement",
    tokens_per_item=30,
    generate=_generate_countries,
    has_suite_words=True,
    format_items=_lines,
    other_items=other_coded_lines,
    chance=any_of(other_coded_lines),
)


def generate_chronicle(id_: str, size: int, rng: Random, wording: str) -> Question:
    """The unveiling asked for, and `size` - 1 other events in random order, including the eight other unveilings.

    Shorter chronicles have fewer unveilings. Plain: all nine statues have a code, and a place has a statue of each of
    three materials, so that both identify a statue. Suite: only the statue asked for has a code, and the others have
    other materials and other places.
    """
    words = wording_of("temporal_narrative", wording)
    places, materials = places_for(rng, size), word_list(words["materials"])
    if wording == PLAIN:
        statues = list(product(rng.sample(materials, SIDE), rng.sample(places, SIDE)))
    else:
        chosen = rng.sample(materials, SIDE**2 - 1), rng.sample(word_list(words["places"]), SIDE**2 - 1)
        statues = [tuple(words["statue"]), *zip(*chosen, strict=True)]
    codes = random_codes(rng, len(statues), words["code"])
    fields = [
        {"material": material, "place": place, "code": code}
        for (material, place), code in zip(statues, codes, strict=True)
    ]
    others = [words["other"].format(**each) for each in fields[1:size]]
    events = distinct_texts(rng, "events", places, size - 1 - len(others))
    others += [words["event"].format(event=event) for (event,) in events]
    asked, item = (words[name].format(**fields[0]) for name in ("question", "item"))
    return one_gold(id_, asked, (item,), codes[0], [(other,) for other in rng.sample(others, len(others))])


def _format_events(items: Sequence[Item]) -> list[str]:
    """One event per line, each in the year of its slot: the first in `FIRST_YEAR`, the next a year later.

    Years belong to the slots of the context, not to the events. The chronicle is therefore in order at every position
    of the target, and moving it changes no other word. Questions do not ask for years.
    """
    return [event.replace("{year}", str(year)) for year, (event,) in enumerate(items, start=FIRST_YEAR)]


temporal_narrative = replace(
    semantic_distractors,
    name="temporal_narrative",
    asks="a chronicle of one event per year, with unveilings of similar statues among them.",
    prompt="temporal_narrative",
    item="event",
    tokens_per_item=40,
    generate=generate_chronicle,
    format_items=_format_events,
)


def _generate_demonstrations(id_: str, size: int, rng: Random, wording: str) -> Question:
    """A request, a demonstration of its subject, and `size` - 1 demonstrations of others; all codes are distinct.

    Each demonstration is a request with the code of the desk that takes it, and the question is another request about
    the subject of one of them, in other words. So the gold item does not have the question's text, as a document may.
    Raises `UserError` for more items than there are subjects.
    """
    pool, requests = subjects(), wording_of("demonstrations", wording)["requests"]
    if size > len(pool):
        raise UserError(f"demonstrations: there are {len(pool)} subjects, so that a context cannot have {size} items")
    (asked, *others), (code, *codes) = rng.sample(pool, size), random_codes(rng, size)
    shown, asked_as = (request.format(subject=asked) for request in rng.sample(requests, 2))
    other_requests = [rng.choice(requests).format(subject=subject) for subject in others]
    return one_gold(id_, asked_as, (shown, code), code, zip(other_requests, codes, strict=True))


def _format_demonstrations(items: Sequence[Item]) -> list[str]:
    return [f"Request: {request} Desk: {code}" for request, code in items]


demonstrations = Task(
    name="demonstrations",
    asks="in-context learning of a label that one demonstration of the context shows.",
    prompt="demonstrations",
    # A model that lists the codes of all demonstrations has not found the subject's.
    metric="only_code",
    max_new_tokens=30,
    item="demonstration",
    tokens_per_item=35,
    generate=_generate_demonstrations,
    format_items=_format_demonstrations,
    other_items=other_coded_lines,
    chance=any_of(other_coded_lines),
)
