"""Accuracy of each model and cell."""

from typing import TYPE_CHECKING

from litm.analysis.columns import CELL_WITH_ITEMS, MODEL
from litm.analysis.table import FLOAT, INTEGER, PERCENT, Column, Table

if TYPE_CHECKING:
    import pandas as pd

    from litm.analysis.grid import Files

#: Columns that the report shows.
_REPORT = (
    "model", "experiment", "size", "placement", "target", "n", "accuracy", "ci_low", "ci_high",
    "accuracy_first_line", "accuracy_full", "n_empty", "n_cut", "n_refused", "n_failed", "n_not_recorded",
    "n_left_out",
)  # fmt: skip
TABLE = Table(
    name="accuracy",
    title="Accuracy by position",
    doc=(
        "Accuracy of each model and cell (experiment, size, placement), with the number of questions and its 95 % "
        "interval."
    ),
    order=10,
    inputs=("accuracies",),
    note=(
        "Accuracies in per cent with their 95 % interval (Agresti and Coull's, never wider than Clopper and Pearson's, "
        "which is the one for n < 30). Empty and cut answers (ended at the limit of new tokens) "
        "count as answers; Cut is empty where recorded responses do not say how they ended. Questions without a "
        "recorded response are not counted; questions too long at some position are left out at all positions of that "
        "size."
    ),
    columns={
        "model": MODEL,
        **CELL_WITH_ITEMS,
        "n": Column(INTEGER, "questions counted", "n"),
        "accuracy": Column(FLOAT, "fraction of them that is right", "Accuracy", PERCENT),
        "ci_low": Column(
            FLOAT,
            "lower 95 % limit: Agresti and Coull's, or Clopper and Pearson's for n < 30 and where that is narrower",
            "95 % from",
            PERCENT,
        ),
        "ci_high": Column(FLOAT, "upper 95 % limit", "to", PERCENT),
        "accuracy_first_line": Column(FLOAT, "by the answer's first line that is not blank", "First line", PERCENT),
        "accuracy_full": Column(
            FLOAT,
            "by the whole recorded answer; `accuracy` equals the one of the two that the metric reads",
            "Full answer",
            PERCENT,
        ),
        "accuracy_strict": Column(
            FLOAT,
            "by the metric's strict rule, if it has one. `best_subspan_em`: the text before the first line "
            "end, even if it is blank, as in the paper; `exact_code`: no other code in the answer (`only_code`)",
        ),
        "accuracy_lenient": Column(
            FLOAT,
            "by the metric's lenient rule, if it has one. `only_code`: other codes may be in the answer (`exact_code`)",
        ),
        "n_empty": Column(INTEGER, "counted answers that were empty", "Empty"),
        "n_cut": Column(
            INTEGER,
            "counted answers that ended at the limit of new tokens; empty where recorded responses do not say",
            "Cut",
        ),
        "n_refused": Column(
            INTEGER,
            "counted answers that a provider's safety filter withheld or cut; empty as `n_cut`",
            "Refused",
        ),
        "n_failed": Column(INTEGER, "questions that were asked and got no answer, not counted", "Failed"),
        "n_not_recorded": Column(INTEGER, "questions that recorded responses lack, not counted", "Not recorded"),
        "n_left_out": Column(
            INTEGER,
            "questions left out at all positions of the size because they did not fit the context window at one",
            "Left out",
        ),
        "n_preamble": Column(
            INTEGER,
            "counted answers whose first line ends with a colon, so it may only announce the answer; see "
            "reading_sensitivity.csv",
        ),
    },
    report=_REPORT,
)


def rows(accuracies: "Files") -> "pd.DataFrame":
    """Rows of all sweeps, computed by `score.py`, in the order of the files."""
    return accuracies.joined(TABLE.dtypes)
