"""Readers of prompts with made-up facts: they know the forms of the facts and what they can see, and nothing of a run.

A form of a sentence with slots is a pattern: the question names a place, the sentence with this place has the answer.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from conftest import ROOT

FORMS = tomllib.loads((ROOT / "resources" / "words" / "facts.toml").read_text(encoding="utf-8"))
#: Patterns of the slots of a form.
SLOTS = {
    "person": r"\w+ \w+", "code": r"[A-Z]{3}-\d{4}", "number": r"[\d,]*\d", "date": r"\d+ \w+ \d{4}",
    "place": r"\w+", "name": r"\w+", "surname": r"\w+",
}  # fmt: skip
UNKNOWN = "I do not know."


def pattern_of(form: str, known: Mapping[str, str]) -> str:
    """The pattern of a form, in which the known slots have their values."""
    parts, seen = [], set()
    for part in re.split(r"(\{\w+\})", form):
        slot = part.strip("{}")
        if part == slot or slot in known:
            parts.append(re.escape(known.get(slot, part)))
        else:
            parts.append(f"(?P={slot})" if slot in seen else f"(?P<{slot}>{SLOTS[slot]})")
            seen.add(slot)
    return "".join(parts)


def read_answer(text: str, question: str) -> str:
    """The answer that a text gives to a question; to one that asks for none, all codes of rules in the text."""
    for form in (*FORMS["stated"], *FORMS["linked"]):
        if asked := re.search(pattern_of(form["question"], {}), question):
            return _fact(text, form, asked.groupdict())
    rules = (pattern_of(rule, {}) for rule in FORMS["session"]["instruction"]["rules"])
    return " ".join(["Three.", *(match["code"] for rule in rules for match in re.finditer(rule, text))])


def _fact(text: str, form: Mapping[str, Any], known: dict[str, str]) -> str:
    if "link" in form:
        link = re.search(pattern_of(form["link"], known), text)
        known |= link.groupdict() if link else {}
        # The sentence calls the person of the link by surname, and its own person is another one.
        known |= {"surname": known.pop("person").split()[-1]} if "person" in known else {}
        if not link:
            return UNKNOWN
    told = re.search(pattern_of(form["sentence"], known), text)
    return told[form["answer"]] if told else UNKNOWN


def shown(messages: Sequence[Mapping[str, Any]], roles: Iterable[str] = ("system", "user", "assistant", "tool")) -> str:
    """The contents of the messages of these roles, a line between two."""
    heard = {*roles}
    return "\n".join(message["content"] or "" for message in messages if message["role"] in heard)
