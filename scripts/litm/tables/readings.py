"""Tables of cells beside their references, of the reading of answers, and of wrong answers."""

from typing import Annotated, TypedDict

from litm.tables import columns as col
from litm.tables.table import SHOWN, Heading, declare, shown


@declare(
    "utilisation",
    "Utilisation of the context",
    inputs=("gold_scores", "closed_book", "oracle"),
    rows="analysis.cells.utilisation_table",
    report=(
        "model", "experiment", "size", "placement", "n", "accuracy_closed_book", "accuracy", "accuracy_oracle",
        "utilisation", "utilisation_ci_low", "utilisation_ci_high",
    ),
)  # fmt: skip
class UtilisationRow(TypedDict, total=False):
    """Utilisation of each model and cell, (accuracy - closed book) / (oracle - closed book): the share of the
    documents' benefit that the model realises, with its paired 95 % interval.

    The share of the documents' benefit that the model realises, (accuracy - closed book) / (oracle - closed book), in
    per cent on the common questions. Empty unless the oracle is clearly better than closed book, because otherwise
    there is no benefit to divide by.
    """

    model: col.Model
    experiment: col.Experiment
    task: col.Task
    metric: col.Metric
    size: col.Size
    placement: col.Placement
    position: col.Position
    depth: col.Depth
    target: col.Target
    n: Annotated[col.Integer, Heading("n")]
    """questions that all three experiments scored"""
    accuracy: Annotated[col.Percent, Heading("Accuracy")]
    """accuracy on them"""
    accuracy_ci_low: col.Low
    accuracy_ci_high: col.High
    accuracy_closed_book: Annotated[col.Percent, Heading("Closed book")]
    """accuracy without documents"""
    accuracy_closed_book_ci_low: col.Low
    accuracy_closed_book_ci_high: col.High
    accuracy_oracle: Annotated[col.Percent, Heading("Oracle")]
    """accuracy with the gold document alone"""
    accuracy_oracle_ci_low: col.Low
    accuracy_oracle_ci_high: col.High
    utilisation: Annotated[col.Percent, Heading("Utilisation")]
    """(accuracy - closed book) / (oracle - closed book); empty unless the oracle is clearly better than closed book (99
    %)"""
    utilisation_ci_low: col.Low
    utilisation_ci_high: col.High


@declare(
    "reading_sensitivity",
    "First line against whole answer",
    inputs=("scores",),
    settings=("references",),
    rows="analysis.cells.reading_sensitivity_table",
)
class ReadingSensitivityRow(TypedDict, total=False):
    """Accuracy, primacy, recency, tilt, PBI, the gap to closed book and the utilisation by the answers' first lines and
    by the whole recorded answers, and whether the conclusion changes.

    Each quantity by the first lines of the answers and by the whole recorded answers, in points with 95 % intervals. A
    conclusion changes if one interval is above 0, or below it, and the other is not. These intervals are not corrected:
    they compare two readings and show no effect. If all answers have one line, as with `stop: first_line`, both
    readings are equal.
    """

    model: Annotated[col.Model, SHOWN]
    experiment: Annotated[col.Experiment, SHOWN]
    task: col.Task
    metric: col.Metric
    size: Annotated[col.Size, SHOWN]
    placement: Annotated[col.Placement, SHOWN]
    position: col.Position
    depth: col.Depth
    target: col.Target
    quantity: Annotated[col.Text, shown("Quantity")]
    """`accuracy`, `accuracy - closed book` and `utilisation` of a cell; `primacy`, `recency`, `tilt` and `pbi` of a
    curve"""
    n: Annotated[col.Integer, shown("n")]
    """questions, as in the table of the quantity"""
    value_first_line: Annotated[col.Percent, shown("First line")]
    """the quantity by the first line"""
    value_first_line_ci_low: Annotated[col.Percent, shown("95 % from")]
    """lower 95 % limit of `value_first_line`"""
    value_first_line_ci_high: Annotated[col.Percent, shown("to")]
    """upper 95 % limit of `value_first_line`"""
    value_full: Annotated[col.Percent, shown("Full answer")]
    """the quantity by the whole recorded answer"""
    value_full_ci_low: Annotated[col.Percent, shown("95 % from")]
    """lower 95 % limit of `value_full`"""
    value_full_ci_high: Annotated[col.Percent, shown("to")]
    """upper 95 % limit of `value_full`"""
    conclusion_first_line: col.Text
    """the interval is above 0, below 0, or contains 0; empty for an accuracy"""
    conclusion_full: col.Text
    """the same by the whole answer"""
    changes_with_reading: Annotated[col.Boolean, shown("Changes")]
    """whether the two conclusions differ"""
    n_preamble: Annotated[col.Integer, shown("End with :")]
    """for a cell: answers whose first line ends with a colon"""
    n_preamble_right: col.Integer
    """those of them that are right by the first line"""
    n_more_lines: Annotated[col.Integer, shown("More lines")]
    """for a cell: answers with more than one line"""


