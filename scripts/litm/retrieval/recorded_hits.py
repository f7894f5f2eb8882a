"""Recorded hits of an existing retrieval system: JSON with texts, or a TREC run of ids."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from litm.base.files import open_text, reading
from litm.base.messages import UserError, quoted, single_spaced
from litm.corpora.chunks import read_score
from litm.corpora.retrieved_chunks import read_retrieved
from litm.questions.released_format import QuestionRecord

#: Endings of files with texts; all others are TREC runs.
WITH_TEXTS = (".jsonl", ".json", ".jsonl.gz", ".json.gz")


def has_texts(path: str | Path) -> bool:
    """Whether a file has the texts of the passages, and not only their ids."""
    return str(path).lower().endswith(WITH_TEXTS)


def read_hits(path: Path) -> Iterator[tuple[str, str | None, str | None, list[tuple[str, float]]]]:
    """Yield (where, question, its id, hits best first as ids and scores); `UserError` with file and line."""
    if has_texts(path):
        for one in read_retrieved(path):
            yield one.where, one.question, one.id, [(passage.id, score) for passage, score in one.hits]
        return
    by_id: dict[str, list[tuple[str, float]]] = {}
    first: dict[str, str] = {}
    for where, fields in _lines(path):
        if len(fields) != 6:
            raise UserError(
                f"{where}: {len(fields)} fields, but a line of a TREC run has six: question, Q0, document, rank, "
                f"score, name"
            )
        by_id.setdefault(fields[0], []).append((fields[2], read_score(fields[4], where)))
        first.setdefault(fields[0], where)
    for id_, hits in by_id.items():
        # As trec_eval does: by score, regardless of the ranks; ties keep their order.
        yield first[id_], None, id_, sorted(hits, key=lambda hit: -hit[1])


def _lines(path: Path) -> Iterator[tuple[str, list[str]]]:
    number = 0
    with reading(path, lambda: f"line {number}"), open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield f"{path}, line {number}", line.split()


def hits_of_questions(path: Path, questions: Sequence[QuestionRecord]) -> dict[str, list[tuple[str, float]]]:
    """The hits of each question. A question is found by its text, regardless of white space, or by its column `id`.

    Raises `UserError` for a question without an entry or with two, and for a document that occurs twice.
    """
    known = {single_spaced(question.text): question.text for question in questions}
    ids = {str(one.fields["id"]): one.text for one in questions if one.fields.get("id") is not None}
    found: dict[str, list[tuple[str, float]]] = {}
    for where, text, id_, hits in read_hits(path):
        question = known.get(single_spaced(text or "")) or ids.get(id_ or "")
        if question is None:
            continue
        if question in found:
            raise UserError(f"{where}: the question {quoted(question)} occurs twice; remove one of them")
        if len({passage for passage, _ in hits}) < len(hits):
            raise UserError(f"{where}: a document occurs twice for one question; remove one of them")
        found[question] = hits
    if missing := [question.text for question in questions if question.text not in found]:
        raise UserError(
            f"{path}: nothing for {len(missing)} of {len(questions)} questions, such as {quoted(missing[0])}; its "
            f"'question' must be the same text, or its id that of the column 'id' of the questions"
        )
    return found


def check_known(hits: Mapping[str, Sequence[tuple[str, float]]], known: set[str], path: Path) -> None:
    """Raise `UserError` for a hit that is no passage of the corpus."""
    for question, found in hits.items():
        for passage, _ in found:
            if passage not in known:
                raise UserError(
                    f"{path}: the document {passage}, retrieved for {quoted(question)}, is no passage of the corpus; "
                    f"the documents must have the ids of the run"
                )
