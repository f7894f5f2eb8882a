"""How many gold passages of the user's own questions were found in which way."""

from typing import TYPE_CHECKING

from litm.analysis.table import INTEGER, TEXT, Column, Table

if TYPE_CHECKING:
    import pandas as pd

    from litm.analysis.files import Files

_COLUMNS = {
    "questions": Column(TEXT, "name of the questions", "Questions"),
    "how": Column(TEXT, "how they were found, as in gold_passages.csv", "Gold passage"),
    "n": Column(INTEGER, "questions", "n"),
    "n_several": Column(INTEGER, "those with an answer in several passages", "Answer in several"),
    "n_to_look_at": Column(INTEGER, "those with a `note`", "To look at"),
}

#: Types of the columns that are counted.
_READ = {"questions": TEXT, "how": TEXT, "question": TEXT, "n_with_answer": INTEGER, "note": TEXT}

TABLE = Table(
    name="gold_counts",
    title="Gold passages of your questions",
    doc="How many gold passages of your own questions were found in which way.",
    order=72,
    inputs=("gold_passages",),
    note=(
        "How the passage with the answer was found: as you named it by file, page or text; the first retrieved that "
        "has an answer; as corrected. Questions with none are left out wherever a passage with the answer is wanted. "
        "results/tables/gold_passages.csv has each question, to be looked at and corrected."
    ),
    columns=_COLUMNS,
    report=tuple(_COLUMNS),
)


def rows(gold_passages: "Files") -> "pd.DataFrame":
    """A row for each set of questions and way, the most frequent first."""
    table = gold_passages.joined(_READ)
    marked = table.assign(several=table["n_with_answer"] > 1, noted=table["note"].notna())
    counts = marked.groupby(["questions", "how"], sort=False).agg(
        n=("question", "size"), n_several=("several", "sum"), n_to_look_at=("noted", "sum")
    )
    return counts.reset_index().sort_values(["questions", "n"], ascending=[True, False], kind="stable")
