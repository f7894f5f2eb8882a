"""Build the index of a corpus for the method bm25s, unless the store has it.

passages: the manifest of the corpus
k1: BM25's saturation of term frequency
b: BM25's normalisation by length
store: the folder where indexes are kept
output: the index's manifest
"""

from pathlib import Path

from litm.base.cli import program
from litm.base.json_files import read_json, write_json
from litm.base.messages import note
from litm.base.store import stored
from litm.corpora.passages import corpus_passages
from litm.retrieval.bm25s import RECIPE, build_index, software


@program
def main(passages: str, k1: float, b: float, store: str, output: str) -> None:
    corpus = read_json(passages)
    count, shards = corpus["passages"], [shard["sha256"] for shard in corpus["shards"]]
    made_of = {"recipe": RECIPE, **software(), "k1": k1, "b": b, "shards": shards}

    def build(folder: Path) -> dict:
        build_index(corpus_passages(passages), count, folder, k1, b)
        return {}

    entry, _ = stored(store, made_of, build)
    write_json(output, {"entry": str(entry), "made_of": made_of, "passages": count})
    note(f"{output}: {count} passages in {entry}")
