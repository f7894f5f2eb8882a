"""Table of pairs of models over all sizes of an experiment."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from litm.analysis.columns import EXPERIMENT
from litm.analysis.table import BOOLEAN, FLOAT, INTEGER, P_VALUE, PERCENT, TEXT, Column, Table, with_interval

if TYPE_CHECKING:
    from litm.analysis.grid import Files

#: Columns that the report shows.
_REPORT = (
    "experiment", "n_sizes", "model_a", "model_b", "quantity", "place", "n", "value_a", "value_b", "difference",
    "ci_low", "ci_high", "p_holm", "in_words",
)  # fmt: skip
TABLE = Table(
    name="model_pairs",
    title="Models compared",
    doc=(
        "Pairs of models in each experiment, as means over its sizes: accuracy at all positions, start, middle and "
        "end, primacy, recency and Position Bias Index, with paired 95 % intervals."
    ),
    order=11,
    inputs=("model_scores",),
    note=(
        "Model a minus model b in points, on the questions that both scored at all positions, as means over the sizes. "
        "A difference counts as shown if p (Holm) is below 0.05, corrected over all accuracies of the experiment, or "
        "over all of its primacy, recency and PBI. The 95 % intervals are not corrected, so one may exclude 0 where "
        "the difference is not shown."
    ),
    columns={
        "experiment": EXPERIMENT,
        "size": Column(INTEGER, "the size, if there is only one"),
        "n_sizes": Column(INTEGER, "sizes that the row is a mean of", "Sizes"),
        "is_paired": Column(BOOLEAN, "whether the sizes have the same questions, which are then compared one by one"),
        "model_a": Column(TEXT, "the first model", "Model a"),
        "model_b": Column(TEXT, "the second model", "Model b"),
        "quantity": Column(TEXT, "`accuracy`, `primacy`, `recency` or `pbi`", "Quantity"),
        "place": Column(TEXT, "of an accuracy: `all` positions, `start`, `middle` or `end`", "Place"),
        "n": Column(INTEGER, "questions that both models scored at all positions (of all sizes if `is_paired`)", "n"),
        "n_left_out": Column(INTEGER, "the other questions of these sizes"),
        "value_a": Column(FLOAT, "the quantity of the first model", "a", PERCENT),
        "value_b": Column(FLOAT, "the same of the second", "b", PERCENT),
        **with_interval("difference", Column(FLOAT, "`value_a` - `value_b`", "a - b", PERCENT), is_only=True),
        "p_value": Column(FLOAT, "Student's t of the difference; below 0.05 if the interval excludes 0", unit=P_VALUE),
        "p_holm": Column(
            FLOAT,
            "the same by Holm over the accuracies, or over the other quantities, of the experiment",
            "p (Holm)",
            P_VALUE,
        ),
        "in_words": Column(TEXT, "the conclusion on a against b", "In words"),
    },
    report=_REPORT,
)


def rows(model_scores: "Files") -> Iterator[dict]:
    """Rows of each experiment, pair of models, quantity and place, in the order of the score files."""
    from litm.analysis.grid import GRID_COLUMNS as COLUMNS
    from litm.analysis.grid import read_grids
    from litm.analysis.model_differences import model_pair_rows

    return model_pair_rows(read_grids(model_scores.scores(COLUMNS)))
