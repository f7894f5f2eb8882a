"""Build the Lucene index of a corpus, unless the store has it."""

import argparse
from pathlib import Path

from litm.base.cli import run
from litm.base.messages import note
from litm.base.records import read_json, write_json
from litm.base.store import stored
from litm.corpora.passages import corpus_passages
from litm.retrieval.bm25 import RECIPE, build_index, lucene_jar


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", required=True, help="the manifest of the corpus")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--memory-mb", type=int, default=4000, help="most memory of the Java machine")
    parser.add_argument("--store", required=True, help="the folder where indexes are kept")
    parser.add_argument("--output", required=True, help="output: the index's manifest")
    args = parser.parse_args()
    manifest = read_json(args.passages)
    made_of = {
        "recipe": RECIPE,
        "lucene": lucene_jar().name,
        "shards": [shard["sha256"] for shard in manifest["shards"]],
    }

    def build(folder: Path) -> dict:
        build_index(
            corpus_passages(args.passages, manifest), manifest["passages"], folder, args.threads, args.memory_mb
        )
        return {}

    entry, _ = stored(args.store, made_of, build)
    write_json(args.output, {"entry": str(entry), "made_of": made_of, "passages": manifest["passages"]})
    note(f"{args.output}: {manifest['passages']} passages in {entry}")


if __name__ == "__main__":
    run(main)
