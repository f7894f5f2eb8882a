"""How retrieval compares with pyserini used by itself, on the same passages and in the same run.

    PYTHONPATH=scripts python benchmarks/retrieval.py bm25 --passages psgs.tsv.gz --questions nq-open-oracle.jsonl.gz
    PYTHONPATH=scripts python benchmarks/retrieval.py dense --passages psgs.tsv.gz --encoder FOLDER
    PYTHONPATH=scripts python benchmarks/retrieval.py growth
    PYTHONPATH=scripts python benchmarks/retrieval.py methods --passages psgs.tsv.gz --questions nq-open-oracle.jsonl.gz

bm25: seconds of our search and of pyserini's `batch_search` for all questions, in turns; whether the first 20 agree.
dense: seconds of our encoder and of pyserini's `AutoDocumentEncoder`, in turns; how far their vectors are apart.
growth: milliseconds a question of BM25 and of exact search among random vectors, as the corpus grows tenfold.
methods: the shares of questions whose gold passage Lucene and bm25s find first, and among 20, of the gold passages of
all questions alone, and of these and the passages; seconds and memory, each in a process of its own.
"""

import argparse
import os
import random
import resource
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from measuring import in_turns, ratio, spread, table

from litm.corpora.passages import CorpusSettings, Passage, read_source
from litm.questions.released_format import read_question_records
from litm.retrieval import bm25, bm25s
from litm.retrieval.bm25 import start_java
from litm.retrieval.dense import Vectors, search_exact
from litm.retrieval.scoring_models import Encoder

MEMORY_MB, THREADS = 4000, 2
K1, B = 0.9, 0.4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["bm25", "dense", "growth", "methods"])
    parser.add_argument("--passages", help="a file in DPR's format")
    parser.add_argument("--questions", help="a file in the released format")
    parser.add_argument("--encoder", help="a folder with an encoder")
    parser.add_argument("--count", type=int, default=600, help="passages that are encoded")
    parser.add_argument("--turns", type=int, default=3, help="measurements of each")
    parser.add_argument("--sizes", type=int, nargs="+", default=[20_000, 200_000], help="growth: passages")
    args = parser.parse_args()
    if args.what == "methods":
        compare_methods(args)
        return
    start_java(MEMORY_MB)
    # pyserini makes an OpenAI client when it is imported, which wants a key; nothing is sent.
    os.environ.setdefault("OPENAI_API_KEY", "unused")
    {"bm25": compare_bm25, "dense": compare_dense, "growth": measure_growth}[args.what](args)


def compare_bm25(args: argparse.Namespace) -> None:
    """Our batch search against pyserini's own, both up to a list of (id, score)."""
    from pyserini.search.lucene import LuceneSearcher

    questions = [record.text for record in read_question_records(args.questions)]
    passages = list(read_passages(args.passages))
    with tempfile.TemporaryDirectory() as folder:
        bm25.build_index(passages, len(passages), Path(folder) / "index", THREADS, MEMORY_MB)
        searcher = LuceneSearcher(f"{folder}/index")
        searcher.set_bm25(K1, B)
        names = [str(number) for number in range(len(questions))]

        def bare() -> list[list[str]]:
            found = searcher.batch_search(questions, names, k=100, threads=THREADS)
            return [[hit.docid for hit in found[name] if hit.score is not None] for name in names]

        def ours() -> list[list[str | int]]:
            found = bm25.search(Path(folder) / "index", questions, 100, K1, B, THREADS, MEMORY_MB)
            return [[passage for passage, _ in hits] for hits in found]

        print(f"{len(questions)} questions, {len(passages)} passages, 100 hits\n")
        theirs, mine = compare(args.turns, bare, ours)
        same = sum(a[:20] == b[:20] for a, b in zip(theirs, mine, strict=True))
        print(f"the same first 20 passages: {same} of {len(questions)} questions")


def compare_dense(args: argparse.Namespace) -> None:
    """Our encoder against pyserini's, in batches of its default 64 texts, with mean pooling."""
    from pyserini.encode import AutoDocumentEncoder

    texts = [f"{p.title} {p.text}" for p in islice(read_passages(args.passages), args.count)]
    settings = {"pooling": "mean", "normalize": False, "max_tokens": 256, "dtype": "float32"}
    encoder = Encoder({"location": args.encoder, "revision": None}, settings, "cpu")
    pyserini = AutoDocumentEncoder(args.encoder, device="cpu", pooling="mean", l2_norm=False)

    def bare() -> np.ndarray:
        batches = (texts[start : start + 64] for start in range(0, len(texts), 64))
        return np.concatenate([pyserini.encode(batch, max_length=256) for batch in batches])

    print(f"{len(texts)} passages\n")
    theirs, mine = compare(args.turns, bare, lambda: encoder.encode(texts))
    print(f"largest difference between the vectors: {np.abs(theirs - mine).max():.1e}")


