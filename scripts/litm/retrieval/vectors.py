"""Vectors of passages on disk: one file a shard, written block by block and read through memory mapping."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from litm.base.errors import UserError
from litm.base.json_files import read_json
from litm.base.progress import progress_bar
from litm.base.store import existing

T = TypeVar("T")

#: To be raised with any change of how a passage becomes a vector, because the store keeps what was made before.
RECIPE = 1
#: Texts encoded, and written, at a time: what a crash costs at most.
BLOCK = 4096


@dataclass(frozen=True)
class Vectors:
    """The vectors of one shard: `rows` times `dimension` numbers of type `dtype` in `path`, row after row."""

    path: Path
    rows: int
    dimension: int
    dtype: str

    def map(self) -> np.ndarray:
        """All of them, read from the disk only where they are looked at."""
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
    """Encode the texts, or pairs of them, and append the vectors to `path`, after the whole blocks that it has; returns
    how many it had.
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
    """The vectors of a shard, from what encode_passages.py wrote; `UserError` if they are not, or not whole, in the
    store.
    """
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
