"""How the position bias of a model changes with the size of the context."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from litm.analysis.columns import EXPERIMENT, MODEL, SIZE
from litm.analysis.table import BOOLEAN, FLOAT, INTEGER, PERCENT, TEXT, Column, Table, with_interval

if TYPE_CHECKING:
    from litm.analysis.grid import Files

_HEADINGS = {"pbi": "PBI", "primacy": "Primacy", "recency": "Recency"}
#: Columns that the report shows.
_REPORT = (
    "model", "experiment", "size", "size_smallest", "n", "pbi_smallest", "pbi", "difference_pbi",
    "difference_pbi_ci_low", "difference_pbi_ci_high", "difference_primacy", "difference_recency", "in_words",
)  # fmt: skip


def _of(name: str) -> dict[str, Column]:
    heading = _HEADINGS[name]
    shown = heading if name == "pbi" else ""
    return {
        name: Column(FLOAT, f"{heading} at this size", shown, PERCENT),
        f"{name}_smallest": Column(FLOAT, f"{heading} at the smallest size", shown and f"{shown} smallest", PERCENT),
        **with_interval(
            f"difference_{name}", Column(FLOAT, "this size minus the smallest", f"{heading} difference", PERCENT)
        ),
    }


TABLE = Table(
    name="bias_by_size",
    title="Position bias by size",
    doc=(
        "The Position Bias Index, primacy and recency of each model in each experiment of several sizes, compared with "
        "those of the smallest size. One row per size."
    ),
    order=27,
    inputs=("sized_scores",),
    note=(
        "This size minus the smallest, with 95 % intervals: paired where both have the same questions, else of "
        "independent questions, with wider intervals. The words are at 5 % corrected over the sizes of a curve "
        "(Bonferroni) and concern the Position Bias Index."
    ),
    columns={
        "model": MODEL,
        "experiment": EXPERIMENT,
        "size": SIZE,
        "size_smallest": Column(INTEGER, "the smallest size that the model has", "Smallest"),
        "is_paired": Column(BOOLEAN, "whether both sizes have the same questions, which are then compared one by one"),
        "n": Column(INTEGER, "questions scored at start, middle and end of this size, or of both sizes if paired", "n"),
        "n_smallest": Column(INTEGER, "the same for the smallest size"),
        **_of("pbi"),
        **_of("primacy"),
        **_of("recency"),
        "in_words": Column(TEXT, "whether the Position Bias Index differs, at 5 % over the sizes", "In words"),
    },
    report=_REPORT,
)


def rows(sized_scores: "Files") -> Iterator[dict]:
    """A row a model, experiment and size, in the order of the score files."""
    from litm.analysis.conditions import bias_by_size_rows
    from litm.analysis.grid import GRID_COLUMNS as COLUMNS
    from litm.analysis.grid import read_grids

    return bias_by_size_rows(read_grids(sized_scores.scores(COLUMNS)))
