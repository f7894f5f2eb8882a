"""The question-answering format that the paper's authors released (`nq-open-*.jsonl.gz`), checked line by line.

A line is `{"question", "answers", "ctxs": [{"title", "text", "isgold", ...}]}`.
"""

import hashlib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from litm.domain.question import Gold, Question
from litm.errors import UserError
from litm.records import read_jsonl, typed_field


def question_id(text: str) -> str:
    """A short stable id made of the question's text, so that files about the same questions pair up."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_qa_questions(path: str | Path, limit: int | None) -> Iterator[Question]:
    """The first `limit` questions of a released QA file, distractors in the order of the file."""
    return _read_questions(path, limit, qa_question)


def read_retrieved_questions(path: str | Path, limit: int | None) -> Iterator[Question]:
    """The first `limit` questions of a QA file with all its documents as they come; it may also have none."""
    return _read_questions(path, limit, retrieved_question)


def read_question_records(path: str | Path) -> Iterator[tuple[str, dict]]:
    """Yield (where, record) of a QA file, with a question and answers that have been checked; documents are not
    looked at.
    """
    seen: dict[str, int] = {}
    for number, record in read_jsonl(path):
        where = f"{path}, line {number}"
        text, _ = _question_and_answers(record, where)
        documents = record.get("ctxs", [])
        if not isinstance(documents, list) or not all(isinstance(document, dict) for document in documents):
            raise UserError(f"{where}: 'ctxs' must be a list of documents, objects with 'title' and 'text'")
        if text in seen:
            raise UserError(f"{where}: the question {text!r} is already on line {seen[text]}")
        seen[text] = number
        yield where, record
    if not seen:
        raise UserError(f"{path}: there are no questions in it")


def _read_questions(path: str | Path, limit: int | None, parse: Callable[[dict, str], Question]) -> Iterator[Question]:
    seen: dict[str, int] = {}
    for number, record in islice(read_jsonl(path), limit):
        where = f"{path}, line {number}"
        question = parse(record, where)
        if question.id in seen:
            raise UserError(f"{where}: the question {question.text!r} is already on line {seen[question.id]}")
        seen[question.id] = number
        yield question


def qa_question(record: dict, where: str) -> Question:
    """One released QA record as a question; `UserError` for a missing field or other than one gold document."""
    text, answers = _question_and_answers(record, where)
    documents = _documents(record, where)
    golds = [document for document in documents if document.get("isgold") is True]
    if len(golds) != 1:
        raise UserError(f'{where}: {len(golds)} documents have "isgold": true, there must be exactly one')
    distractors = tuple((d["title"], d["text"]) for d in documents if d.get("isgold") is not True)
    gold = Gold("gold", (golds[0]["title"], golds[0]["text"]), answers)
    return Question(question_id(text), text, (gold,), distractors)


def retrieved_question(record: dict, where: str) -> Question:
    """One QA record as a question whose documents, if it has any, are all in their order, without a gold item."""
    text, answers = _question_and_answers(record, where)
    documents = _documents(record, where) if "ctxs" in record else []
    return Question(
        question_id(text), text, (Gold("gold", None, answers),), tuple((d["title"], d["text"]) for d in documents)
    )


def _question_and_answers(record: dict, where: str) -> tuple[str, tuple[str, ...]]:
    text = typed_field(record, "question", str, where)
    if not text.strip():
        raise UserError(f"{where}: the question is empty")
    answers = typed_field(record, "answers", list, where)
    if not answers or not all(isinstance(answer, str) and answer.strip() for answer in answers):
        raise UserError(f"{where}: 'answers' must be a list of one or more non-empty strings")
    return text, tuple(answers)


def _documents(record: dict, where: str) -> list[dict]:
    documents = typed_field(record, "ctxs", list, where)
    for index, document in enumerate(documents):
        in_document = f"{where}, ctxs[{index}]"
        if not isinstance(document, dict):
            raise UserError(f"{in_document}: expected an object with 'title' and 'text'")
        typed_field(document, "title", str, in_document)
        if not typed_field(document, "text", str, in_document):
            raise UserError(f"{in_document}: the text is empty")
    return documents
