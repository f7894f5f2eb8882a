"""The method bm25: questions searched in the Lucene index of the corpus."""

from collections.abc import Sequence

from litm.base.json_files import read_json
from litm.base.store import existing
from litm.retrieval.lucene import search
from litm.retrieval.method import Found, SearchTask


def find(task: SearchTask, questions: Sequence[str]) -> Found:
    """The hits of each question."""
    folder = existing(read_json(task.indexes[0])["entry"], "index_bm25")
    settings = task.search
    hits = search(folder, questions, settings["hits"], settings["k1"], settings["b"], task.threads, task.memory_mb)
    return Found(hits)
