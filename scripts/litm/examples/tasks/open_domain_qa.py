"""The task open_domain_qa (paper, section 5): the context is what a retriever found, with or without the answer."""

from collections.abc import Iterator
from dataclasses import replace

from litm.examples.task import ExampleSettings
from litm.examples.tasks import multi_document_qa
from litm.placements import AS_RETRIEVED
from litm.questions.released_format import read_retrieved_questions
from litm.records import Cut, Question

DEFAULTS = replace(multi_document_qa.DEFAULTS, placement=AS_RETRIEVED)
SEPARATOR = multi_document_qa.SEPARATOR
format_items = multi_document_qa.format_items
other_items = multi_document_qa.other_items


def questions(size: int, settings: ExampleSettings, dataset: str | None) -> Iterator[Question]:
    """The questions of a file in the released format with their retrieved documents, best first.

    A cut, based on the scores in the file, keeps some of the first `size` documents.
    """
    assert dataset is not None, "the configuration asks for a dataset"
    cut = None if settings.cut is None else Cut(**settings.cut)
    return read_retrieved_questions(dataset, settings.limit, settings.cluster, cut, size)
