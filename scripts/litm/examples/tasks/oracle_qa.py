"""The task oracle_qa (paper, Table 1): the gold document alone, the upper reference of a QA curve."""

from dataclasses import replace

from litm.examples.tasks import multi_document_qa

DEFAULTS = replace(multi_document_qa.DEFAULTS, fixed_cells=((1, "gold_at_0"),))
SEPARATOR = multi_document_qa.SEPARATOR
questions = multi_document_qa.questions
format_items = multi_document_qa.format_items
