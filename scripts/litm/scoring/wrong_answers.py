"""The kind of a wrong answer, and the item it was taken from.

An answer is of the first kind of `KINDS` that fits. It is looked at as the metric reads it: its first line, or all of
it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from litm.answers import LETTER
from litm.base.yaml_files import read_data
from litm.examples.task import Task
from litm.records.examples import OtherItem
from litm.records.responses import LENGTH, REFUSED

EMPTY, REFUSAL, CODE, OTHER_ITEM, INVENTED, LEFT_OUT, CUT, OTHER = (
    "empty", "refusal", "code", "other_item", "invented", "left_out", "cut", "other",
)  # fmt: skip
#: The kinds in the order in which they are looked for, and what the answer is, or does.
KINDS = {
    EMPTY: "is nothing, or nothing but spaces and punctuation",
    REFUSAL: "says that it cannot answer, or that the context does not say (in English); or a provider withheld it",
    CODE: "is a program, or a line of one, instead of a value",
    OTHER_ITEM: "has the value of an item that was not asked for, or a name or number that is in another document, but "
    "in neither the question nor the gold document",
    INVENTED: "has a UUID or a code that is nowhere in the prompt",
    LEFT_OUT: "has an answer to another item of a prompt that asks for several, not to this one, and no invented value",
    CUT: "is none of these, and ended at the limit of new tokens",
    OTHER: "is none of these",
}
_REFUSAL = re.compile(
    rf"^\W*(?:answer: *)?(?:{'|'.join(read_data(Path(__file__).with_name('abstentions.yaml')))})", re.IGNORECASE
)
_PROGRAM = re.compile(
    r"""^\s*(?:import\s+\w+\s*$|from\s+[\w.]+\s+import\s|def\s+\w+\s*\(|class\s+\w+\s*[(:{]|(?:const|let|var)\s+\w+\s*=
    |function\s*\w*\s*\(|\#!|public\s+(?:static|class)\s|for\s+\w+(?:\s*,\s*\w+)?\s+in\s+.+:\s*$|if\s+.+:\s*$|return\s+\w+[\[.(])
    |\b(?:print|console\.log|json\.loads|json\.load|JSON\.parse|len|str|dict)\s*\(
    |\b\w+\[["'][^"'\n]+["']\]|\.get\(\s*["'\w]|\bjq\s+['"-]|\b\w+\.(?:keys|values|items)\(\)""",
    re.VERBOSE | re.MULTILINE,
)
#: A value of a task that does not say how its values look: a UUID, or a code of letters and digits.
_VALUE = r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b[A-Z]{2,}-[0-9]{3,}\b"
#: A name or a number: consecutive words that begin with a capital or a digit.
_NAME = re.compile(r"(?:[^\W\d_a-z]|\d)[\w'\u2019.,-]*(?:\s+(?:[^\W\d_a-z]|\d)[\w'\u2019.,-]*)*")
_LETTER = re.compile(LETTER)
_EDGES = " \t\n.,;:!?\"'()[]*`\u2019-"
#: Words. Up to this length an answer is first searched for as a whole; a longer one is searched for by its names only.
_FEW_WORDS = 6


@dataclass(frozen=True, slots=True)
class WrongAnswer:
    """What is known of a wrong answer."""

    kind: str
    """One of `KINDS`."""
    taken_from: int | None = None
    """Position of the item that the answer was taken from, None if it matches no other item or several."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked."""

    prompt: str
    """All of the prompt."""
    question: str
    """The question in it."""
    gold: str
    """Text of the gold item, "" without one."""
    others: Sequence[OtherItem]
    """The items that were not asked for."""
    has_other_answer: bool = False
    """Whether the answer is right for another gold item of the prompt."""
    task: Task | None = None
    """Says how its values look, and whether a program is a kind of wrong answers; None if it is not known."""


def wrong_answer(text: str, finish_reason: str, asked: Asked) -> WrongAnswer:
    """The kind of a wrong answer.

    text: the part of the answer that the metric reads; finish_reason: see `litm.records`.
    """
    if not re.search(r"\w", text):
        return WrongAnswer(REFUSAL if finish_reason == REFUSED else EMPTY)
    if finish_reason == REFUSED or _REFUSAL.search(text):
        return WrongAnswer(REFUSAL)
    if not (asked.task and asked.task.asks_for_programs) and _PROGRAM.search(text):
        return WrongAnswer(CODE)
    if items := items_of(text, asked):
        return WrongAnswer(OTHER_ITEM, items[0] if len(items) == 1 else None)
    in_prompt = asked.prompt.lower()
    values = re.finditer((asked.task and asked.task.value) or _VALUE, text, re.IGNORECASE)
    if any(value[0].lower() not in in_prompt for value in values):
        return WrongAnswer(INVENTED)
    if asked.has_other_answer:
        return WrongAnswer(LEFT_OUT)
    return WrongAnswer(CUT if finish_reason == LENGTH else OTHER)


def items_of(text: str, asked: Asked) -> list[int]:
    """The positions of the other items that an answer may be taken from; [] if none matches.

    Values: the item whose value comes first in the answer. Documents: all that contain the whole answer, if it is
    short; otherwise all that contain its first name or number that any has and the question and the gold document lack.
    """
    lowered = text.lower()
    places = [(lowered.find(item.value.lower()), item.position) for item in asked.others if item.value is not None]
    if placed := sorted(place for place in places if place[0] >= 0):
        return [placed[0][1]]
    documents = [item for item in asked.others if item.value is None]
    return _documents_with(text, documents, asked) if documents else []


def _documents_with(text: str, documents: Sequence[OtherItem], asked: Asked) -> list[int]:
    in_prompt = f"{asked.question}\n{asked.gold}".lower()
    texts = [(document.position, document.text.lower()) for document in documents]
    for part in _parts(text, asked.prompt):
        if has_words(in_prompt, part):
            continue
        if positions := [position for position, other in texts if has_words(other, part)]:
            return positions
    return []


def _parts(text: str, prompt: str) -> list[str]:
    """Parts of an answer to search for, in lower case: the whole answer if it is short, then its names and numbers.

    A capital at the beginning of a sentence makes no name: words that the prompt also has in lower case do not count.
    """
    whole = text.strip(_EDGES)
    parts = [whole.lower()] if len(whole.split()) <= _FEW_WORDS else []
    for run in _NAME.findall(text):
        words = run.split()
        while words and has_words(prompt, words[0].strip(_EDGES).lower()) and not words[0][0].isdigit():
            words.pop(0)
        parts.append(" ".join(words).strip(_EDGES).lower())
    return [part for part in parts if len(part) > 1]


def has_words(text: str, part: str) -> bool:
    """Whether a text contains a part as whole words."""
    # Not a pattern of the part: to compile one takes a hundred times as long as to search for it.
    start = text.find(part)
    while start >= 0:
        if not _LETTER.match(text[start - 1 : start]) and not _LETTER.match(text, start + len(part)):
            return True
        start = text.find(part, start + 1)
    return False
