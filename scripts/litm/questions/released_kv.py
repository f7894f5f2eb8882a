"""The paper's released key-value format (`kv-retrieval-*.jsonl.gz`), checked line by line.

A line is `{"ordered_kv_records": [[key, value], ...], "key", "value"}`.
"""

from collections.abc import Iterator
from pathlib import Path

from litm.base.messages import UserError, quoted
from litm.base.records import typed_field
from litm.domain.question import Gold, Question
from litm.questions.reading import read_distinct


def read_kv_questions(path: str | Path, limit: int | None) -> Iterator[Question]:
    """The first `limit` examples of a released key-value file; the key asked for is both question and id."""
    return read_distinct(path, kv_question, limit)


def kv_question(record: dict, where: str) -> Question:
    """A released key-value record as a question; `UserError` for duplicate keys or a missing pair."""
    pairs = typed_field(record, "ordered_kv_records", list, where)
    for index, pair in enumerate(pairs):
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(part, str) for part in pair)):
            raise UserError(f"{where}, ordered_kv_records[{index}]: expected [key, value], two strings")
    key, value = typed_field(record, "key", str, where), typed_field(record, "value", str, where)
    if not key or not value:
        raise UserError(f"{where}: 'key' and 'value' must not be empty")
    keys = [pair[0] for pair in pairs]
    duplicates = sorted({k for k in keys if keys.count(k) > 1}) if len(set(keys)) < len(keys) else []
    if duplicates:
        raise UserError(f"{where}: duplicate key {quoted(duplicates[0])} in ordered_kv_records")
    if [key, value] not in pairs:
        raise UserError(
            f"{where}: the pair of key {quoted(key)} and value {quoted(value)} is not among ordered_kv_records"
        )
    distractors = tuple((k, v) for k, v in pairs if k != key)
    elsewhere = [k for k, v in distractors if value in (k, v)]
    if elsewhere:
        raise UserError(
            f"{where}: the value {quoted(value)} of key {quoted(key)} is in the pair of key {quoted(elsewhere[0])} "
            "too, so an answer would not tell which pair was read: give the pairs different values"
        )
    return Question(key, key, (Gold("gold", (key, value), (value,)),), distractors)
