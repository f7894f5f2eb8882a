"""Table that compares measured with published accuracies."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from litm.analysis.columns import EXPERIMENT, METRIC, MODEL, PLACEMENT, POSITION, SIZE
from litm.analysis.table import FLOAT, INTEGER, PERCENT, TEXT, Column, Table, with_interval

if TYPE_CHECKING:
    from litm.analysis.grid import Files

#: Columns that the report shows.
_REPORT = (
    "model", "experiment", "size", "placement", "accuracy", "accuracy_published", "difference", "difference_ci_low",
    "difference_ci_high",
    "accuracy_strict", "difference_strict", "verdict", "reason", "source",
)  # fmt: skip
TABLE = Table(
    name="published_comparison",
    title="Published numbers",
    doc=(
        "Measured accuracies compared with the published ones of the same cells, one row per published value: the "
        "difference with its 95 % interval (two independent proportions, Newcombe's hybrid score interval), and "
        "whether they agree, or why they cannot be compared."
    ),
    order=35,
    inputs=("accuracy", "manifests", "published", "published_models"),
    settings=("data_versions",),
    note=(
        "Per cent, measured and published; difference: measured minus published in points, with its 95 % interval. "
        "Strict: by the text before the first line end even if it is blank, as in the paper. Rows that are not "
        "comparable have the reason."
    ),
    columns={
        "model": MODEL,
        "experiment": EXPERIMENT,
        "size": SIZE,
        "placement": PLACEMENT,
        "position": POSITION,
        "metric": METRIC,
        "n": Column(INTEGER, "questions counted here", "n"),
        "accuracy": Column(FLOAT, "the accuracy measured here", "Accuracy", PERCENT),
        "n_published": Column(INTEGER, "questions of the published value", "Published n"),
        "accuracy_published": Column(FLOAT, "the published accuracy", "Published", PERCENT),
        "difference": Column(FLOAT, "ours - theirs", "Difference", PERCENT),
        "difference_ci_low": Column(
            FLOAT,
            "lower 95 % limit, Newcombe's; a paired interval would be narrower, but needs the authors' single answers",
            "95 % from",
            PERCENT,
        ),
        "difference_ci_high": Column(FLOAT, "upper 95 % limit", "to", PERCENT),
        "accuracy_strict": Column(
            FLOAT,
            "`accuracy_strict`: by the text before the first line end, even if it is blank, as in the paper; "
            "`accuracy` skips blank lines before the answer",
            "Strict",
            PERCENT,
        ),
        **with_interval(
            "difference_strict",
            Column(FLOAT, "`accuracy_strict` - `accuracy_published`", "Strict - published", PERCENT),
        ),
        "verdict_strict": Column(TEXT, "`verdict` of the strict score"),
        "verdict": Column(TEXT, "`consistent` (the interval contains 0), `differs`, or `not comparable`", "Verdict"),
        "reason": Column(
            TEXT,
            "why not comparable: another n, metric, data version, weights, prompt format, or quantisation",
            "Reason",
        ),
        "source": Column(TEXT, "table or section of the paper", "Source"),
        "note": Column(TEXT, "a remark on the published value", "Note"),
    },
    report=_REPORT,
    section="published",
    has_markdown=True,
)


def rows(
    accuracy: "Files",
    manifests: "Files",
    published: "Files",
    published_models: "Files",
    data_versions: Mapping[str, Mapping[str, str | None]],
) -> list[dict]:
    """One row per published value whose cell was measured; manifests: of all sweeps; data_versions: see
    `measured_cells`.
    """
    from litm.analysis.comparison import comparison_rows, measured_cells
    from litm.analysis.published import read_published, read_published_models

    cells = measured_cells(accuracy.joined(), manifests.objects(), data_versions)
    return comparison_rows(cells, read_published(published.path), read_published_models(published_models.path))
