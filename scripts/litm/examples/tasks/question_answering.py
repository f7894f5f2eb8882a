"""Tasks on documents (paper, sections 2 and 5): a question that one of them answers, and its references.

Questions come from files in the released format. A file with N documents serves every size up to N.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from litm.answers import contains_normalized
from litm.examples.fillers import NEUTRAL, SAME_FORM, WRONG_ANSWERS, with_documents
from litm.examples.task import ExampleSettings, Task
from litm.placements import AS_RETRIEVED, NO_GOLD
from litm.questions.released_format import read_qa_questions, read_retrieved_questions
from litm.records.conditions import Cut
from litm.records.examples import OtherItem, Target
from litm.records.questions import Item, Question

#: A document's first line, as `format_documents` writes it.
_DOCUMENT = re.compile(r"^Document \[(\d+)\]\(Title: ", re.MULTILINE)


def format_documents(items: Sequence[Item]) -> list[str]:
    """The documents, numbered from 1, with their titles (paper, Figure 2)."""
    return [f"Document [{index}](Title: {title}) {text}" for index, (title, text) in enumerate(items, start=1)]


def other_documents(prompt: str, target: Target) -> list[OtherItem]:
    """The documents of a prompt but the target's, by the numbers that they are shown with; of repeated ones the first.

    Without a position, in documents as retrieved, those with an answer are the target's.
    """
    starts = list(_DOCUMENT.finditer(prompt))
    ends = [start.start() for start in starts[1:]] + [len(prompt)]
    # What follows the last one is no part of it.
    texts = [prompt[start.end() : end].split("\n\n", 1)[0] for start, end in zip(starts, ends, strict=bool(starts))]
    numbered = {int(start[1]) - 1: text for start, text in reversed([*zip(starts, texts, strict=True)])}
    documents = [OtherItem(position, numbered[position]) for position in sorted(numbered)]
    if target.position is None:
        return [document for document in documents if not contains_normalized(document.text, target.answers)]
    return [document for document in documents if document.position != target.position]


def _with_gold(dataset: str, size: int, settings: ExampleSettings) -> Iterator[Question]:
    """The questions with their gold document; fillers are made of all questions, however many are asked."""
    if settings.fillers is None or settings.fillers == SAME_FORM:
        return read_qa_questions(dataset, settings.limit, settings.cluster)
    every = list(read_qa_questions(dataset, None, settings.cluster))
    return islice(with_documents(every, settings.fillers, settings.seed, size - 1), settings.limit)


def _retrieved(dataset: str, size: int, settings: ExampleSettings) -> Iterator[Question]:
    """The questions with their documents, best first; a cut keeps some of the first `size` by their scores."""
    cut = None if settings.cut is None else Cut(**settings.cut)
    return read_retrieved_questions(dataset, settings.limit, settings.cluster, cut, size, settings.without_answer)


multi_document_qa = Task(
    name="multi_document_qa",
    source="paper, section 2",
    asks="one document of the context has the answer.",
    prompt="multi_document_qa",
    metric="best_subspan_em",
    stop="first_line",
    max_new_tokens=100,
    item="document",
    read=_with_gold,
    fillers=(NEUTRAL, SAME_FORM, WRONG_ANSWERS),
    format_items=format_documents,
    other_items=other_documents,
)
oracle_qa = replace(
    multi_document_qa,
    name="oracle_qa",
    source="paper, Table 1",
    asks="the gold document alone, the upper reference of a QA curve.",
    fixed_cells=((1, "gold_at_0"),),
    fillers=(),
    other_items=None,
)
closed_book_qa = replace(
    multi_document_qa,
    name="closed_book_qa",
    source="paper, Table 1",
    asks="the question alone, the lower reference of a QA curve.",
    prompt="closed_book_qa",
    fixed_cells=((0, NO_GOLD),),
    read=_retrieved,
    fillers=(),
    other_items=None,
)
open_domain_qa = replace(
    multi_document_qa,
    name="open_domain_qa",
    source="paper, section 5",
    asks="the context is what a retriever found, with or without the answer.",
    placement=AS_RETRIEVED,
    read=_retrieved,
    fillers=(),
)
