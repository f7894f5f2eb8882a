"""Tables of position bias: curves, and pairs of positions."""

from typing import Annotated, TypedDict

from litm.tables import columns as col
from litm.tables.table import SHOWN, Heading, declare, shown


@declare(
    "position_bias",
    "Position bias",
    inputs=("curve_scores",),
    settings=("seed", "base_models"),
    rows="claims.curve_words.position_bias_table",
    report=(
        "model", "experiment", "size", "placement", "n", "shape", "primacy", "recency", "tilt", "pbi", "pbi_class",
        "class_certain", "reason", "accuracy_edge", "accuracy_middle", "gap", "gap_null_95", "cochran_p_value",
        "cochran_p_holm", "pbi_mde", "pbi_n_for_5_points",
    ),
    in_markdown=(
        "model", "experiment", "size", "items", "placement", "n", "pbi", "primacy", "recency", "accuracy_edge",
        "accuracy_middle", "pbi_class", "class_certain", "reason",
    ),
)  # fmt: skip
class PositionBiasRow(TypedDict, total=False):
    """Position bias of each curve (a model, experiment and size; where a prompt has several gold items, also a
    placement): primacy, recency, tilt and the Position Bias Index with paired 95 % intervals, the best-worst gap with
    its permutation null, Cochran's Q, and the effects that its n can show.

    Points of accuracy on the questions scored at every position. Shape: the word for what is shown, corrected over all
    curves of this table; it decides. The 95 % intervals are not corrected, so one may exclude 0 where the word names
    no difference. Cochran's Q tests all positions at once, corrected over all curves of this table: it may be below
    0.05 where no comparison is shown, or above it where one is; it decides only where there is no word, as for two
    positions. PBI: mean of start and end (edge) minus middle; primacy: start minus middle; recency: end minus middle;
    tilt: end minus start; certain: the whole interval is in the class. Gap: best minus worst position, and the gap that
    chance alone does not exceed in 95 % of cases. A flat PBI is not the absence of an effect: see shape and tilt.
    Detectable PBI: the smallest true PBI that n questions show with a chance of 80 %; an interval around 0 tells
    nothing about smaller ones. n for 5 points: the questions that show a PBI of 5 points. Both are for a single
    comparison, whose 95 % interval then excludes 0, and for a curve with this mean accuracy and correlation.
    """

    model: col.Model
    experiment: col.Experiment
    task: col.Task
    metric: col.Metric
    size: col.Size
    items: Annotated[col.Integer, Heading("Items")]
    """items in the context; empty where a cut left different numbers"""
    placement: col.CurvePlacement
    target: col.Text
    """the gold items of the curve"""
    n: Annotated[col.Integer, Heading("n")]
    """questions scored at every position; only these are compared"""
    n_left_out: col.Integer
    """the other questions"""
    n_positions: col.Integer
    """number of positions"""
    verdict: col.Text
    """`measured`, or `no_information` with its `reason`"""
    reason: Annotated[col.Text, Heading("No information")]
    """why positions cannot be distinguished: the answers of a cell are in doubt (as `doubt` in accuracy.csv); all
    accuracies are at the floor or the ceiling (intervals that reach within 2 points of it and end within 15), or
    questions are too few; with `measured`: positions differ, but start, middle and end are all at the floor or the
    ceiling, so the PBI carries no information and has no class; or no position is near one of them (start: depths up to
    0.27, end: from 0.73, middle: between), so there is no PBI"""
    accuracy_all: Annotated[col.Percent, Heading("All")]
    """mean accuracy over all positions; the interval takes the answers to a question as a cluster; none if labels
    correct a judge"""
    accuracy_all_ci_low: col.Low
    accuracy_all_ci_high: col.High
    position_start: col.Integer
    """position of the start"""
    position_middle: col.Integer
    """position of the middle; empty where two positions are equally near to it, within 2 % of the context"""
    position_end: col.Integer
    """position of the end"""
    accuracy_start: Annotated[col.Percent, Heading("Start")]
    """accuracy at the start"""
    accuracy_middle: Annotated[col.Percent, Heading("Middle")]
    """accuracy at the middle, the mean of two positions that are equally near to it"""
    accuracy_end: Annotated[col.Percent, Heading("End")]
    """accuracy at the end"""
    accuracy_edge: Annotated[col.Percent, Heading("Edge")]
    """mean of start and end"""
    primacy: Annotated[col.Percent, Heading("Primacy")]
    """start - middle"""
    primacy_ci_low: col.Low
    primacy_ci_high: col.High
    recency: Annotated[col.Percent, Heading("Recency")]
    """end - middle"""
    recency_ci_low: col.Low
    recency_ci_high: col.High
    tilt: Annotated[col.Percent, Heading("Tilt")]
    """end - start"""
    tilt_ci_low: col.Low
    tilt_ci_high: col.High
    pbi: Annotated[col.Percent, Heading("PBI")]
    """Position Bias Index, edge - middle"""
    pbi_ci_low: col.Low
    pbi_ci_high: col.High
    pbi_area: col.Percent
    """outer thirds - inner third by depth"""
    pbi_area_ci_low: col.Low
    pbi_area_ci_high: col.High
    pbi_class: Annotated[col.Text, Heading("Class")]
    """the suite's class: above 0.30 strong, 0.15 moderate, 0.05 weak, about 0 flat, below inverted; the bound of flat
    at -0.05 is this workflow's"""
    class_certain: Annotated[col.Boolean, Heading("Certain")]
    """whether the whole interval of the PBI lies in its class"""
    class_words: col.Text
    """the class, the classes that the 95 % interval reaches, and whether it contains 0"""
    shape: Annotated[col.Text, Heading("Shape")]
    """the word for the shape (docs/claims.md), the same as in claims.csv: what is shown of start, middle and end,
    corrected over all curves of this table; empty without information or without a middle"""
    accuracy_mean: col.Percent
    """mean of start, middle and end, for which the effects that n can show are computed; see docs/evidence.md"""
    correlation: col.Index
    """mean correlation of right and wrong between start, middle and end of a question, at least 0; 0.5 if a position
    has no variance"""
    primacy_mde: col.Percent
    """smallest primacy that this n shows with 80 % power"""
    primacy_n_for_5_points: col.Integer
    """questions that show a primacy of 5 points with 80 % power"""
    primacy_design_effect: col.Number
    """factor (at least 1) on the number of questions because questions of a cluster correlate in their primacy; 1
    without `cluster`"""
    recency_mde: col.Percent
    """the same of recency"""
    recency_n_for_5_points: col.Integer
    """the same of recency"""
    recency_design_effect: col.Number
    """the same of recency"""
    tilt_mde: col.Percent
    """the same of tilt"""
    tilt_n_for_5_points: col.Integer
    """the same of tilt"""
    tilt_design_effect: col.Number
    """the same of tilt"""
    pbi_mde: Annotated[col.Percent, Heading("Detectable PBI")]
    """smallest PBI that this n shows with 80 % power"""
    pbi_n_for_5_points: Annotated[col.Integer, Heading("n for 5 points")]
    """questions that show a PBI of 5 points with 80 % power"""
    pbi_design_effect: col.Number
    """factor of clusters, as for primacy, in the PBI"""
    position_best: col.Integer
    """position of the best accuracy; empty if all are equal"""
    position_worst: col.Integer
    """position of the worst"""
    accuracy_best: col.Percent
    """the best accuracy"""
    accuracy_worst: col.Percent
    """the worst"""
    gap: Annotated[col.Percent, Heading("Gap")]
    """best - worst"""
    gap_ci_low: col.Low
    gap_ci_high: col.High
    gap_null_mean: col.Percent
    """mean of the gap if positions had no effect, by permutation"""
    gap_null_95: Annotated[col.Percent, Heading("Gap by chance")]
    """95th percentile of the gap if positions had no effect"""
    gap_p_value: col.PValue
    """p of the gap by permutation; of judged answers that labels correct, the smallest p of two positions times their
    number"""
    cochran_q: col.Number
    """Cochran's Q: does any position differ?"""
    cochran_df: col.Integer
    """its degrees of freedom"""
    cochran_p_value: Annotated[col.PValue, Heading("Cochran p")]
    """its p; of judged answers that labels correct, as `gap_p_value`"""
    cochran_p_holm: Annotated[col.PValue, Heading("Holm over curves")]
    """`cochran_p_value` corrected by Holm over all curves of this table"""


