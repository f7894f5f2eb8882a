"""The paper's released question-answering format (`nq-open-*.jsonl.gz`): records and their checks.

A line is a question with documents: `{"question", "answers", "ctxs": [{"id", "title", "text", "hasanswer", "isgold",
...}]}`. A question set has only the gold document, candidates have distractors as well, and the result of a retriever
has no gold document but may have its `gold_id`. A derived question also has its `nq_annotated_gold`. Other keys are
kept, and all keys keep their order, so that reading and writing a record does not change it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice, pairwise
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from litm.answers import contains_normalized
from litm.base.json_files import read_jsonl, typed_field, write_jsonl
from litm.base.messages import UserError, quoted
from litm.base.store import text_sha256
from litm.records.conditions import Cut
from litm.records.questions import Gold, Item, Question

#: Key of a record with its line in the user's own table of questions, if it is from one.
LINE = "line"
#: Key of a record, and column of a table of questions, with the model that wrote the question.
WRITER = "written_by"
T = TypeVar("T", Question, "QuestionRecord")


def read_distinct(path: str | Path, parse: Callable[[dict, str], T], limit: int | None = None) -> Iterator[T]:
    """Yield `parse(record, where)` for the first `limit` lines, all if None; `where` begins any error message.

    Raises `UserError` for a question that repeats an earlier line.
    """
    seen: dict[str, int] = {}
    for number, record in islice(read_jsonl(path), limit):
        where = f"{path}, line {number}"
        question = parse(record, where)
        if question.text in seen:
            raise UserError(f"{where}: the question {quoted(question.text)} is already on line {seen[question.text]}")
        seen[question.text] = number
        yield question


@dataclass(frozen=True)
class Document:
    """A document of a question."""

    fields: Mapping[str, Any]
    """JSON object of the document."""

    @classmethod
    def from_fields(
        cls,
        title: str,
        text: str,
        *,
        id: str | None = None,
        score: str | None = None,
        has_answer: bool | None = None,
        rank: int | None = None,
        is_gold: bool | None = None,
    ) -> "Document":
        """A document with these fields, without those that are None. rank: from 0 among the retrieved documents."""
        fields = {
            "id": id,
            "title": title,
            "text": text,
            "score": score,
            "hasanswer": has_answer,
            "original_retrieval_index": rank,
            "isgold": is_gold,
        }
        return cls({name: value for name, value in fields.items() if value is not None})

    @property
    def id(self) -> str | None:
        """The id of the document's passage, as text even if the file has a number; None if missing."""
        return str(self.fields["id"]) if "id" in self.fields else None

    @property
    def title(self) -> str:
        """The title, "" if missing."""
        return self.fields.get("title") or ""

    @property
    def text(self) -> str:
        """The text, "" if missing."""
        return self.fields.get("text") or ""

    @property
    def is_gold(self) -> bool:
        """Whether the document has the answer of the question."""
        return self.fields.get("isgold") is True

    @property
    def has_answer(self) -> bool:
        """Whether the text contains an answer, according to the writer of the record."""
        return bool(self.fields.get("hasanswer"))

    @property
    def is_filler(self) -> bool:
        """Whether the document was drawn at random because too few were retrieved; it has no score of a retriever."""
        return self.fields.get("isfiller") is True

    def as_filler(self) -> "Document":
        """The document marked as filler."""
        return Document({**self.fields, "isfiller": True})

    def score(self, where: str) -> float:
        """The score of the document, a number or its text; otherwise a `UserError` beginning with `where`."""
        score = self.fields.get("score")
        try:
            if isinstance(score, bool) or not isfinite(value := float(score)):  # type: ignore[arg-type]
                raise ValueError
        except (TypeError, ValueError):
            raise UserError(
                f"{where}: 'score' must be a number, found {quoted(score)}: a cut by score or margin needs the scores "
                "that the documents were retrieved with"
            ) from None
        return value

    @property
    def item(self) -> Item:
        """The document as an item of a context."""
        return self.title, self.text

    def as_distractor(self, has_answer: bool | None = None) -> "Document":
        """The document marked as not gold, with `has_answer` unless that is None."""
        mark = {} if has_answer is None else {"hasanswer": has_answer}
        return Document({**self.fields, **mark, "isgold": False})


