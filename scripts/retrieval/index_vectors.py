"""Build the approximate index of one shard's vectors, unless the store has it.

vectors: output of encode_passages.py
index: JSON: kind, links, explored, lists, probes
store: the folder where indexes are kept
output: the index's manifest
"""

from pathlib import Path

from litm.base.cli import program
from litm.base.json_files import write_json
from litm.base.messages import note
from litm.base.store import stored


@program
def main(vectors: str, index: dict, store: str, output: str) -> None:
    from litm.retrieval.dense import INDEX_RECIPE, IndexSettings, build_index, read_vectors

    read, settings = read_vectors(vectors), IndexSettings(**index)

    def build(path: Path) -> dict:
        build_index(read, settings, path)
        return {"rows": read.rows}

    made_of = {"recipe": INDEX_RECIPE, "vectors": read.path.name, "index": settings.building()}
    entry, _ = stored(store, made_of, build)
    write_json(output, {"entry": str(entry), "rows": read.rows})
    note(f"{output}: {read.rows} vectors in {entry}")
