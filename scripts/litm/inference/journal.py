"""Journal of a sweep: all its responses, append-only, by key; its shards' journals, and those of other sweeps.

A line is an answer or an identity, which is written once, before its first answer. An answer is `{"key", "identity",
"text", "finish_reason", "prompt_tokens", "response_tokens", "made_with", "crc32"}`, with `"billed"` if a provider bills
for it, where crc32 is the CRC-32 (8 hex
digits, as in gzip) of the canonical JSON of the other fields. Spaces, line ends and the order of keys therefore do not
matter. An identity is `{"identity": digest, "fields": {...}}`, and its digest is its checksum.

Batches whose answers are not in a journal yet have files in a folder beside it, `{experiment}.batches/{name}.json`, see
`Named`.

Whole lines that are malformed or were changed are moved to another file, see `rejected_file`; a file that is no journal
is left as it is.
"""

import argparse
import errno
import json
import os
import re
import shutil
import stat
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, TypeVar

from litm.base.cli import describe_os_error, signals_deferred
from litm.base.files import atomic_writer, read_text
from litm.base.json_files import checked_field, parse_object
from litm.base.messages import UserError, first_of, note
from litm.base.store import canonical_json, digest, lock
from litm.inference.answer_identity import equal_digests
from litm.records.bills import Usage
from litm.records.responses import Asked, Response, response_key

Value = TypeVar("Value", dict, Response)
CHECKSUM = "crc32"
#: Folder of all journals, relative to the working directory.
JOURNALS = "results/journal"
#: Bytes found only in identity lines, only in answers with a bill, and before an answer's key: quotes within a text are
#: escaped.
IDENTITY_MARK, BILL_MARK, KEY_MARK = b'"fields":', b'"billed":', b'"key":"'
KEY_LENGTH = 64


def identity_line(fields: dict) -> str:
    """The line of an identity, with its line end."""
    return canonical_json({"identity": digest(fields), "fields": fields}) + "\n"


def answer_line(key: str, identity: str, response: Response) -> str:
    """The line of an answer, with its line end. identity: the digest of its identity."""
    record = canonical_json({"key": key, "identity": identity, **response.to_json()})
    return f'{record.removesuffix("}")},"{CHECKSUM}":"{_checksum(record)}"}}\n'


def parse_line(line: bytes) -> tuple[str, dict | Response]:
    """The record of a journal line: the fields of an identity after their digest, or a response after its key.

    Raises ValueError with the reason if the line is malformed or was changed.
    """
    try:
        record = json.loads(line)
        if "fields" in record:
            name, fields = checked_field(record, "identity", str), checked_field(record, "fields", dict)
            if digest(fields) != name:
                raise ValueError("it was changed after it was written: 'identity' is not the digest of its 'fields'")
            return name, fields
        key, response = checked_field(record, "key", str), Response.from_json(record)
        if record.pop(CHECKSUM) != _checksum(canonical_json(record)):
            raise ValueError(f"it was changed after it was written: its {CHECKSUM} is another")
        return key, response
    except KeyError as error:
        raise ValueError(f"the field {error} is missing") from error
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error


def _checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"


#: Line numbers of bad lines that a message names.
NAMED_LINES = 10


@dataclass
class Recorded:
    """The content of a journal file."""

    responses: dict[str, Response] = field(default_factory=dict)
    """The responses, by key."""
    identities: dict[str, dict] = field(default_factory=dict)
    """The fields of identities by digest, in the order of first answers."""
    whole_bytes: int = 0
    """The length of its whole lines, which half a line of an interrupted or running write may follow."""
    bad: dict[int, str] = field(default_factory=dict)
    """The defects of whole lines, by line number from 1."""
    conflicting: list[int] = field(default_factory=list)
    """The line numbers of answers that differ from one above to the same prompt."""


def rejected_file(path: str | Path) -> Path:
    """The path of the file that takes the bad lines of the journal at `path`."""
    return Path(path).with_name(f"{Path(path).name}.rejected")


def journal_files(path: str | Path) -> list[Path]:
    """The files with the responses of a sweep whose journal is at `path`: the journal, if it exists, and those of its
    shards, in a folder of the same name.
    """
    journal = Path(path)
    return [*([journal] if journal.exists() else []), *sorted(journal.with_suffix("").glob("*.jsonl"))]


def open_journal(path: str | Path) -> IO[bytes]:
    """A journal opened for reading; `OSError` unless it is a regular file, because reading a FIFO would never end."""
    if not stat.S_ISREG(Path(path).stat().st_mode):
        raise OSError(errno.EINVAL, "not a regular file, so no journal: move it away, and run again", str(path))
    return Path(path).open("rb")