@dataclass(frozen=True)
class GoldParagraph:
    """The gold paragraph of a derived question."""

    title: str
    """Title of its page."""
    long_answer: str
    """Text of the paragraph."""
    chunked_long_answer: str
    """Chunk of the paragraph, which is the gold document."""
    short_answers: tuple[str, ...]
    """Short answers of the annotation."""

    @classmethod
    def from_json(cls, record: object, where: str) -> "GoldParagraph":
        """The paragraph of a JSON object; `UserError` beginning with `where` for a missing or wrong field."""
        names = ("title", "long_answer", "chunked_long_answer")
        title, long_answer, chunk = (typed_field(record, name, str, where) for name in names)
        return cls(title, long_answer, chunk, tuple(text_list(record, "short_answers", where)))

    def to_json(self) -> dict:
        """The JSON object, keys in the order of the released oracle file."""
        return {**asdict(self), "short_answers": list(self.short_answers)}


@dataclass(frozen=True)
class QuestionRecord:
    """A line of a file in the format."""

    fields: Mapping[str, Any]
    """JSON object of the line."""
    where: str = ""
    """File and line, for messages."""

    @classmethod
    def from_json(cls, record: dict, where: str) -> "QuestionRecord":
        """The record, checked; `UserError` beginning with `where` for a missing or wrong field.

        The documents, or some of their fields, may be missing: see `documents_with_text` and `gold`.
        """
        if not typed_field(record, "question", str, where).strip():
            raise UserError(f"{where}: the question is empty")
        answers = typed_field(record, "answers", list, where)
        if not answers or not all(isinstance(answer, str) and answer.strip() for answer in answers):
            raise UserError(f"{where}: 'answers' must be a list of one or more non-empty strings")
        for index, document in enumerate(typed_field(record, "ctxs", list, where) if "ctxs" in record else []):
            if not isinstance(document, dict):
                raise UserError(f"{where}, ctxs[{index}]: expected an object with 'title' and 'text'")
            if not isinstance(is_gold := document.get("isgold", False), bool):
                # The text "false" is true in Python, and 1 is no truth value in JSON: neither is guessed.
                raise UserError(f"{where}, ctxs[{index}]: 'isgold' must be true or false, found {quoted(is_gold)}")
        return cls(record, where)

    @classmethod
    def from_documents(
        cls,
        text: str,
        answers: Sequence[str],
        documents: Iterable[Document],
        *,
        annotated_gold: GoldParagraph | None = None,
    ) -> "QuestionRecord":
        """A question with its documents and, if it is derived, its gold paragraph."""
        fields: dict[str, Any] = {"question": text, "answers": list(answers), "ctxs": [d.fields for d in documents]}
        return cls(fields if annotated_gold is None else {**fields, "nq_annotated_gold": annotated_gold.to_json()})

    def retrieved(self, documents: Iterable[Document], gold_id: str | None) -> "QuestionRecord":
        """The question with its retrieved documents, best first. gold_id: of the gold passage, if in the corpus."""
        ctxs = [document.fields for document in documents]
        return replace(
            self, fields={"question": self.text, "answers": list(self.answers), "gold_id": gold_id, "ctxs": ctxs}
        )

    def with_documents(self, documents: Iterable[Document]) -> "QuestionRecord":
        """The question with other documents."""
        return replace(self, fields={**self.fields, "ctxs": [document.fields for document in documents]})

    def to_json(self) -> dict:
        """The JSON object."""
        return dict(self.fields)

    @property
    def text(self) -> str:
        """The text of the question."""
        return self.fields["question"]

    @property
    def id(self) -> str:
        """See `question_id`."""
        return question_id(self.text)

    @property
    def answers(self) -> tuple[str, ...]:
        """The answers that count as correct."""
        return tuple(self.fields["answers"])

    @property
    def documents(self) -> list[Document]:
        """The documents in their order; empty if missing."""
        return [Document(fields) for fields in self.fields.get("ctxs", [])]

    @property
    def golds(self) -> list[Document]:
        """The documents that are marked as gold."""
        return [document for document in self.documents if document.is_gold]

    @property
    def distractors(self) -> list[Document]:
        """The documents that are not marked as gold, in their order."""
        return [document for document in self.documents if not document.is_gold]

    def is_answered_by(self, document: Document) -> bool:
        """Whether a document is the gold one, is marked as having the answer, or contains an answer as text."""
        is_gold = document.is_gold or (document.id is not None and document.id == self.fields.get("gold_id"))
        text = f"{document.title} {document.text}"
        return is_gold or document.has_answer or contains_normalized(text, self.answers)

    def cluster(self, name: str | None) -> str | None:
        """The value of a field of the record, or else of its gold document, as text; None if `name` is None.

        Raises `UserError` if both lack it, or if it is neither text nor an integer.
        """
        if name is None:
            return None
        value = self.fields.get(name, next((gold.fields[name] for gold in self.golds if name in gold.fields), None))
        if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
            line = f" (line {self.fields[LINE]} of your questions)" if LINE in self.fields else ""
            raise UserError(
                f"{self.where}: neither the question {quoted(self.text)}{line} nor its gold document has a text or a "
                f"whole number {name!r}, which the experiment's 'cluster' names, found {quoted(value)}; fill it in, or "
                "take 'cluster' out"
            )
        return str(value)

    @property
    def retrieved_gold_id(self) -> str | None:
        """For a retriever's result, the id of the gold passage; None if it is not in the corpus."""
        return self.fields["gold_id"]

    @property
    def given_gold_id(self) -> str | None:
        """The id of the gold document, None if it has none."""
        return self.golds[0].id if self.golds else None

    def gold(self, hint: str = "") -> Document:
        """The gold document; `UserError`, ending with `hint`, unless there is exactly one."""
        golds = self.golds
        if len(golds) != 1:
            raise UserError(
                f'{self.where}: {len(golds)} documents have "isgold": true, there must be exactly one{hint}'
            )
        return golds[0]

    def gold_with_text_or_id(self) -> Document:
        """The gold document, with a text id; `UserError` unless there is exactly one, with a text or an id."""
        gold = self.gold(", with 'title' and 'text', or with the 'id' of a passage of the corpus")
        for key in ("title", "text"):
            if not isinstance(gold.fields.get(key, ""), str):
                raise UserError(
                    f"{self.where}: the '{key}' of the gold document must be a text, found {quoted(gold.fields[key])}"
                )
        if not gold.text and gold.id is None:
            raise UserError(f"{self.where}: the gold document has neither a 'text' nor the 'id' of a passage")
        return gold if gold.id is None else Document({**gold.fields, "id": gold.id})

    def exported(self, size: int, position: int) -> "QuestionRecord":
        """The record as in the paper's files for a size and position: the first `size` - 1 distractors, and the gold
        document at `position`.
        """
        gold = self.gold_with_text_or_id()
        if not 0 <= position < size:
            raise UserError(f"position {position} is impossible, positions in a context of {size} are 0 to {size - 1}")
        others = self.distractors
        if len(others) < size - 1:
            raise UserError(f"{self.where}: {len(others)} distractors, but {size} documents need {size - 1}")
        return self.with_documents([*others[:position], gold, *others[position : size - 1]])

    def documents_with_text(self) -> list[Document]:
        """The documents; `UserError` unless each has a title and a text."""
        for index, document in enumerate(self.documents):
            where = f"{self.where}, ctxs[{index}]"
            typed_field(document.fields, "title", str, where)
            if not typed_field(document.fields, "text", str, where):
                raise UserError(f"{where}: the text is empty")
        return self.documents


