"""Made-up facts: sentences of several kinds, each with a question and its answers, about what no text has.

The words are in resources/words/facts.toml.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count, islice
from random import Random
from typing import Any

from litm.base.messages import UserError
from litm.corpora.made_up import coined_name, date, given_names, number, words
from litm.examples.wording import random_codes

#: Groups of kinds. STATED: the sentence has words of the question. LINKED: it has none, and another sentence, the link,
#: says whom or what the question means.
STATED, LINKED = "stated", "linked"
#: Names that a fact takes of the list of coined names.
_NAMES = 3
#: Facts that are drawn for one that is kept, at most: more are in the text only if it was made from these words.
_MOST_DRAWS = 100


@dataclass(frozen=True)
class Fact:
    """A made-up fact."""

    kind: str
    """The kind of its answer: code, person, number, date or name."""
    sentence: str
    """The sentence with the answer."""
    question: str
    """The question."""
    answers: tuple[str, ...]
    """The answers that count as right."""
    coined: tuple[str, ...]
    """All texts of it that the user's text must not contain: made-up names and the answers."""
    link: str = ""
    """The sentence that the question needs besides, "" for none."""


def all_facts(seed: int, group: str) -> Iterator[Fact]:
    """Facts of a group without end, all distinct; the kinds take turns. A fact depends on seed, group and its index."""
    kinds = words("facts")[group]
    return (_fact(seed, group, index, kinds[index % len(kinds)]) for index in count())


def contained_in(text: str) -> Callable[[str], bool]:
    """The function that says whether the text contains another text, in any case."""
    searched = text.casefold()
    return lambda part: part.casefold() in searched


def new_facts(seed: int, group: str, number_of_facts: int, is_in_text: Callable[[str], bool]) -> list[Fact]:
    """The first facts of a group whose coined names the text does not contain; `UserError` if it has most of them.

    is_in_text: whether the user's text contains a text, in any case.
    """
    drawn = islice(all_facts(seed, group), number_of_facts * _MOST_DRAWS)
    facts = list(islice((fact for fact in drawn if not any(map(is_in_text, fact.coined))), number_of_facts))
    if len(facts) < number_of_facts:
        raise UserError(
            "the text already contains most of the made-up facts (is it a prompt of an earlier run?): take another "
            "text, or another 'seed'"
        )
    return facts


def _fact(seed: int, group: str, index: int, wording: dict[str, Any]) -> Fact:
    rng = Random(f"{seed}/facts/{group}/{index}")
    place, surname, name = (coined_name(seed, index * _NAMES + which) for which in range(_NAMES))
    day, month, year = date(seed, index)
    amount = number(seed, index)
    (code,) = random_codes(rng, 1)
    slots = {
        "place": place, "name": name, "surname": surname, "person": f"{rng.choice(given_names())} {surname}",
        "code": code, "number": f"{amount:,}", "date": f"{day} {month} {year}",
    }  # fmt: skip
    others = {"date": (f"{month} {day}, {year}",), "number": (str(amount),), "person": (surname,)}
    answers = (slots[wording["answer"]], *others.get(wording["answer"], ()))
    sentence, question, link = (wording.get(part, "").format(**slots) for part in ("sentence", "question", "link"))
    used = [value for value in (place, surname, name) if value in f"{sentence} {question} {link}"]
    return Fact(wording["kind"], sentence, question, answers, tuple(dict.fromkeys([*used, *answers])), link)