def read_journal(path: str | Path) -> Recorded:
    """The current content of a journal file, read without a lock, because another run may be writing to it.

    Bad lines are left out and reported. Raises `UserError` for a file that is no journal.
    """
    recorded = _read(path)
    # When shards are gathered their jobs have finished and would not run again by themselves.
    again = "the job that writes this file asks its prompt again (`--forcerun generate generate_shard`)"
    _tell(path, recorded, f"left out here; {again}")
    return recorded


def read_journals(paths: Iterable[str | Path]) -> tuple[dict[str, Response], dict[str, dict]]:
    """The responses and the identities of journal files, as `read_journal`; those of the last file count."""
    responses: dict[str, Response] = {}
    identities: dict[str, dict] = {}
    for path in paths:
        recorded = read_journal(path)
        responses |= recorded.responses
        identities |= recorded.identities
    return responses, identities


def _read(path: str | Path) -> Recorded:
    recorded, tail = Recorded(), b""
    with open_journal(path) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                tail = line
                break
            recorded.whole_bytes += len(line)
            try:
                key, value = parse_line(line)
            except ValueError as error:
                recorded.bad[number] = str(error)
                continue
            if isinstance(value, dict):
                recorded.identities[key] = value
                continue
            if recorded.responses.get(key, value).text != value.text:
                recorded.conflicting.append(number)
            recorded.responses[key] = value
    why = None
    if recorded.bad and not (recorded.responses or recorded.identities):
        why = f"none of its lines is a journal line (line 1: {recorded.bad[1]})"
    elif not _can_be_half_a_line(tail, is_first=not recorded.whole_bytes):
        why = "what follows its last line end is not half a line" if recorded.whole_bytes else "it has no line end"
    if why:
        raise UserError(
            f"{path}: {why}; nothing was changed. If it is compressed, or has line ends that are not LF, make it a "
            "journal again; otherwise move it away (its prompts are asked again), and run the same command"
        )
    return recorded


def _can_be_half_a_line(tail: bytes, is_first: bool) -> bool:
    """Whether an interrupted write can have left this tail after the last line end (or, if `is_first`, without any).

    A disk that lost power may leave zeros. Our lines contain no CR: a CR means that somebody edited the file, or that
    it is no text at all (gzip).
    """
    written = tail.rstrip(b"\0")
    if is_first:
        return b"\r" not in written and written[:2] in (b"", b"{", b'{"')
    return b"\r" not in written[:-1]


def _tell(path: str | Path, recorded: Recorded, what: str) -> None:
    """Report the bad lines, and `what` happens to each."""
    numbers = list(recorded.bad)
    if numbers:
        named = first_of([*map(str, numbers)], NAMED_LINES)
        note(f"{path}, line {named}: not a journal line ({recorded.bad[numbers[0]]}); {what}")
    if lines := recorded.conflicting:
        note(
            f"{path}: {len(lines)} answers are others than a line above has for the same prompt (journals that were "
            f"put together?), and the last counts; the first is in line {lines[0]}"
        )