@declare("absent", "Without the gold item", inputs=("absent_scores",), rows="analysis.cells.absent_table")
class AbsentRow(TypedDict, total=False):
    """What a model says where the gold item is missing (`absent` of an experiment): shares of all answers, which add up
    to 1.

    Per cent of all answers to the same contexts without the gold item, with 95 % intervals. Abstains: says that it
    cannot answer, or that the context does not say (by the wordings of scripts/litm/scoring/abstentions.yaml, in
    English), or a provider withheld the answer. Copies: the value, name or number of another item. Knows: the right
    answer, from memory or by chance. Other: anything else, invented values and empty and cut answers among it.
    """

    model: Annotated[col.Model, SHOWN]
    experiment: Annotated[col.Experiment, SHOWN]
    task: col.Task
    metric: col.Metric
    size: Annotated[col.Size, SHOWN]
    items: col.Items
    n: Annotated[col.Integer, shown("n")]
    """answers counted"""
    abstains: Annotated[col.Percent, shown("Abstains")]
    """share of answers that say that they are none"""
    abstains_ci_low: col.Low
    abstains_ci_high: col.High
    copies: Annotated[col.Percent, shown("Copies")]
    """share of answers taken from another item"""
    copies_ci_low: col.Low
    copies_ci_high: col.High
    knows: Annotated[col.Percent, shown("Knows")]
    """share of right answers"""
    knows_ci_low: col.Low
    knows_ci_high: col.High
    other: Annotated[col.Percent, shown("Other")]
    """share of other answers"""
    other_ci_low: col.Low
    other_ci_high: col.High


