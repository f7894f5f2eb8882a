"""Tables of several gold items of one context: facts that belong together, or values that conflict."""

from typing import Annotated, TypedDict

from litm.tables import columns as col
from litm.tables.table import SHOWN, declare, shown


@declare(
    "two_facts",
    "Two facts in one context",
    inputs=("fact_scores",),
    settings=("fact_parts",),
    rows="analysis.facts.two_facts_table",
)
class TwoFactsRow(TypedDict, total=False):
    """What answers have of two gold items of one context: both, only the first or only the second, or neither, by their
    places and distance. Of values that conflict none is right: these are the shares of answers that give them.

    Per cent of the questions with 95 % intervals. From one answer to a question for both, or from the answers to two
    questions for one each, about the same contexts. The differences, in points, are paired by question; p (Holm) is
    corrected over the rows of the model and experiment, for each of the three differences. An order has no difference
    from itself, so that it is in the row in which the first fact comes first.
    """

    model: Annotated[col.Model, SHOWN]
    experiment: Annotated[col.Experiment, SHOWN]
    task: col.Task
    metric: col.Metric
    size: Annotated[col.Size, SHOWN]
    placement: Annotated[col.Placement, SHOWN]
    asked: Annotated[str, "text", shown("Asked")]
    """`together`, or `alone`: each fact by a question of its own"""
    position_first: col.Integer
    """position of the first fact, from 0; of conflicting values, of the older one or that of a lower standing"""
    position_second: col.Integer
    """position of the second fact"""
    distance: Annotated[int, "integer", shown("Distance")]
    """items from the first to the second fact; below 0 if the second one comes first"""
    n: Annotated[int, "integer", shown("n")]
    """questions"""
    both: Annotated[col.Percent, shown("Both")]
    """share with both"""
    both_ci_low: col.Low
    both_ci_high: col.High
    first_only: Annotated[col.Percent, shown("First only")]
    """share with the first alone"""
    first_only_ci_low: col.Low
    first_only_ci_high: col.High
    second_only: Annotated[col.Percent, shown("Second only")]
    """share with the second alone"""
    second_only_ci_low: col.Low
    second_only_ci_high: col.High
    neither: Annotated[col.Percent, shown("Neither")]
    """share with none"""
    neither_ci_low: col.Low
    neither_ci_high: col.High
    from_nearest: Annotated[col.Percent, shown("Both, minus nearest")]
    """`both` minus that at the smallest distance in this order"""
    from_nearest_ci_low: col.Low
    from_nearest_ci_high: col.High
    from_nearest_p: col.PValue
    """exact McNemar test"""
    from_nearest_p_holm: Annotated[col.PValue, shown("p (Holm)")]
    """`from_nearest_p` corrected over the rows of the model and experiment"""
    from_swapped: Annotated[col.Percent, shown("First, minus swapped")]
    """share with the first fact, minus that where the two facts have each other's place"""
    from_swapped_ci_low: col.Low
    from_swapped_ci_high: col.High
    from_swapped_p: col.PValue
    """exact McNemar test"""
    from_swapped_p_holm: Annotated[col.PValue, shown("p (Holm)")]
    """`from_swapped_p` corrected over the rows of the model and experiment"""
    from_alone: Annotated[col.Percent, shown("Both, minus alone")]
    """`both` asked together minus both asked alone: what it costs to link or to name two facts"""
    from_alone_ci_low: col.Low
    from_alone_ci_high: col.High
    from_alone_p: col.PValue
    """exact McNemar test"""
    from_alone_p_holm: Annotated[col.PValue, shown("p (Holm)")]
    """`from_alone_p` corrected over the rows of the model and experiment"""


@declare(
    "fact_chains",
    "Chains of three facts",
    inputs=("chain_scores",),
    settings=("fact_parts",),
    rows="analysis.facts.fact_chains_table",
)
class FactChainsRow(TypedDict, total=False):
    """Where a chain of three facts breaks: the share of answers with all facts, and of those in which the first, the
    second or the third fact is the first one that is missing, by the places of the facts.

    Per cent of the questions with 95 % intervals; the four shares add up to 100 %. From one answer to a question for
    all facts, or from the answers to three questions for one each, about the same contexts. The difference, in points,
    is paired by question; p (Holm) is corrected over the rows of the model and experiment.
    """

    model: Annotated[col.Model, SHOWN]
    experiment: Annotated[col.Experiment, SHOWN]
    task: col.Task
    metric: col.Metric
    size: Annotated[col.Size, SHOWN]
    placement: Annotated[col.Placement, SHOWN]
    asked: Annotated[str, "text", shown("Asked")]
    """`together`, or `alone`: each fact by a question of its own"""
    n: Annotated[int, "integer", shown("n")]
    """questions"""
    complete: Annotated[col.Percent, shown("All facts")]
    """share with all facts"""
    complete_ci_low: col.Low
    complete_ci_high: col.High
    fails_at_first: Annotated[col.Percent, shown("Fails at the first")]
    """share without the first fact"""
    fails_at_first_ci_low: col.Low
    fails_at_first_ci_high: col.High
    fails_at_second: Annotated[col.Percent, shown("At the second")]
    """share with the first fact and without the second"""
    fails_at_second_ci_low: col.Low
    fails_at_second_ci_high: col.High
    fails_at_third: Annotated[col.Percent, shown("At the third")]
    """share with the first two facts and without the third"""
    fails_at_third_ci_low: col.Low
    fails_at_third_ci_high: col.High
    from_alone: Annotated[col.Percent, shown("All, minus alone")]
    """`complete` asked together minus `complete` asked alone: what it costs to link or to name three facts"""
    from_alone_ci_low: col.Low
    from_alone_ci_high: col.High
    from_alone_p: col.PValue
    """exact McNemar test"""
    from_alone_p_holm: Annotated[col.PValue, shown("p (Holm)")]
    """`from_alone_p` corrected over the rows of the model and experiment"""
