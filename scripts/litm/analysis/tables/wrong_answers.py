"""Table of kinds of wrong answers in each cell."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from litm.analysis.columns import CELL_WITH_ITEMS, MODEL
from litm.analysis.table import FLOAT, INTEGER, PERCENT, TEXT, Column, Table, with_interval
from litm.scoring.wrong_answers import HEADINGS, KINDS

if TYPE_CHECKING:
    from litm.analysis.grid import Files

_KINDS = {
    name: column
    for kind, doc in KINDS.items()
    for name, column in with_interval(
        f"share_{kind}", Column(FLOAT, f"share of the wrong answers where the answer {doc}", HEADINGS[kind], PERCENT)
    ).items()
}
TABLE = Table(
    name="wrong_answers",
    title="Kinds of wrong answers",
    doc=(
        "The wrong answers of each model and cell by kind, and the positions of the items that they were taken from. "
        "An answer has the first kind that fits, in the order of the columns."
    ),
    order=32,
    inputs=("scores",),
    note=(
        "Per cent with 95 % intervals: wrong answers of all answers of a cell, and each kind of its wrong answers, by "
        "the first kind that fits, from left to right. Taken from: the position of the other item (from 0) and the "
        "number of answers, where it is one item alone."
    ),
    columns={
        "model": MODEL,
        **CELL_WITH_ITEMS,
        "n": Column(INTEGER, "questions counted, as in accuracy.csv", "n"),
        "n_wrong": Column(INTEGER, "those answered wrongly", "Wrong"),
        **with_interval("share_wrong", Column(FLOAT, "`n_wrong` as a share of `n`", "% wrong", PERCENT)),
        **_KINDS,
        "taken_from": Column(
            TEXT,
            "positions of the items that answers of `other_item` were taken from, as `position:answers`, from 0, most "
            "frequent first; answers whose name or number is in several documents are not counted",
            "Taken from",
        ),
    },
    report=(
        "model",
        "experiment",
        "size",
        "placement",
        "target",
        "n",
        "n_wrong",
        "share_wrong",
        *(f"share_{kind}" for kind in KINDS),
        "taken_from",
    ),
)


def rows(scores: "Files") -> Iterator[dict]:
    """Yield the rows of each sweep, in the order of the score files."""
    from litm.analysis.cells import WRONG_COLUMNS as COLUMNS
    from litm.analysis.cells import wrong_answer_rows

    for sweep in scores.scores(COLUMNS):
        yield from wrong_answer_rows(sweep)
