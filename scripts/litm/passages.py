"""Passages: the units of a corpus that are searched and shown as documents; reading, cutting, and shards of them."""

import bz2
import csv
import gzip
import hashlib
import itertools
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from litm.errors import UserError
from litm.records import atomic_writer

SHARD_NAME = "shard-{:05d}.jsonl.gz"
#: zlib's level 3 is nearly three times as fast as its default, and its files are less than a tenth larger.
COMPRESSION_LEVEL = 3
#: Passages that are compressed at a time; a call for each would take longer than the compression.
BATCH = 1000
QUOTE = json.JSONEncoder().encode
#: Characters: what a quote that is never closed may swallow, and the longest text in a table.
LONGEST_FIELD = 10_000_000


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text with the title of the page it is from; `id` is unique in its corpus."""

    id: str
    title: str
    text: str


class CountedPassages:
    """Passages that are counted in words while they are read, once. seen: called after each."""

    def __init__(self, passages: Iterable[Passage], seen: Callable[[], object]) -> None:
        self.words = 0
        self._passages, self._seen = passages, seen

    def __iter__(self) -> Iterator[Passage]:
        for passage in self._passages:
            # Splitting would take longer than all else there is to do with a passage here.
            self.words += passage.text.count(" ") + 1
            self._seen()
            yield passage


def cut_text(text: str, words: int | None) -> list[str]:
    """The text in disjoint blocks of `words` words, with single spaces; in one block for None, in none if it is blank.

    The last block is shorter. DPR's is not: it is filled up with the beginning of the article.
    """
    return list(cut_lines([text], words))


def cut_lines(lines: Iterable[str], words: int | None) -> Iterator[str]:
    """As `cut_text`, of a text that is read line by line: no more than one line and one block is held."""
    rest: list[str] = []
    for line in lines:
        rest += line.split()
        if words is not None and len(rest) >= words:
            whole = len(rest) - len(rest) % words
            for start in range(0, whole, words):
                yield " ".join(rest[start : start + words])
            rest = rest[whole:]
    if rest:
        yield " ".join(rest)


def write_shards(passages: Iterable[Passage], folder: Path, passages_per_shard: int, shards: int) -> dict:
    """Write the passages as JSON Lines into exactly `shards` files, in order, each full before the next.

    Passages appended at the end leave full shards as they are; later shards may be empty. Shards of an earlier, larger
    corpus in the folder are removed. Returns the manifest: {"passages", "passages_per_shard", "shards": [{"file",
    "passages", "sha256"}, ...]}, the sums being of the uncompressed lines. Raises `UserError` for more passages than
    fit.
    """
    if passages_per_shard < 1 or shards < 1:
        raise UserError(f"{shards} shards of {passages_per_shard} passages hold nothing: both must be 1 or more")
    rest = iter(passages)
    entries = [
        _write_shard(folder / SHARD_NAME.format(number), itertools.islice(rest, passages_per_shard))
        for number in range(shards)
    ]
    written = sum(entry["passages"] for entry in entries)
    total = written + sum(1 for _ in rest)
    if total > written:
        raise UserError(
            f"{total} passages do not fit into {shards} shards of {passages_per_shard}: "
            f"set 'shards' to {-(-total // passages_per_shard)} or more"
        )
    _remove_other_shards(folder, keep={entry["file"] for entry in entries})
    return {"passages": total, "passages_per_shard": passages_per_shard, "shards": entries}


def read_shards(folder: Path, manifest: dict) -> Iterator[Passage]:
    """All passages of a corpus, in order; raises as `read_shard`."""
    for entry in manifest["shards"]:
        yield from read_shard(folder / entry["file"])


def read_shard(path: Path) -> Iterator[Passage]:
    """The passages of one shard; `UserError` naming file and line for what is not a passage."""
    number = 0
    loads = json.loads
    with reading(path, lambda: f"line {number}"), gzip.open(path, "rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                record = loads(line)
                passage = Passage(record["id"], record["title"], record["text"])
            except (ValueError, LookupError, TypeError) as error:
                raise UserError(
                    f"{path}, line {number}: not a passage (id, title, text); delete the file to have it made again"
                ) from error
            yield passage


def read_table(path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line it begins at, fields) for each row of a quoted table, plain or gzip, that is not blank.

    Raises `UserError` naming file and line for a quote without its partner, a broken file and text that is not UTF-8.
    """
    csv.field_size_limit(LONGEST_FIELD)
    line = 1
    with reading(path, lambda: f"line {line - 1}"), open_text(path) as lines:
        # Strict, because otherwise a quote that is not closed swallows the lines up to the next quote, in silence.
        rows = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            for row in rows:
                if row:
                    yield line, row
                line = rows.line_num + 1
        except csv.Error as error:
            raise UserError(
                f'{path}, line {line}: a quote (") in the row that begins here has no partner ({error}); '
                f'close it, or write a quote inside a text as ""'
            ) from error


