"""Vector search by inner product with FAISS (Johnson et al. 2021), part by part, in bounded memory.

Exact search compares all vectors. An approximate index, one per shard, compares some: along a graph (HNSW: Malkov and
Yashunin 2020) or in the nearest lists (IVF). Its misses are measured against exact search.

FAISS sums in an order that depends on the processor. So it only finds the hits, and some more than are asked for; their
scores are computed again in float64, rounded, and ordered with ties by row.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

import faiss
import numpy as np

from litm.base.progress import progress_bar
from litm.retrieval.method import Hit, rounded
from litm.retrieval.vectors import Vectors

#: Version: raise it if the content of an approximate index changes, because the store keeps existing indexes.
RECIPE = 1
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
    """kind: exact, hnsw or ivf. HNSW: links of a node, and explored, the candidates kept during a search. IVF: lists of
    a shard, and probes, the lists that are searched.
    """

    kind: str
    links: int = 0
    explored: int = 0
    lists: int = 0
    probes: int = 0

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
    found = _best(_opened(indexes, shards, settings), _rows(shards), queries, hits + SPARE)
    return _scored(shards, queries, found, hits)


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


def overlap(found: Sequence[Sequence[Hit]], exact: Sequence[Sequence[Hit]]) -> float:
    """Recall of an approximate search: the share of exact hits among its hits (1 if there are none)."""
    total = sum(len(hits) for hits in exact)
    both = sum(
        len({row for row, _ in some} & {row for row, _ in all_}) for some, all_ in zip(found, exact, strict=True)
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
    found = np.empty((len(queries), 0), dtype=np.int64)
    with progress_bar(rows, "searching", "vectors") as bar:
        for first, length, search in parts:
            part_scores, part_rows = search(queries, hits)
            # A missing hit, -1, must not become the last row of the previous part.
            part_scores = np.where(part_rows < 0, -np.inf, part_scores)
            scores = np.concatenate([scores, part_scores], axis=1)
            found = np.concatenate([found, np.where(part_rows < 0, -1, part_rows + first)], axis=1)
            best = np.argsort(-scores, axis=1, kind="stable")[:, :hits]
            scores, found = np.take_along_axis(scores, best, axis=1), np.take_along_axis(found, best, axis=1)
            bar.update(length)
    return found


def _scored(shards: Sequence[Vectors], queries: np.ndarray, found: np.ndarray, hits: int) -> list[list[Hit]]:
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

    return [best(*pair) for pair in zip(queries, found, strict=True)]


def _rows(shards: Sequence[Vectors]) -> int:
    return sum(shard.rows for shard in shards)


def _float32(rows: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(rows, dtype=np.float32)
