"""Tasks on what competes with the gold item in a context of statements, one a line."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

from litm.base.messages import UserError
from litm.examples.fillers import FILLERS, NEUTRAL, WRONG_ANSWERS
from litm.examples.task import PLAIN, Task, any_of, one_gold
from litm.examples.wording import coined_names, filler_sentences, other_coded_lines, random_codes, word_list, wording_of
from litm.records.questions import Gold, Item, Question

#: Gold items of questions on two facts, with the slot of the wording that is the answer of a chain's fact.
LINKS = {"first": "doctor", "second": "code"}
THREE_LINKS = {"first": "doctor", "second": "assistant", "third": "code"}


def _lines(items: Sequence[Item]) -> list[str]:
    return [line for (line,) in items]


def _generate_registered(id_: str, size: int, rng: Random, wording: str) -> Question:
    """The code of a place in the register, and those of `size` - 1 other places; all are distinct."""
    words = wording_of("registered_codes", wording)
    pairs = zip(coined_names(rng, size), random_codes(rng, size, words["code"]), strict=True)
    (place, code), *others = pairs
    items = [(words["item"].format(place=name, code=its_code),) for name, its_code in [(place, code), *others]]
    return one_gold(id_, words["question"].format(place=place), items[0], code, items[1:])


def _fill_registered(question: Question, level: str, rng: Random) -> tuple[Item, ...]:
    """Dull sentences; other places of the register; or other codes of the place asked for, from other sources.

    Codes are those of the other places of the register, so that levels with codes have the same ones in the same order.
    """
    words = wording_of("registered_codes", PLAIN)
    if level == NEUTRAL:
        return tuple((sentence,) for sentence in filler_sentences(rng, len(question.distractors)))
    if level != WRONG_ANSWERS:
        return question.distractors
    before, after = words["question"].split("{place}")
    place = question.text.removeprefix(before).removesuffix(after)
    codes = [item.rsplit(" ", 1)[1].rstrip(".") for (item,) in question.distractors]
    sources = word_list(words["sources"])
    return tuple((words["wrong"].format(source=rng.choice(sources), place=place, code=code),) for code in codes)


registered_codes = Task(
    name="registered_codes",
    asks="the code of a place in a register, among texts that compete with it more or less.",
    prompt="semantic_distractors",
    metric="exact_code",
    max_new_tokens=30,
    item="statement",
    tokens_per_item=30,
    generate=_generate_registered,
    format_items=_lines,
    other_items=other_coded_lines,
    chance=any_of(other_coded_lines),
    fillers=tuple(FILLERS),
    fill=_fill_registered,
)


# Two facts that belong together


def _generate_linked(
    id_: str,
    size: int,
    rng: Random,
    wording: str,
    asks: str = "question",
    task: str = "linked_facts",
    links: Mapping[str, str] = LINKS,
) -> Question:
    """Who the doctor of one of several hospitals is, and that doctor's code, among the same facts on other hospitals;
    with three links the code is that of the doctor's assistant.

    All places, persons and codes are distinct. asks: `question` for all facts, or the name of one of them. Raises
    `UserError` for a context too short for all.
    """
    if size < len(links):
        raise UserError(f"{task}: a context of {size} has no room for {len(links)} facts")
    words = wording_of(task, wording)
    # The other facts are on hospitals, doctors and assistants in equal numbers; the last hospital may lack a code.
    hospitals = -(-size // len(links))
    names = coined_names(rng, len(links) * hospitals)
    columns = [names[start : start + hospitals] for start in range(0, len(names), hospitals)]
    columns.append(random_codes(rng, hospitals, words["code"]))
    slots = [dict(zip(("place", *links.values()), values, strict=True)) for values in zip(*columns, strict=True)]
    facts = [[(words[f"{link}_item"].format_map(of_hospital),) for link in links] for of_hospital in slots]
    others = [fact for chain in facts[1:] for fact in chain][: size - len(links)]
    asked = links if asks == "question" else (asks,)
    golds = tuple(
        Gold(link, fact, (slots[0][value],) if link in asked else ())
        for (link, value), fact in zip(links.items(), facts[0], strict=True)
    )
    return Question(id_, words[asks].format_map(slots[0]), golds, tuple(rng.sample(others, len(others))))


linked_facts = Task(
    name="linked_facts",
    asks="two facts of a chain: a doctor, and that doctor's code; both are asked for and scored separately.",
    prompt="semantic_distractors",
    metric="value_in_answer",
    max_new_tokens=60,
    item="statement",
    tokens_per_item=30,
    golds=len(LINKS),
    in_any_order=True,
    parts=("linked_facts_first", "linked_facts_second"),
    generate=_generate_linked,
    format_items=_lines,
    is_chain=True,
)
linked_facts_first = replace(
    linked_facts,
    name="linked_facts_first",
    asks="the first fact of a chain alone, in the contexts of linked_facts.",
    stem="linked_facts",
    parts=(),
    generate=partial(_generate_linked, asks="first"),
)
linked_facts_second = replace(
    linked_facts_first,
    name="linked_facts_second",
    asks="the second fact of a chain alone, in the contexts of linked_facts.",
    generate=partial(_generate_linked, asks="second"),
)
_THREE = partial(_generate_linked, task="linked_three_facts", links=THREE_LINKS)
linked_three_facts = replace(
    linked_facts,
    name="linked_three_facts",
    asks="three facts of a chain: a doctor, the assistant, and the assistant's code; all are asked for.",
    max_new_tokens=80,
    golds=len(THREE_LINKS),
    parts=tuple(f"linked_three_facts_{link}" for link in THREE_LINKS),
    generate=_THREE,
)
linked_three_facts_first, linked_three_facts_second, linked_three_facts_third = (
    replace(
        linked_three_facts,
        name=f"linked_three_facts_{link}",
        asks=f"the {link} fact of a chain alone, in the contexts of linked_three_facts.",
        stem="linked_three_facts",
        parts=(),
        generate=partial(_THREE, asks=link),
    )
    for link in THREE_LINKS
)


# Two values that contradict each other


def _generate_conflict(
    id_: str, size: int, rng: Random, wording: str, task: str, marks: Callable[[dict, Random], dict[str, Any]]
) -> Question:
    """Two statements that give one place different codes, and `size` - 2 statements on other places.

    The gold items are called first and second: the older and the newer one, or those of a lower and a higher standing.
    marks: the function from words to the slots of all statements that say when, or by whom. Raises `UserError` for a
    context too short for both.
    """
    if size < len(LINKS):
        raise UserError(f"{task}: a context of {size} has no room for {len(LINKS)} statements")
    words = wording_of(task, wording)
    place, *places = coined_names(rng, size - 1)
    codes = random_codes(rng, size, words["code"])
    slots = marks(words, rng)
    golds = tuple(
        Gold(name, (words[f"{name}_item"].format(place=place, code=code, **slots),), (code,))
        for name, code in zip(LINKS, codes[:2], strict=True)
    )
    others = tuple(
        (words["other"].format(place=other, code=code, **marks(words, rng)),)
        for other, code in zip(places, codes[2:], strict=True)
    )
    return Question(id_, words["question"].format(place=place), golds, others)


def _dates(words: dict, rng: Random) -> dict[str, Any]:
    first, last = words["years"]
    early, late = sorted(rng.sample(range(first, last + 1), 2))
    return {"early": early, "late": late, "year": rng.choice((early, late))}


def _sources(words: dict, rng: Random) -> dict[str, Any]:
    return {"source": rng.choice(words["sources"])}


conflicting_dates = replace(
    linked_facts,
    name="conflicting_dates",
    asks="a value that the context gives twice, with an older (first) and a newer date (second).",
    metric="gives_code",
    parts=(),
    is_chain=False,
    generate=partial(_generate_conflict, task="conflicting_dates", marks=_dates),
    other_items=other_coded_lines,
    chance=lambda prompt, target: 1 / len(LINKS),
)
conflicting_sources = replace(
    conflicting_dates,
    name="conflicting_sources",
    asks="a value that the context gives twice, from a source of lower (first) and of higher standing (second).",
    generate=partial(_generate_conflict, task="conflicting_sources", marks=_sources),
)