def question_id(text: str) -> str:
    """A short stable id, hashed from the question's text, so that files about the same questions match."""
    return text_sha256(text)[:16]


def read_question_records(path: str | Path) -> Iterator[QuestionRecord]:
    """Yield the checked records of a file; `UserError` for a question that occurs twice, and for an empty file."""
    record = None
    for record in read_distinct(path, QuestionRecord.from_json):
        yield record
    if record is None:
        raise UserError(f"{path}: there are no questions in it")


def write_question_records(path: str | Path, records: Iterable[QuestionRecord]) -> None:
    """Write records in the format, one per line."""
    write_jsonl(path, (record.to_json() for record in records))


def read_qa_questions(path: str | Path, limit: int | None, cluster: str | None = None) -> Iterator[Question]:
    """The first `limit` questions of a file, each with its gold document and its distractors in the file's order.

    cluster: the field with the question's cluster, see `QuestionRecord.cluster`. Raises `UserError` for a missing field
    and unless exactly one document is gold.
    """
    for record in read_distinct(path, QuestionRecord.from_json, limit):
        typed_field(record.fields, "ctxs", list, record.where)
        record.documents_with_text()
        gold = Gold("gold", record.gold().item, record.answers)
        distractors = tuple(document.item for document in record.distractors)
        yield Question(record.id, record.text, (gold,), distractors, record.cluster(cluster))


