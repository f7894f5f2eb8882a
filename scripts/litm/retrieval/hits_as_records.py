"""Hits of a retriever as records in the released format."""

from collections.abc import Iterator, Mapping, Sequence

from litm.answers.dpr import Check
from litm.corpora.passages import Passage
from litm.questions.released_format import Document, QuestionRecord
from litm.retrieval.method import Hit


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
    for question, found in zip(questions, hits, strict=True):
        # Six decimals are beyond the precision of a float32.
        scored = [(passages[passage], round(score, 6)) for passage, score in found]
        if any(isinstance(passage, int) for passage, _ in found):
            scored.sort(key=lambda pair: (-pair[1], pair[0].id))
        documents = [
            Document.of(
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
