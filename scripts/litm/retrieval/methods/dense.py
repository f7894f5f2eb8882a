"""The method dense: encoded questions compared with the vectors of the corpus."""

from collections.abc import Sequence

from litm.base.messages import note
from litm.base.records import read_json
from litm.base.store import existing
from litm.retrieval.encoder import load_encoder
from litm.retrieval.faiss_search import IndexSettings, overlap, search_exact, search_indexes
from litm.retrieval.method import Found, SearchTask
from litm.retrieval.vectors import read_vectors

#: Questions on which an approximate index is compared with exact search.
MEASURED = 200


def find(task: SearchTask, questions: Sequence[str]) -> Found:
    """The hits of each question; for an approximate index also its recall of the exact hits."""
    shards = [read_vectors(path) for path in task.vectors]
    encoder = load_encoder(read_json(task.encoder), task.encoding, task.device, task.batch_tokens)
    queries = encoder.encode([f"{task.search['query_prefix']}{text}" for text in questions])
    if encoder.cut:
        note(f"{encoder.cut} questions are longer than {task.encoding['max_tokens']} tokens and were cut there")
    number = task.search["hits"]
    if not task.indexes:
        return Found(search_exact(shards, queries, number), cut=encoder.cut)
    settings = IndexSettings(**task.approximate)
    indexes = [existing(read_json(path)["entry"], "index_vectors") for path in task.indexes]
    hits = search_indexes(indexes, shards, settings, queries, number)
    step = max(1, len(questions) // MEASURED)
    sample = hits[::step]
    recall = overlap(sample, search_exact(shards, queries[::step], number))
    note(f"the {settings.kind} index finds {recall:.3f} of what exact search finds, on {len(sample)} questions")
    return Found(hits, encoder.cut, round(recall, 6), len(sample))
