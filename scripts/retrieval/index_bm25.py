"""Build the Lucene index of a corpus, unless the store has it.

passages: the manifest of the corpus
memory_mb: most memory of the Java machine
store: the folder where indexes are kept
output: the index's manifest
"""

from pathlib import Path

from litm.base.cli import program
from litm.base.json_files import read_json, write_json
from litm.base.messages import note
from litm.base.store import stored
from litm.corpora.passages import corpus_passages
from litm.retrieval.bm25 import RECIPE, build_index, lucene_jar


@program
def main(passages: str, store: str, output: str, threads: int = 1, memory_mb: int = 4000) -> None:
    corpus = read_json(passages)
    count, shards = corpus["passages"], [shard["sha256"] for shard in corpus["shards"]]
    made_of = {"recipe": RECIPE, "lucene": lucene_jar().name, "shards": shards}

    def build(folder: Path) -> dict:
        build_index(corpus_passages(passages), count, folder, threads, memory_mb)
        return {}

    entry, _ = stored(store, made_of, build)
    write_json(output, {"entry": str(entry), "made_of": made_of, "passages": count})
    note(f"{output}: {count} passages in {entry}")
