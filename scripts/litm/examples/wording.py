"""Wording of generated texts: codes, names, and sentences without repetition, from the words in resources/words."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from random import Random
from typing import Any

from litm.base.messages import UserError
from litm.corpora.made_up import coined_name, name_parts, stem, words
from litm.records.examples import OtherItem, Target
from litm.records.questions import Item

#: Letters and digits of codes. No vowels, so that no code is a word; no I, O, 0 and 1, so that none can be misread.
_RANDOM = {"?": "BCDFGHJKLMNPQRSTVWXZ", "#": "23456789"}
#: A code in a text.
_CODE = re.compile(r"\b[A-Z]{3,}-[0-9]{4}\b")
#: Names that share all but their last two letters: Varnhold, Varnholt, Varnholm, ...
FAMILY = 5
_SEEDS = 2**32
#: Minimum number of places, and sentences per further place: longer texts mention more places.
_PLACES, _SENTENCES_A_PLACE = 24, 25
#: Successive draws without a new text, after which the wordings count as exhausted.
_MOST_DRAWS = 1000


def wording_of(task: str, name: str) -> dict[str, Any]:
    """The words of a task's items and questions, in the wording of that name; `UserError` if there are none."""
    try:
        return words("suite")[task][name]
    except KeyError:
        raise UserError(f"resources/words/suite.toml: there are no words '{task}.{name}': add them") from None


@cache
def word_list(text: str) -> tuple[str, ...]:
    """The words and phrases of a text that `|` separates."""
    return tuple(" ".join(text.split()).split(" | "))


# Codes and names


def random_codes(rng: Random, count: int, form: str = "???-####") -> list[str]:
    """`count` distinct codes such as "TRK-5938", of the 32,768,000 of the usual form.

    form: `?` is a random letter, `#` a random digit.
    """
    codes: dict[str, None] = {}
    while len(codes) < count:
        codes["".join(rng.choices(_RANDOM[sign])[0] if sign in _RANDOM else sign for sign in form)] = None
    return list(codes)


def other_coded_lines(prompt: str, target: Target) -> list[OtherItem]:
    """The items with a code but the target's, of a context that has an item a line.

    Without the target's place they are counted from the first one, where all items have codes.
    """
    if target.span is None or target.position is None:
        coded = [(code[0], line) for line in prompt.split("\n") if (code := _CODE.search(line))]
        return [OtherItem(place, line, code) for place, (code, line) in enumerate(coded)]
    target_line = prompt.count("\n", 0, target.span[0])
    lines = enumerate(prompt.split("\n"), start=target.position - target_line)
    searched = ((position, line, _CODE.search(line)) for position, line in lines if position != target.position)
    return [OtherItem(position, line, code[0]) for position, line, code in searched if code]


def coined_names(rng: Random, count: int) -> list[str]:
    """`count` distinct names of places and countries, such as "Melitor"."""
    seed = rng.randrange(_SEEDS)
    return [coined_name(seed, index) for index in range(count)]


def similar_names(rng: Random, count: int) -> list[str]:
    """`count` distinct names in random order, in families of `FAMILY` that differ only in the last two letters.

    No name contains another. The last family may be smaller.
    """
    seed = rng.randrange(_SEEDS)
    # Without endings that make a swear word of some stems.
    endings = tuple(coda for coda in name_parts("coda")[0] if coda not in ("ck", "nt"))
    families = range(-(-count // FAMILY))
    names = [stem(seed, family) + coda for family in families for coda in rng.sample(endings, FAMILY)][:count]
    return rng.sample(names, count)


def subjects() -> list[str]:
    """The subjects of requests, such as "ladders in the market hall"."""
    return [f"{thing} in the {building}" for thing in _listed("things") for building in _listed("buildings")]


# Sentences


def filler_sentences(rng: Random, count: int) -> list[str]:
    """`count` distinct sentences of present-day dullness."""
    return [sentence for (sentence,) in _capitalised(distinct_texts(rng, "fillers", places_for(rng, count), count))]


def exchanges(rng: Random, count: int) -> list[Item]:
    """`count` pairs of a user's message and the assistant's reply, all distinct."""
    return _capitalised(distinct_texts(rng, "exchanges", places_for(rng, count), count))


def places_for(rng: Random, sentences: int) -> list[str]:
    """Made-up places for a text of `sentences` sentences."""
    return coined_names(rng, _PLACES + sentences // _SENTENCES_A_PLACE)


def distinct_texts(rng: Random, kind: str, places: Sequence[str], count: int) -> list[Item]:
    """`count` texts from the wordings of a kind (fillers, events, exchanges), with all parts distinct.

    A wording has one or more parts whose slots are filled alike (a question and its answer). Wordings take turns, in a
    new random order in every round.
    """
    wordings = [(wording,) if isinstance(wording, str) else tuple(wording) for wording in words("suite")[kind]]
    seen: set[str] = set()
    texts: list[Item] = []
    turns = _turns(rng, wordings)
    while len(texts) < count:
        wording = next(turns)
        for _ in range(_MOST_DRAWS):
            slots = _slots(rng, places)
            parts = tuple(part.format_map(slots) for part in wording)
            if seen.isdisjoint(parts):
                break
        else:
            raise AssertionError(f"the wording {wording!r} has nothing new left to say after {len(texts)} texts")
        seen.update(parts)
        texts.append(parts)
    return texts


def _capitalised(texts: Sequence[Item]) -> list[Item]:
    return [tuple(part[:1].upper() + part[1:] for part in text) for text in texts]


def _turns(rng: Random, wordings: Sequence[Item]) -> Iterator[Item]:
    while True:
        yield from rng.sample(wordings, len(wordings))


def _slots(rng: Random, places: Sequence[str]) -> dict[str, str]:
    place, other = rng.sample(places, 2)
    person, helper = rng.sample(_listed("persons"), 2)
    building, second = rng.sample(_listed("buildings"), 2)
    return {
        **{"place": place, "other": other, "person": person, "helper": helper, "building": building, "second": second},
        **{name: rng.choice(_listed(name)) for name in ("things", "goods", "season", "hour")},
    }


def _listed(name: str) -> tuple[str, ...]:
    return word_list(words("suite")[name])
