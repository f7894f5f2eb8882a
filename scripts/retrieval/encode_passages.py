"""Encode the passages of one shard, unless the store has their vectors; an interrupted shard is resumed.

passages: the manifest of the corpus
shard: number of the shard, from 0
encoder: the encoder's output of identify_model.py
encoding: JSON: settings that change a vector
batch_tokens: tokens in a batch; 0 is the device's default
store: the folder where vectors are kept
output: the vectors' manifest
"""

from pathlib import Path

from litm.base.cli import program
from litm.base.json_files import read_json, write_json
from litm.base.messages import note
from litm.base.store import stored
from litm.corpora.passages import shard_passages


@program
def main(
    passages: str,
    shard: int,
    encoder: str,
    encoding: dict,
    store: str,
    output: str,
    device: str = "auto",
    batch_tokens: int = 0,
) -> None:
    from litm.retrieval.dense import VECTORS_RECIPE, write_vectors
    from litm.retrieval.scoring_models import load_encoder

    source, corpus = read_json(encoder), read_json(passages)
    texts_of = corpus["shards"][shard]["sha256"]
    made_of = {"recipe": VECTORS_RECIPE, "texts": texts_of, "encoder": source["identity"], "encoding": encoding}

    def build(path: Path) -> dict:
        # Title and text joined as in Contriever's own code (Izacard et al. 2022).
        read = shard_passages(passages, corpus, shard)
        texts = [f"{encoding['passage_prefix']}{passage.title} {passage.text}" for passage in read]
        model = load_encoder(source, encoding, device, batch_tokens)
        what = f"encoding shard {shard}"
        before = write_vectors(texts, model.encode, model.dimension, model.vector_dtype, path, what)
        cut = model.cut + model.count_cut(texts[:before])
        return {"rows": len(texts), "dimension": model.dimension, "dtype": model.vector_dtype, "cut": cut}

    entry, facts = stored(store, made_of, build)
    write_json(output, {"entry": str(entry), **facts})
    note(f"{output}: {facts['rows']} vectors of {facts['dimension']} numbers in {entry}")
    if facts["cut"]:
        note(f"{facts['cut']} passages are longer than {encoding['max_tokens']} tokens and were cut there")