def open_text(path: Path) -> IO[str]:
    """The file for reading as UTF-8 (a byte order mark is left out), unpacked if its name ends in .gz."""
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def open_bytes(path: Path) -> IO[bytes]:
    """The file for reading, unpacked if its name ends in .gz or .bz2."""
    match path.suffix.lower():
        case ".gz":
            return cast(IO[bytes], gzip.open(path, "rb"))
        case ".bz2":
            return cast(IO[bytes], bz2.open(path, "rb"))
        case _:
            return path.open("rb")


@contextmanager
def reading(path: Path, reached: Callable[[], str]) -> Iterator[None]:
    """Turns what damaged data in `path` raises into a `UserError`; `reached` says up to where it was fine."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text after {reached()} ({error.reason}); save the file as UTF-8") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _broken(path, reached(), error) from error
    except OSError as error:
        # An error of the operating system has a number, one of the data in a bz2 file has none.
        if error.errno is None:
            raise _broken(path, reached(), error) from error
        raise


def needed(source: Path | None, what: str) -> Path:
    """The source's path; `UserError` that says what it must be where there is none."""
    if source is None:
        raise UserError(f"this source of passages needs an input: {what}")
    return source


def _broken(path: Path, reached: str, error: Exception) -> UserError:
    return UserError(f"{path}: broken compressed data after {reached} ({error}); get the file again")


def _write_shard(path: Path, passages: Iterator[Passage]) -> dict:
    """Write one shard and return its entry in the manifest."""
    sha256 = hashlib.sha256()
    count = 0
    with (
        atomic_writer(path) as raw,
        # No name and no time in the gzip header, so that equal passages give equal bytes.
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=COMPRESSION_LEVEL) as packed,
        # Compression, half of the work, goes on beside the reading of the next batch: zlib lets other threads run.
        ThreadPoolExecutor(max_workers=1) as packer,
    ):
        packing: Future | None = None
        while batch := [_json_line(passage) for passage in itertools.islice(passages, BATCH)]:
            lines = "".join(batch).encode("ascii")
            sha256.update(lines)
            count += len(batch)
            if packing:
                packing.result()
            packing = packer.submit(packed.write, lines)
        if packing:
            packing.result()
    return {"file": path.name, "passages": count, "sha256": sha256.hexdigest()}


def _json_line(passage: Passage) -> str:
    """What `json.dumps` of the passage gives, in half the time."""
    id, title, text = map(QUOTE, (passage.id, passage.title, passage.text))
    return f'{{"id": {id}, "title": {title}, "text": {text}}}\n'


def _remove_other_shards(folder: Path, keep: set[str]) -> None:
    pattern = re.compile(r"shard-\d{5,}\.jsonl\.gz")
    for path in folder.iterdir():
        if pattern.fullmatch(path.name) and path.name not in keep:
            path.unlink()
