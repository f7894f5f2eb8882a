"""Tables of differences between models and between conditions."""

from typing import Annotated, TypedDict

from litm.tables import columns as col
from litm.tables.table import SHOWN, Heading, declare, shown


@declare(
    "model_differences",
    "Differences of models",
    inputs=("compared_scores",),
    rows="analysis.differences.model_differences_table",
)
class ModelDifferencesRow(TypedDict, total=False):
    """Pairs of models in each cell: difference on the questions that both were asked.

    Accuracy of model a minus that of model b in points, cell by cell, on the questions that both scored. A difference
    counts as shown if p (Holm), corrected over the pairs of models of the cell, is below 0.05; the 95 % intervals are
    not corrected. Which model is better, and where, is decided by "Models compared", which is corrected over all places
    and may not show what a single cell shows.
    """

    experiment: Annotated[col.Experiment, SHOWN]
    task: col.Task
    metric: col.Metric
    size: Annotated[col.Size, SHOWN]
    placement: Annotated[col.Placement, SHOWN]
    position: col.Position
    depth: col.Depth
    target: col.Target
    model_a: Annotated[col.Text, shown("Model a")]
    """the first model"""
    model_b: Annotated[col.Text, shown("Model b")]
    """the second model"""
    n: Annotated[col.Integer, shown("n")]
    """questions scored for both"""
    n_scored_only_a: col.Integer
    """questions scored for the first alone"""
    n_scored_only_b: col.Integer
    """questions scored for the second alone"""
    accuracy_a: Annotated[col.Percent, shown("a")]
    """accuracy of the first on the n questions"""
    accuracy_b: Annotated[col.Percent, shown("b")]
    """accuracy of the second on them"""
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
    p_value: Annotated[col.PValue, Heading("p")]
    """exact McNemar test"""
    p_holm: Annotated[col.PValue, shown("p (Holm)")]
    """`p_value` corrected by Holm over the pairs of models of the cell"""
    p_holm_all: col.PValue
    """`p_value` corrected by Holm over all rows of this table"""


@declare(
    "condition_differences",
    "Differences between conditions",
    inputs=("condition_scores",),
    settings=("comparisons", "tuned_models"),
    rows="analysis.differences.condition_differences_table",
    report=(
        "condition", "setting_a", "setting_b", "model_a", "size_a", "quantity", "place", "n", "value_a", "value_b",
        "difference", "difference_ci_low", "difference_ci_high", "p_holm", "in_words",
    ),
)  # fmt: skip
class ConditionDifferencesRow(TypedDict, total=False):
    """Paired differences a - b on the same questions: experiments of one model that differ in one condition, sizes of
    one experiment, tuned models and their base models (`about.tuned_from`), and every experiment against its oracle and
    closed book.

    A minus B in points on the questions that both sides scored, with paired 95 % intervals, at equal positions or, if
    sizes differ, at start, middle and end. Words and p (Holm) are corrected over all rows of the same comparison and
    model (accuracies and contrasts of positions separately); intervals are not. The best and the worst position are
    chosen by the same answers, so their interval and p are corrected for the choice (Bonferroni).
    """

    condition: Annotated[col.Text, Heading("Condition")]
    """what differs: a key of the experiments, or several where `compared_with` or `query_aware_of` names the pair;
    `size`, `model`, `oracle`, `closed_book`"""
    setting_a: Annotated[col.Text, Heading("A")]
    """the condition on side a: the values of its keys, a size, a model or an experiment"""
    model_a: Annotated[col.Text, Heading("Model")]
    """the model of side a"""
    experiment_a: col.Text
    """the experiment of side a"""
    size_a: Annotated[col.Integer, Heading("Size")]
    """items in the contexts of side a"""
    setting_b: Annotated[col.Text, Heading("B")]
    """the condition on side b: the values of its keys, a size, a model or an experiment"""
    model_b: col.Text
    """the model of side b"""
    experiment_b: col.Text
    """the experiment of side b"""
    size_b: col.Integer
    """items in the contexts of side b"""
    metric: col.Metric
    quantity: Annotated[col.Text, Heading("Quantity")]
    """`accuracy` at a place, `mean accuracy` of all places, or `primacy`, `recency`, `pbi` of the curves; of a tuned
    and its base model also `best-worst gap` (best minus worst place of each)"""
    place: Annotated[col.Text, Heading("Place")]
    """position from the 1st, or start, middle, end; best and worst are chosen by accuracy"""
    position_a: col.Integer
    """position on side a, from 0; empty without a single one"""
    position_b: col.Integer
    """position on side b"""
    n: Annotated[col.Integer, Heading("n")]
    """questions that both sides scored at all positions concerned"""
    n_scored_only_a: col.Integer
    """questions that only side a scored there, left out"""
    n_scored_only_b: col.Integer
    """questions that only side b scored there, left out"""
    n_clusters: col.Integer
    """clusters of the n questions; empty without `cluster`"""
    value_a: Annotated[col.Percent, Heading("Value A")]
    """the quantity on side a, on the n questions"""
    value_b: Annotated[col.Percent, Heading("Value B")]
    """the same on side b"""
    difference: Annotated[col.Percent, Heading("A - B")]
    """`value_a` - `value_b`, paired by question"""
    difference_ci_low: col.Low
    difference_ci_high: col.High
    p_value: col.PValue
    """of no difference: exact McNemar test at a place, Student's t of the contrast for other quantities; of best-worst
    gaps corrected for all pairs of places (Bonferroni), because the same answers choose the pair"""
    chosen_of: Annotated[int, "integer"]
    """number of positions among which the place was chosen, 1 if it was not chosen"""
    family: col.Text
    """the rows that `p_holm` is corrected over"""
    p_holm: Annotated[col.PValue, Heading("p (Holm)")]
    """`p_value` corrected over the family; Bonferroni's for a chosen position"""
    in_words: Annotated[col.Text, Heading("In words")]
    """the conclusion at 5 % after the correction"""
    difference_first_line: col.Number
    """the difference by the answers' first lines"""
    difference_first_line_ci_low: col.Low
    difference_first_line_ci_high: col.High
    difference_full: col.Number
    """the difference by the whole recorded answers"""
    difference_full_ci_low: col.Low
    difference_full_ci_high: col.High
    changes_with_reading: col.Boolean
    """whether these two intervals lead to different conclusions (above 0, below 0, neither)"""