def read_retrieved_questions(
    path: str | Path,
    limit: int | None,
    cluster: str | None = None,
    cut: Cut | None = None,
    size: int = 0,
    without_answer: bool = False,
) -> Iterator[Question]:
    """The first `limit` questions of a file with all their documents (possibly none) in order.

    cut: keeps some of the first `size` documents, never filler; `UserError` if there are fewer, and if scores do not
    descend. without_answer: takes those that have the answer out of the first `size`, which are then all.
    """
    for record in read_distinct(path, QuestionRecord.from_json, limit):
        documents = record.documents_with_text()
        if cut is not None:
            documents = _kept(documents, cut, size, record.where)
        if without_answer:
            documents = [document for document in documents[:size] if not record.is_answered_by(document)]
        items = tuple(document.item for document in documents)
        yield Question(record.id, record.text, (Gold("gold", None, record.answers),), items, record.cluster(cluster))


def _kept(documents: list[Document], cut: Cut, size: int, where: str) -> list[Document]:
    if len(documents) < size:
        raise UserError(f"{where}: it has {len(documents)} documents, but a context of {size} needs {size}")
    places = [place for place, document in enumerate(documents[:size]) if not document.is_filler]
    scores = [documents[place].score(f"{where}, ctxs[{place}]") for place in places]
    if rising := next((index for index, pair in enumerate(pairwise(scores), start=1) if pair[0] < pair[1]), None):
        raise UserError(
            f"{where}, ctxs[{places[rising]}]: its score {scores[rising]:g} is higher than the {scores[rising - 1]:g} "
            "before it; a cut needs documents best first, with higher scores for better ones"
        )
    return [documents[place] for place in places[: cut.kept(scores)]]


def filled_shares(experiments: Mapping[str, Mapping[str, tuple[str, str]]]) -> dict[str, dict[int, float]]:
    """The fraction of filler among the documents of the questions that an experiment asks, by experiment and size.

    experiments: by size, a file of candidates and one of the examples made of it, both left out if one is missing. A
    file of candidates counts for the first experiment that has it.
    """
    first: dict[str, str] = {}
    shares: dict[str, dict[int, float]] = {}
    for name, files in experiments.items():
        # JSON has sizes as texts, sorted as such.
        for size in sorted(files, key=int):
            path, examples = files[size]
            if first.setdefault(path, name) == name and Path(path).exists() and Path(examples).exists():
                asked = {record["id"] for _, record in read_jsonl(examples)}
                records = (record for record in read_question_records(path) if record.id in asked)
                are_filler = [document.is_filler for record in records for document in record.documents[: int(size)]]
                if any(are_filler):
                    shares.setdefault(name, {})[int(size)] = sum(are_filler) / len(are_filler)
    return shares


def text_list(record: object, name: str, where: str) -> list[str]:
    """A field of a record, a list of one or more strings; otherwise a `UserError` beginning with `where`."""
    values = typed_field(record, name, list, where)
    if not values or not all(isinstance(value, str) for value in values):
        raise UserError(f"{where}: '{name}' must be a list of one or more strings")
    return values


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
