"""Retrieved chunks of an existing system: JSON Lines or one JSON list, an object per question.

An object has the question (`question` or `query`) or its id (`id`, `query_id`, `qid`), and a list of results, best
first, under one of `LISTS`: chunks as in `read_chunk`, pairs of a chunk and its score (LangChain's
`similarity_search_with_score`), or texts. A chunk without an id gets one derived from its text.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from litm.base.formats import read_lines, read_records
from litm.base.messages import UserError, quoted, single_spaced, without_invisible
from litm.base.store import text_sha256
from litm.corpora.documents import read_chunk, read_score
from litm.corpora.passages import CorpusSettings, Passage, cut_text
from litm.questions.released_format import QuestionRecord

QUESTION, QUESTION_ID = ("question", "query", "input"), ("id", "query_id", "qid", "_id")
LISTS = (
    "documents", "docs", "passages", "chunks", "contexts", "ctxs", "context", "results", "hits", "retrieved", "nodes",
    "source_nodes", "source_documents",
)  # fmt: skip
#: Digits of an id derived from a text.
DIGITS = 16


@dataclass(frozen=True)
class Retrieved:
    """The results for a question, best first. question, id: one of them may be None; where: file and line."""

    where: str
    question: str | None
    id: str | None
    hits: tuple[tuple[Passage, float], ...]


def read_retrieved(path: Path) -> Iterator[Retrieved]:
    """Yield the results for each question; `UserError` with file and line for malformed ones."""
    for line, record in read_records(path):
        yield _retrieved(record, f"{path}, line {line}")


def _retrieved(record: Mapping[str, Any], where: str) -> Retrieved:
    question = next((record[name] for name in QUESTION if isinstance(record.get(name), str)), None)
    id_ = next((str(record[name]) for name in QUESTION_ID if record.get(name) is not None), None)
    if question is None and id_ is None:
        raise UserError(f"{where}: neither 'question' nor 'id' says what it was retrieved for; name the question")
    name = next((name for name in LISTS if isinstance(record.get(name), list)), None)
    if name is None:
        raise UserError(
            f"{where}: no list of what was retrieved (keys: {', '.join(map(str, record))}); name it 'documents'"
        )
    hits = [_hit(one, f"{where}, {name}[{index}]", index) for index, one in enumerate(record[name])]
    return Retrieved(where, question.strip() if question else None, id_, tuple(hits))


def _hit(value: Any, where: str, index: int) -> tuple[Passage, float]:
    """The passage and its score; without a score, minus its index, which keeps the order of the list."""
    score = None
    if isinstance(value, list) and len(value) == 2:
        value, score = value
        if isinstance(score, bool) or not isinstance(score, int | float):
            raise UserError(f"{where}: a pair must be a document and its score, found {quoted(score)}")
    passage, its_score = read_chunk({"text": value} if isinstance(value, str) else value, where)
    (text,), known = cut_text(passage.text, None), its_score if score is None else score
    made = text_sha256(f"{passage.title}\n{text}")[:DIGITS]
    passage = replace(passage, id=passage.id or made, text=without_invisible(text))
    return passage, read_score(known, where) if known is not None else float(-index)


def retrieved(path: Path, settings: CorpusSettings) -> Iterator[tuple[str, Passage]]:
    """Yield (file and line, passage) for all retrieved passages, in the order of the file.

    Raises `UserError` as `read_retrieved` does, and for two texts with one id.
    """
    seen: dict[str, tuple[str, str]] = {}
    for record in read_retrieved(path):
        for passage, _ in record.hits:
            if passage.id not in seen:
                seen[passage.id] = (record.where, passage.text)
                yield record.where, passage
            elif (first := seen[passage.id])[1] != passage.text:
                raise UserError(
                    f"{record.where}: the document {passage.id} has another text than at {first[0]}; give each its own "
                    f"id"
                )


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
    by_id: dict[str, tuple[str, list[tuple[str, float]]]] = {}
    for number, line in read_lines(path):
        where, fields = f"{path}, line {number}", line.split()
        if len(fields) != 6:
            raise UserError(
                f"{where}: {len(fields)} fields, but a line of a TREC run has six: question, Q0, document, rank, "
                f"score, name"
            )
        _, hits = by_id.setdefault(fields[0], (where, []))
        hits.append((fields[2], read_score(fields[4], where)))
    for id_, (where, hits) in by_id.items():
        # As trec_eval does: by score, regardless of the ranks; ties keep their order.
        yield where, None, id_, sorted(hits, key=lambda hit: -hit[1])


def hits_of_questions(path: Path, questions: Sequence[QuestionRecord]) -> dict[str, list[tuple[str, float]]]:
    """The hits of each question. A question is found by its text, regardless of white space, or by its column `id`.

    Raises `UserError` for a question without an entry or with two, and for a document that occurs twice.
    """
    known = {single_spaced(question.text): question.text for question in questions}
    # pandas makes 1.0 of the id 1 in a column with gaps.
    ids = {str(one.fields["id"]).removesuffix(".0"): one.text for one in questions if one.fields.get("id") is not None}
    found: dict[str, list[tuple[str, float]]] = {}
    for where, text, id_, hits in read_hits(path):
        question = known.get(single_spaced(text or "")) or ids.get((id_ or "").removesuffix(".0"))
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


def with_first_copies(
    hits: Mapping[str, Sequence[tuple[str, float]]], copies: Mapping[str, str | None]
) -> dict[str, list[tuple[str, float]]]:
    """The hits with the passage that each copy stands for, once each. copies: ids of passages by those of copies."""
    kept: dict[str, dict[str, float]] = {question: {} for question in hits}
    for question, found in hits.items():
        for id_, score in found:
            kept[question].setdefault(copies.get(id_) or id_, score)
    return {question: [*found.items()] for question, found in kept.items()}


def check_known(hits: Mapping[str, Sequence[tuple[str, float]]], known: set[str], path: Path) -> None:
    """Raise `UserError` for a hit that is no passage of the corpus."""
    for question, found in hits.items():
        for passage, _ in found:
            if passage not in known:
                raise UserError(
                    f"{path}: the document {passage}, retrieved for {quoted(question)}, is no passage of the corpus; "
                    f"the documents must have the ids of the run"
                )
