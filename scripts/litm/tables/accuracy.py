"""Tables of accuracy: of cells, of pairs of models, and of remedies."""

from typing import Annotated, TypedDict

from litm.tables import columns as col
from litm.tables.table import SHOWN, declare, shown


@declare("accuracy", "Accuracy by position", inputs=("accuracies",))
class AccuracyRow(TypedDict, total=False):
    """Accuracy of each model and cell (experiment, size, placement), with the number of questions and its 95 %
    interval.

    Accuracies in per cent with their 95 % interval (Agresti and Coull's, never wider than Clopper and Pearson's, which
    is the one for n < 30). Empty and cut answers (ended at the limit of new tokens) count as answers; Cut is empty
    where recorded responses do not say how they ended. Questions without a recorded response are not counted; questions
    too long at some position are left out at all positions of that size.
    """

    model: Annotated[col.Model, SHOWN]
    experiment: Annotated[col.Experiment, SHOWN]
    task: col.Task
    metric: col.Metric
    size: Annotated[col.Size, SHOWN]
    items: col.Items
    placement: Annotated[col.Placement, SHOWN]
    position: col.Position
    depth: col.Depth
    target: Annotated[col.Target, SHOWN]
    n: Annotated[col.Integer, shown("n")]
    """questions counted"""
    accuracy: Annotated[col.Percent, shown("Accuracy")]
    """fraction of them that is right"""
    ci_low: Annotated[col.Percent, shown("95 % from")]
    """lower 95 % limit: Agresti and Coull's, or Clopper and Pearson's for n < 30 and where that is narrower"""
    ci_high: Annotated[col.Percent, shown("to")]
    """upper 95 % limit"""
    accuracy_first_line: Annotated[col.Percent, shown("First line")]
    """by the answer's first line that is not blank"""
    accuracy_full: Annotated[col.Percent, shown("Full answer")]
    """by the whole recorded answer; `accuracy` equals the one of the two that the metric reads"""
    accuracy_strict: col.Number
    """by the metric's strict rule, if it has one. `best_subspan_em`: the text before the first line end, even if it is
    blank, as in the paper; `exact_code`: no other code in the answer (`only_code`)"""
    accuracy_lenient: col.Number
    """by the metric's lenient rule, if it has one. `only_code`: other codes may be in the answer (`exact_code`)"""
    accuracy_completed: Annotated[col.Percent, shown("Of completed")]
    """of the answers that were not cut; empty without a cut one, and where labels correct a judge. Answers to hard
    questions may be longer, so it is no accuracy of all"""
    chance: Annotated[col.Percent, shown("By chance")]
    """of a reader that gives any one of the context's values of the asked kind (any key's value, any code; either value
    of a conflict); empty for open questions, and where the context has no other value"""
    answer_tokens: Annotated[col.Number, shown("Answer tokens")]
    """mean tokens of the answers, reasoning included; empty if the tokens of an answer are not known"""
    n_empty: Annotated[col.Integer, shown("Empty")]
    """counted answers that were empty"""
    n_cut: Annotated[col.Integer, shown("Cut")]
    """counted answers that ended at the limit of new tokens; empty where recorded responses do not say"""
    n_refused: Annotated[col.Integer, shown("Refused")]
    """counted answers that a provider's safety filter withheld or cut; empty as `n_cut`"""
    n_failed: Annotated[col.Integer, shown("Failed")]
    """questions that were asked and got no answer, not counted"""
    n_not_recorded: Annotated[col.Integer, shown("Not recorded")]
    """questions that recorded responses lack, not counted"""
    n_left_out: Annotated[col.Integer, shown("Left out")]
    """questions left out at all positions of the size because they did not fit the context window at one"""
    n_preamble: col.Integer
    """counted answers whose first line ends with a colon, so it may only announce the answer; see
    reading_sensitivity.csv"""
    doubt: col.Text
    """why more than half of the counted answers are neither right nor wrong, so that the accuracy says nothing
    (docs/numbers.md): `prompts_cut: TOKENS`, `prompt_repeated`, `refused`, `error`, `not_in_gold`, `same_answer: TEXT`,
    `empty` or `repetition`; empty without a doubt"""


@declare("model_pairs", "Models compared", inputs=("model_scores",), rows="analysis.differences.model_pairs_table")
class ModelPairsRow(TypedDict, total=False):
    """Pairs of models in each experiment, as means over its sizes: accuracy at all positions, start, middle and end,
    primacy, recency and Position Bias Index, with paired 95 % intervals. Sizes at which a model is at the floor or the
    ceiling, has too few questions or only empty answers, are left out of primacy, recency and PBI; sizes in doubt
    (`doubt` in accuracy.csv) of all.

    Model a minus model b in points, on the questions that both scored at all positions, as means over the sizes. A
    difference counts as shown if p (Holm) is below 0.05, corrected over all accuracies of the experiment, or over all
    of its primacy, recency and PBI. The 95 % intervals are not corrected, so one may exclude 0 where the difference is
    not shown.
    """

    experiment: Annotated[col.Experiment, SHOWN]
    size: col.Integer
    """the size, if there is only one"""
    n_sizes: Annotated[col.Integer, shown("Sizes")]
    """sizes that the row is a mean of"""
    is_paired: col.Boolean
    """whether the sizes have the same questions, which are then compared one by one"""
    model_a: Annotated[col.Text, shown("Model a")]
    """the first model"""
    model_b: Annotated[col.Text, shown("Model b")]
    """the second model"""
    quantity: Annotated[col.Text, shown("Quantity")]
    """`accuracy`, `primacy`, `recency` or `pbi`"""
    place: Annotated[col.Text, shown("Place")]
    """of an accuracy: `all` positions, `start`, `middle` or `end`"""
    n: Annotated[col.Integer, shown("n")]
    """questions that both models scored at all positions (of all sizes if `is_paired`)"""
    n_left_out: col.Integer
    """the other questions of these sizes"""
    value_a: Annotated[col.Percent, shown("a")]
    """the quantity of the first model"""
    value_b: Annotated[col.Percent, shown("b")]
    """the same of the second"""
    difference: Annotated[float, "percent", shown("a - b")]
    """`value_a` - `value_b`"""
    ci_low: Annotated[col.Percent, shown("95 % from")]
    """lower 95 % limit of `difference`"""
    ci_high: Annotated[col.Percent, shown("to")]
    """upper 95 % limit of `difference`"""
    p_value: col.PValue
    """Student's t of the difference; below 0.05 if the interval excludes 0"""
    p_holm: Annotated[float, "p_value", shown("p (Holm)")]
    """the same by Holm over the accuracies, or over the other quantities, of the experiment"""
    in_words: Annotated[col.Text, shown("In words")]
    """the conclusion on a against b"""


