"""The journal of a sweep: every response ever got, append-only, keyed by what defines the answer.

A line is either an identity, `{"identity": digest, "fields": {...}}`, written once before its first response,
or a response, `{"key", "identity", "text", "finish_reason", "prompt_tokens", "response_tokens"}`.
"""

import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType

from litm.cli import note
from litm.errors import UserError
from litm.records import canonical_json


@dataclass(frozen=True)
class Response:
    """What the model answered to one prompt.

    finish_reason: 'stop' (an end token, or the end of what the scorer reads) or 'length' (the limit of new
    tokens); prompt_tokens counts the prompt in its template, with special tokens.
    """

    text: str
    finish_reason: str
    prompt_tokens: int
    response_tokens: int


def digest(value: object) -> str:
    """A sha256 (hex) of a JSON value; equal values have equal digests, whatever the order of their keys."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


def response_key(identity: str, prompt: str) -> str:
    """The key of the answer to `prompt` by the model and decoding that `identity` is the digest of."""
    return digest([identity, prompt])


class Journal:
    """The responses on disk; reading takes no lock, appending is durable before it returns."""

    def __init__(self, path: str | Path) -> None:
        """Read the journal if there is one. A torn last line, left by a crash, is cut off."""
        self.path = Path(path)
        self._responses: dict[str, Response] = {}
        self._identities: set[str] = set()
        if self.path.exists():
            self._load()

    def _load(self) -> None:
        whole = 0
        with self.path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.endswith(b"\n"):
                    note(f"{self.path}: line {number} is incomplete (a run was interrupted), it is asked again")
                    break
                self._read_line(line, number)
                whole += len(line)
        # Appending behind half a line would lose the next response too.
        if whole < self.path.stat().st_size:
            os.truncate(self.path, whole)

    def _read_line(self, line: bytes, number: int) -> None:
        try:
            record = json.loads(line)
            if "fields" in record:
                self._identities.add(record["identity"])
                return
            self._responses[record["key"]] = Response(
                record["text"], record["finish_reason"], record["prompt_tokens"], record["response_tokens"]
            )
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(
                f"{self.path}, line {number}: not a journal line; nothing was changed. Delete that line "
                f"(its prompt is asked again) and run the same command"
            ) from error

    def __contains__(self, key: str) -> bool:
        return key in self._responses

    def __getitem__(self, key: str) -> Response:
        return self._responses[key]

    def __len__(self) -> int:
        return len(self._responses)

    def writer(self, identity: str, fields: dict) -> "JournalWriter":
        """A context manager that appends responses of one identity."""
        return JournalWriter(self, identity, fields)

    def _remember(self, responses: Iterable[tuple[str, Response]]) -> None:
        self._responses.update(responses)


class JournalWriter:
    """Appends batches to a journal; a batch that was appended survives a crash of the program or the machine."""

    def __init__(self, journal: Journal, identity: str, fields: dict) -> None:
        self._journal, self._identity = journal, identity
        new = identity not in journal._identities
        self._header = canonical_json({"identity": identity, "fields": fields}) + "\n" if new else ""

    def __enter__(self) -> "JournalWriter":
        self._journal.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self._journal.path.open("ab", buffering=0)
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

    def append(self, batch: list[tuple[str, Response]]) -> None:
        """Write the (key, response) pairs of a batch, all or nothing, and force them to the disk."""
        lines = [canonical_json({"key": k, "identity": self._identity, **asdict(r)}) for k, r in batch]
        data = (self._header + "".join(line + "\n" for line in lines)).encode()
        before = os.fstat(self._file.fileno()).st_size
        try:
            written = 0
            while written < len(data):
                written += self._file.write(data[written:]) or 0
            os.fsync(self._file.fileno())
        except OSError as error:
            # A full disk may have taken part of the batch: leave whole lines only.
            os.ftruncate(self._file.fileno(), before)
            error.filename = str(self._journal.path)
            raise
        self._header = ""
        self._journal._remember(batch)
