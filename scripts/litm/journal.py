"""The journal of a sweep: every response ever got, append-only, keyed by what defines the answer.

A line is either an identity, `{"identity": digest, "fields": {...}}`, written once before its first response,
or a response, `{"key", "identity", "text", "finish_reason", "prompt_tokens", "response_tokens", "made_with"}`.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

from litm.domain.example import Content
from litm.domain.response import Response as Response
from litm.errors import UserError
from litm.hashing import canonical_json
from litm.hashing import digest as digest
from litm.locks import lock
from litm.messages import note
from litm.signals import signals_deferred


def response_key(identity: str, content: Content) -> str:
    """The key of the answer to a prompt with `content` by the model and decoding that `identity` is the digest of."""
    return digest([identity, content])


@dataclass(frozen=True)
class Recorded:
    """What a journal's file holds.

    responses: by key; identities: their fields by digest, in the order of first answers; whole_bytes: the length of
    its whole lines, behind which there may be half a line of a run that was interrupted, or is still writing.
    """

    responses: dict[str, Response]
    identities: dict[str, dict]
    whole_bytes: int


def journal_files(path: str | Path) -> list[Path]:
    """The files with the responses of a sweep whose journal is at `path`: that one, if it is there, and those of its
    shards, in a folder of the same name.
    """
    own = Path(path)
    return [*([own] if own.exists() else []), *sorted(own.with_suffix("").glob("*.jsonl"))]


def read_journal(path: str | Path) -> Recorded:
    """What a journal's file holds now, without a lock, as another run may be writing to it.

    Raises `UserError` for a line that cannot be read.
    """
    recorded, whole = Recorded({}, {}, 0), 0
    with Path(path).open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                break
            _read_line(line, recorded, f"{path}, line {number}")
            whole += len(line)
    return replace(recorded, whole_bytes=whole)


def _read_line(line: bytes, recorded: Recorded, where: str) -> None:
    try:
        record = json.loads(line)
        if "fields" in record:
            recorded.identities[record["identity"]] = record["fields"]
        else:
            recorded.responses[record["key"]] = Response.from_json(record)
    except (ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"{where}: not a journal line; nothing was changed. Delete that line (its prompt is asked again) and run "
            f"the same command"
        ) from error


class Journal:
    """The responses on disk, for one process at a time; a context manager.

    others: files of other shards of the same sweep, whose responses are read once, before its own. Raises `UserError`
    if another process has it open, or for a line that cannot be read.
    """

    def __init__(self, path: str | Path, others: Iterable[str | Path] = ()) -> None:
        self.path = Path(path)
        self._responses: dict[str, Response] = {}
        self._identities: dict[str, dict] = {}
        for other in others:
            self._take(read_journal(other))
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("a+b", buffering=0)
        try:
            self._lock()
            self._load()
        except BaseException:
            self._file.close()
            raise

    def _lock(self) -> None:
        """A killed Snakemake can leave its jobs running: two writers would answer twice and tear each other's lines."""
        if not lock(self._file):
            raise UserError(f"{self.path} is in use by another run: wait for it or stop it, then run again")

    def _load(self) -> None:
        recorded = read_journal(self.path)
        if recorded.whole_bytes < self.path.stat().st_size:
            note(f"{self.path}: its last line is incomplete (a run was interrupted), it is asked again")
            # Appending behind half a line would lose the next response too.
            os.ftruncate(self._file.fileno(), recorded.whole_bytes)
        self._take(recorded)

    def _take(self, recorded: Recorded) -> None:
        self._responses |= recorded.responses
        self._identities |= recorded.identities

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

    def __contains__(self, key: str) -> bool:
        return key in self._responses

    def __getitem__(self, key: str) -> Response:
        return self._responses[key]

    def __len__(self) -> int:
        return len(self._responses)

    @property
    def identities(self) -> Mapping[str, dict]:
        """The fields of each identity that there are answers of, by its digest, in the order of first answers."""
        return self._identities

    def append(self, identity: dict, batch: Sequence[tuple[str, Response]]) -> None:
        """Write the (key, response) pairs of a batch of one identity, all or nothing, and force them to the disk.

        A signal that would end the program waits until they are.
        """
        name = digest(identity)
        lines = [{"key": key, "identity": name, **response.to_json()} for key, response in batch]
        if name not in self._identities:
            lines.insert(0, {"identity": name, "fields": identity})
        with signals_deferred():
            self._write("".join(canonical_json(line) + "\n" for line in lines).encode())
            self._identities[name] = identity
            self._responses.update(batch)

    def _write(self, data: bytes) -> None:
        before = os.fstat(self._file.fileno()).st_size
        try:
            written = 0
            while written < len(data):
                written += self._file.write(data[written:]) or 0
            os.fsync(self._file.fileno())
        except OSError as error:
            # A full disk may have taken part of the batch: leave whole lines only.
            os.ftruncate(self._file.fileno(), before)
            error.filename = str(self.path)
            raise
