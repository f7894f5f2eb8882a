"""The method dense: vectors of passages on disk, and search among them by FAISS."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeVar

import faiss
import numpy as np

from litm.base.json_files import read_json
from litm.base.messages import UserError, note
from litm.base.progress import progress_bar
from litm.base.store import existing
from litm.retrieval.scoring_models import load_encoder
from litm.retrieval.search import Hit, SearchResult, SearchTask, rounded

T = TypeVar("T")
#: Version: raise it if the encoding of a passage changes, because the store keeps existing vectors.
VECTORS_RECIPE = 1
#: Texts encoded and written at a time; a crash loses at most one block.
BLOCK = 4096


@dataclass(frozen=True)
class Vectors:
    """The vectors of one shard, one row after the other in a file."""

    path: Path
    """The file."""
    rows: int
    """The number of vectors."""
    dimension: int
    """The numbers per vector."""
    dtype: str
    """The type of a number, by its name in NumPy."""

    def map(self) -> np.ndarray:
        """The vectors as a memory map (rows, dimension)."""
        if not self.rows:
            return np.empty((0, self.dimension), dtype=self.dtype)
        return np.memmap(self.path, dtype=self.dtype, mode="r", shape=(self.rows, self.dimension))


def write_vectors(
    texts: Sequence[T], encode: Callable[[Sequence[T]], np.ndarray], dimension: int, dtype: str, path: Path, what: str
) -> int:
    """Encode the texts, or pairs of texts, and append the vectors to `path` after its whole blocks; returns the number
    of vectors that were there before.
    """
    row_bytes = dimension * np.dtype(dtype).itemsize
    with path.open("ab") as file:
        done = file.tell() // row_bytes // BLOCK * BLOCK
        file.truncate(done * row_bytes)
        with progress_bar(len(texts), what, "passages") as bar:
            bar.update(done)
            for start in range(done, len(texts), BLOCK):
                block = texts[start : start + BLOCK]
                file.write(encode(block).astype(dtype).tobytes())
                file.flush()
                os.fsync(file.fileno())
                bar.update(len(block))
    return done


def read_vectors(manifest: str | Path) -> Vectors:
    """The vectors of a shard from the manifest of encode_passages.py; `UserError` if the store lacks some of them."""
    fields = read_json(manifest)
    path = existing(fields["entry"], "encode_passages")
    vectors = Vectors(path, fields["rows"], fields["dimension"], fields["dtype"])
    size = vectors.rows * vectors.dimension * np.dtype(vectors.dtype).itemsize
    if path.stat().st_size != size:
        raise UserError(
            f"{path}: {path.stat().st_size} bytes, but {vectors.rows} vectors take {size}; delete it and make it again "
            f"with `snakemake --forcerun encode_passages ...`"
        )
    return vectors


#: Version: raise it if the content of an approximate index changes, because the store keeps existing indexes.
INDEX_RECIPE = 1
HNSW, IVF = "hnsw", "ivf"
#: Vectors compared at a time: 200 MB at 768 dimensions.
ROWS_AT_A_TIME = 65_536
#: Hits found beyond those asked for: the last ones of a processor may be the next ones of another.
SPARE = 10
#: Training vectors per list that FAISS asks for; more do not improve the lists.
TRAINING_VECTORS_A_LIST = 64
#: Function from (queries, hits) to scores and rows, both (queries, hits); row -1 is no hit.
Search = Callable[[np.ndarray, int], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class IndexSettings:
    """The settings of an index of vectors. Those of other kinds are 0."""

    kind: str
    """The kind: exact, hnsw or ivf."""
    links: int = 0
    """The links of a node (HNSW)."""
    explored: int = 0
    """The candidates kept during a search (HNSW)."""
    lists: int = 0
    """The lists of a shard (IVF)."""
    probes: int = 0
    """The lists that are searched (IVF)."""

    def building(self) -> dict:
        """The settings that change the index itself; the others change only the search."""
        return {"kind": self.kind, **({"links": self.links} if self.kind == HNSW else {"lists": self.lists})}


def search_exact(shards: Sequence[Vectors], queries: np.ndarray, hits: int) -> list[list[Hit]]:
    """The best vectors for each query (a row of float32), at most `hits`, best first.

    The passage of a hit is its row number over all shards.
    """
    return _scored(shards, queries, _best(_blocks(shards), _rows(shards), queries, hits + SPARE), hits)


def search_indexes(
    indexes: Sequence[Path], shards: Sequence[Vectors], settings: IndexSettings, queries: np.ndarray, hits: int
) -> list[list[Hit]]:
    """The same with an approximate index per shard, which may miss some of the best vectors."""
    best_rows = _best(_opened(indexes, shards, settings), _rows(shards), queries, hits + SPARE)
    return _scored(shards, queries, best_rows, hits)


def build_index(vectors: Vectors, settings: IndexSettings, path: Path) -> None:
    """Build the approximate index of a shard, on one thread because the order of insertion decides the graph."""
    faiss.omp_set_num_threads(1)
    index: faiss.Index
    data = vectors.map()
    if settings.kind == HNSW:
        index = faiss.IndexHNSWFlat(vectors.dimension, settings.links, faiss.METRIC_INNER_PRODUCT)
    else:
        lists = max(1, min(settings.lists, vectors.rows // TRAINING_VECTORS_A_LIST))
        quantizer = faiss.IndexFlatIP(vectors.dimension)
        index = faiss.IndexIVFFlat(quantizer, vectors.dimension, lists, faiss.METRIC_INNER_PRODUCT)
        # Evenly spaced rows sample the whole shard deterministically.
        step = max(1, vectors.rows // (lists * TRAINING_VECTORS_A_LIST))
        if vectors.rows:
            index.train(_float32(data[::step]))
    with progress_bar(vectors.rows, "indexing", "vectors") as bar:
        for start in range(0, vectors.rows, ROWS_AT_A_TIME):
            block = _float32(data[start : start + ROWS_AT_A_TIME])
            index.add(block)
            bar.update(len(block))
    faiss.write_index(index, str(path))


def overlap(approximate: Sequence[Sequence[Hit]], exact: Sequence[Sequence[Hit]]) -> float:
    """Recall of an approximate search: the share of exact hits among its hits (1 if there are none)."""
    total = sum(len(hits) for hits in exact)
    both = sum(
        len({row for row, _ in hits} & {row for row, _ in best}) for hits, best in zip(approximate, exact, strict=True)
    )
    return both / total if total else 1.0


def _blocks(shards: Sequence[Vectors]) -> Iterator[tuple[int, int, Search]]:
    first = 0
    for shard in shards:
        data = shard.map()
        for start in range(0, shard.rows, ROWS_AT_A_TIME):
            block = _float32(data[start : start + ROWS_AT_A_TIME])
            yield first + start, len(block), partial(_compare_all, block)
        first += shard.rows


def _compare_all(block: np.ndarray, queries: np.ndarray, hits: int) -> tuple[np.ndarray, np.ndarray]:
    return faiss.knn(queries, block, min(hits, len(block)), metric=faiss.METRIC_INNER_PRODUCT)


def _opened(
    paths: Sequence[Path], shards: Sequence[Vectors], settings: IndexSettings
) -> Iterator[tuple[int, int, Search]]:
    first = 0
    for path, shard in zip(paths, shards, strict=True):
        if shard.rows:
            index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP)
            if settings.kind == HNSW:
                index.hnsw.efSearch = settings.explored  # type: ignore[attr-defined]  # the file says which class
            else:
                index.nprobe = settings.probes  # type: ignore[attr-defined]
            yield first, shard.rows, index.search
        first += shard.rows


def _best(parts: Iterable[tuple[int, int, Search]], rows: int, queries: np.ndarray, hits: int) -> np.ndarray:
    """Search the parts, given as (first row, rows, search); returns the best rows, (queries, hits), -1 for none."""
    scores = np.empty((len(queries), 0), dtype=np.float32)
    best_rows = np.empty((len(queries), 0), dtype=np.int64)
    with progress_bar(rows, "searching", "vectors") as bar:
        for first, length, search in parts:
            part_scores, part_rows = search(queries, hits)
            # A missing hit, -1, must not become the last row of the previous part.
            part_scores = np.where(part_rows < 0, -np.inf, part_scores)
            scores = np.concatenate([scores, part_scores], axis=1)
            best_rows = np.concatenate([best_rows, np.where(part_rows < 0, -1, part_rows + first)], axis=1)
            best = np.argsort(-scores, axis=1, kind="stable")[:, :hits]
            scores, best_rows = np.take_along_axis(scores, best, axis=1), np.take_along_axis(best_rows, best, axis=1)
            bar.update(length)
    return best_rows


def _scored(shards: Sequence[Vectors], queries: np.ndarray, best_rows: np.ndarray, hits: int) -> list[list[Hit]]:
    """The best of the found rows for each query, with their scores."""
    ends = np.cumsum([shard.rows for shard in shards])
    maps = [shard.map() for shard in shards]

    def best(query: np.ndarray, rows: np.ndarray) -> list[Hit]:
        # In the order of the file.
        rows = np.sort(rows[rows >= 0])
        parts = np.split(rows, np.searchsorted(rows, ends[:-1]))
        scores = [
            data[part - (end - len(data))].astype(np.float64) @ query.astype(np.float64)
            for data, part, end in zip(maps, parts, ends, strict=True)
            if len(part)
        ]
        scored: list[Hit] = [(int(row), rounded(float(score))) for row, score in zip(rows, chain(*scores), strict=True)]
        return sorted(scored, key=lambda hit: (-hit[1], int(hit[0])))[:hits]

    return [best(*pair) for pair in zip(queries, best_rows, strict=True)]


def _rows(shards: Sequence[Vectors]) -> int:
    return sum(shard.rows for shard in shards)


def _float32(rows: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(rows, dtype=np.float32)


#: Questions on which an approximate index is compared with exact search.
MEASURED = 200


def find(task: SearchTask, questions: Sequence[str]) -> SearchResult:
    """The hits of each question; for an approximate index also its recall of the exact hits."""
    shards = [read_vectors(path) for path in task.vectors]
    encoder = load_encoder(read_json(str(task.encoder)), task.encoding, task.device, task.batch_tokens)
    queries = encoder.encode([f"{task.search['query_prefix']}{text}" for text in questions])
    if encoder.cut:
        note(f"{encoder.cut} questions are longer than {task.encoding['max_tokens']} tokens and were cut there")
    number = task.search["hits"]
    if not task.indexes:
        return SearchResult(search_exact(shards, queries, number), cut=encoder.cut)
    settings = IndexSettings(**task.approximate)
    indexes = [existing(read_json(path)["entry"], "index_vectors") for path in task.indexes]
    hits = search_indexes(indexes, shards, settings, queries, number)
    step = max(1, len(questions) // MEASURED)
    sample = hits[::step]
    recall = overlap(sample, search_exact(shards, queries[::step], number))
    note(f"the {settings.kind} index finds {recall:.3f} of what exact search finds, on {len(sample)} questions")
    return SearchResult(hits, encoder.cut, round(recall, 6), len(sample))
