"""Retrieved chunks of an existing system: JSON Lines or one JSON list, an object per question.

An object has the question (`question` or `query`) or its id (`id`, `query_id`, `qid`), and a list of results, best
first, under one of `LISTS`: chunks as in `read_chunk`, pairs of a chunk and its score (LangChain's
`similarity_search_with_score`), or texts. A chunk without an id gets one derived from its text.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Generic, TypeVar

from litm.base.groups import grouped
from litm.base.json_files import read_lines, read_records
from litm.base.messages import UserError, first_of, quoted, single_spaced, without_invisible
from litm.base.store import text_sha256
from litm.corpora.chunks import NoText, read_chunk, read_score
from litm.corpora.passages import CorpusSettings, Passage, cut_text
from litm.questions.released_format import QuestionRecord

QUESTION, QUESTION_ID = ("question", "query", "input"), ("id", "query_id", "qid", "_id")
LISTS = (
    "documents", "docs", "passages", "chunks", "contexts", "ctxs", "context", "results", "hits", "retrieved", "nodes",
    "source_nodes", "source_documents",
)  # fmt: skip
#: Digits of an id derived from a text.
DIGITS = 16
#: Keys of scores that are the larger the better.
SIMILARITIES = ("similarity", "relevance_score", "rerank_score")
#: Places that a line names.
LISTED = 3


T = TypeVar("T")


@dataclass(frozen=True)
class Retrieved(Generic[T]):
    """What was retrieved for a question."""

    where: str
    """File and line."""
    question: str | None
    """Text of the question; None if only its id is there."""
    id: str | None
    """Id of the question; None if only its text is there."""
    hits: Sequence[tuple[T, float]]
    """Passages, or their ids, with scores, best first."""
    scored: int = 0
    """Number of hits with scores of their own."""
    is_similarity: bool = False
    """Whether the scores are named as similarities."""
    left_out: tuple[str, ...] = ()
    """Places of entries without text."""
    copies: tuple[str, ...] = ()
    """Places of entries with a text that the list has already."""


def read_retrieved(path: Path) -> Iterator[Retrieved[Passage]]:
    """Yield the results for each question; `UserError` with file and line for malformed ones."""
    for line, record in read_records(path):
        yield _retrieved(record, f"{path}, line {line}")


def _retrieved(record: Mapping[str, Any], where: str) -> Retrieved[Passage]:
    question = next((record[name] for name in QUESTION if isinstance(record.get(name), str)), None)
    id_ = next((str(record[name]) for name in QUESTION_ID if record.get(name) is not None), None)
    if question is None and id_ is None:
        raise UserError(f"{where}: neither 'question' nor 'id' says what it was retrieved for; name the question")
    name = next((name for name in LISTS if isinstance(record.get(name), list)), None)
    if name is None:
        raise UserError(
            f"{where}: no list of what was retrieved (keys: {', '.join(map(str, record))}); name it 'documents'"
        )
    hits: dict[tuple[str, str], tuple[Passage, float | None]] = {}
    left_out, copies = [], []
    for index, entry in enumerate(record[name]):
        place = f"{where}, {name}[{index}]"
        try:
            passage, score = _hit(entry, place)
        except NoText:
            left_out.append(place)
            continue
        text = (passage.title, single_spaced(passage.text))
        if text in hits:
            copies.append(place)
        hits.setdefault(text, (passage, score))
    scored = sum(score is not None for _, score in hits.values())
    # Unless all have scores, minus its index, which keeps the order of the list.
    ranked = tuple(
        (passage, float(-index) if score is None or scored < len(hits) else score)
        for index, (passage, score) in enumerate(hits.values())
    )
    is_similarity = any(map(_says_similarity, record[name]))
    asked = question.strip() if question else None
    return Retrieved(where, asked, id_, ranked, scored, is_similarity, tuple(left_out), tuple(copies))


def _says_similarity(entry: Any) -> bool:
    """Whether an entry names its score as a similarity, which is the larger the better."""
    return isinstance(entry, Mapping) and (
        any(name in entry for name in SIMILARITIES) or any(map(_says_similarity, entry.values()))
    )


def _hit(value: Any, where: str) -> tuple[Passage, float | None]:
    """The passage and its score, None without one."""
    score = None
    if isinstance(value, list) and len(value) == 2:
        value, score = value
        if isinstance(score, bool) or not isinstance(score, int | float | None):
            raise UserError(f"{where}: a pair must be a document and its score, found {quoted(score)}")
    passage, its_score = read_chunk({"text": value} if isinstance(value, str) else value, where)
    (text,), stated_score = cut_text(passage.text, None), its_score if score is None else score
    digest = text_sha256(f"{passage.title}\n{text}")[:DIGITS]
    passage = replace(passage, id=passage.id or digest, text=without_invisible(text))
    return passage, None if stated_score is None else read_score(stated_score, where)


def retrieved(path: Path, settings: CorpusSettings) -> Iterator[tuple[str, Passage]]:
    """Yield (file and line, passage) for all retrieved passages, in the order of the file.

    Raises `UserError` as `read_retrieved` does, and for two texts with one id, unless they differ only in white space.
    """
    seen: dict[str, tuple[str, str]] = {}
    for record in read_retrieved(path):
        for passage, _ in record.hits:
            if passage.id not in seen:
                seen[passage.id] = (record.where, passage.text)
                yield record.where, passage
            elif single_spaced((first := seen[passage.id])[1]) != single_spaced(passage.text):
                raise UserError(
                    f"{record.where}: the document {passage.id} has another text than at {first[0]}; give each its own "
                    f"id"
                )


#: Endings of files with texts; all others are TREC runs.
WITH_TEXTS = (".jsonl", ".json", ".jsonl.gz", ".json.gz")


def has_texts(path: str | Path) -> bool:
    """Whether a file has the texts of the passages, and not only their ids."""
    return str(path).lower().endswith(WITH_TEXTS)


@dataclass(frozen=True)
class RunOf(Retrieved[str]):
    """What was retrieved for a question, as ids of passages."""

    ranks: Sequence[float] = ()
    """Ranks of a TREC run, if they are distinct."""

    @property
    def order(self) -> str:
        """How its scores go along the list, or along the ranks: `FALLING`, `RISING`, `NEITHER`, or `LEVEL`."""
        hits = [hit for _, hit in sorted(zip(self.ranks, self.hits, strict=True))] if self.ranks else self.hits
        steps = {(after > before) - (after < before) for (_, before), (_, after) in pairwise(hits)} - {0}
        return LEVEL if not steps or self.scored < len(self.hits) else {-1: FALLING, 1: RISING}.get(sum(steps), NEITHER)


#: How scores go along a list, best first: similarities fall, distances rise.
FALLING, RISING, NEITHER, LEVEL = "falling", "rising", "neither", "level"
#: Fraction of the lists with different scores from which on all are taken for distances.
MOST_LISTS = 0.9
#: Lists of a TREC run, which is otherwise ordered by its scores.
FEWEST_LISTS = 5


@dataclass(frozen=True)
class Run:
    """What was retrieved for all questions."""

    hits: Mapping[str, Sequence[tuple[str, float]]]
    """Hits of each question by its text, best first, with higher scores for better ones."""
    notes: tuple[str, ...] = ()
    """Lines on what was left out or read otherwise."""


def read_hits(path: Path) -> Iterator[RunOf]:
    """Yield what was retrieved for each question of a file; `UserError` with file and line for a malformed one."""
    if has_texts(path):
        for results in read_retrieved(path):
            hits = [(passage.id, score) for passage, score in results.hits]
            yield RunOf(**{**vars(results), "hits": hits})
        return
    by_id: dict[str, tuple[str, list[tuple[str, float]], list[float]]] = {}
    names: dict[str, str] = {}
    for number, line in read_lines(path):
        where, fields = f"{path}, line {number}", line.split()
        if len(fields) != 6:
            raise UserError(
                f"{where}: {len(fields)} fields, but a line of a TREC run has six: question, Q0, document, rank, "
                f"score, name" + ("; four are judgements (qrels), which have no order" if len(fields) == 4 else "")
            )
        names.setdefault(fields[5], where)
        if len(names) > 1:
            raise UserError(f"{where}: a second run, {' and '.join(names)}, in one file; keep the lines of one of them")
        _, hits, ranks = by_id.setdefault(fields[0], (where, [], []))
        hits.append((fields[2], read_score(fields[4], where)))
        ranks += [float(fields[3])] if fields[3].removesuffix(".0").isdecimal() else []
    for id_, (where, hits, ranks) in by_id.items():
        is_ranked = len({*ranks}) == len(hits)
        yield RunOf(where, None, id_, hits, len(hits) * is_ranked, ranks=ranks if is_ranked else ())


def hits_of_questions(path: Path, questions: Sequence[QuestionRecord]) -> Run:
    """The hits of each question, of one that the file lacks none. A question is found by its text, regardless of white
    space, or by its column `id`.

    A document that occurs again for a question, an entry without text and a second list of a question are left out.
    Distances, which rise along the lists, become scores. Raises `UserError` if most questions have no list, and for
    lists whose scores contradict their order.
    """
    by_text = {single_spaced(question.text): question.text for question in questions}
    by_id = {str(id_): question.text for question in questions if (id_ := question.fields.get("id")) is not None}
    # Unless two become equal.
    ids = {_as_id(id_): text for id_, text in by_id.items()} if len({*map(_as_id, by_id)}) == len(by_id) else by_id
    runs: dict[str, RunOf] = {}
    again: list[str] = []
    for run in read_hits(path):
        question = by_text.get(single_spaced(run.question or "")) or by_id.get(run.id or "") or ids.get(_as_id(run.id))
        if question is not None and question not in runs:
            runs[question] = run
        elif question is not None:
            again.append(run.where)
    missing = [question.text for question in questions if question.text not in runs or not runs[question.text].hits]
    if len(missing) > len(questions) / 2:
        raise UserError(
            f"{path}: nothing for {len(missing)} of {len(questions)} questions, such as {quoted(missing[0])}; its "
            f"'question' must be the same text, or its id that of the column 'id' of the questions"
        )
    hits, notes = _in_order(path, runs)
    kept = {question: _first_of_each(pairs) for question, pairs in hits.items()}
    repeated = [place for run in runs.values() for place in run.copies]
    repeated += [
        f"{runs[question].where} ({count})"
        for question, pairs in hits.items()
        if (count := len(pairs) - len(kept[question]))
    ]
    partly_scored = [run.where for run in runs.values() if 0 < run.scored < len(run.hits) and has_texts(path)]
    blank = [place for run in runs.values() for place in run.left_out]
    notes += [
        f"{what}: {first_of(places, LISTED)}"
        for what, places in (
            ("documents that occur again for one question, left out", repeated),
            ("entries without text, left out", blank),
            ("lists with scores for some entries alone, whose order counts", partly_scored),
            ("second lists for one question, left out", again),
            (
                "questions with nothing retrieved, so without a gold passage and with random passages as retrieved",
                [quoted(text, 60) for text in missing],
            ),
        )
        if places
    ]
    return Run({**kept, **{question: [] for question in missing}}, tuple(f"{path}: {note}" for note in notes))


def _as_id(value: object) -> str:
    """An id as a text, "" for none; pandas writes whole numbers as 1.0 in a column with gaps."""
    return "" if value is None else str(value).removesuffix(".0")


def _first_of_each(hits: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    """The hits without later ones of the same passage."""
    kept: dict[str, float] = {}
    for id_, score in hits:
        kept.setdefault(id_, score)
    return [*kept.items()]


def _in_order(path: Path, runs: Mapping[str, RunOf]) -> tuple[dict[str, list[tuple[str, float]]], list[str]]:
    """The hits of each question, best first, and a line on how the order was found if the scores contradict it."""
    orders = grouped(runs.values(), lambda run: run.order)
    falling, rising, neither = (orders.get(order, []) for order in (FALLING, RISING, NEITHER))
    is_trec = not has_texts(path)
    n_lists = len(falling) + len(rising) + len(neither)
    is_similarity = any(run.is_similarity for run in runs.values())
    is_enough = len(rising) >= (FEWEST_LISTS if is_trec else 1)
    if is_enough and len(rising) >= MOST_LISTS * n_lists and not is_similarity:
        hits = {question: [(id_, -score) for id_, score in run.hits] for question, run in runs.items()}
        along = "ranks" if is_trec else "lists"
        line = f"scores rise along the {along}, as distances do: the smallest is taken as the best"
        return {question: _best_first(pairs) for question, pairs in hits.items()}, [line]
    against = [*rising, *neither]
    if is_trec:
        # As trec_eval does: by score, regardless of the ranks; ties keep their order.
        line = f"ranks contradict the scores of {len(against)} questions; the scores count, as in trec_eval"
        return {question: _best_first(run.hits) for question, run in runs.items()}, [line] if against else []
    if len(against) > n_lists / 2:
        raise UserError(
            f"{against[0].where}: the scores contradict the order of the list, as those of {len(against)} of {n_lists} "
            "lists do; lists must be best first. If a reorderer put the best at both ends, save the list before it; if "
            "the scores are of another step, or lists are worst first, sort them or leave the scores out"
        )
    line = (
        f"scores contradict the order of {len(against)} of {n_lists} lists, which counts: {against[0].where}"
        if against
        else ""
    )
    return {question: [*run.hits] for question, run in runs.items()}, [line] if line else []


def _best_first(hits: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    return sorted(hits, key=lambda hit: -hit[1])


def with_first_copies(
    hits: Mapping[str, Sequence[tuple[str, float]]], copies: Mapping[str, str | None]
) -> dict[str, list[tuple[str, float]]]:
    """The hits with the passage that each copy stands for, once each. copies: ids of passages by those of copies."""
    return {
        question: _first_of_each((copies.get(id_) or id_, score) for id_, score in pairs)
        for question, pairs in hits.items()
    }


def known_hits(
    hits: Mapping[str, Sequence[tuple[str, float]]], passage_ids: set[str], path: Path
) -> tuple[dict[str, list[tuple[str, float]]], list[str]]:
    """The hits that are passages of the corpus, and the others' ids; `UserError` if most are none."""
    kept = {question: [hit for hit in pairs if hit[0] in passage_ids] for question, pairs in hits.items()}
    unknown = {id_: question for question, pairs in hits.items() for id_, _ in pairs if id_ not in passage_ids}
    if sum(map(len, kept.values())) * 2 < sum(map(len, hits.values())):
        id_, question = next(iter(unknown.items()))
        raise UserError(
            f"{path}: the document {id_}, retrieved for {quoted(question)}, is no passage of the corpus, as are "
            f"{len(unknown):,} in all; the documents must have the ids of the run"
        )
    return kept, [*unknown]
