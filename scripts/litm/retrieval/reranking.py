"""Reranking: a new order of the documents retrieved for a question."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from litm.base.messages import UNSPACED, UserError
from litm.questions.released_format import Document, QuestionRecord

#: Version: raise it if the scoring of a pair changes, because the store keeps existing scores.
RECIPE = 1
#: BM25's constants, the same as in the Lucene search.
K1, B = 0.9, 0.4
TERM = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")


def text_of(document: Document) -> str:
    """The text that a reranker reads: title and text, as for encoders."""
    return f"{document.title} {document.text}".strip()


def by_score(documents: Sequence[Document], scores: Sequence[float]) -> list[Document]:
    """The documents with these scores, highest first; equal scores keep their order."""
    # Six decimals are beyond the precision of a float32.
    scored = [(round(float(score), 6), document) for score, document in zip(scores, documents, strict=True)]
    return [
        Document({**document.fields, "score": str(score)})
        for score, document in sorted(scored, key=lambda pair: -pair[0])
    ]


# --- Reciprocal rank fusion ------------------------------------------------------------------------------------


def fused(rankings: Sequence[Sequence[Document]], k: float) -> list[Document]:
    """All documents of several rankings, best first, by reciprocal rank fusion (Cormack, Clarke & Buettcher 2009).

    The score of a document is the sum of 1/(k + r) over the rankings that contain it at rank r (from 1). Documents are
    equal if their ids are, or, without ids, their titles and texts. Ties keep the order in which the documents first
    occur.
    """
    scores: dict[object, float] = {}
    documents: dict[object, Document] = {}
    for ranking in rankings:
        for rank, document in enumerate(ranking, start=1):
            key = document.id or document.item
            documents.setdefault(key, document)
            scores[key] = scores.get(key, 0.0) + 1 / (k + rank)
    return by_score(list(documents.values()), [scores[key] for key in documents])


def rankings_of(records: Sequence[QuestionRecord], path: str, other: Iterable[QuestionRecord]) -> list[list[Document]]:
    """The documents of each question in another file; `UserError` for a question that the file lacks."""
    by_id = {record.id: record.documents for record in other}
    for record in records:
        if record.id not in by_id:
            raise UserError(
                f"{path}: the question of {record.where} is not in it; fused rankings are of the same questions"
            )
    return [by_id[record.id] for record in records]


# --- BM25 among the documents ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Terms:
    """The term statistics of a set of documents."""

    documents: int
    """The number of documents."""
    containing: Counter[str]
    """The number of documents per term."""
    length: float
    """The mean number of terms in a document."""


def count_terms(records: Iterable[QuestionRecord]) -> Terms:
    """The term statistics of the distinct documents of all questions."""
    texts = {text_of(document) for record in records for document in record.documents}
    words = [terms_in(text) for text in texts]
    containing = Counter(term for terms in words for term in set(terms))
    return Terms(len(texts), containing, sum(map(len, words)) / max(1, len(texts)))


def bm25_ranking(question: str, documents: Sequence[Document], terms: Terms) -> list[Document]:
    """The documents by BM25 (Robertson & Zaragoza 2009) of the question, in the form of Lucene:

    sum over its terms of ln(1 + (N - n + 0.5)/(n + 0.5)) · f/(f + k1·(1 - b + b·length/mean length)).
    """
    wanted = terms_in(question)
    return by_score(documents, [_bm25(wanted, terms_in(text_of(document)), terms) for document in documents])


def terms_in(text: str) -> list[str]:
    """The words and numbers of a text in lower case; a character of a script without spaces is a word."""
    return TERM.findall(text.lower())


def _bm25(query: Sequence[str], words: Sequence[str], terms: Terms) -> float:
    frequency = Counter(words)
    norm = K1 * (1 - B + B * len(words) / terms.length) if terms.length else K1
    return sum(_idf(term, terms) * frequency[term] / (frequency[term] + norm) for term in query if term in frequency)


def _idf(term: str, terms: Terms) -> float:
    containing = terms.containing[term]
    return math.log(1 + (terms.documents - containing + 0.5) / (containing + 0.5))
