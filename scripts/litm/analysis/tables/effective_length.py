"""Table of effective lengths: the longest context whose worst position is close to short contexts."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from litm.analysis.columns import EXPERIMENT, MODEL, SIZE
from litm.analysis.table import BOOLEAN, FLOAT, INTEGER, PERCENT, TEXT, Column, Table

if TYPE_CHECKING:
    from litm.analysis.grid import Files

#: Columns that the report shows.
_REPORT = (
    "model", "experiment", "size", "tokens_mean", "n", "accuracy_best", "accuracy_worst", "loss", "ci_low",
    "ci_high", "verdict", "effective_length",
)  # fmt: skip
TABLE = Table(
    name="effective_length",
    title="Effective length",
    doc=(
        "The effective length of each model in each experiment of several sizes: the longest size up to which the "
        "worst position is within 10 points of the best position of the smallest size, with the evidence. One row per "
        "size."
    ),
    order=26,
    inputs=("sized_scores",),
    note=(
        "Loss: the best accuracy of any position at the smallest size minus the worst of any position at this one. "
        "A size is shown within the margin of 10 points if the whole interval of its loss, and of all smaller sizes, "
        "is below; beyond it if the interval of its loss, and of all larger sizes, is above. The chance of any wrong "
        "'shown' in an experiment is at most 5 %; 'not shown' does not prove the opposite."
    ),
    columns={
        "model": MODEL,
        "experiment": EXPERIMENT,
        "size": SIZE,
        "tokens_mean": Column(FLOAT, "mean tokens of its prompts; empty if not counted", "Tokens"),
        "size_smallest": Column(INTEGER, "the smallest size that the model has"),
        "n": Column(INTEGER, "questions compared, the smallest number over pairs of positions", "n"),
        "is_paired": Column(BOOLEAN, "whether both sizes have the same questions, which are then compared one by one"),
        "accuracy_best": Column(
            FLOAT, "best accuracy of any position at the smallest size", "Best at the smallest", PERCENT
        ),
        "position_worst": Column(INTEGER, "position of the worst accuracy at this size, from 0"),
        "accuracy_worst": Column(FLOAT, "worst accuracy of any position at this size", "Worst here", PERCENT),
        "loss": Column(
            FLOAT, "best of the smallest size minus worst of this one, on the questions compared", "Loss", PERCENT
        ),
        "ci_low": Column(
            FLOAT,
            "lower limit of the loss at `confidence`, corrected for all pairs of positions (Bonferroni)",
            "From",
            PERCENT,
        ),
        "ci_high": Column(FLOAT, "upper limit at `confidence`, the largest of a pair of positions", "To", PERCENT),
        "margin": Column(FLOAT, "the tolerated loss: 0.10", unit=PERCENT),
        "confidence": Column(FLOAT, "1 - 0.05/m in an experiment of m models with several sizes"),
        "verdict": Column(
            TEXT,
            "`shown within` the margin, as are all smaller sizes; `shown beyond` it, as are all larger ones; else "
            "`not shown`",
            "Within 10 points",
        ),
        "effective_length": Column(
            TEXT,
            "the effective length from the verdicts of all sizes, in the experiment's sizes",
            "Effective length",
        ),
    },
    report=_REPORT,
)


def rows(sized_scores: "Files") -> Iterator[dict]:
    """One row per model, experiment and size, in the order of the score files."""
    from litm.analysis.claims.effective_length import effective_length_rows
    from litm.analysis.claims.evidence import EVIDENCE_COLUMNS as COLUMNS
    from litm.analysis.claims.evidence import scored_evidence

    return effective_length_rows(scored_evidence(sized_scores.scores(COLUMNS)))
