"""The task multi_needle_in_order: the questions of multi_needle, with needles that all have the words of a single one.

Nothing but their order in the text tells the three needles apart. The suite's description words its prompt so.
"""

from collections.abc import Iterator
from dataclasses import replace

from litm.domain.question import Gold, Question
from litm.examples.task import ExampleSettings
from litm.examples.tasks import multi_needle
from litm.examples.tasks.needle_in_haystack import needle

SEPARATOR = multi_needle.SEPARATOR
format_items = multi_needle.format_items
DEFAULTS = replace(multi_needle.DEFAULTS, prompt="multi_needle_in_order")


def questions(size: int, settings: ExampleSettings, dataset: str | None) -> Iterator[Question]:
    """Generated questions with the ids, codes and other sentences of `multi_needle`; errors as there."""
    return map(_without_ordinals, multi_needle.questions(size, settings, dataset))


def _without_ordinals(question: Question) -> Question:
    golds = tuple(Gold(gold.name, needle(*gold.answers), gold.answers) for gold in question.golds)
    return replace(question, text="Read the text and list ALL three secret codes in order.", golds=golds)
