"""Tables that compare the sizes of an experiment."""

from typing import Annotated, TypedDict

from litm.tables import columns as col
from litm.tables.table import SHOWN, Heading, declare, shown


@declare(
    "effective_length",
    "Effective length",
    inputs=("sized_scores",),
    rows="claims.effective_length.effective_length_table",
)
class EffectiveLengthRow(TypedDict, total=False):
    """The effective length of each model in each experiment of several sizes: the longest size up to which the worst
    position is within 10 points of the best position of the smallest size, with the evidence. One row per size.

    Loss: the best accuracy of any position at the smallest size minus the worst of any position at this one. A size is
    shown within the margin of 10 points if the whole interval of its loss, and of all smaller sizes, is below; beyond
    it if the interval of its loss, and of all larger sizes, is above. The chance of any wrong 'shown' in an experiment
    is at most 5 %; 'not shown' does not prove the opposite.
    """

    model: Annotated[col.Model, SHOWN]
    experiment: Annotated[col.Experiment, SHOWN]
    size: Annotated[col.Size, SHOWN]
    tokens_mean: Annotated[col.Number, shown("Tokens")]
    """mean tokens of its prompts; empty if not counted"""
    size_smallest: col.Integer
    """the smallest size that the model has"""
    n: Annotated[col.Integer, shown("n")]
    """questions compared, the smallest number over pairs of positions"""
    is_paired: col.Boolean
    """whether both sizes have the same questions, which are then compared one by one"""
    accuracy_best: Annotated[col.Percent, shown("Best at the smallest")]
    """best accuracy of any position at the smallest size"""
    position_worst: col.Integer
    """position of the worst accuracy at this size, from 0"""
    accuracy_worst: Annotated[col.Percent, shown("Worst here")]
    """worst accuracy of any position at this size"""
    loss: Annotated[col.Percent, shown("Loss")]
    """best of the smallest size minus worst of this one, on the questions compared"""
    ci_low: Annotated[col.Percent, shown("From")]
    """lower limit of the loss at `confidence`, corrected for all pairs of positions (Bonferroni)"""
    ci_high: Annotated[col.Percent, shown("To")]
    """upper limit at `confidence`, the largest of a pair of positions"""
    margin: col.Percent
    """the tolerated loss: 0.10"""
    confidence: col.Number
    """1 - 0.05/m in an experiment of m models with several sizes"""
    verdict: Annotated[col.Text, shown("Within 10 points")]
    """`shown within` the margin, as are all smaller sizes; `shown beyond` it, as are all larger ones; else `not
    shown`"""
    effective_length: Annotated[col.Text, shown("Effective length")]
    """the effective length from the verdicts of all sizes, in the experiment's sizes"""


@declare(
    "published_effective_length",
    "Published effective lengths",
    inputs=("published_lengths",),
    rows="analysis.published.published_lengths_table",
)
class PublishedEffectiveLengthRow(TypedDict, total=False):
    """The effective lengths that RULER and NoLiMa print, for a study with effective lengths of its own.

    Their effective length is the longest length up to which the mean score is at least the threshold, over tasks and
    places together: RULER's threshold is the score of Llama-2-7B at 4K, 85.6 %, NoLiMa's 85 % of the model's score in
    short contexts. "Effective length" asks for more, that the worst position is close to the best one with an interval,
    and it has other questions. Read the two for their order of magnitude, and do not subtract them.
    """

    benchmark: Annotated[col.Text, shown("Benchmark")]
    """RULER ([arXiv 2404.06654](https://arxiv.org/abs/2404.06654)) or NoLiMa
    ([arXiv 2502.05167](https://arxiv.org/abs/2502.05167))"""
    model: Annotated[col.Text, shown("Here")]
    """name of the model in this catalogue; empty for one that it lacks"""
    printed_as: Annotated[col.Text, shown("Model")]
    """name of the model in their table"""
    claimed: Annotated[col.Text, shown("Claimed")]
    """claimed context window, tokens"""
    effective: Annotated[col.Text, shown("Effective")]
    """effective length as printed, tokens"""
    threshold: Annotated[col.Percent, shown("Threshold")]
    """score that it reaches"""
    scores: Annotated[col.Text, shown("Scores in % by length")]
    """printed scores"""
    source: col.Text
    """the file of the benchmark's repository"""
    note: Annotated[col.Text, shown("Note")]
    """what to know of the row"""


@declare(
    "bias_by_size",
    "Position bias by size",
    inputs=("sized_scores",),
    rows="analysis.differences.bias_by_size_table",
    report=(
        "model", "experiment", "size", "size_smallest", "n", "pbi_smallest", "pbi", "difference_pbi",
        "difference_pbi_ci_low", "difference_pbi_ci_high", "difference_primacy", "difference_recency", "in_words",
    ),
)  # fmt: skip
class BiasBySizeRow(TypedDict, total=False):
    """The Position Bias Index, primacy and recency of each model in each experiment of several sizes, compared with
    those of the smallest size. One row per size.

    This size minus the smallest, with 95 % intervals: paired where both have the same questions, else of independent
    questions, with wider intervals. The words are at 5 % corrected over the models and sizes of an experiment
    (Bonferroni) and concern the Position Bias Index.
    """

    model: col.Model
    experiment: col.Experiment
    size: col.Size
    size_smallest: Annotated[col.Integer, Heading("Smallest")]
    """the smallest size that the model has"""
    is_paired: col.Boolean
    """whether both sizes have the same questions, which are then compared one by one"""
    n: Annotated[col.Integer, Heading("n")]
    """questions scored at start, middle and end of this size, or of both sizes if paired"""
    n_smallest: col.Integer
    """the same for the smallest size"""
    pbi: Annotated[col.Percent, Heading("PBI")]
    """PBI at this size"""
    pbi_smallest: Annotated[col.Percent, Heading("PBI smallest")]
    """PBI at the smallest size"""
    difference_pbi: Annotated[col.Percent, Heading("PBI difference")]
    """this size minus the smallest"""
    difference_pbi_ci_low: col.Low
    difference_pbi_ci_high: col.High
    primacy: col.Percent
    """Primacy at this size"""
    primacy_smallest: col.Percent
    """Primacy at the smallest size"""
    difference_primacy: Annotated[col.Percent, Heading("Primacy difference")]
    """this size minus the smallest"""
    difference_primacy_ci_low: col.Low
    difference_primacy_ci_high: col.High
    recency: col.Percent
    """Recency at this size"""
    recency_smallest: col.Percent
    """Recency at the smallest size"""
    difference_recency: Annotated[col.Percent, Heading("Recency difference")]
    """this size minus the smallest"""
    difference_recency_ci_low: col.Low
    difference_recency_ci_high: col.High
    in_words: Annotated[col.Text, Heading("In words")]
    """whether the Position Bias Index differs, at 5 % over the models and sizes; and where start, middle and end are,
    if at different depths"""
