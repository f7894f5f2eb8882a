"""Dense retrieval: vectors independent of batches, exact search over shards, a block lost per interruption."""

import json
import os
import random
import shutil
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
import torch
from encoders import WORDS, make_encoder
from transformers import AutoModel, AutoTokenizer

from litm.base.messages import UserError
from litm.models.identity import folder_identity
from litm.retrieval import dense
from litm.retrieval.dense import (
    IndexSettings,
    Vectors,
    build_index,
    overlap,
    read_vectors,
    search_exact,
    search_indexes,
    write_vectors,
)
from litm.retrieval.scoring_models import Encoder, load_encoder
from litm.retrieval.search import rounded


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_encoder(tmp_path_factory.mktemp("encoder"))


def encoder(folder, batch_tokens=256, **changes) -> Encoder:
    fields = {"pooling": "mean", "normalize": False, "max_tokens": 48, "dtype": "float32", **changes}
    return Encoder({"location": str(folder), "revision": None}, fields, "cpu", batch_tokens)


def texts(count: int, longest: int = 30) -> list[str]:
    rng = random.Random(0)
    return [" ".join(rng.choices(WORDS, k=rng.randint(1, longest))) for _ in range(count)]


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_a_vector_is_equal_alone_and_in_a_batch_and_equals_the_models(folder, pooling):
    some = texts(20)
    ours = encoder(folder, pooling=pooling).encode(some)
    model, tokenizer = AutoModel.from_pretrained(folder).eval(), AutoTokenizer.from_pretrained(folder)
    for text, vector in zip(some, ours, strict=True):
        with torch.inference_mode():
            hidden = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
        expected = hidden.mean(dim=0) if pooling == "mean" else hidden[0]
        np.testing.assert_allclose(vector, expected.numpy(), atol=1e-5)
    lengths = np.linalg.norm(encoder(folder, pooling=pooling, normalize=True).encode(texts(5)), axis=1)
    np.testing.assert_allclose(lengths, 1.0, atol=1e-6)


def test_texts_beyond_the_limit_are_cut_and_counted(folder):
    one = encoder(folder, max_tokens=10)
    long = " ".join(WORDS[:30])
    vectors = one.encode([long, "w1 w2", " ".join(WORDS[:8])])
    assert one.cut == 1
    np.testing.assert_allclose(vectors[0], vectors[2], atol=1e-6)


def test_an_encoder_that_is_replaced_gives_no_vectors(folder, tmp_path):
    own = shutil.copytree(folder, tmp_path / "encoder")
    source = {"location": str(own), "revision": None, "identity": folder_identity(own)}
    encoding = {"pooling": "mean", "normalize": False, "max_tokens": 48, "dtype": "float32"}
    loaded = load_encoder(source, encoding, "cpu", 256, str(tmp_path / "digests"))
    assert len(loaded.encode(texts(2))) == 2
    file = own / "config.json"
    file.write_text(file.read_text() + " ")
    refused = "config.json has changed since the model was identified, .* `--forcerun identify_encoder`"
    with pytest.raises(UserError, match=refused):
        loaded.encode(texts(2))
    with pytest.raises(UserError, match=refused):
        load_encoder(source, encoding, "cpu", 256, str(tmp_path / "digests"))


def test_an_encoder_that_cannot_be_loaded_and_a_limit_beyond_what_it_takes_are_one_message(folder, tmp_path):
    with pytest.raises(UserError, match=r"encoder .*nothing: "):
        encoder(tmp_path / "nothing")
    with pytest.raises(UserError, match=r"takes at most 64 tokens: set the retriever's 'max_tokens', which is 512"):
        encoder(folder, max_tokens=512)


def shard(tmp_path, name: str, data: np.ndarray) -> Vectors:
    path = tmp_path / name
    path.write_bytes(data.astype(np.float32).tobytes())
    return Vectors(path, len(data), data.shape[1], "float32")


@pytest.fixture
def shards(tmp_path):
    data = np.random.default_rng(0).normal(size=(5000, 16)).astype(np.float32)
    cuts = [0, 1800, 1800, 1803, 5000]
    return data, [shard(tmp_path, str(i), data[a:b]) for i, (a, b) in enumerate(pairwise(cuts))]


def best_rows(data, queries, hits):
    return np.argsort(-(queries @ data.T), axis=1, kind="stable")[:, :hits].tolist()


def test_exact_search_over_shards_and_blocks_equals_a_full_comparison(shards, monkeypatch):
    data, parts = shards
    monkeypatch.setattr("litm.retrieval.dense.ROWS_AT_A_TIME", 700)
    queries = np.random.default_rng(1).normal(size=(40, 16)).astype(np.float32)
    found = search_exact(parts, queries, 25)
    assert [[row for row, _ in hits] for hits in found] == best_rows(data, queries, 25)
    scores = [score for _, score in found[0]]
    assert scores == sorted(scores, reverse=True)


def test_a_corpus_smaller_than_the_hits_gives_all_it_has(tmp_path):
    data = np.eye(4, dtype=np.float32)
    found = search_exact([shard(tmp_path, "a", data[:1]), shard(tmp_path, "b", data[1:])], data[:1], 10)
    assert sorted(row for row, _ in found[0]) == [0, 1, 2, 3] and found[0][0][0] == 0


