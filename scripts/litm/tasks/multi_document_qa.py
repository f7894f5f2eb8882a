"""Multi-document question answering (paper, section 2): one document of the context has the answer."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from litm.questions import Item, Question
from litm.released import read_qa_questions
from litm.tasks import ExampleSettings, TaskDefaults

DEFAULTS = TaskDefaults(
    prompt="multi_document_qa", metric="best_subspan_em", stop="first_line", max_new_tokens=100, needs_dataset=True
)
SEPARATOR = "\n"


def questions(size: int, settings: ExampleSettings, dataset: str | None) -> Iterator[Question]:
    """The questions of a file in the released format; a file of N documents serves every size up to N.

    The distractors are cut to the size before they are shuffled: a random order shows the same documents
    as the ranked one (paper, Appendix C).
    """
    assert dataset is not None, "the configuration asks for a dataset"
    for question in read_qa_questions(dataset, settings.examples):
        distractors = question.distractors[: size - 1]
        if settings.distractor_order == "random":
            rng = random.Random(f"{settings.seed}/distractor_order/{question.id}")
            distractors = tuple(rng.sample(distractors, len(distractors)))
        yield replace(question, distractors=distractors)


def format_items(items: Sequence[Item]) -> list[str]:
    """The documents, numbered from 1, with their titles (paper, Figure 2)."""
    return [f"Document [{index}](Title: {title}) {text}" for index, (title, text) in enumerate(items, start=1)]
