"""Lines of a journal: the keys of their records, and a checksum that detects changed lines.

An answer is `{"key", "identity", "text", "finish_reason", "prompt_tokens", "response_tokens", "made_with", "crc32"}`,
where crc32 is the CRC-32 (8 hex digits, as in gzip) of the canonical JSON of the other fields. Spaces, line ends and
the order of keys therefore do not matter. An identity is `{"identity": digest, "fields": {...}}`, and its digest is its
checksum.
"""

import json
import zlib
from dataclasses import dataclass
from typing import Any

from litm.base.store import canonical_json, digest
from litm.domain.response import Response

CHECKSUM = "crc32"


@dataclass(frozen=True, slots=True)
class IdentityLine:
    """The fields of an identity and their digest, which answers refer to."""

    name: str
    fields: dict


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """An answer and its key.

    is_checked: whether the line has a checksum (lines of earlier versions have none); is_mended: whether lone
    surrogates in its text were replaced.
    """

    key: str
    response: Response
    is_checked: bool
    is_mended: bool


def identity_line(fields: dict) -> str:
    """The line of an identity, with its line end."""
    return canonical_json({"identity": digest(fields), "fields": fields}) + "\n"


def answer_line(key: str, identity: str, response: Response) -> str:
    """The line of an answer, with its line end. identity: the digest of its identity."""
    record = canonical_json({"key": key, "identity": identity, **response.to_json()})
    return f'{record.removesuffix("}")},"{CHECKSUM}":"{_checksum(record)}"}}\n'


def parse_line(line: bytes) -> IdentityLine | AnswerLine:
    """The record of a journal line; ValueError with the reason if the line is malformed or was changed."""
    try:
        record = json.loads(line)
        if "fields" in record:
            return _identity(_typed(record, "identity", str), _typed(record, "fields", dict))
        return _answer(record)
    except KeyError as error:
        raise ValueError(f"the field {error} is missing") from error
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error


def _identity(name: str, fields: dict) -> IdentityLine:
    if digest(fields) != name:
        raise ValueError("it was changed after it was written: 'identity' is not the digest of its 'fields'")
    return IdentityLine(name, fields)


def _answer(record: dict) -> AnswerLine:
    key, response = _typed(record, "key", str), Response.from_json(record)
    is_mended = response.text != record["text"]
    is_checked = CHECKSUM in record
    if is_checked and record.pop(CHECKSUM) != _checksum(canonical_json(record)):
        raise ValueError(f"it was changed after it was written: its {CHECKSUM} is another")
    return AnswerLine(key, response, is_checked, is_mended)


def _checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode()):08x}"


def _typed(record: dict, name: str, kind: type) -> Any:
    if not isinstance(record[name], kind):
        raise TypeError(f"'{name}' must be a {kind.__name__}, found {type(record[name]).__name__}")
    return record[name]
