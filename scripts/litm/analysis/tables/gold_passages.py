"""Table of the gold passage of each of the user's own questions."""

from typing import TYPE_CHECKING

from litm.analysis.table import INTEGER, TEXT, Column, Table

if TYPE_CHECKING:
    import pandas as pd

    from litm.analysis.grid import Files

TABLE = Table(
    name="gold_passages",
    title="Gold passages",
    doc=(
        "The gold passage of each of your own questions, and how it was found. To correct some, copy the file, change "
        "the column `passage`, and name the copy as `corrections`."
    ),
    order=71,
    inputs=("gold_passages",),
    columns={
        "questions": Column(TEXT, "name of the questions"),
        "line": Column(INTEGER, "line of the question in your file"),
        "question": Column(TEXT, "the question"),
        "answers": Column(TEXT, "its answers, with | between them"),
        "how": Column(
            TEXT,
            "`file`, `page` or `text` (you named it by these), `first_retrieved` (the first passage retrieved that has "
            "an answer, by DPR's check), `corrected` (by you), `none` (left out), `left_out` (by you)",
        ),
        "passage": Column(TEXT, "id of the passage; empty for a question that is left out"),
        "rank": Column(INTEGER, "its rank among the passages retrieved, from 1; empty if it is not among them"),
        "n_with_answer": Column(INTEGER, "passages that have an answer, among those retrieved and named"),
        "note": Column(TEXT, "a remark to check"),
        "excerpt": Column(TEXT, "the words around the answer"),
        "found": Column(
            TEXT,
            "id of the passage before your correction; in a copy, rows whose `passage` equals it change nothing",
        ),
    },
)


def rows(gold_passages: "Files") -> "pd.DataFrame":
    """The rows that `find_gold.py` wrote, in the order of the files."""
    return gold_passages.joined(TABLE.dtypes)
