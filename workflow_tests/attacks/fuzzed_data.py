"""Malformed data files: read correctly, or refused in one line."""

import bz2
import gzip
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from conftest import qa_record
from fault_server import text_of
from hypothesis import strategies as st
from mutations import changed_bytes, changed_values, results
from outcomes import RIGHT, WRONG, Arena, Case, Family, Outcome, counted, refused
from record_makers import example

from litm.base.cli import describe_os_error
from litm.base.messages import UserError
from litm.corpora.passages import CorpusSettings, read_source
from litm.questions.natural_questions import derive, located_records
from litm.questions.released_format import (
    read_kv_questions,
    read_qa_questions,
    read_question_records,
    read_retrieved_questions,
)
from litm.questions.subsets import read_labels
from litm.recorded.responses import RecordedFile, RecordedSweep

#: Malformed files of each format: in all, and in `make test-all`.
COUNT, FAST_COUNT = 1000, 25


@dataclass(frozen=True)
class Format:
    """file: its name; records: of a sound file, one a line, or its bytes; read: yields what is made of a file."""

    name: str
    file: str
    records: list[dict] | bytes
    read: Callable[[Path], Iterable[object]]

    @property
    def sound(self) -> bytes:
        return self.records if isinstance(self.records, bytes) else json_lines(self.records)

    def write(self, folder: Path, data: bytes) -> Path:
        """Write the file; the ending of its name gives the compression."""
        path = folder / self.file
        pack = {".gz": gzip.compress, ".bz2": bz2.compress}.get(path.suffix, bytes)
        path.write_bytes(pack(data))
        return path


