"""Table of the utilisation of the context."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from litm.analysis.columns import CELL, MODEL
from litm.analysis.table import FLOAT, INTEGER, PERCENT, Column, Table, with_interval

if TYPE_CHECKING:
    from litm.analysis.grid import Files

#: Columns that the report shows.
_REPORT = (
    "model", "experiment", "size", "placement", "n", "accuracy_closed_book", "accuracy", "accuracy_oracle",
    "utilisation", "utilisation_ci_low", "utilisation_ci_high",
)  # fmt: skip
TABLE = Table(
    name="utilisation",
    title="Utilisation of the context",
    doc=(
        "Utilisation of each model and cell, (accuracy - closed book) / (oracle - closed book): the share of the "
        "documents' benefit that the model realises, with its paired 95 % bootstrap interval."
    ),
    order=30,
    inputs=("gold_scores", "closed_book", "oracle"),
    settings=("seed",),
    note=(
        "The share of the documents' benefit that the model realises, (accuracy - closed book) / (oracle - closed "
        "book), in per cent on the common questions. Empty unless the oracle is clearly better than closed book, "
        "because otherwise there is no benefit to divide by."
    ),
    columns={
        "model": MODEL,
        **CELL,
        "n": Column(INTEGER, "questions that all three experiments scored", "n"),
        **with_interval("accuracy", Column(FLOAT, "accuracy on them", "Accuracy", PERCENT)),
        **with_interval("accuracy_closed_book", Column(FLOAT, "accuracy without documents", "Closed book", PERCENT)),
        **with_interval("accuracy_oracle", Column(FLOAT, "accuracy with the gold document alone", "Oracle", PERCENT)),
        **with_interval(
            "utilisation",
            Column(
                FLOAT,
                "(accuracy - closed book) / (oracle - closed book); empty unless the oracle is clearly better than "
                "closed book (99 %)",
                "Utilisation",
                PERCENT,
            ),
        ),
    },
    report=_REPORT,
)


def rows(gold_scores: "Files", closed_book: "Files", oracle: "Files", seed: int) -> Iterator[dict]:
    """One row per cell, in the order of the score files; each of the three has one file per sweep."""
    from litm.analysis.cells import utilisation_rows

    sweeps = zip(gold_scores.scores(), closed_book.scores(), oracle.scores(), strict=True)
    return (row for scores, book, best in sweeps for row in utilisation_rows(scores, book, best, seed))
