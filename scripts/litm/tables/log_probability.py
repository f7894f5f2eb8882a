"""Tables of the log-probability of the right answer."""

from typing import Annotated, TypedDict

from litm.tables import columns as col
from litm.tables.table import SHOWN, declare, shown


@declare(
    "log_probability",
    "Log-probability of the right answer",
    inputs=("log_probabilities",),
    rows="analysis.log_probability.log_probability_table",
)
class LogProbabilityRow(TypedDict, total=False):
    """The log-probability that the model gives to the accepted answers in each cell, in nats, for experiments with
    `measure: [log_probability]`: means over the questions with 95 % intervals.

    Nats, that is natural logarithms of probabilities: 0 is certainty, -0.69 one half. Per token: the log-probability of
    an accepted answer divided by its number of tokens, of the answer where this is largest. Answer: the most probable
    accepted answer. Any answer: of the sum of the probabilities of all accepted answers, without those that begin with
    another one. Nothing is generated: it is read after the prompt, see docs/log_probability.md. It is no accuracy: a
    model may give the right answer a high probability and another one a higher one.
    """

    model: Annotated[col.Model, SHOWN]
    experiment: Annotated[col.Experiment, SHOWN]
    task: col.Task
    size: Annotated[col.Size, SHOWN]
    items: col.Items
    placement: Annotated[col.Placement, SHOWN]
    position: col.Position
    depth: col.Depth
    target: col.Text
    """the gold item"""
    n: Annotated[col.Integer, shown("n")]
    """questions measured"""
    n_left_out: col.Integer
    """questions left out because they did not fit at some placement"""
    n_failed: col.Integer
    """questions without a log-probability"""
    answer_tokens: Annotated[col.Number, shown("Tokens")]
    """mean tokens of the most probable accepted answer"""
    per_token: Annotated[col.Nats, shown("Per token")]
    """mean log-probability of a token of the answer"""
    per_token_ci_low: col.Low
    per_token_ci_high: col.High
    answer: Annotated[col.Nats, shown("Answer")]
    """mean log-probability of the most probable accepted answer"""
    answer_ci_low: col.Low
    answer_ci_high: col.High
    any_answer: Annotated[col.Nats, shown("Any answer")]
    """mean log-probability of any accepted answer"""
    any_answer_ci_low: col.Low
    any_answer_ci_high: col.High


@declare(
    "log_probability_effects",
    "Effects of position on the log-probability",
    inputs=("log_probabilities",),
    rows="claims.log_probability.log_probability_effects_table",
)
class LogProbabilityEffectsRow(TypedDict, total=False):
    """Primacy, recency, tilt and the Position Bias Index of each curve in nats of the log-probability of the right
    answer, paired by question, with the number of questions that shows them and the verdict on a U; then the difference
    of each pair of positions.

    Nats on the questions measured at every position. PBI: mean of start and end, minus middle; primacy: start minus
    middle; recency: end minus middle; tilt: end minus start; pair: position a minus position b, positions count from 0.
    An effect counts as shown if p (Holm), of Student's t corrected over all effects on the curves of the experiment, or
    over the pairs of the curve, is below 0.05; the 95 % intervals are not corrected. A U is supported if primacy and
    recency are both shown to be above 0, and contradicted if one of them is shown to be below; the chance of a wrong
    verdict in an experiment is at most 5 %, by the procedure of docs/claims.md. An effect of 0.69 means that the
    probability of the answer doubles. Evidence of another kind than accuracy, which the claims of the paper are of.
    """

    model: Annotated[col.Model, SHOWN]
    experiment: Annotated[col.Experiment, SHOWN]
    task: col.Task
    size: Annotated[col.Size, SHOWN]
    items: col.Items
    quantity: Annotated[col.Text, shown("Quantity")]
    """`per_token`, `answer` or `any_answer`, as in log_probability.csv"""
    effect: Annotated[col.Text, shown("Effect")]
    """`primacy`, `recency`, `tilt`, `pbi` or `pair`"""
    position_a: Annotated[col.Integer, shown("Position a")]
    """the first position of a pair"""
    position_b: Annotated[col.Integer, shown("Position b")]
    """the second position of a pair"""
    n: Annotated[col.Integer, shown("n")]
    """questions measured at every position"""
    value: Annotated[col.Nats, shown("Nats")]
    """the effect"""
    ci_low: Annotated[col.Nats, shown("95 % from")]
    """lower 95 % limit, paired by question"""
    ci_high: Annotated[col.Nats, shown("to")]
    """upper 95 % limit"""
    p_value: col.PValue
    """of no effect, by Student's t"""
    p_holm: Annotated[col.PValue, shown("p (Holm)")]
    """`p_value` corrected over the effects on the curves of the experiment, or over the pairs of the curve, for each
    quantity by itself"""
    n_needed: Annotated[col.Integer, shown("Questions needed")]
    """questions that show an effect of this size in 80 % of studies, by its standard error; empty for a pair"""
    u_verdict: Annotated[col.Text, shown("U")]
    """in the row of the index of `answer`: `supported`, `contradicted` or `not enough data`"""
    u_reason: col.Text
    """why"""
    u_family_size: col.Integer
    """number of curves that the verdict is corrected for"""
