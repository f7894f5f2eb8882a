"""Closed-book question answering (paper, Table 1): the question alone, the lower reference of a QA curve."""

from dataclasses import replace

from litm.questions import NO_GOLD
from litm.tasks import multi_document_qa

DEFAULTS = replace(multi_document_qa.DEFAULTS, prompt="closed_book_qa", fixed_cells=((0, NO_GOLD),))
SEPARATOR = multi_document_qa.SEPARATOR
questions = multi_document_qa.questions
format_items = multi_document_qa.format_items
