"""Table of the retrievers' recall."""

from typing import TYPE_CHECKING

from litm.analysis.table import FLOAT, INTEGER, PERCENT, TEXT, Column, Table

if TYPE_CHECKING:
    import pandas as pd

    from litm.analysis.grid import Files

#: Columns that the report shows.
_REPORT = (
    "questions", "corpus", "retriever", "k", "n", "recall", "ci_low", "ci_high", "recall_gold",
    "recall_against_exact",
)  # fmt: skip
TABLE = Table(
    name="retrieval",
    title="Retrieval",
    doc=(
        "Recall of each retriever: the share of questions with an answer among the first k passages, with its 95 % "
        "interval."
    ),
    order=80,
    inputs=("recalls",),
    note=(
        "Recall: fraction of questions with an answer among the first passages found, with its 95 % interval. Gold "
        "passage: fraction of questions whose gold passage is among them, if it is in the corpus. Against exact "
        "search: fraction of exact search's hits that an approximate index finds."
    ),
    columns={
        "questions": Column(TEXT, "name of the questions", "Questions"),
        "corpus": Column(TEXT, "name of the corpus", "Corpus"),
        "retriever": Column(TEXT, "name of the retriever", "Retriever"),
        "k": Column(INTEGER, "how many passages", "Passages"),
        "n": Column(INTEGER, "how many questions", "n"),
        "recall": Column(
            FLOAT,
            "share of questions with an answer in one of the first `k` passages, by DPR's check",
            "Recall",
            PERCENT,
        ),
        "ci_low": Column(FLOAT, "lower 95 % limit, as in accuracy.csv", "95 % from", PERCENT),
        "ci_high": Column(FLOAT, "upper 95 % limit", "to", PERCENT),
        "n_gold": Column(INTEGER, "questions whose gold document is a passage of the corpus"),
        "recall_gold": Column(FLOAT, "fraction of these for which it is one of the first `k`", "Gold passage", PERCENT),
        "recall_against_exact": Column(
            FLOAT,
            "for an approximate index: the fraction of exact search's hits that it finds; empty for others",
            "Against exact search",
            PERCENT,
        ),
        "n_against_exact": Column(INTEGER, "questions on which that was measured"),
    },
    report=_REPORT,
)


def rows(recalls: "Files") -> "pd.DataFrame":
    """The rows that `measure_recall.py` wrote, in the order of the files."""
    return recalls.joined(TABLE.dtypes)
