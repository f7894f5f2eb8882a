"""The method bm25: questions searched in the Lucene index of the corpus."""

from collections.abc import Sequence

from litm.base.records import read_json
from litm.base.store import existing
from litm.retrieval.lucene import SMALL_CORPUS, search
from litm.retrieval.method import Found, SearchTask

#: Questions that are searched in seconds, in a small corpus.
SMALL_SEARCH = 1_000


def find(task: SearchTask, questions: Sequence[str]) -> Found:
    """The hits of each question."""
    index, settings = read_json(task.indexes[0]), task.search
    folder = existing(index["entry"], "index_bm25")
    machine = (task.threads, task.memory_mb, index["passages"] <= SMALL_CORPUS and len(questions) <= SMALL_SEARCH)
    hits = search(folder, questions, settings["hits"], settings["k1"], settings["b"], *machine)
    return Found(hits)