@declare(
    "advice",
    "Remedies: effect and cost",
    inputs=("remedy_scores",),
    settings=("conditions", "prices"),
    rows="findings.advice_table.advice_table",
)
class AdviceRow(TypedDict, total=False):
    """Each condition of an experiment with `remedies` and each number of documents: accuracy, tokens and money per
    question, the difference from the best condition on the same questions, and the advice, if the data support one.

    All conditions on their common scored questions. Difference: the condition minus the best one, with its paired 95 %
    interval; p (Holm), corrected over all comparisons with the best, decides: below 0.05 a condition is shown to be
    worse. The same answers choose the best condition, so its accuracy is optimistic; in at least 95 % of such studies
    the truly best condition is among those not shown to be worse. On the frontier: no other condition is as accurate
    for less. Advised: the cheapest condition not shown to be worse, if it is shown to lose at most 5 points to any
    other; otherwise none.
    """

    model: Annotated[col.Model, SHOWN]
    remedies_of: col.Text
    """the experiment whose remedies are compared"""
    experiment: col.Experiment
    size: col.Integer
    """documents shown; with a cut, the largest number"""
    condition: Annotated[col.Text, shown("Condition")]
    """the condition in words"""
    order: col.Text
    """the order of the documents"""
    reranker: col.Text
    """the reranker, empty without one"""
    cut: col.Text
    """rule by which documents are left out by their scores, empty for none"""
    prompt: col.Text
    """the prompt, if it differs from the study's"""
    n: Annotated[col.Integer, shown("n")]
    """questions that all conditions of the study scored"""
    n_left_out: col.Integer
    """questions that some of them did not score, left out"""
    n_clusters: col.Integer
    """clusters of the n questions; empty without `cluster`"""
    accuracy: Annotated[col.Percent, shown("Accuracy")]
    """accuracy on the n questions"""
    accuracy_ci_low: col.Low
    accuracy_ci_high: col.High
    tokens: Annotated[col.Number, shown("Tokens")]
    """mean tokens of prompt and answer per question; empty if not counted"""
    dollars: Annotated[col.Money, shown("US$ per 1,000")]
    """US dollars per 1,000 questions by the model's `prices`; empty without prices"""
    cost_ratio: Annotated[col.Number, shown("Times")]
    """cost divided by that of the cheapest condition: in dollars, else tokens, else documents"""
    difference: Annotated[col.Percent, shown("Minus the best")]
    """accuracy minus that of the best condition, paired"""
    difference_ci_low: col.Low
    difference_ci_high: col.High
    difference_ci_low_bonferroni: col.Percent
    """its lower limit, corrected for all comparisons (Bonferroni)"""
    p_value: col.PValue
    """exact McNemar test against the best; empty for the best"""
    p_holm: Annotated[col.PValue, shown("p (Holm)")]
    """the same by Holm over all conditions of model and study"""
    made_up: Annotated[col.Percent, shown("Made up")]
    """share of made-up answers (wrong, not empty, no abstention) where the documents with the answer are taken out;
    empty without `absent`"""
    made_up_ci_low: col.Low
    made_up_ci_high: col.High
    made_up_difference: Annotated[col.Percent, shown("Minus as retrieved")]
    """made_up minus that of the same number of documents as retrieved, paired"""
    made_up_difference_ci_low: col.Low
    made_up_difference_ci_high: col.High
    made_up_p_value: col.PValue
    """exact McNemar test of this difference, uncorrected"""
    is_best: col.Boolean
    """whether it has the most right answers"""
    in_best_set: Annotated[col.Boolean, shown("Not shown to be worse")]
    """whether it is not shown to be worse than the best"""
    on_frontier: Annotated[col.Boolean, shown("Frontier")]
    """whether no other condition is as accurate and cheaper, or better at the same cost"""
    is_advised: Annotated[col.Boolean, shown("Advised")]
    """whether it is advised"""
    n_for_5_points: col.Integer
    """questions that show a difference of 5 points in all comparisons with one condition with a chance of 80 %, at the
    mean accuracy, correlation and design effect of all conditions"""
    reason: col.Text
    """why a condition is left out, or why there is no advice"""
    advice: col.Text
    """the advice in a sentence, in the advised row, or in the best row without an advice"""
    advice_details: col.Text
    """why, and what is not known"""
