"""Open-domain question answering (paper, section 5): the context is what a retriever found, with or without the
answer.
"""

from collections.abc import Iterator
from dataclasses import replace

from litm.placements import AS_RETRIEVED
from litm.questions import Question
from litm.released import read_retrieved_questions
from litm.tasks import ExampleSettings, multi_document_qa

DEFAULTS = replace(multi_document_qa.DEFAULTS, placement=AS_RETRIEVED)
SEPARATOR = multi_document_qa.SEPARATOR
format_items = multi_document_qa.format_items


def questions(size: int, settings: ExampleSettings, dataset: str | None) -> Iterator[Question]:
    """The questions of a file in the released format whose documents are those retrieved, best first."""
    assert dataset is not None, "the configuration asks for a dataset"
    return read_retrieved_questions(dataset, settings.limit)
