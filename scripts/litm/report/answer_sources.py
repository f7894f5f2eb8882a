"""Which item of the context a wrong answer was taken from, as far as its words say so."""

import re
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from litm.domain.example import Example

#: A word: UUIDs, codes and numbers with separators are one.
_WORD = re.compile(r"\w+(?:[-.,:']\w+)*")
_SENTENCE = re.compile(r"(?<=[.!?]) ")
#: A number of an item stands in so many of its first characters: `Document [20](`.
NUMBERED = 15


@dataclass(frozen=True)
class Source:
    """An item of the context: its position from 0, and the first character in the prompt and the one after its last."""

    position: int
    span: tuple[int, int]


def source_of(example: Example, answer: str) -> Source | None:
    """The item that alone has the answer's telling words: those of one item only that the question has not.

    None where these words are in several items or in none, for prompts with several gold items or without one, and
    where an item has several lines.
    """
    items = items_of(example)
    words = {text: _words(example.prompt[slice(*span)]) for text, span in enumerate(items)}
    counts = Counter(word for own in words.values() for word in own)
    telling = {word for word in _words(answer) - _words(example.question) if counts[word] == 1}
    found = [position for position, own in words.items() if own & telling]
    return Source(found[0], items[found[0]]) if len(found) == 1 else None


def items_of(example: Example) -> list[tuple[int, int]]:
    """The spans of the context's items in the prompt, found from that of the gold one: lines, or sentences.

    Empty where that is not possible: the items are no lines and no sentences, or the gold item is not one alone.
    """
    if len(example.targets) != 1 or example.targets[0].span is None or example.targets[0].position is None:
        return []
    (start, end), position = example.targets[0].span, example.targets[0].position
    if "\n" in example.prompt[start:end].strip("\n"):
        return []
    for parts in (_lines(example.prompt), _sentences(example.prompt)):
        gold = next((index for index, (low, high) in enumerate(parts) if low <= start < high), None)
        # The gold item fills its part but for a bracket, a comma or a space.
        if gold is None or parts[gold][1] - parts[gold][0] > end - start + 3:
            continue
        first = gold - position
        items = parts[max(first, 0) : first + example.context_items]
        texts = [example.prompt[slice(*span)] for span in items]
        is_whole = first >= 0 and len(items) == example.context_items and _agree(texts, position)
        return items if is_whole else []
    return []


def _agree(texts: list[str], position: int) -> bool:
    """Whether all items have their numbers if the gold one has, so that a text with line ends counts nothing twice."""
    numbers = [str(number) in text[:NUMBERED] for number, text in enumerate(texts, start=1)]
    return not numbers[position] or all(numbers)


def _lines(text: str) -> list[tuple[int, int]]:
    return _between(text, [match.end() for match in re.finditer("\n", text)])


def _sentences(text: str) -> list[tuple[int, int]]:
    ends = {match.end() for match in re.finditer("\n", text)} | {match.end() for match in _SENTENCE.finditer(text)}
    return _between(text, sorted(ends))


def _between(text: str, ends: list[int]) -> list[tuple[int, int]]:
    bounds = [0, *ends, len(text)]
    return [(low, high) for low, high in pairwise(bounds) if high > low]


def _words(text: str) -> set[str]:
    return {match.group().lower() for match in _WORD.finditer(text)}
