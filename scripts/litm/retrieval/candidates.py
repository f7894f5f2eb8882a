"""Candidates: for each question the documents that its contexts are made of, in the format that the paper's authors
released.

The gold document and, in their order, the documents that could distract from it: passages without an answer that a
retriever found (paper, section 2.2) or that were drawn at random (Appendix B); or, for open-domain question
answering (section 5), the passages as they were retrieved.
"""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from litm.domain.placement import AS_RETRIEVED
from litm.errors import UserError
from litm.passages import Passage

if TYPE_CHECKING:
    from litm.answers.dpr import Check

GOLD_AND_RETRIEVED, GOLD_AND_RANDOM = "gold_and_retrieved", "gold_and_random"
ERROR, LEAVE_OUT = "error", "leave_out"


@dataclass(frozen=True)
class CandidateSettings:
    """What changes candidates, beside questions, corpus and retriever.

    documents: how many each question gets, gold document included; distractor_check: how "has an answer" is
    decided; too_few: what becomes of a question that has fewer, 'error' or 'leave_out'; seed: of the random draw,
    None where nothing is drawn.
    """

    kind: str
    documents: int
    distractor_check: str
    too_few: str
    seed: int | None


def gold_document(record: Mapping, where: str) -> dict:
    """The gold document of a question record; `UserError` unless there is exactly one, with a text or an id."""
    golds = [document for document in record.get("ctxs", []) if document.get("isgold") is True]
    if len(golds) != 1:
        raise UserError(
            f'{where}: {len(golds)} documents have "isgold": true, there must be exactly one, '
            f"with 'title' and 'text', or with the 'id' of a passage of the corpus"
        )
    (gold,) = golds
    for key in ("title", "text"):
        if key in gold and not isinstance(gold[key], str):
            raise UserError(f"{where}: the '{key}' of the gold document must be a text, found {gold[key]!r}")
    if not gold.get("text") and "id" not in gold:
        raise UserError(f"{where}: the gold document has neither a 'text' nor the 'id' of a passage")
    # Passages have ids of text, also those that a file has as numbers.
    return {**gold, "id": str(gold["id"])} if "id" in gold else dict(gold)


def complete_gold(gold: Mapping, passages: Mapping[str | int, Passage], where: str) -> dict:
    """The gold document with title and text, from the corpus if it gives only an id; `UserError` if that is not
    there.
    """
    if gold.get("text"):
        return {"title": "", **gold}
    if gold["id"] not in passages:
        raise UserError(f"{where}: its gold passage {gold['id']} is not in the corpus")
    passage = passages[gold["id"]]
    return {**gold, "title": passage.title, "text": passage.text}


def random_rows(question_id: str, needed: int, passages: int, seed: int | None) -> list[int]:
    """Rows of a corpus of that many passages to draw distractors from: twice as many as needed, because some have
    an answer.
    """
    rng = random.Random(f"{seed}/random_distractors/{question_id}")
    return rng.sample(range(passages), min(passages, 2 * needed + 20))


def distractors(
    gold: Mapping, answers: Sequence[str], documents: Iterable[Mapping], check: "Check", limit: int
) -> list[dict]:
    """The first `limit` documents, in their order, that are not the gold one and have no answer."""
    suitable = (
        {**document, "hasanswer": False, "isgold": False}
        for document in documents
        if document["id"] != gold.get("id") and document["text"] != gold["text"] and not check(document, answers)
    )
    return list(islice(suitable, limit))


def candidate_record(record: Mapping, documents: Sequence[Mapping]) -> dict:
    """The record that is written: the question's own fields, with these documents."""
    return {**record, "ctxs": [dict(document) for document in documents]}


#: How to have more documents.
_MORE = {
    GOLD_AND_RETRIEVED: "raise the retriever's 'hits'",
    AS_RETRIEVED: "raise the retriever's 'hits'",
    GOLD_AND_RANDOM: "take a larger corpus",
}


def enough(
    records: Iterable[tuple[str, dict, int]], settings: CandidateSettings, left_out: list[str]
) -> Iterator[dict]:
    """The records, each given as (where, record, documents it has), that have as many documents as the settings want.

    Others are an error that names the question, or are left out and noted in the list.
    """
    for where, record, count in records:
        if count >= settings.documents:
            yield record
        elif settings.too_few == LEAVE_OUT:
            left_out.append(record["question"])
        else:
            raise UserError(
                f"{where}: the question {record['question']!r} has {count} documents, but 'documents' is "
                f"{settings.documents}; lower it, {_MORE[settings.kind]}, or set 'too_few: {LEAVE_OUT}'"
            )


def candidate_row(
    name: str, settings: CandidateSettings, records: Sequence[Mapping], left_out: int, checks: Mapping[str, "Check"]
) -> dict:
    """What candidates there are: questions kept (n) and left out because they have too few documents, and how many
    of the kept have a document beside the gold one that contains an answer, by each check.
    """
    return {
        "candidates": name,
        "kind": settings.kind,
        "distractor_check": settings.distractor_check,
        "documents": settings.documents,
        "n": len(records),
        "n_left_out": left_out,
        "n_gold_without_answer": sum(_gold_without_answer(record, checks["dpr"]) for record in records),
        **{
            f"n_answer_in_others_{kind}": sum(_answer_in_others(record, check) for record in records)
            for kind, check in checks.items()
        },
    }


def _gold_without_answer(record: Mapping, check: "Check") -> bool:
    golds = [document for document in record["ctxs"] if document.get("isgold") is True]
    return bool(golds) and not any(check(document, record["answers"]) for document in golds)


def _answer_in_others(record: Mapping, check: "Check") -> bool:
    return any(check(document, record["answers"]) for document in record["ctxs"] if not document.get("isgold"))


def export_record(record: Mapping, size: int, position: int, where: str) -> dict:
    """A record as the paper's files of one size and position are: the first `size` - 1 distractors, the gold
    document at `position`.
    """
    gold = gold_document(record, where)
    if not 0 <= position < size:
        raise UserError(f"position {position} is impossible, positions in a context of {size} are 0 to {size - 1}")
    others = [document for document in record["ctxs"] if document.get("isgold") is not True]
    if len(others) < size - 1:
        raise UserError(f"{where}: {len(others)} distractors, but {size} documents need {size - 1}")
    documents = others[: size - 1]
    documents.insert(position, gold)
    return candidate_record(record, documents)
