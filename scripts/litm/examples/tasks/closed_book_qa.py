"""The task closed_book_qa (paper, Table 1): the question alone, the lower reference of a QA curve."""

from collections.abc import Iterator
from dataclasses import replace

from litm.examples.task import ExampleSettings
from litm.examples.tasks import multi_document_qa
from litm.placements import NO_GOLD
from litm.questions.released_format import read_retrieved_questions
from litm.records import Question

DEFAULTS = replace(multi_document_qa.DEFAULTS, prompt="closed_book_qa", fixed_cells=((0, NO_GOLD),))
SEPARATOR = multi_document_qa.SEPARATOR
format_items = multi_document_qa.format_items


def questions(size: int, settings: ExampleSettings, dataset: str | None) -> Iterator[Question]:
    """The questions of a file in the released format; their documents, if any, are not shown."""
    assert dataset is not None, "the configuration asks for a dataset"
    return read_retrieved_questions(dataset, settings.limit, settings.cluster)
