"""Recall of a retriever: the share of questions with an answer among the first k passages."""

from collections.abc import Sequence

from litm.base.intervals import binomial_interval
from litm.questions.released_format import QuestionRecord

#: Values of k; those above the number of retrieved passages are skipped.
KS = (1, 5, 10, 20, 30, 40, 50, 100)


def recall_rows(
    name: dict, records: Sequence[QuestionRecord], hits: int, recall_against_exact: float | None, n_against_exact: int
) -> list[dict]:
    """One row per number of passages k, starting with the columns of `name`.

    recall: share of questions with an answer in one of the first k passages, by DPR's check (Karpukhin et al. 2020);
    ci_low, ci_high: its 95 % limits; recall_gold: share of questions, of those with a gold passage in the corpus, with
    that passage among the first k, missing if there are none; recall_against_exact: for an approximate index, None for
    exact search.
    """
    rows = []
    # Computed once: a record builds its documents at each access.
    documents = [record.documents for record in records]
    golds = [
        (id, [document.id for document in found])
        for record, found in zip(records, documents, strict=True)
        if (id := record.retrieved_gold_id) is not None
    ]
    for k in [k for k in KS if k <= hits]:
        found = sum(any(document.has_answer for document in first[:k]) for first in documents)
        gold = sum(id in ids[:k] for id, ids in golds)
        low, high = binomial_interval(found, len(records))
        rows.append(
            {
                **name,
                "k": k,
                "n": len(records),
                "recall": found / len(records),
                "ci_low": low,
                "ci_high": high,
                "n_gold": len(golds),
                "recall_gold": gold / len(golds) if golds else None,
                "recall_against_exact": recall_against_exact,
                "n_against_exact": n_against_exact,
            }
        )
    return rows
