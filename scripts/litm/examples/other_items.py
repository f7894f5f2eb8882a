"""The items of a context that are not asked for, read back from a prompt: what a wrong answer may have been taken from.

A task whose items a wrong answer can be traced to has one of these functions as its `other_items`.
"""

import re

from litm.records import OtherItem, Target

#: A document's first line, as `multi_document_qa.format_items` writes it.
_DOCUMENT = re.compile(r"^Document \[(\d+)\]\(Title: ", re.MULTILINE)
#: A pair on a line of its own, as `kv_retrieval.format_items` writes it.
_PAIR = re.compile(r'^[{ ]"([^"\n]+)": "([^"\n]+)"[,}]*$', re.MULTILINE)
#: A code as the suite's tasks have them.
_CODE = re.compile(r"\b[A-Z]{3,}-[0-9]{4}\b")


def other_documents(prompt: str, target: Target) -> list[OtherItem]:
    """The documents of a prompt but the target's, by the numbers that they are shown with."""
    starts = list(_DOCUMENT.finditer(prompt))
    ends = [start.start() for start in starts[1:]] + [len(prompt)]
    items = []
    for start, end in zip(starts, ends, strict=True):
        # What follows the last one is no part of it.
        text = prompt[start.end() : end].split("\n\n", 1)[0]
        position = int(start[1]) - 1
        if position != target.position:
            items.append(OtherItem(position, text))
    return items


def other_pairs(prompt: str, target: Target) -> list[OtherItem]:
    """The pairs of a JSON object but the target's, each with its value."""
    pairs = enumerate(_PAIR.finditer(prompt))
    return [OtherItem(position, pair[0], pair[2]) for position, pair in pairs if position != target.position]


def other_coded_lines(prompt: str, target: Target) -> list[OtherItem]:
    """The items with a code but the target's, of a context that has an item a line; none without the target's place."""
    if target.span is None or target.position is None:
        return []
    own = prompt.count("\n", 0, target.span[0])
    lines = enumerate(prompt.split("\n"), start=target.position - own)
    found = ((position, line, _CODE.search(line)) for position, line in lines if position != target.position)
    return [OtherItem(position, line, code[0]) for position, line, code in found if code]
