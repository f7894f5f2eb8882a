"""How much of what the context could give a model takes from it."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from litm.analysis.columns import CELL, MODEL
from litm.analysis.table import FLOAT, INTEGER, PERCENT, Column, Table, with_interval

if TYPE_CHECKING:
    from litm.analysis.files import Files

#: Columns that the report shows.
_REPORT = (
    "model", "experiment", "size", "placement", "n", "closed_book", "accuracy", "oracle", "utilisation",
    "utilisation_ci_low", "utilisation_ci_high",
)  # fmt: skip

TABLE = Table(
    name="utilisation",
    title="Utilisation of the context",
    doc=(
        "Utilisation of each model and cell: the share of what the documents could give, (accuracy - closed book) / "
        "(oracle - closed book), that the model takes from them, with its paired 95 % bootstrap interval."
    ),
    order=30,
    inputs=("gold_scores", "closed_book", "oracle"),
    settings=("seed",),
    note=(
        "The share of what the documents could give that the model takes from them, (accuracy - closed book) / "
        "(oracle - closed book), in per cent on the questions that all three have. Empty where the oracle is not "
        "clearly better than closed book: there is nothing to take."
    ),
    columns={
        "model": MODEL,
        **CELL,
        "n": Column(INTEGER, "questions that all three experiments scored", "n"),
        **with_interval("accuracy", Column(FLOAT, "accuracy on them", "Accuracy", PERCENT)),
        **with_interval("closed_book", Column(FLOAT, "that without documents", "Closed book", PERCENT)),
        **with_interval("oracle", Column(FLOAT, "that with the gold document alone", "Oracle", PERCENT)),
        **with_interval(
            "utilisation",
            Column(
                FLOAT,
                "(accuracy - closed book) / (oracle - closed book); empty where the oracle is not clearly better than "
                "closed book (99 %)",
                "Utilisation",
                PERCENT,
            ),
        ),
    },
    report=_REPORT,
)


def rows(gold_scores: "Files", closed_book: "Files", oracle: "Files", seed: int) -> Iterator[dict]:
    """A row a cell, in the order of the score files; the three have a file each for each sweep."""
    from litm.analysis.utilisation import utilisation_rows

    sweeps = zip(gold_scores.scores(), closed_book.scores(), oracle.scores(), strict=True)
    return (row for scores, book, best in sweeps for row in utilisation_rows(scores, book, best, seed))
