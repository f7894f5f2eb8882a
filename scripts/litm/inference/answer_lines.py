"""Lines of kept answers: one JSON object each, append-only, with a checksum.

A line is `{"key", "identity", "text", "finish_reason", "prompt_tokens", "response_tokens", "made_with", "crc32"}`, with
`"billed"` if a provider bills for it. key: `response_key` of the identity and the prompt, so that no line can answer
another prompt, or the same one under another identity; identity: the digest of its fields; crc32: the CRC-32 (8 hex
digits, as in gzip) of the canonical JSON of the other fields, so that spaces and the order of keys do not matter.
"""

import errno
import json
import stat
import zlib
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from litm.base.json_files import checked_field
from litm.base.messages import UserError, first_of, note
from litm.base.store import canonical_json
from litm.records.bills import Usage
from litm.records.responses import Response

CHECKSUM = "crc32"
#: Bytes before the key, and in answers with a bill alone: quotes within a text are escaped.
KEY_MARK, BILL_MARK = b'"key":"', b'"billed":'
KEY_LENGTH = 64
#: Line numbers of bad lines that a message names.
NAMED_LINES = 10


def answer_line(key: str, identity: str, response: Response) -> str:
    """The line of an answer, with its line end. identity: the digest of its identity."""
    record = canonical_json({"key": key, "identity": identity, **response.to_json()})
    return f'{record.removesuffix("}")},"{CHECKSUM}":"{_checksum(record)}"}}\n'


def parse_line(line: bytes) -> tuple[str, str, Response]:
    """The key, the digest of the identity and the response of a line.

    Raises ValueError with the reason if the line is malformed or was changed.
    """
    try:
        record = json.loads(line)
        key, response = checked_field(record, "key", str), Response.from_json(record)
        identity = checked_field(record, "identity", str)
        if record.pop(CHECKSUM) != _checksum(canonical_json(record)):
            raise ValueError(f"it was changed after it was written: its {CHECKSUM} is another")
        return key, identity, response
    except KeyError as error:
        raise ValueError(f"the field {error} is missing") from error
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error


def _checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"


@dataclass
class AnswerFile:
    """An append-only file of answers, as it is read: without a lock, because a run may be writing to it."""

    path: Path
    """The file, JSON Lines."""
    bad: dict[int, str] = field(default_factory=dict)
    """The defects of whole lines that may have a wanted answer, by line number from 1."""

    def answers(self, wanted: Container[bytes]) -> Iterator[tuple[str, Response]]:
        """The keys and responses of the lines whose keys are wanted; half a line at the end is left out.

        Raises `UserError` for a file that has no answers at all, and OSError unless it is a regular file: reading a
        FIFO would never end.
        """
        if not stat.S_ISREG(self.path.stat().st_mode):
            raise OSError(
                errno.EINVAL, "not a regular file, so no answers: move it away, and run again", str(self.path)
            )
        is_known, tail = False, b""
        with self.path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if not line.endswith(b"\n"):
                    tail = line
                    break
                start = line.find(KEY_MARK)
                if start >= 0:
                    is_known = True
                    start += len(KEY_MARK)
                    if line[start : start + KEY_LENGTH] not in wanted:
                        continue
                try:
                    key, _, response = parse_line(line)
                except ValueError as error:
                    self.bad[number] = str(error)
                    continue
                is_known = True
                if key.encode() in wanted:
                    yield key, response
        why = None
        if self.bad and not is_known:
            why = f"none of its lines is an answer (line 1: {next(iter(self.bad.values()))})"
        elif not is_known and not _can_be_half_a_line(tail):
            why = "it has no line end"
        if why:
            raise UserError(
                f"{self.path}: {why}; nothing was changed. If it is compressed, or has line ends that are not LF, make "
                "it a file of lines again; otherwise move it away (its prompts are asked again), and run the same "
                "command"
            )

    def tell_bad(self) -> None:
        """Report the bad lines, if there are any."""
        if numbers := list(self.bad):
            named = first_of([*map(str, numbers)], NAMED_LINES)
            note(
                f"{self.path}, line {named}: not an answer ({self.bad[numbers[0]]}), and left out: if it was one, its "
                "prompt is asked again"
            )

    def bills(self) -> Iterator[tuple[str, Usage]]:
        """The keys and bills of all answers; half a line and malformed ones are left out."""
        with self.path.open("rb") as lines:
            for line in lines:
                if BILL_MARK in line and line.endswith(b"\n"):
                    try:
                        key, _, response = parse_line(line)
                    except ValueError:
                        continue
                    if response.billed:
                        yield key, response.billed


def _can_be_half_a_line(tail: bytes) -> bool:
    """Whether an interrupted first write can have left this: a disk that lost power may leave zeros, and our lines have
    no CR, which somebody's editor or gzip wrote.
    """
    return b"\r" not in tail.rstrip(b"\0") and tail.rstrip(b"\0")[:2] in (b"", b"{", b'{"')
