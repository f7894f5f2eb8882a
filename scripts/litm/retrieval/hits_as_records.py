"""What a retriever found, as records in the released format."""

from collections.abc import Iterator, Mapping, Sequence

from litm.answers.dpr import Check
from litm.passages import Passage
from litm.retrieval import Hit


def gold_id(question: Mapping) -> str | None:
    """The id that a question record gives its gold document, as text; None if it gives none."""
    golds = [document for document in question.get("ctxs", []) if document.get("isgold") is True]
    return str(golds[0]["id"]) if golds and "id" in golds[0] else None


def retrieved_records(
    questions: Sequence[dict], hits: Sequence[Sequence[Hit]], passages: Mapping[str | int, Passage], check: Check
) -> Iterator[dict]:
    """A record a question: its passages, best first and equal scores by id, with score and whether they have an answer.

    passages: by id or row, whichever the hits name. Hits that name ids are in that order already; those that name
    rows could not be. gold_id: the id of the question's gold passage, None if it has none in the corpus.
    """
    for question, found in zip(questions, hits, strict=True):
        # Six decimals are more than a float32 is sure of.
        documents = [(passages[passage], round(score, 6)) for passage, score in found]
        if any(isinstance(passage, int) for passage, _ in found):
            documents.sort(key=lambda pair: (-pair[1], pair[0].id))
        gold = gold_id(question)
        yield {
            "question": question["question"],
            "answers": question["answers"],
            "gold_id": gold if gold in passages else None,
            "ctxs": [
                {
                    "id": passage.id,
                    "title": passage.title,
                    "text": passage.text,
                    "score": str(score),
                    "hasanswer": check({"title": passage.title, "text": passage.text}, question["answers"]),
                    "original_retrieval_index": rank,
                }
                for rank, (passage, score) in enumerate(documents)
            ],
        }