def json_lines(records: list[dict]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def _derived(path: Path, nq_open: bytes, is_annotations: bool) -> Iterable[object]:
    """Questions from NQ-Open and annotations; the file under attack is the one or the other."""
    other = path.with_name("other.jsonl")
    other.write_bytes(nq_open if is_annotations else json_lines(TABLE["NQ simplified"]["records"]))
    files = (other, path) if is_annotations else (path, other)
    made, _ = derive(*(located_records([file]) for file in files))
    return made


def _recorded(path: Path) -> Iterable[object]:
    asked = [example(id=f"id{n}", size=1, prompt=f"p{n}") for n in range(4)]
    fields = {"response": "response", "id": "id", "finish_reason": "end"}
    return RecordedSweep(asked, [RecordedFile(str(path), [(1, "gold_at_0")])], fields).responses.values()


def _passages(source: str) -> Callable[[Path], Iterator[object]]:
    return lambda path: read_source(source, path, CorpusSettings(passage_words=20))


def _labels(kind: str) -> Callable[[Path], Iterable[object]]:
    return lambda path: read_labels(path, kind).items()


TABLE = yaml.safe_load(Path(__file__).with_name("data_formats.yaml").read_text())
#: Records that several formats have.
MADE = {
    "questions": [qa_record(number, 3) for number in range(4)],
    "pairs": [
        {"ordered_kv_records": [[f"k{n}{m}", f"v{n}{m}"] for m in range(4)], "key": f"k{n}2", "value": f"v{n}2"}
        for n in range(4)
    ],
}
READERS: dict[str, Callable[[Path], Iterable[object]]] = {
    "qa": lambda path: read_qa_questions(path, None),
    "retrieved": lambda path: read_retrieved_questions(path, None),
    "records": read_question_records,
    "kv": lambda path: read_kv_questions(path, None),
    "nq_open": lambda path: _derived(path, b"", is_annotations=False),
    "annotations": lambda path: _derived(path, json_lines(TABLE["NQ-Open"]["records"]), is_annotations=True),
    "recorded": _recorded,
    **{kind: _labels(kind) for kind in ("ambignq", "situatedqa", "jsonl", "txt")},
    **{source: _passages(source) for source in ("documents", "dpr_passages", "wikipedia_dump")},
}


def _sound(row: Mapping[str, Any]) -> list[dict] | bytes:
    if "text" in row:
        return text_of(row["text"]).encode()
    records = MADE[row["records"]] if isinstance(row["records"], str) else row["records"]
    if row.get("as") == "json":
        return json.dumps(records).encode()
    if "as" in row:
        rows = [list(records[0]), *(list(record.values()) for record in records)]
        return "".join(row["as"].join(map(str, one)) + "\n" for one in rows).encode()
    return records


FORMATS = [Format(name, row["file"], _sound(row), READERS[row["read"]]) for name, row in TABLE.items()]
QUESTIONS, KV = MADE["questions"], MADE["pairs"]
DOCUMENTS, RECORDED = (TABLE[name]["records"] for name in ("documents, JSON", "recorded, JSON"))
#: Files that were once accepted by mistake or caused a traceback: format, description, content.
MALFORMED = {
    ("questions", "a key twice"): b'{"question":"q","question":"r","answers":["a"],"ctxs":[]}\n',
    ("questions", "isgold as text"): json_lines([qa_record(0, 2)]).replace(b'"isgold": true', b'"isgold": "true"'),
    ("questions", "isgold as number"): json_lines([qa_record(0, 2)]).replace(b'"isgold": true', b'"isgold": 1'),
    ("questions", "two golds"): json_lines([qa_record(0, 2)]).replace(b'"isgold": false', b'"isgold": true', 1),
    ("questions", "nested too deep"): b'{"question":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
    ("questions", "an integer of 5,000 digits"): b'{"question":' + b"9" * 5000 + b"}\n",
    ("questions", "half a character in an answer"): json_lines([{**qa_record(0, 2), "answers": ["\ud83d"]}]),
    ("questions", "half a character in a question"): json_lines([{**qa_record(0, 2), "question": "\ud83d"}]),
    ("questions", "the same question twice"): json_lines([qa_record(0, 2)] * 2),
    ("questions", "UTF-16 without its mark"): json_lines(QUESTIONS).decode().encode("utf-16-le"),
    ("key-value", "the gold's value in another pair"): json_lines(
        [{"ordered_kv_records": [["a", "x"], ["b", "x"]], "key": "a", "value": "x"}]
    ),
    ("key-value", "a key twice among the pairs"): json_lines(
        [{"ordered_kv_records": [["a", "x"], ["a", "y"]], "key": "a", "value": "x"}]
    ),
    ("key-value", "a key of 5,000 characters that is in no pair"): json_lines([{**KV[0], "key": "k" * 5000}]),
    ("key-value", "a value of 5,000 characters in two pairs"): json_lines(
        [{"ordered_kv_records": [["a", "x" * 5000], ["b" * 5000, "x" * 5000]], "key": "a", "value": "x" * 5000}]
    ),
    ("questions", "a long question twice"): json_lines([{**QUESTIONS[0], "question": "q" * 5000}] * 2),
    ("documents, JSON", "an id of many texts"): json_lines([{**DOCUMENTS[0], "id": ["a"] * 5000}]),
    ("recorded, JSON", "an end of 5,000 characters"): json_lines([{**RECORDED[0], "end": "e" * 5000}]),
    ("recorded, JSON", "fields with long names, and not those that are wanted"): json_lines([{"n" * 5000: "a"}]),
    ("recorded, JSON", "a field with a line end in its name"): json_lines([{"a\nb": "a"}]),
    ("recorded, CSV", "a header of 5,000 columns"): b",".join([b"a"] * 5000) + b"\n",
    ("AmbigNQ", "nested too deep"): b"[" * 100_000,
    ("AmbigNQ", "an integer of 5,000 digits"): b"[" + b"9" * 5000 + b"]",
}


def texts(value: object) -> Iterator[str]:
    """All texts in a value that was read."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for pair in value.items():
            yield from texts(pair)
    elif isinstance(value, list | tuple | set):
        for inner in value:
            yield from texts(inner)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from texts(getattr(value, name))


def attack(form: Format, data: bytes, folder: Path, case: str) -> Outcome:
    path = form.write(folder, data)
    try:
        read = list(form.read(path))
        for text in texts(read):
            text.encode()
    except UserError as error:
        return refused(case, str(error))
    except OSError as error:
        return refused(case, describe_os_error(error))
    except UnicodeEncodeError:
        return Outcome(case, WRONG, f"half a character is accepted: {data[:200]!r}")
    except Exception as error:
        return Outcome(case, WRONG, f"{type(error).__name__}: {str(error)[:200]}; the file: {data[:300]!r}")
    return Outcome(case, RIGHT)


def attack_many(form: Format, count: int, arena: Arena) -> list[Outcome]:
    strategy: st.SearchStrategy[bytes] = changed_bytes(form.sound)
    if not isinstance(form.records, bytes):
        strategy = strategy | changed_values(form.records).map(json_lines)
    number = FORMATS.index(form)
    found = results(strategy, number, count, lambda data: attack(form, data, arena.folder, form.name))
    return counted(form.name, found)


def attack_malformed(arena: Arena) -> Iterator[Outcome]:
    by_name = {form.name: form for form in FORMATS}
    for (name, what), data in MALFORMED.items():
        outcome = attack(by_name[name], data, arena.folder, f"{name}: {what}")
        accepted = outcome.result == RIGHT
        yield Outcome(outcome.case, WRONG, "accepted") if accepted else outcome


def attack_sound(arena: Arena) -> Iterator[Outcome]:
    """Without a fault a file of each format is read, and there is something in it: or the others would say nothing."""
    for form in FORMATS:
        found = len(list(form.read(form.write(arena.folder, form.sound))))
        yield Outcome(f"{form.name}, sound", RIGHT if found else WRONG, f"{found} records are read")


def _case(form: Format, count: int, fast: bool) -> Case:
    sample = "a sample of " if fast else f"{count:,} of "
    return Case(f"{sample}{form.name}", lambda arena: attack_many(form, count, arena), fast)


FAMILY = Family(
    "data",
    f"The inputs are {COUNT:,} malformed files of each of {len(FORMATS)} formats, with randomly changed values or "
    "bytes, and files made by hand. Each is read to its end and its texts can be written, or one line refuses it.",
    [
        *(_case(form, FAST_COUNT, True) for form in FORMATS),
        *(_case(form, COUNT, False) for form in FORMATS),
        Case("made by hand", attack_malformed, fast=True),
        Case("without a fault", attack_sound, fast=True),
    ],
)
