"""Vectors of passages on disk: one file per shard, written in blocks and memory-mapped for reading."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from litm.base.messages import UserError
from litm.base.progress import progress_bar
from litm.base.records import read_json
from litm.base.store import existing

T = TypeVar("T")

#: Version: raise it if the encoding of a passage changes, because the store keeps existing vectors.
RECIPE = 1
#: Texts encoded and written at a time; a crash loses at most one block.
BLOCK = 4096


@dataclass(frozen=True)
class Vectors:
    """The vectors of one shard: `rows` times `dimension` numbers of type `dtype` in `path`, row after row."""

    path: Path
    rows: int
    dimension: int
    dtype: str

    def map(self) -> np.ndarray:
        """The vectors as a memory map (rows, dimension)."""
        if not self.rows:
            return np.empty((0, self.dimension), dtype=self.dtype)
        return np.memmap(self.path, dtype=self.dtype, mode="r", shape=(self.rows, self.dimension))


def write_vectors(
    texts: Sequence[T],
    encode: Callable[[Sequence[T]], np.ndarray],
    dimension: int,
    dtype: str,
    path: Path,
    what: str,
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