@declare("wrong_answers", "Kinds of wrong answers", inputs=("scores",), rows="analysis.cells.wrong_answers_table")
class WrongAnswersRow(TypedDict, total=False):
    """The wrong answers of each model and cell by kind, and the positions of the items that they were taken from. An
    answer has the first kind that fits, in the order of the columns. A cell in doubt (accuracy.csv) has no row.

    Per cent with 95 % intervals: wrong answers of all answers of a cell, and each kind of its wrong answers, by the
    first kind that fits, from left to right. Taken from: the position of the other item (from 0) and the number of
    answers, where it is one item alone.
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
    """questions counted, as in accuracy.csv"""
    n_wrong: Annotated[col.Integer, shown("Wrong")]
    """those answered wrongly"""
    share_wrong: Annotated[col.Percent, shown("% wrong")]
    """`n_wrong` as a share of `n`"""
    share_wrong_ci_low: col.Low
    share_wrong_ci_high: col.High
    share_empty: Annotated[col.Percent, shown("Nothing")]
    """share of the wrong answers where the answer is nothing, or nothing but spaces and punctuation"""
    share_empty_ci_low: col.Low
    share_empty_ci_high: col.High
    share_refusal: Annotated[col.Percent, shown("Refusal")]
    """share of the wrong answers where the answer says that it cannot answer, or that the context does not say (in
    English); or a provider withheld it"""
    share_refusal_ci_low: col.Low
    share_refusal_ci_high: col.High
    share_code: Annotated[col.Percent, shown("Program")]
    """share of the wrong answers where the answer is a program, or a line of one, instead of a value"""
    share_code_ci_low: col.Low
    share_code_ci_high: col.High
    share_other_item: Annotated[col.Percent, shown("Another item's")]
    """share of the wrong answers where the answer has the value of an item that was not asked for, or a name or number
    that is in another document, but in neither the question nor the gold document"""
    share_other_item_ci_low: col.Low
    share_other_item_ci_high: col.High
    share_left_out: Annotated[col.Percent, shown("Left out")]
    """share of the wrong answers where the answer has an answer to another item of a prompt that asks for several, not
    to this one, and no invented value"""
    share_left_out_ci_low: col.Low
    share_left_out_ci_high: col.High
    share_invented: Annotated[col.Percent, shown("Invented")]
    """share of the wrong answers where the answer has a UUID or a code that is nowhere in the prompt"""
    share_invented_ci_low: col.Low
    share_invented_ci_high: col.High
    share_cut: Annotated[col.Percent, shown("Cut")]
    """share of the wrong answers where the answer is none of these, and ended at the limit of new tokens"""
    share_cut_ci_low: col.Low
    share_cut_ci_high: col.High
    share_other: Annotated[col.Percent, shown("Other")]
    """share of the wrong answers where the answer is none of these"""
    share_other_ci_low: col.Low
    share_other_ci_high: col.High
    taken_from: Annotated[col.Text, shown("Taken from")]
    """positions of the items that answers of `other_item` were taken from, as `position:answers`, from 0, most frequent
    first; answers whose name or number is in several documents are not counted"""
    copied_distance: Annotated[col.Number, shown("Distance")]
    """mean distance of these items from the gold item, as a fraction of the context; empty without such answers, or
    without a position"""
    copied_distance_ci_low: col.Low
    copied_distance_ci_high: col.High
    copied_distance_chance: Annotated[col.Number, shown("By chance")]
    """the same if all other items were copied equally often"""
    share_copied_before: col.Percent
    """share of these items that are before the gold item"""
    share_copied_before_ci_low: col.Low
    share_copied_before_ci_high: col.High


@declare(
    "judge",
    "The judge and its error",
    inputs=("judged_scores", "verdicts"),
    rows="analysis.judged.judge_table",
    report=(
        "model", "experiment", "size", "placement", "n", "accuracy_judge", "accuracy", "accuracy_ci_low",
        "accuracy_ci_high", "n_labels", "sensitivity", "specificity", "n_no_verdict", "n_swapped", "n_swap_changes",
    ),
)  # fmt: skip
class JudgeRow(TypedDict, total=False):
    """What the judge says of the answers of each model and cell, and how often it errs by a person's labels.

    The accuracy by labels is corrected for the judge's errors (docs/judged.md); it is that of accuracy.csv. Sensitivity
    is the share of right answers that the judge calls right, specificity the share of wrong ones that it calls wrong.
    """

    model: col.Model
    experiment: col.Experiment
    size: col.Size
    placement: col.Placement
    position: col.Position
    depth: col.Depth
    n: Annotated[col.Integer, Heading("n")]
    """judged answers"""
    n_no_verdict: Annotated[col.Integer, Heading("No verdict")]
    """answers on which neither reply of the judge is a verdict; not counted"""
    n_swapped: Annotated[col.Integer, Heading("Judged twice")]
    """answers that were judged with the accepted answers in reverse order too"""
    n_swap_changes: Annotated[col.Integer, Heading("With another verdict")]
    """those of them whose two verdicts differ"""
    accuracy_judge: Annotated[col.Percent, Heading("By the judge")]
    """share that the judge calls right"""
    accuracy_strict: col.Percent
    """share with an accepted answer as whole words"""
    n_labels: Annotated[col.Integer, Heading("Labels")]
    """answers with a label"""
    accuracy: Annotated[col.Percent, Heading("Corrected")]
    """accuracy corrected by the labels; missing if the labels do not have all kinds of answers (right or wrong by the
    judge, with or without an accepted answer)"""
    accuracy_ci_low: Annotated[col.Low, Heading("95 % from")]
    """lower 95 % limit of `accuracy`"""
    accuracy_ci_high: Annotated[col.High, Heading("to")]
    """upper 95 % limit of `accuracy`"""
    sensitivity: Annotated[col.Percent, Heading("Sensitivity")]
    """share of right answers that the judge calls right"""
    sensitivity_ci_low: col.Low
    """lower 95 % limit of `sensitivity`"""
    sensitivity_ci_high: col.High
    """upper 95 % limit of `sensitivity`"""
    specificity: Annotated[col.Percent, Heading("Specificity")]
    """share of wrong answers that the judge calls wrong"""
    specificity_ci_low: col.Low
    """lower 95 % limit of `specificity`"""
    specificity_ci_high: col.High
    """upper 95 % limit of `specificity`"""


@declare(
    "judge_agreement",
    "Agreement of judges",
    inputs=("agreeing_scores",),
    settings=("judge_pairs",),
    rows="analysis.judged.judge_agreement_table",
    report=("model", "experiment_a", "experiment_b", "n", "agreement", "kappa", "kappa_ci_low", "kappa_ci_high"),
)
class JudgeAgreementRow(TypedDict, total=False):
    """Agreement of two judges on the same answers of a model: experiments that differ in their judges alone.

    Kappa is Cohen's: 0 is the agreement of judges that answer at random with their own shares, 1 is full agreement.
    """

    model: col.Model
    experiment_a: Annotated[col.Text, Heading("Experiment")]
    """the experiment with the first judge"""
    experiment_b: Annotated[col.Text, Heading("Against")]
    """the one with the second"""
    n: Annotated[col.Integer, Heading("n")]
    """answers that both judged"""
    agreement: Annotated[col.Percent, Heading("Agreement")]
    """share of equal verdicts"""
    agreement_ci_low: col.Low
    agreement_ci_high: col.High
    kappa: Annotated[col.Number, Heading("Kappa")]
    """Cohen's kappa; missing if a judge gives all answers the same verdict"""
    kappa_ci_low: Annotated[col.Low, Heading("95 % from")]
    kappa_ci_high: Annotated[col.High, Heading("to")]
