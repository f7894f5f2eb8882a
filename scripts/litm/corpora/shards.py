"""Shards of passages: writing, reading and lookup."""

import gzip
import hashlib
import itertools
import json
import re
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from litm.base.files import atomic_writer, reading
from litm.base.messages import UserError
from litm.corpora.passages import Passage

#: Folder of the shards, next to the manifest.
SHARDS = "shards"


def corpus_passages(manifest_path: str | Path, manifest: dict) -> Iterator[Passage]:
    """All passages of the corpus with this manifest at that path; `UserError` if a shard is missing."""
    return read_shards(_shard_folder(manifest_path), manifest)


def shard_passages(manifest_path: str | Path, manifest: dict, shard: int) -> Iterator[Passage]:
    """The passages of one of its shards."""
    return read_shard(_shard_folder(manifest_path) / manifest["shards"][shard]["file"])


def _shard_folder(manifest_path: str | Path) -> Path:
    folder = Path(manifest_path).parent / SHARDS
    if not folder.is_dir():
        raise UserError(f"{folder} is gone: make the passages again with `snakemake --forcerun make_passages ...`")
    return folder


def find_passages(
    passages: Iterable[Passage], ids: Collection[str] = (), rows: Collection[int] = ()
) -> dict[str | int, Passage]:
    """The passages with these ids, by id, and in these rows (from 0), by row; unknown ones are left out."""
    ids, rows = frozenset(ids), frozenset(rows)
    found: dict[str | int, Passage] = {}
    if not ids and not rows:
        return found
    for row, passage in enumerate(passages):
        if passage.id in ids:
            found[passage.id] = passage
        if row in rows:
            found[row] = passage
    return found


SHARD_NAME = "shard-{:05d}.jsonl.gz"

#: zlib level: nearly three times as fast as the default, for files less than a tenth larger.
COMPRESSION_LEVEL = 3

#: Passages compressed at a time; a call per passage would take longer than the compression.
BATCH = 1000

QUOTE = json.JSONEncoder().encode


def write_shards(passages: Iterable[Passage], folder: Path, passages_per_shard: int, shards: int) -> dict:
    """Write the passages as JSON Lines into exactly `shards` files, in order, each full before the next.

    Appending passages leaves full shards unchanged; later shards may be empty. Shards of an earlier, larger corpus in
    the folder are removed. Returns the manifest: {"passages", "passages_per_shard", "shards": [{"file", "passages",
    "sha256"}, ...]}, with sums of the uncompressed lines. Raises `UserError` for more passages than fit.
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
    """The passages of one shard; `UserError` naming file and line for a malformed one."""
    number = 0
    loads = json.loads
    with reading(path, lambda: f"line {number}"), gzip.open(path, "rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                record = loads(line)
                stated = record["id"], record["title"], record["text"]
                origin = record.get("file"), record.get("page"), tuple(record.get("further_pages", ()))
                passage = Passage(*stated, *origin)
            except (ValueError, LookupError, TypeError) as error:
                raise UserError(
                    f"{path}, line {number}: not a passage (id, title, text); delete the file to have it made again"
                ) from error
            yield passage


def _write_shard(path: Path, passages: Iterator[Passage]) -> dict:
    """Write one shard and return its entry in the manifest."""
    sha256 = hashlib.sha256()
    count = 0
    with (
        atomic_writer(path) as raw,
        # No name and no time in the gzip header, so that equal passages give equal bytes.
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=COMPRESSION_LEVEL) as packed,
        # Compression, half of the work, runs in parallel with reading the next batch: zlib releases the lock.
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
    """The output of `json.dumps` for the passage, in half the time."""
    id, title, text = map(QUOTE, (passage.id, passage.title, passage.text))
    more = "" if passage.file is None else f', "file": {QUOTE(passage.file)}'
    more += "" if passage.page is None else f', "page": {passage.page}'
    more += f', "further_pages": {json.dumps(passage.further_pages)}' if passage.further_pages else ""
    return f'{{"id": {id}, "title": {title}, "text": {text}{more}}}\n'


def _remove_other_shards(folder: Path, keep: set[str]) -> None:
    pattern = re.compile(r"shard-\d{5,}\.jsonl\.gz")
    for path in folder.iterdir():
        if pattern.fullmatch(path.name) and path.name not in keep:
            path.unlink()
