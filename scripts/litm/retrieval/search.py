"""Retrieval methods: from questions to hits, from hits to records, and the recall of a retriever."""

import importlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from litm.answers import Check, dpr_check
from litm.base.json_files import read_json
from litm.corpora.passages import Passage
from litm.questions.released_format import Document, QuestionRecord

if TYPE_CHECKING:
    from litm.tables.questions import RetrievalRow

#: Methods, each with its module, which has a function `find(task, questions)`.
METHODS = {"bm25": "bm25", "bm25s": "bm25s", "dense": "dense", "recorded": "search"}
#: The kind of index that compares every vector.
EXACT = "exact"
#: Version: raise it if the hits change, because the store keeps existing hits.
RECIPE = 2
#: Digits of a score, and most decimals. A float32 has 7; a sum of d products in another order, as on another processor,
#: differs by about d ** 0.5 units of the last one, and the layers of a network add to that.
DIGITS = 5
#: A retrieved passage, as its id in the corpus or its row (from 0), and its score. A plain tuple, because objects of a
#: class cost a fifth of BM25's time in garbage collection.
Hit = tuple[str | int, float]


def rounded(score: float) -> float:
    """A model's score with the digits that are the same on any processor, see `DIGITS`."""
    before_the_point = len(str(int(abs(score)))) if isfinite(score) and abs(score) >= 1 else 0
    return round(score, DIGITS - before_the_point)


@dataclass(frozen=True)
class SearchTask:
    """A search: manifests of indexes and vectors, settings that change the hits, and settings of the machine; also the
    options of retrieve.py.

    search: JSON: hits, and k1 and b or query_prefix
    encoding: JSON: settings that change a vector
    approximate: JSON: the index and its settings
    memory_mb: most memory of the Java machine
    indexes: outputs of the index rules; none for exact search
    vectors: outputs of encode_passages.py, one per shard
    encoder: the encoder's output of identify_model.py
    batch_tokens: tokens in a batch; 0 is the device's default
    """

    search: dict
    encoding: dict
    approximate: dict
    memory_mb: int
    indexes: tuple[str, ...] = ()
    vectors: tuple[str, ...] = ()
    encoder: str | None = None
    device: str = "auto"
    batch_tokens: int = 0
    threads: int = 1


@dataclass(frozen=True)
class SearchResult:
    """The result of a search."""

    hits: list[list[Hit]]
    """The hits of each question, best first."""
    cut: int = 0
    """The number of questions cut to the encoder's length."""
    recall_against_exact: float | None = None
    """The recall of exact hits by an approximate index, None for exact search."""
    measured_on: int = 0
    """The number of questions on which that recall was measured."""


def find_by(method: str, task: SearchTask, questions: Sequence[str]) -> SearchResult:
    """The hits of each question by the method of that name."""
    return importlib.import_module(f"litm.retrieval.{METHODS[method]}").find(task, questions)


def find(task: SearchTask, questions: Sequence[str]) -> SearchResult:
    """The hits of each question."""
    hits = read_json(task.indexes[0])["hits"]
    return SearchResult([[(id_, score) for id_, score in hits[text][: task.search["hits"]]] for text in questions])


def retrieved_records(
    questions: Sequence[QuestionRecord],
    hits: Sequence[Sequence[Hit]],
    passages: Mapping[str | int, Passage],
    check: Check,
) -> Iterator[QuestionRecord]:
    """Each question with its passages, best first and ties by id, with scores and whether they hold an answer.

    passages: by id or row, as the hits refer to them. Hits with ids are in this order already; hits with rows cannot
    be.
    """
    for question, question_hits in zip(questions, hits, strict=True):
        # Six decimals are beyond the precision of a float32.
        scored = [(passages[passage], round(score, 6)) for passage, score in question_hits]
        if any(isinstance(passage, int) for passage, _ in question_hits):
            scored.sort(key=lambda pair: (-pair[1], pair[0].id))
        documents = [
            Document.from_fields(
                passage.title,
                passage.text,
                id=passage.id,
                score=str(score),
                has_answer=check(passage, question.answers),
                rank=rank,
            )
            for rank, (passage, score) in enumerate(scored)
        ]
        gold_id = question.given_gold_id
        yield question.retrieved(documents, gold_id if gold_id in passages else None)


def retrieved_elsewhere(record: QuestionRecord) -> QuestionRecord:
    """A question with documents that were retrieved elsewhere. Whether one has an answer is said by DPR's check if the
    file does not say so.
    """
    documents = [
        hit if "hasanswer" in hit.fields else Document({**hit.fields, "hasanswer": dpr_check(hit, record.answers)})
        for hit in record.documents_with_text()
    ]
    return record.retrieved(documents, record.fields.get("gold_id"))


#: Numbers of passages whose recall is measured, besides the sizes of a study.
KS = (1, 5, 10, 20, 30, 40, 50, 100)


def recall_rows(
    name: dict,
    records: Sequence[QuestionRecord],
    hits: int,
    recall_against_exact: float | None,
    n_against_exact: int,
    sizes: Collection[int] = (),
) -> "Iterator[RetrievalRow]":
    """One row per number of passages k, of `KS` and sizes, up to the number retrieved; starting with the columns of
    `name`.

    recall: share of questions with an answer in one of the first k passages, by DPR's check (Karpukhin et al. 2020);
    ci_low, ci_high: its 95 % limits; recall_gold: share of questions, of those with a gold passage in the corpus, with
    that passage among the first k, missing if there are none; recall_against_exact: for an approximate index, None for
    exact search.
    """
    # Imported here: the rules import this module, and Snakemake does not bring its packages.
    from litm.base.intervals import binomial_interval

    # Computed once: a record builds its documents at each access.
    documents = [record.documents for record in records]
    golds = [
        (id, [document.id for document in retrieved])
        for record, retrieved in zip(records, documents, strict=True)
        if (id := record.retrieved_gold_id) is not None
    ]
    for k in sorted(k for k in {*KS, *sizes} if k <= hits):
        answered = sum(any(document.has_answer for document in first[:k]) for first in documents)
        gold = sum(id in ids[:k] for id, ids in golds)
        low, high = binomial_interval(answered, len(records))
        yield {
            **name,
            "k": k,
            "n": len(records),
            "recall": answered / len(records),
            "ci_low": low,
            "ci_high": high,
            "n_gold": len(golds),
            "recall_gold": gold / len(golds) if golds else None,
            "recall_against_exact": recall_against_exact,
            "n_against_exact": n_against_exact,
        }
