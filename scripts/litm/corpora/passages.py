"""Passages: their records, the cutting of texts into them, their sources, their shards, and their unique ids."""

import gzip
import hashlib
import itertools
import json
import re
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from litm.base.extensions import Registry, declared, full_name, load
from litm.base.files import atomic_writer, reading
from litm.base.json_files import read_json
from litm.base.messages import UNSPACED, UserError, quoted

#: Kinds of documents of a user, for messages.
DOCUMENT_KINDS = (
    "documents as .txt, .md, .html, .pdf, .docx, .pptx, .xlsx, .epub, .jsonl, .json, .tsv or .csv, those of text also "
    "with .gz"
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of text with the title of its page."""

    id: str
    """Id, unique in its corpus."""
    title: str
    """Title of its page."""
    text: str
    """Text."""
    file: str | None = None
    """Origin, if the id does not tell it: the `source` of a chunk, or the table of a row with an id."""
    page: int | None = None
    """Page of the origin, from 1."""
    further_pages: tuple[int, ...] = ()
    """Pages after `page`, of a chunk that spans several."""
    copy_of: str | None = None
    """Id of an earlier passage of the corpus with the same title and text, which is read in its place."""

    @property
    def pages(self) -> tuple[int, ...]:
        """All its pages, ascending; none if they are not known."""
        return () if self.page is None else (self.page, *self.further_pages)

    @property
    def files(self) -> list[str]:
        """Names of its file or document, shortest first: for the id `notes/a.txt:4:0` they are `notes/a.txt`,
        `notes/a.txt:4` and the id itself. `file` is the first.
        """
        parts = self.id.split(":")
        names = [":".join(parts[:count]) for count in range(1, len(parts) + 1)]
        return names if self.file is None else [self.file, *names]


_UNSPACED = re.compile(f"[{UNSPACED}]")
#: Such a character, with its marks and punctuation, the Thai or Lao vowel am and stacked Burmese or Khmer letters; or
#: text between two of them.
_UNIT = re.compile(rf"[{UNSPACED}](?:[\W\u0e33\u0eb3]|(?<=[\u1039\u17d2])\w)*|[^{UNSPACED}]+")
#: Last and first character of two lines that are joined without a space, as browsers join Chinese and Japanese. Thai,
#: Lao, Burmese and Khmer have spaces between phrases, where lines may end.
_WRAPPED = re.compile("[\u2e80-\u2fff\u3001-\u312f\u31a0-\u9fff\uf900-\ufaff\uff01-\uff9f\U00020000-\U0003ffff]{2}")
#: Mark of a word that no space separates from the one before; no text in UTF-8 has it.
_JOINED = "\udfff"


def _is_unspaced(text: str) -> bool:
    return not text.isascii() and _UNSPACED.search(text) is not None


def _words(text: str) -> list[str]:
    """The words; a character of a script without spaces is one, with a mark if no space is before it."""
    words = text.split()
    if not _is_unspaced(text):
        return words
    return [_JOINED * bool(number) + unit for word in words for number, unit in enumerate(_UNIT.findall(word))]


def word_count(text: str) -> int:
    """Number of words, as texts are cut by them."""
    return len(_words(text))


def _spaced(words: list[str]) -> str:
    return " ".join(words).replace(f" {_JOINED}", "").removeprefix(_JOINED)


def cut_text(text: str, words: int | None) -> list[str]:
    """The text in disjoint blocks of `words` words, with single spaces; one block if None, no block if it is blank.

    A character of a script without spaces is a word. Lines of Chinese or Japanese are joined without a space. The last
    block is shorter. (DPR fills it up with the beginning of the article.)
    """
    return list(cut_lines(text.split("\n"), words))


def cut_lines(lines: Iterable[str], words: int | None) -> Iterator[str]:
    """`cut_text` for a text that is read line by line, holding at most one line and one block in memory."""
    rest: list[str] = []
    before = ""
    for line in lines:
        # An ideographic space, which begins a paragraph, stays.
        text = line.strip(" \t\r\n")
        line_words = _words(text)
        if _WRAPPED.fullmatch(before + text[:1]):
            line_words[0] = _JOINED + line_words[0]
        rest += line_words
        # A heading of Markdown is a line of its own.
        before = "" if text.startswith("#") else text[-1:]
        if words is not None and len(rest) >= words:
            whole = len(rest) - len(rest) % words
            for start in range(0, whole, words):
                yield _spaced(rest[start : start + words])
            rest = rest[whole:]
    if rest:
        yield _spaced(rest)


class CountedPassages:
    """Counts passages and their words during iteration, and leaves out copies and passages without text. seen: called
    after each passage.

    copies: those left out, for the manifest, without their texts. left_out: ids of those without text, see `documents`.
    """

    def __init__(self, passages: Iterable[Passage], seen: Callable[[], object]) -> None:
        self.words = 0
        self.copies: list[dict] = []
        self.left_out: list[str] = []
        self._passages, self._seen = passages, seen

    def __iter__(self) -> Iterator[Passage]:
        for passage in self._passages:
            if passage.copy_of is not None:
                self.copies.append(asdict(replace(passage, text="")))
                continue
            if not passage.text:
                self.left_out.append(passage.id)
                continue
            # Splitting would take longer than all other work on a passage.
            text = passage.text
            self.words += len(_words(text)) if _is_unspaced(text) else text.count(" ") + 1
            self._seen()
            yield passage


@dataclass(frozen=True)
class CorpusSettings:
    """The settings that change the passages of a corpus, apart from its files."""

    passage_words: int | None = None
    """Words of the longest passage; None to keep texts whole."""
    passages: int | None = None
    """Number of passages that a generator makes."""
    seed: int | None = None
    """Seed of the generator's randomness."""

    @property
    def seed_and_passages(self) -> tuple[int, int]:
        """The seed and the number of passages of a generator."""
        assert self.seed is not None and self.passages is not None, "the configuration asks for both"
        return self.seed, self.passages


@dataclass(frozen=True)
class Source:
    """A source of passages."""

    module: str
    """Module in `litm.corpora`, or the full name of an extension's. Its function of the source's name yields (where,
    `Passage`) for a path and settings, one at a time, so that memory does not grow with the corpus; `where` names file
    and line of a passage, for messages.
    """
    needs: str = ""
    """File or folder that it reads; "" if it generates its text, with `questions` in the same module."""
    passage_words: int | None = None
    """Words of the longest passage, unless the corpus sets its own limit; None if it cuts nothing."""


_BUILT_IN = {
    "documents": Source("documents", f"a folder or file of {DOCUMENT_KINDS}", 100),
    "dpr_passages": Source("wikipedia", "DPR's psgs_w100.tsv or psgs_w100.tsv.gz"),
    "mini_encyclopedia": Source("made_up"),
    "mini_gazetteer": Source("made_up"),
    "retrieved": Source("retrieved", "a file of what was retrieved (.jsonl or .json)"),
    "wikipedia_dump": Source("wikipedia", "a dump such as simplewiki-latest-pages-articles.xml.bz2", 100),
}


#: Sources by name, those of extensions among them.
SOURCES = Registry("corpora", declared("SOURCES", Source), _BUILT_IN)


def is_generator(name: str) -> bool:
    """Whether a source of this name generates its text and questions about it."""
    return name in SOURCES and not SOURCES[name].needs


def read_source(name: str, path: Path | None, settings: CorpusSettings) -> Iterator[tuple[str, Passage]]:
    """Yield (where, passage) of a source; `UserError` for a missing path and as the source's function."""
    source = SOURCES[name]
    if source.needs and path is None:
        raise UserError(f"this source of passages needs an input: {source.needs}")
    return getattr(load(full_name("corpora", source.module)), name)(path, settings)


def copies_of(manifest_path: str | Path) -> list[Passage]:
    """The copies that a corpus was made without; their texts are those of the passages `copy_of`."""
    copies = read_json(manifest_path).get("copies", ())
    return [Passage(**{**copy, "further_pages": tuple(copy["further_pages"])}) for copy in copies]


def left_out_of(manifest_path: str | Path) -> list[Passage]:
    """A passage without text for each file that a corpus was made without; its id is the file's name."""
    return [Passage(name, "", "") for name in read_json(manifest_path).get("left_out", ())]


#: Folder of the shards, next to the manifest.
SHARDS = "shards"


def corpus_passages(manifest_path: str | Path) -> Iterator[Passage]:
    """All passages of the corpus with its manifest at this path; `UserError` if a shard is missing."""
    return read_shards(_shard_folder(manifest_path), read_json(manifest_path))


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
    selected: dict[str | int, Passage] = {}
    if not ids and not rows:
        return selected
    for row, passage in enumerate(passages):
        if passage.id in ids:
            selected[passage.id] = passage
        if row in rows:
            selected[row] = passage
    return selected


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
        while batch := [json_line(passage) for passage in itertools.islice(passages, BATCH)]:
            lines = "".join(batch).encode("ascii")
            sha256.update(lines)
            count += len(batch)
            if packing:
                packing.result()
            packing = packer.submit(packed.write, lines)
        if packing:
            packing.result()
    return {"file": path.name, "passages": count, "sha256": sha256.hexdigest()}


def json_line(passage: Passage) -> str:
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


#: Repeated hashes that are looked up in the source: one suffices to name an id, but different ids may share a hash.
LOOKED_FOR = 100_000
Read = Callable[[], Iterator[tuple[str, Passage]]]


def unique_passages(read: Read) -> Iterator[Passage]:
    """The passages of a source, read by `read` from its beginning; raises after the last one if an id is repeated.

    Keeps 8 bytes per id (168 MB for the 21 million passages of Wikipedia). The `UserError` names the id and both
    places, which takes a second pass over the source.
    """
    # Python's hash is the fastest, and differs between processes, but hashes do not outlive this function.
    hashes = array("q")
    for _, passage in read():
        hashes.append(hash(passage.id))
        yield passage
    if repeated := _repeated(hashes):
        check_ids(read, repeated)


def check_ids(read: Read, hashes: set[int]) -> None:
    """Raise `UserError` for the first repeated id among those with one of the hashes.

    Different ids with the same hash (once in some 100,000 corpora of 21 million passages) are no error.
    """
    first: dict[str, str] = {}
    for where, passage in read():
        if hash(passage.id) in hashes:
            if passage.id in first:
                raise UserError(
                    f"{where}: the id {quoted(passage.id)} is also at {first[passage.id]}; "
                    f"give every passage an id of its own, or remove one of the two"
                )
            first[passage.id] = where


def _repeated(hashes: array) -> set[int]:
    """Hashes that occur more than once, at most `LOOKED_FOR`; sorts the array in place."""
    # Imported here, because the rules read the sources' names.
    import numpy as np

    values = np.frombuffer(hashes, dtype=np.int64)
    values.sort()
    return set(values[1:][values[1:] == values[:-1]][:LOOKED_FOR].tolist())