class Journal(AbstractContextManager):
    """The responses on disk, for one process at a time; a context manager.

    responses: by key; identities: the fields of each with answers, by its digest, in the order of first answers.

    others: files of other shards of the same sweep, whose responses are read once, before its own. Raises `UserError`
    if another process has it open, or if the file is no journal.
    """

    def __init__(self, path: str | Path, others: Iterable[str | Path] = ()) -> None:
        self.path = Path(path)
        self.responses, self.identities = read_journals(others)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("a+b", buffering=0)
        try:
            self._lock()
            self._load()
        except BaseException:
            self._file.close()
            raise

    def _lock(self) -> None:
        """Lock the file: a killed Snakemake can leave jobs running, and two writers would ask twice and mix their
        lines.
        """
        # The file may have been replaced, without its bad lines, after this process opened it.
        if not lock(self._file) or not os.path.samestat(os.fstat(self._file.fileno()), self.path.stat()):
            raise UserError(f"{self.path} is in use by another run: wait for it or stop it, then run again")

    def _load(self) -> None:
        recorded = _read(self.path)
        if recorded.whole_bytes < self.path.stat().st_size:
            note(f"{self.path}: its last line is incomplete (a run was interrupted), it is asked again")
            # Appending after half a line would lose the next response too.
            os.ftruncate(self._file.fileno(), recorded.whole_bytes)
        aside = rejected_file(self.path)
        _tell(self.path, recorded, f"moved to {aside.name}; if it was an answer, its prompt is asked again")
        if recorded.bad:
            with signals_deferred():
                self._set_aside(recorded.bad, aside)
        self.responses |= recorded.responses
        self.identities |= recorded.identities

    def _set_aside(self, bad: Mapping[int, str], aside: Path) -> None:
        """Move lines out of the file; at any moment, each line is in at least one of the two files."""
        with self.path.open("rb") as lines:
            moved = b"".join(line for number, line in enumerate(lines, start=1) if number in bad)
        before = aside.read_bytes() if aside.exists() else b""
        # Skipped if an earlier run was killed between the two writes.
        if not before.endswith(moved):
            with atomic_writer(aside) as raw:
                raw.write(before + moved)
                force(raw)
        # Resolved, so that a link stays a link.
        file = self.path.resolve()
        with self.path.open("rb") as lines, atomic_writer(file) as raw:
            raw.writelines(line for number, line in enumerate(lines, start=1) if number not in bad)
            force(raw)
            shutil.copymode(file, raw.name)
        force_names(file.parent)
        self._file.close()
        self._file = self.path.open("a+b", buffering=0)
        self._lock()

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __contains__(self, key: str) -> bool:
        return key in self.responses

    def __getitem__(self, key: str) -> Response:
        return self.responses[key]

    def batches(self, server: str | None) -> list["Named"]:
        """The batches that are out there; `UserError` if one is at another server; server: None for a model at none."""
        batches = self._out_there()
        if elsewhere := next((batch for batch in batches if batch.server != server), None):
            back = "set 'engine' and 'base_url' back, or delete this file to have its prompts asked, and billed, again"
            raise UserError(f"{elsewhere.file}: a batch of this sweep is out there at {elsewhere.server}: {back}")
        return batches

    def tell_batches(self, label: str) -> None:
        """Say that there are batches out there, if there are any, and how to go on with them."""
        if batches := self._out_there():
            prompts = f"{sum(len(batch.tokens) for batch in batches):,} prompts in batches ({len(batches)})"
            note(f"{label}: {prompts} stay out there: the same command goes on with them, and nothing is paid twice")

    def _out_there(self) -> list["Named"]:
        """The batches with prompts that have no answer here; removes the files of the others, whose run ended after it
        had added their answers.
        """
        batches = named_batches(self.path)
        for batch in batches:
            if self.responses.keys() >= batch.tokens.keys():
                batch.forget()
        return [batch for batch in batches if batch.file.exists()]

    def append(self, identity: dict, batch: Sequence[tuple[str, Response]]) -> None:
        """Write the (key, response) pairs of a batch of one identity, all or nothing, and force them to the disk.

        A signal that would end the program is delayed until they are on disk.
        """
        name = digest(identity)
        lines = [answer_line(key, name, response) for key, response in batch]
        if name not in self.identities:
            lines.insert(0, identity_line(identity))
        with signals_deferred():
            self._write("".join(lines).encode())
            self.identities[name] = identity
            self.responses.update(batch)

    def _write(self, data: bytes) -> None:
        before = os.fstat(self._file.fileno()).st_size
        try:
            written = 0
            while written < len(data):
                written += self._file.write(data[written:]) or 0
            os.fsync(self._file.fileno())
        except OSError as error:
            # A full disk may have taken part of the batch: keep whole lines only.
            os.ftruncate(self._file.fileno(), before)
            error.filename = str(self.path)
            raise


def force(raw: IO[bytes]) -> None:
    """Sync written data to the disk."""
    raw.flush()
    os.fsync(raw.fileno())


def force_names(folder: Path) -> None:
    """Sync the names of a folder's files to the disk."""
    opened = os.open(folder, os.O_RDONLY)
    # Not every file system can sync a folder; most write the names with the next answers.
    with suppress(OSError):
        os.fsync(opened)
    os.close(opened)


@dataclass(frozen=True)
class Shard:
    """A part of a sweep that is asked by itself."""

    number: int
    """The number of the shard, from 1."""
    count: int
    """The number of shards."""

    @property
    def name(self) -> str:
        """The shard's name in file paths."""
        return f"{self.number}_of_{self.count}"