@pytest.mark.parametrize(
    ("settings", "least"),
    [(IndexSettings("hnsw", links=16, explored=128), 0.95), (IndexSettings("ivf", lists=16, probes=8), 0.8)],
)
def test_an_approximate_index_finds_most_hits_and_its_recall_is_measured(shards, tmp_path, settings, least):
    _, parts = shards
    paths = [tmp_path / f"index{number}" for number in range(len(parts))]
    for part, path in zip(parts, paths, strict=True):
        build_index(part, settings, path)
    queries = np.random.default_rng(1).normal(size=(60, 16)).astype(np.float32)
    found, exact = search_indexes(paths, parts, settings, queries, 20), search_exact(parts, queries, 20)
    assert least < overlap(found, exact) <= 1.0
    assert overlap(exact, exact) == 1.0
    assert overlap([hits[:10] for hits in exact], exact) == 0.5


def test_an_approximate_index_has_the_same_bytes_each_time_and_looking_further_is_no_other_one(shards, tmp_path):
    for kind in ("hnsw", "ivf"):
        settings = IndexSettings(kind, links=8, explored=32, lists=8, probes=2)
        build_index(shards[1][0], settings, tmp_path / "one")
        build_index(shards[1][0], settings, tmp_path / "two")
        assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    near, far, other = (IndexSettings("hnsw", links, explored) for links, explored in ((8, 16), (8, 512), (9, 16)))
    assert near.building() == far.building() != other.building()


def test_an_interrupted_shard_resumes_after_its_last_whole_block_with_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(dense, "BLOCK", 4)
    encoded: list[str] = []

    def encode(block):
        encoded.extend(block)
        if len(encoded) > 9 and fail:
            raise KeyboardInterrupt
        return np.array([[int(text), 0.5] for text in block], dtype=np.float32)

    names, path = [str(number) for number in range(14)], tmp_path / "vectors"
    fail = True
    with pytest.raises(KeyboardInterrupt):
        write_vectors(names, encode, 2, "float32", path, "encoding")
    with path.open("ab") as file:
        file.write(b"torn")
    encoded, fail = [], False
    write_vectors(names, encode, 2, "float32", path, "encoding")
    assert encoded == names[8:]
    assert Vectors(path, 14, 2, "float32").map()[:, 0].tolist() == list(range(14))


def test_an_empty_shard_has_no_vectors(tmp_path):
    write_vectors([], lambda block: np.empty((0, 2)), 2, "float32", tmp_path / "none", "encoding")
    empty = Vectors(tmp_path / "none", 0, 2, "float32")
    assert empty.map().shape == (0, 2)
    assert search_exact([empty], np.ones((1, 2), dtype=np.float32), 3) == [[]]


def test_vectors_that_are_not_whole_are_named_before_they_are_searched(tmp_path):
    (tmp_path / "vectors").write_bytes(b"1234")
    facts = {"entry": str(tmp_path / "vectors"), "rows": 3, "dimension": 2, "dtype": "float32"}
    (tmp_path / "0.json").write_text(json.dumps(facts))
    with pytest.raises(UserError, match=r"4 bytes, but 3 vectors take 24; delete it .* --forcerun encode_passages"):
        read_vectors(tmp_path / "0.json")


#: Hits of exact and approximate search in random vectors of BERT's width, as JSON.
SEARCHES = """
import json, sys
from pathlib import Path
import faiss, numpy as np
from litm.retrieval.dense import IndexSettings, build_index, search_exact, search_indexes
from litm.retrieval.dense import Vectors
folder, rows, width = Path(sys.argv[1]), 3000, 768
faiss.omp_set_num_threads(1)
shard = Vectors(folder / "vectors", rows, width, "float32")
queries = np.random.default_rng(1).normal(size=(20, width)).astype("float32")
settings = IndexSettings("hnsw", links=16, explored=rows)
index = folder / "index"
if not index.exists():
    build_index(shard, settings, index)
print(json.dumps([search_exact([shard], queries, 30), search_indexes([index], [shard], settings, queries, 30)]))
"""


@pytest.mark.long
def test_hits_and_scores_are_the_same_with_the_instructions_of_any_processor(tmp_path):
    np.random.default_rng(0).normal(size=(3000, 768)).astype("float32").tofile(tmp_path / "vectors")

    def hits(level: str) -> list:
        environment = {**os.environ, "FAISS_OPT_LEVEL": level}
        command = [sys.executable, "-c", SEARCHES, str(tmp_path)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    generic = hits("generic")
    assert generic == hits("avx2") and generic[0] == generic[1]


def test_equal_scores_are_ordered_by_row(tmp_path):
    query, shard = np.ones((1, 4), dtype="float32"), np.tile(np.float32([[0.1], [0.3], [0.3000001], [0.3]]), 4)
    shard.tofile(tmp_path / "vectors")
    (found,) = search_exact([Vectors(tmp_path / "vectors", 4, 4, "float32")], query, 4)
    assert found == [(1, 1.2), (2, 1.2), (3, 1.2), (0, 0.4)]


@pytest.mark.parametrize(
    ("score", "same"),
    [(0.123456789, 0.12346), (1.23456789, 1.2346), (-82.3456789, -82.346), (123456.7, 123460.0), (float("inf"), None)],
)
def test_a_score_is_rounded_to_the_digits_that_any_processor_computes(score, same):
    assert rounded(score) == (score if same is None else same)
