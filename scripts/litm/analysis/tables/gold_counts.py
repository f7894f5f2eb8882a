"""Table with numbers of gold passages of the user's own questions, by the way they were found."""

from typing import TYPE_CHECKING

from litm.analysis.table import INTEGER, TEXT, Column, Table

if TYPE_CHECKING:
    import pandas as pd

    from litm.analysis.grid import Files

_COLUMNS = {
    "questions": Column(TEXT, "name of the questions", "Questions"),
    "how": Column(TEXT, "how the passages were found, as in gold_passages.csv", "Gold passage"),
    "n": Column(INTEGER, "questions", "n"),
    "n_several": Column(INTEGER, "questions with an answer in several passages", "Answer in several"),
    "n_to_look_at": Column(INTEGER, "questions with a `note`", "To look at"),
}
#: Types of the columns that are read.
_READ = {"questions": TEXT, "how": TEXT, "question": TEXT, "n_with_answer": INTEGER, "note": TEXT}
TABLE = Table(
    name="gold_counts",
    title="Gold passages of your questions",
    doc="Numbers of gold passages of your own questions, by the way they were found.",
    order=72,
    inputs=("gold_passages",),
    note=(
        "The way the passage with the answer was found: named by you by file, page or text; the first retrieved with "
        "an answer; corrected by you. Questions without one are left out of experiments that need it. "
        "results/tables/gold_passages.csv lists each question, for you to check and correct."
    ),
    columns=_COLUMNS,
    report=tuple(_COLUMNS),
)


def rows(gold_passages: "Files") -> "pd.DataFrame":
    """One row per question set and way, the most frequent first."""
    table = gold_passages.joined(_READ)
    marked = table.assign(several=table["n_with_answer"] > 1, noted=table["note"].notna())
    counts = marked.groupby(["questions", "how"], sort=False).agg(
        n=("question", "size"), n_several=("several", "sum"), n_to_look_at=("noted", "sum")
    )
    return counts.reset_index().sort_values(["questions", "n"], ascending=[True, False], kind="stable")