def shard(text: str) -> Shard:
    """An argparse type: a shard by its name, such as 1_of_4."""
    match = re.fullmatch(r"(\d+)_of_(\d+)", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise argparse.ArgumentTypeError(f"'{text}' is no shard; the first of four is 1_of_4")
    return Shard(int(match[1]), int(match[2]))


def shard_journal(path: str | Path, part: Shard) -> Path:
    """The path of a shard's journal; path: the journal of the whole sweep."""
    return Path(path).with_suffix("") / f"{part.name}.jsonl"


def other_journals(path: str | Path, journal: Path) -> list[Path]:
    """The journals of the sweep at `path` (whole and shards), except `own`."""
    return [file for file in journal_files(path) if file != journal]


def all_journals(folder: str | Path) -> list[Path]:
    """The journals of all sweeps and of their shards in `folder`, sorted by path."""
    return sorted(path for pattern in ("*/*.jsonl", "*/*/*.jsonl") for path in Path(folder).glob(pattern))


def other_sweeps(folder: str | Path, journal: str | Path) -> list[Path]:
    """All journals, except those of the sweep whose journal is at `journal`."""
    files_of_sweep = {file.resolve() for file in journal_files(journal)}
    return [file for file in all_journals(folder) if file.resolve() not in files_of_sweep]


def answers_elsewhere(
    asked: Mapping[str, Asked], identity: dict, files: Iterable[Path]
) -> tuple[dict[str, Response], int]:
    """Answers to prompts in the journals of other sweeps, by the keys of the prompts, and how many prompts have
    different answers in two journals.

    asked: the content of each prompt, by its key under `identity`; files: the journals, in their order. Answers under
    the same identity take precedence over answers under an equal one. If two journals answer a prompt differently, the
    last counts, as within a journal.
    """
    asked_digest = digest(identity)
    # By the digest of an identity: prompt keys by answer keys.
    keys: dict[str, dict[str, str]] = {asked_digest: {key: key for key in asked}}
    responses: dict[str, Response] = {}
    conflicting: set[str] = set()
    for file in files:
        wanted: dict[bytes, str] = {}
        try:
            identities = dict(_parsed(_lines_with(IDENTITY_MARK, file), dict))
        except OSError as error:
            note(f"{file}: not looked at for answers ({describe_os_error(error)})")
            continue
        for name in equal_digests(identities, identity):
            if name not in keys:
                keys[name] = {response_key(name, content): key for key, content in asked.items()}
            wanted |= {answer.encode(): key for answer, key in keys[name].items()}
        for answer, response in _parsed(_lines_of(file, wanted), Response) if wanted else ():
            if responses.get(answer, response).text != response.text:
                conflicting.add(wanted[answer.encode()])
            responses[answer] = response
    answers: dict[str, Response] = {}
    for by_answer in reversed(keys.values()):
        answers |= {key: responses[answer] for answer, key in by_answer.items() if answer in responses}
    return answers, len(conflicting)


def billed_in(file: Path) -> Iterator[Usage]:
    """The bills of all answers in a journal."""
    for _, response in _parsed(_lines_with(BILL_MARK, file), Response):
        if response.billed:
            yield response.billed


def _lines_with(mark: bytes, file: Path) -> Iterator[bytes]:
    """The lines of a file that contain `mark`."""
    with open_journal(file) as lines:
        yield from (line for line in lines if mark in line)


def _lines_of(file: Path, wanted: Mapping[bytes, object]) -> Iterator[bytes]:
    """The lines of the answers of a journal that have one of the keys `wanted`."""
    with open_journal(file) as lines:
        for line in lines:
            start = line.find(KEY_MARK) + len(KEY_MARK)
            if line[start : start + KEY_LENGTH] in wanted:
                yield line


def _parsed(lines: Iterable[bytes], kind: type[Value]) -> Iterator[tuple[str, Value]]:
    """The keys and values of one kind; half a line and malformed ones are left out."""
    for line in lines:
        with suppress(ValueError):
            key, value = parse_line(line)
            if line.endswith(b"\n") and isinstance(value, kind):
                yield key, value


@dataclass(frozen=True)
class Named:
    """A batch of prompts that is named in a file, from before it is submitted until its answers are in the journal, so
    that a run that is killed in between is followed by one that goes on with it.
    """

    file: Path
    """The path of the file, with the batch's name."""
    server: str
    """The server's address."""
    identity: dict[str, Any]
    """The identity of its answers."""
    after: str | None
    """The id of the server's newest batch before it, None if there was none."""
    tokens: Mapping[str, int | None]
    """The tokens of its prompts, None if only a server knows, by the keys of their answers."""
    id: str | None = None
    """The server's id of the batch, None until it is known."""

    def keep(self) -> None:
        """Write its file, and force it to the disk."""
        with atomic_writer(self.file) as raw:
            raw.write(canonical_json({**asdict(self), "file": None}).encode())
            force(raw)
        force_names(self.file.parent)

    def forget(self) -> None:
        """Remove its file, and the folder with the last one."""
        self.file.unlink()
        with suppress(OSError):
            self.file.parent.rmdir()


def batch_file(journal: Path, name: str) -> Path:
    """The file of a journal's batch."""
    return journal.with_suffix(".batches") / f"{name}.json"


def named_batches(journal: Path) -> list[Named]:
    """The batches whose answers are not in the journal yet, by their files; `UserError` for a malformed file."""
    batches = []
    for file in sorted(batch_file(journal, "").parent.glob("*.json")):
        try:
            batches.append(Named(**{**parse_object(read_text(file), str(file)), "file": file}))
        except (UserError, TypeError) as error:
            again = "put it back, or delete it to have its prompts asked, and billed, again"
            raise UserError(f"{file}: not a file of a batch ({error}): {again}") from error
    return batches
