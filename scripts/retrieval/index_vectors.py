"""Build the approximate index of one shard's vectors, unless the store has it."""

import argparse
from pathlib import Path

from litm.base.cli import json_object, run
from litm.base.messages import note
from litm.base.records import write_json
from litm.base.store import stored
from litm.retrieval.dense import INDEX_RECIPE, IndexSettings, build_index, read_vectors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vectors", required=True, help="output of encode_passages.py")
    parser.add_argument("--index", required=True, type=json_object, help="JSON: kind, links, explored, lists, probes")
    parser.add_argument("--store", required=True, help="the folder where indexes are kept")
    parser.add_argument("--output", required=True, help="output: the index's manifest")
    args = parser.parse_args()
    vectors = read_vectors(args.vectors)
    settings = IndexSettings(**args.index)

    def build(path: Path) -> dict:
        build_index(vectors, settings, path)
        return {"rows": vectors.rows}

    made_of = {"recipe": INDEX_RECIPE, "vectors": vectors.path.name, "index": settings.building()}
    entry, _ = stored(args.store, made_of, build)
    write_json(args.output, {"entry": str(entry), "rows": vectors.rows})
    note(f"{args.output}: {vectors.rows} vectors in {entry}")


if __name__ == "__main__":
    run(main)
