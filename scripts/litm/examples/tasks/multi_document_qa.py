"""The task multi_document_qa (paper, section 2): one document of the context has the answer."""

from collections.abc import Iterator, Sequence

from litm.examples.task import ExampleSettings, TaskDefaults
from litm.examples.wording import other_documents
from litm.questions.released_format import read_qa_questions
from litm.records import Item, Question

DEFAULTS = TaskDefaults(
    prompt="multi_document_qa",
    metric="best_subspan_em",
    stop="first_line",
    max_new_tokens=100,
    needs_dataset=True,
    item="document",
)
SEPARATOR = "\n"
other_items = other_documents


def questions(size: int, settings: ExampleSettings, dataset: str | None) -> Iterator[Question]:
    """The questions of a file in the released format; a file with N documents serves every size up to N."""
    assert dataset is not None, "the configuration asks for a dataset"
    return read_qa_questions(dataset, settings.limit, settings.cluster)


def format_items(items: Sequence[Item]) -> list[str]:
    """The documents, numbered from 1, with their titles (paper, Figure 2)."""
    return [f"Document [{index}](Title: {title}) {text}" for index, (title, text) in enumerate(items, start=1)]
