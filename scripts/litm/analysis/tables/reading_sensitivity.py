"""Table of results by the first lines of the answers and by the whole answers."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from litm.analysis.columns import CELL, MODEL
from litm.analysis.table import BOOLEAN, FLOAT, INTEGER, PERCENT, TEXT, Column, Table, with_interval

if TYPE_CHECKING:
    import pandas as pd

    from litm.analysis.grid import Files

#: Columns that the report shows.
_REPORT = (
    "model", "experiment", "size", "placement", "quantity", "n", "value_first_line",
    "value_first_line_ci_low", "value_first_line_ci_high", "value_full",
    "value_full_ci_low", "value_full_ci_high", "changes_with_reading", "n_preamble", "n_more_lines",
)  # fmt: skip
TABLE = Table(
    name="reading_sensitivity",
    title="First line against whole answer",
    doc=(
        "Accuracy, primacy, recency, tilt, PBI, the gap to closed book and the utilisation by the answers' first lines "
        "and by the whole recorded answers, and whether the conclusion changes."
    ),
    order=31,
    inputs=("scores",),
    settings=("references", "seed"),
    note=(
        "Each quantity by the first lines of the answers and by the whole recorded answers, in points with 95 % "
        "intervals. A conclusion changes if one interval is above 0, or below it, and the other is not. These "
        "intervals are not corrected: they compare two readings and show no effect. If all answers have one line, as "
        "with `stop: first_line`, both readings are equal."
    ),
    columns={
        "model": MODEL,
        **CELL,
        "quantity": Column(
            TEXT,
            "`accuracy`, `accuracy - closed book` and `utilisation` of a cell; `primacy`, `recency`, `tilt` and `pbi` "
            "of a curve",
            "Quantity",
        ),
        "n": Column(INTEGER, "questions, as in the table of the quantity", "n"),
        **with_interval("value_first_line", Column(FLOAT, "the quantity by the first line", "First line", PERCENT)),
        **with_interval(
            "value_full", Column(FLOAT, "the quantity by the whole recorded answer", "Full answer", PERCENT)
        ),
        "conclusion_first_line": Column(TEXT, "the interval is above 0, below 0, or contains 0; empty for an accuracy"),
        "conclusion_full": Column(TEXT, "the same by the whole answer"),
        "changes_with_reading": Column(BOOLEAN, "whether the two conclusions differ", "Changes"),
        "n_preamble": Column(INTEGER, "for a cell: answers whose first line ends with a colon", "End with :"),
        "n_preamble_right": Column(INTEGER, "those of them that are right by the first line"),
        "n_more_lines": Column(INTEGER, "for a cell: answers with more than one line", "More lines"),
    },
    report=_REPORT,
)


def rows(scores: "Files", references: Mapping[str, Mapping], seed: int) -> Iterator[dict]:
    """Yield the rows of each sweep, in the order of the score files."""
    from litm.analysis.cells import READING_COLUMNS as COLUMNS
    from litm.analysis.cells import sensitivity_rows

    named = {name for keys in references.values() for name in keys.values() if name}
    kept: dict[tuple[str, str], pd.DataFrame] = {}
    for sweep in scores.scores(COLUMNS):
        names = str(sweep["model"].iloc[0]), str(sweep["experiment"].iloc[0])
        if names[1] in named:
            kept[names] = sweep
    for sweep in scores.scores(COLUMNS):
        model, experiment = str(sweep["model"].iloc[0]), str(sweep["experiment"].iloc[0])
        of_sweep = references.get(experiment, {})
        closed_book, oracle = (kept.get((model, of_sweep.get(name) or "")) for name in ("closed_book", "oracle"))
        yield from sensitivity_rows(sweep, closed_book, oracle, seed)


def warnings(frame: "pd.DataFrame") -> list[str]:
    """Warnings for the console."""
    from litm.analysis.cells import reading_warnings

    return reading_warnings(frame)
