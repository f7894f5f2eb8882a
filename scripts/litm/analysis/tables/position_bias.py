"""Table of the effect of position on the accuracy of each curve."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from litm.analysis.columns import CURVE
from litm.analysis.table import BOOLEAN, FLOAT, INTEGER, P_VALUE, PERCENT, TEXT, Column, Table, with_interval

if TYPE_CHECKING:
    from litm.analysis.grid import Files

#: Columns that the report shows.
_REPORT = (
    "model", "experiment", "size", "placement", "n", "shape", "primacy", "recency", "tilt", "pbi",
    "pbi_class", "class_certain", "reason", "accuracy_edge", "accuracy_middle", "gap",
    "gap_null_95", "cochran_p_value", "cochran_p_holm",
)  # fmt: skip
TABLE = Table(
    name="position_bias",
    title="Position bias",
    doc=(
        "Position bias of each curve (a model, experiment and size; where a prompt has several gold items, also a "
        "placement): primacy, recency, tilt and the Position Bias Index with paired 95 % intervals, the best-worst gap "
        "with its permutation null, and Cochran's Q."
    ),
    order=20,
    inputs=("curve_scores",),
    settings=("seed", "base_models"),
    note=(
        "Points of accuracy on the questions scored at every position. Shape: the word for what is shown, corrected "
        "over all curves of an experiment; it decides. The 95 % intervals are not corrected, so one may exclude 0 "
        "where the word names no difference. Whether any position differs: p (Holm) of Cochran's Q below 0.05. PBI: "
        "mean of start and end (edge) minus middle; primacy: start minus middle; recency: end minus middle; tilt: end "
        "minus start; certain: the whole interval is in the class. Gap: best minus worst position, and the gap that "
        "chance alone does not exceed in 95 % of cases. A flat PBI is not the absence of an effect: see tilt and "
        "Cochran's Q."
    ),
    columns={
        **CURVE,
        "n": Column(INTEGER, "questions scored at every position; only these are compared", "n"),
        "n_left_out": Column(INTEGER, "the other questions"),
        "n_positions": Column(INTEGER, "number of positions"),
        "verdict": Column(TEXT, "`measured`, or `no_information` with its `reason`"),
        "reason": Column(
            TEXT,
            "why positions cannot be distinguished: all accuracies are at the floor or the ceiling (within 5 points, "
            "with intervals that reach within 2 points of it), or questions are too few; with `measured`: positions "
            "differ, but start, middle and end are all at the floor or the ceiling, so the PBI carries no information "
            "and has no class",
            "No information",
        ),
        **{f"position_{place}": Column(INTEGER, f"position of the {place}") for place in ("start", "middle", "end")},
        **{
            f"accuracy_{place}": Column(FLOAT, f"accuracy at the {place}", place.capitalize(), PERCENT)
            for place in ("start", "middle", "end")
        },
        "accuracy_edge": Column(FLOAT, "mean of start and end", "Edge", PERCENT),
        **with_interval("primacy", Column(FLOAT, "start - middle", "Primacy", PERCENT)),
        **with_interval("recency", Column(FLOAT, "end - middle", "Recency", PERCENT)),
        **with_interval("tilt", Column(FLOAT, "end - start", "Tilt", PERCENT)),
        **with_interval("pbi", Column(FLOAT, "Position Bias Index, edge - middle", "PBI", PERCENT)),
        **with_interval("pbi_area", Column(FLOAT, "outer thirds - inner third by depth", unit=PERCENT)),
        "pbi_class": Column(
            TEXT,
            "the suite's class: above 0.30 strong, 0.15 moderate, 0.05 weak, about 0 flat, below inverted; the bound "
            "of flat at -0.05 is this workflow's",
            "Class",
        ),
        "class_certain": Column(BOOLEAN, "whether the whole interval of the PBI lies in its class", "Certain"),
        "class_words": Column(TEXT, "the class, the classes that the 95 % interval reaches, and whether it contains 0"),
        "shape": Column(
            TEXT,
            "the word for the shape (docs/claims.md), the same as in claims.csv: what is shown of start, middle and "
            "end, corrected over all curves of the experiment; empty without information or without a middle",
            "Shape",
        ),
        "pbi_mde": Column(
            FLOAT,
            "smallest PBI that this n shows with 80 % power, as in detectable_effects.csv",
            "Detectable PBI",
            PERCENT,
        ),
        "position_best": Column(INTEGER, "position of the best accuracy; empty if all are equal"),
        "position_worst": Column(INTEGER, "position of the worst"),
        "accuracy_best": Column(FLOAT, "the best accuracy", unit=PERCENT),
        "accuracy_worst": Column(FLOAT, "the worst", unit=PERCENT),
        **with_interval("gap", Column(FLOAT, "best - worst", "Gap", PERCENT)),
        "gap_null_mean": Column(FLOAT, "mean of the gap if positions had no effect, by permutation", unit=PERCENT),
        "gap_null_95": Column(FLOAT, "95th percentile of the gap if positions had no effect", "Gap by chance", PERCENT),
        "gap_p_value": Column(FLOAT, "p of the gap by permutation", unit=P_VALUE),
        "cochran_q": Column(FLOAT, "Cochran's Q: does any position differ?"),
        "cochran_df": Column(INTEGER, "its degrees of freedom"),
        "cochran_p_value": Column(FLOAT, "its p", "Cochran p", P_VALUE),
        "cochran_p_holm": Column(
            FLOAT, "`cochran_p_value` corrected by Holm over all curves of this table", "Holm over curves", P_VALUE
        ),
    },
    report=_REPORT,
)


def rows(curve_scores: "Files", seed: int, base_models: Sequence[str]) -> list[dict]:
    """One row per curve, in the order of the score files."""
    from litm.analysis.claims.curve_words import words_of_scores
    from litm.analysis.grid import curves
    from litm.analysis.positions import position_bias_row
    from litm.analysis.statistics import with_holm

    words = words_of_scores(curve_scores.scores(), base_models)
    found = [position_bias_row(curve, seed) for sweep in curve_scores.scores() for curve in curves(sweep)]
    for row in found:
        row["shape"] = words.get((row["model"], row["experiment"], row["size"], row["placement"])) or None
    return with_holm(found, "cochran_p_value", "cochran_p_holm")
