"""Encode the passages of one shard, unless the store has their vectors; an interrupted shard is resumed."""

import argparse
from pathlib import Path

from litm.base.cli import json_object, run
from litm.base.messages import note
from litm.base.records import read_json, write_json
from litm.base.store import stored
from litm.corpora.passages import shard_passages
from litm.retrieval.dense import VECTORS_RECIPE, write_vectors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passages", required=True, help="the manifest of the corpus")
    parser.add_argument("--shard", required=True, type=int, help="number of the shard, from 0")
    parser.add_argument("--encoder", required=True, help="the encoder's output of identify_model.py")
    parser.add_argument("--encoding", required=True, type=json_object, help="JSON: settings that change a vector")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--batch-tokens", type=int, default=0, help="tokens in a batch; 0 is the device's default")
    parser.add_argument("--store", required=True, help="the folder where vectors are kept")
    parser.add_argument("--output", required=True, help="output: the vectors' manifest")
    args = parser.parse_args()
    encoder = read_json(args.encoder)
    corpus = read_json(args.passages)
    made_of = {
        "recipe": VECTORS_RECIPE,
        "texts": corpus["shards"][args.shard]["sha256"],
        "encoder": encoder["identity"],
        "encoding": args.encoding,
    }

    def build(path: Path) -> dict:
        from litm.retrieval.scoring_models import load_encoder

        prefix = args.encoding["passage_prefix"]
        passages = shard_passages(args.passages, corpus, args.shard)
        # Title and text joined as in Contriever's own code (Izacard et al. 2022).
        texts = [f"{prefix}{p.title} {p.text}" for p in passages]
        model = load_encoder(encoder, args.encoding, args.device, args.batch_tokens)
        what = f"encoding shard {args.shard}"
        before = write_vectors(texts, model.encode, model.dimension, model.vector_dtype, path, what)
        cut = model.cut + model.count_cut(texts[:before])
        return {"rows": len(texts), "dimension": model.dimension, "dtype": model.vector_dtype, "cut": cut}

    entry, facts = stored(args.store, made_of, build)
    write_json(args.output, {"entry": str(entry), **facts})
    note(f"{args.output}: {facts['rows']} vectors of {facts['dimension']} numbers in {entry}")
    if facts["cut"]:
        note(f"{facts['cut']} passages are longer than {args.encoding['max_tokens']} tokens and were cut there")


if __name__ == "__main__":
    run(main)