@declare(
    "position_pairs", "Pairs of positions", inputs=("curve_scores",), rows="analysis.positions.position_pairs_table"
)
class PositionPairsRow(TypedDict, total=False):
    """Pairs of positions: difference on the same questions, with exact McNemar tests corrected by Holm.

    Accuracy at position a minus that at position b in points, with its own 95 % interval, paired by question; positions
    count from 0. A difference counts as shown if p (Holm), of exact McNemar tests corrected over the pairs of the
    curve, is below 0.05. The shape of a curve compares start, middle and end alone, not all pairs, so it may name a
    difference that is not shown here. Interval and p are not corrected, and may differ by themselves: the interval is
    an approximation, the test is exact.
    """

    model: Annotated[col.Model, SHOWN]
    experiment: Annotated[col.Experiment, SHOWN]
    task: col.Task
    metric: col.Metric
    size: Annotated[col.Size, SHOWN]
    items: col.Items
    placement: Annotated[col.CurvePlacement, SHOWN]
    target: col.Text
    """the gold items of the curve"""
    position_a: Annotated[col.Integer, shown("Position a")]
    """the first position"""
    position_b: Annotated[col.Integer, shown("Position b")]
    """the second position"""
    n: Annotated[col.Integer, shown("n")]
    """questions scored at every position"""
    accuracy_a: Annotated[col.Percent, shown("Accuracy a")]
    """accuracy at the first position"""
    accuracy_b: Annotated[col.Percent, shown("Accuracy b")]
    """accuracy at the second position"""
    difference: Annotated[col.Percent, shown("Difference")]
    """`accuracy_a` - `accuracy_b`"""
    ci_low: Annotated[col.Percent, shown("95 % from")]
    """lower 95 % limit, paired by question"""
    ci_high: Annotated[col.Percent, shown("to")]
    """upper 95 % limit"""
    n_right_only_a: col.Integer
    """questions right on side a alone; of a graded metric, better there"""
    n_right_only_b: col.Integer
    """questions right on side b alone; of a graded metric, better there"""
    p_value: Annotated[col.PValue, shown("p")]
    """exact McNemar test"""
    p_holm: Annotated[col.PValue, shown("Holm over pairs")]
    """`p_value` corrected by Holm over the pairs of the curve"""
    p_holm_all: Annotated[col.PValue, shown("Holm over all")]
    """`p_value` corrected by Holm over all pairs of all curves of this table"""
