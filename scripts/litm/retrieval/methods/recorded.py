"""The method recorded: hits of an existing retrieval system, in the form that `read_run.py` writes."""

from collections.abc import Sequence

from litm.base.records import read_json
from litm.retrieval.method import Found, SearchTask


def find(task: SearchTask, questions: Sequence[str]) -> Found:
    """The hits of each question."""
    hits = read_json(task.indexes[0])["hits"]
    return Found([[(id_, score) for id_, score in hits[text][: task.search["hits"]]] for text in questions])
