"""Table of answers that changed when asked one prompt at a time."""

from typing import TYPE_CHECKING

from litm.analysis.columns import EXPERIMENT, MODEL, PLACEMENT, POSITION, SIZE
from litm.analysis.table import FLOAT, INTEGER, P_VALUE, PERCENT, Column, Table

if TYPE_CHECKING:
    import pandas as pd

    from litm.analysis.grid import Files


def _flips(kind: str, flip: str) -> dict[str, Column]:
    """The columns of one kind of flip."""
    return {
        f"n_flips_{kind}": Column(INTEGER, f"answers with {flip} in the second pass"),
        f"flip_rate_{kind}": Column(FLOAT, "their share", unit=PERCENT),
        f"flip_rate_{kind}_ci_low": Column(FLOAT, "its lower 95 % limit, as in accuracy.csv", unit=PERCENT),
        f"flip_rate_{kind}_ci_high": Column(FLOAT, "its upper 95 % limit", unit=PERCENT),
        f"flip_rate_{kind}_p_value": Column(
            FLOAT,
            "test of whether placements of this size flip equally often (best minus worst, permuted within questions); "
            "equal in all rows of a size, empty for one placement",
            unit=P_VALUE,
        ),
    }


TABLE = Table(
    name="audit",
    title="Audit",
    doc=(
        "Answers of each model and cell that changed when asked one prompt at a time, by `snakemake audit`. Intervals "
        "and p values count questions, also where an experiment has `cluster`."
    ),
    order=200,
    inputs=("audits",),
    columns={
        "model": MODEL,
        "experiment": EXPERIMENT,
        "size": SIZE,
        "placement": PLACEMENT,
        "position": POSITION,
        "n": Column(INTEGER, "answers asked again"),
        **_flips("text", "another text"),
        **_flips("correct", "another verdict of the metric"),
    },
    is_default=False,
)


def rows(audits: "Files") -> "pd.DataFrame":
    """Rows of `audit_sweep.py` for each sweep, in the order of the files."""
    return audits.joined(TABLE.dtypes)