def measure_growth(args: argparse.Namespace) -> None:
    """Cost of a search for corpora of 20,000 and 200,000 passages of words drawn as in a text (by Zipf's law)."""
    rng = np.random.default_rng(0)
    words = np.array([f"word{number}" for number in range(50_000)])
    queries = rng.normal(size=(500, 384)).astype(np.float32)
    rows = []
    for size in args.sizes:
        drawn = rng.zipf(1.3, size=(size, 60)) % len(words)
        passages = (Passage(str(row), "", " ".join(words[ids])) for row, ids in enumerate(drawn))
        questions = [" ".join(words[ids[:8]]) for ids in random.Random(0).sample(list(drawn), min(500, size))]
        with tempfile.TemporaryDirectory() as folder:
            index, path = Path(folder) / "index", Path(folder) / "vectors"
            bm25.build_index(passages, size, index, THREADS, MEMORY_MB)
            path.write_bytes(rng.normal(size=(size, 384)).astype(np.float32).tobytes())
            shards = [Vectors(path, size, 384, "float32")]
            of_bm25 = partial(bm25.search, index, questions, 100, K1, B, THREADS, MEMORY_MB)
            of_vectors = partial(search_exact, shards, queries, 100)
            for name, search in (("BM25", of_bm25), ("exact search", of_vectors)):
                (taken,) = in_turns(args.turns, seconds, search)
                rows.append([name, f"{size:,}", spread(1000 * one / len(questions) for one in taken)])
    print(table(["search", "passages", "milliseconds a question"], rows))


def compare_methods(args: argparse.Namespace) -> None:
    """Lucene and bm25s with the same k1 and b."""
    corpora = {"gold passages": None, "and others": args.passages}
    rows, found = [], {}
    for corpus, passages in corpora.items():
        for method in ("bm25", "bm25s"):
            # A process of its own: its peak memory is that of the method.
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                search = pool.submit(hits_of, method, args.questions, passages)
                hits, number, indexing, searching, megabytes = search.result()
            found[corpus, method] = hits
            shares = [np.mean([gold_id(row) in one[:k] for row, one in enumerate(hits)]) for k in (1, 20)]
            of_gold = [f"{share:.3f}" for share in shares]
            rows.append(
                [method, corpus, f"{number:,}", *of_gold, f"{indexing:.1f}", f"{searching:.1f}", f"{megabytes:,.0f}"]
            )
    print(f"{len(hits)} questions, k1 {K1}, b {B}\n")
    print(table(["method", "corpus", "passages", "gold at 1", "gold at 20", "s to index", "s to search", "MB"], rows))
    print()
    for corpus in corpora:
        pairs = list(zip(found[corpus, "bm25"], found[corpus, "bm25s"], strict=True))
        first = np.mean([a[:1] == b[:1] for a, b in pairs])
        both = np.mean([len({*a[:20]} & {*b[:20]}) / max(1, len(a[:20])) for a, b in pairs])
        print(f"{corpus}: the same first passage {first:.1%}, common to the first 20 {both:.1%}")


def hits_of(method: str, questions: str, others: str | None) -> tuple[list[list[str]], int, float, float, float]:
    """The ids of 100 hits of each question, the number of passages, seconds to index (with the start of Java) and to
    search, and the peak memory in MB.
    """
    records = list(read_question_records(questions))
    golds = [record.golds[0] for record in records]
    passages = [Passage(gold_id(row), gold.title, gold.text) for row, gold in enumerate(golds)]
    passages += read_passages(others) if others else []
    texts = [record.text for record in records]
    with tempfile.TemporaryDirectory() as folder:
        index, results = Path(folder) / "index", []
        if method == "bm25":
            build = partial(bm25.build_index, passages, len(passages), index, THREADS, MEMORY_MB)
            search = partial(bm25.search, index, texts, 100, K1, B, THREADS, MEMORY_MB)
        else:
            build = partial(bm25s.build_index, passages, len(passages), index, K1, B)
            search = partial(bm25s.search, index, texts, 100)
        indexing, searching = seconds(build), seconds(lambda: results.extend(search()))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [[str(id) for id, _ in hits] for hits in results], len(passages), indexing, searching, peak


def gold_id(row: int) -> str:
    """The id of a question's gold passage, which has none in the file."""
    return f"gold{row:05}"


def compare(turns: int, bare: Callable, ours: Callable) -> tuple:
    """Both results, after printing the seconds of each and their ratio; asking for the results warms up."""
    results = bare(), ours()
    theirs, mine = in_turns(turns, seconds, bare, ours)
    print(table(["way", "seconds"], [("pyserini", spread(theirs)), ("ours", spread(mine))]))
    print(f"\npyserini / ours: {ratio(theirs, mine)}\n")
    return results


def seconds(run: Callable) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def read_passages(path: str) -> Iterable[Passage]:
    """The passages of a file in DPR's format."""
    return (passage for _, passage in read_source("dpr_passages", Path(path), CorpusSettings()))


if __name__ == "__main__":
    main()
