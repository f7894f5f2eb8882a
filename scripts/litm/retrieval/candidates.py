"""Candidate sets: for each question the documents of its contexts, in the released format.

A set holds the gold document and, in order, its distractors: passages without an answer that a retriever found (paper,
section 2.1) or that were drawn at random (Appendix B). For open-domain question answering (section 5) it holds the
passages as retrieved.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from litm.base.messages import UserError, quoted
from litm.corpora.passages import Passage
from litm.placements import AS_RETRIEVED
from litm.questions.released_format import Document, QuestionRecord

if TYPE_CHECKING:
    from litm.answers import Check
    from litm.tables.questions import CandidatesRow

GOLD_AND_RETRIEVED, GOLD_AND_RANDOM = "gold_and_retrieved", "gold_and_random"
#: Checks whose answers in other documents are counted; None for one that is not asked for.
COUNTED = ("dpr", "metric", "words")
ERROR, LEAVE_OUT, FILL = "error", "leave_out", "fill"


@dataclass(frozen=True)
class CandidateSettings:
    """The settings that change candidates, apart from questions, corpus and retriever."""

    kind: str
    """The kind of candidates."""
    documents: int
    """The number of documents per question, including the gold document."""
    distractor_check: str
    """The test for "has an answer"."""
    too_few: str
    """The treatment of questions with fewer documents: 'error', 'leave_out' or 'fill'."""
    seed: int | None
    """The seed of the random draw, None if nothing is drawn."""


def as_retrieved(
    questions: Iterable[QuestionRecord], retrieved: Iterable[QuestionRecord], documents: int
) -> Iterator[QuestionRecord]:
    """Each question with its first `documents` passages in the retriever's order."""
    for question, retrieval in zip(questions, retrieved, strict=True):
        yield question.with_documents(document.as_distractor() for document in retrieval.documents[:documents])


def complete_gold(gold: Document, passages: Mapping[str | int, Passage], where: str) -> Document:
    """The gold document with title and text, from the corpus if it has only an id.

    Raises `UserError` beginning with `where` for an id that is not in the corpus.
    """
    if gold.text:
        return Document({"title": "", **gold.fields})
    if gold.id is None or gold.id not in passages:
        raise UserError(f"{where}: its gold passage {gold.id} is not in the corpus")
    passage = passages[gold.id]
    return Document({**gold.fields, "title": passage.title, "text": passage.text})


def random_rows(question_id: str, needed: int, passages: int, seed: int | None) -> list[int]:
    """Rows (from 0 to `passages`) to draw distractors from: twice as many as needed, because some hold an answer."""
    rng = random.Random(f"{seed}/random_distractors/{question_id}")
    return rng.sample(range(passages), min(passages, 2 * needed + 20))


def passage_document(passage: Passage) -> Document:
    """A passage of the corpus as a document."""
    return Document.from_fields(passage.title, passage.text, id=passage.id)


def distractors(
    excluded: Sequence[Document], answers: Sequence[str], documents: Iterable[Document], check: "Check", limit: int
) -> list[Document]:
    """The first `limit` documents, in their order, that are none of the known ones and hold no answer."""
    ids, texts = {document.id for document in excluded}, {document.text for document in excluded}
    suitable = (
        document.as_distractor(has_answer=False)
        for document in documents
        if document.id not in ids and document.text not in texts and not check(document, answers)
    )
    return list(islice(suitable, max(0, limit)))


def filled(record: QuestionRecord, others: Iterable[Document], check: "Check", documents: int) -> QuestionRecord:
    """The question filled up to `documents` with others, see `distractors`."""
    there = record.documents
    return record.with_documents([*there, *distractors(there, record.answers, others, check, documents - len(there))])


#: Advice on how to get more documents.
_MORE = {
    GOLD_AND_RETRIEVED: "raise the retriever's 'hits'",
    AS_RETRIEVED: "raise the retriever's 'hits'",
    GOLD_AND_RANDOM: "take a larger corpus",
}


def enough(
    records: Iterable[QuestionRecord], settings: CandidateSettings, left_out: list[str]
) -> Iterator[QuestionRecord]:
    """The records with enough documents.

    For other records the settings decide: an error that names the question, or leaving it out, noted in the list.
    """
    for record in records:
        count = len(record.documents)
        if count >= settings.documents:
            yield record
        elif settings.too_few != ERROR:
            left_out.append(record.text)
        else:
            raise UserError(
                f"{record.where}: the question {quoted(record.text)} has {count} documents, but 'documents' is "
                f"{settings.documents}; lower it, {_MORE[settings.kind]}, or set 'too_few: {LEAVE_OUT}'"
            )


def candidate_row(
    name: str,
    settings: CandidateSettings,
    records: Sequence[QuestionRecord],
    left_out: int,
    checks: Mapping[str, "Check"],
    n_filled: int = 0,
) -> "CandidatesRow":
    """Counts of the candidates: questions kept (n), left out for too few documents, and filled up with random ones;
    and, by each check, kept questions with an answer in a document other than the gold one. checks: by name, with
    `dpr`; gold documents are judged by `words` if it is there, else by `dpr`.
    """

    def answered(record: QuestionRecord, documents: Sequence[Document], check: "Check") -> bool:
        return any(check(document, record.answers) for document in documents)

    others: dict = {
        f"n_answer_in_others_{kind}": sum(answered(record, record.distractors, checks[kind]) for record in records)
        if kind in checks
        else None
        for kind in COUNTED
    }
    return {
        "candidates": name,
        "kind": settings.kind,
        "distractor_check": settings.distractor_check,
        "documents": settings.documents,
        "n": len(records),
        "n_left_out": left_out,
        "n_filled": n_filled,
        "n_gold_without_answer": sum(
            not answered(record, record.golds, checks.get("words", checks["dpr"])) for record in records if record.golds
        ),
        **others,
    }
