"""Tables of the audit, of `litm.compare` and `litm.studies`, and of the report."""

from typing import Annotated, TypedDict

from litm.tables import columns as col
from litm.tables.table import SHOWN, Heading, declare, shown


@declare("audit", "Audit", inputs=("audits",), is_default=False)
class AuditRow(TypedDict, total=False):
    """Answers of each model and cell that changed when asked one prompt at a time, by `snakemake audit`. Intervals and
    p values count questions, also where an experiment has `cluster`."""

    model: col.Model
    experiment: col.Experiment
    size: col.Size
    placement: col.Placement
    position: col.Position
    n: col.Integer
    """answers asked again"""
    n_flips_text: col.Integer
    """answers with another text in the second pass"""
    flip_rate_text: col.Percent
    """their share"""
    flip_rate_text_ci_low: col.Percent
    """its lower 95 % limit, as in accuracy.csv"""
    flip_rate_text_ci_high: col.Percent
    """its upper 95 % limit"""
    flip_rate_text_p_value: col.PValue
    """test of whether placements of this size flip equally often (best minus worst, permuted within questions); equal
    in all rows of a size, empty for one placement"""
    n_flips_correct: col.Integer
    """answers with another verdict of the metric in the second pass"""
    flip_rate_correct: col.Percent
    """their share"""
    flip_rate_correct_ci_low: col.Percent
    """its lower 95 % limit, as in accuracy.csv"""
    flip_rate_correct_ci_high: col.Percent
    """its upper 95 % limit"""
    flip_rate_correct_p_value: col.PValue
    """test of whether placements of this size flip equally often (best minus worst, permuted within questions); equal
    in all rows of a size, empty for one placement"""


@declare(
    "regression",
    "One model against another, by a margin",
    report=(
        "experiment", "size", "placement", "target", "verdict", "n", "n_left_out", "accuracy_b", "accuracy_a",
        "difference", "ci_low", "ci_high",
    ),
)  # fmt: skip
class RegressionRow(TypedDict, total=False):
    """Whether a model answers worse than another one by more than a margin, position by position, by `python -m litm
    compare`: accuracy_a is of the judged model, accuracy_b of the other, on the same questions.

    Accuracies in per cent on the questions that both answered, and the model minus the other in points, with its 95 %
    interval, which is not corrected. The verdict is, over all judged rows. `litm check --against` writes the same
    columns as serving_check.csv: its limits and p values hold at all looks, and a verdict may be `uninformative`.
    """

    experiment: col.Experiment
    task: col.Task
    metric: col.Metric
    size: col.Size
    placement: Annotated[col.Text, Heading("Placement")]
    """where the gold item is, as in the names of the example files; `mean` for the mean of all cells of the size"""
    position: col.Position
    depth: col.Depth
    target: col.Target
    n: Annotated[col.Integer, Heading("n")]
    """questions that both scored"""
    n_left_out: Annotated[int, "integer", Heading("Left out")]
    """questions that only one of them scored"""
    accuracy_a: Annotated[col.Percent, Heading("Model")]
    """accuracy of the judged model on them"""
    accuracy_b: Annotated[col.Percent, Heading("Against")]
    """that of the other"""
    difference: Annotated[col.Percent, Heading("Difference")]
    """`accuracy_a` - `accuracy_b`"""
    ci_low: Annotated[col.Percent, Heading("95 % from")]
    """lower 95 % limit of `difference`, not corrected"""
    ci_high: Annotated[col.Percent, Heading("to")]
    """upper 95 % limit of `difference`"""
    p_worse: Annotated[float, "p_value"]
    """one-sided p of a difference of minus the margin or more"""
    p_worse_holm: Annotated[col.PValue, Heading("p worse (Holm)")]
    """the same by Holm over all judged rows; below 0.05 the model is shown to be worse. Empty in rows that are not
    judged"""
    p_not_worse: Annotated[float, "p_value", Heading("p not worse")]
    """one-sided p of a difference of minus the margin or less; below 0.05 the model is shown not to be worse"""
    verdict: Annotated[col.Text, Heading("Verdict")]
    """`worse` or `not worse` by more than the margin, or `cannot tell`; `not compared` without a common question, or
    `asked on one side`; empty in rows that are not judged"""
    n_needed: Annotated[col.Integer, Heading("Questions needed")]
    """of `cannot tell`, the questions that would show a model that does not differ not to be worse, in all judged rows
    at once with a chance of 80 %, at this row's accuracy and correlation"""


@declare("studies", "Models of several studies")
class StudiesRow(TypedDict, total=False):
    """Models of several results folders, by `python -m litm studies`: one row per study, model, experiment and size.
    Only rows of one `table` are comparable: they have the same prompts and the same metric.

    Accuracies in per cent, differences in points, with 95 % intervals, as in the tables of each study. Rows of a table
    that share a letter are not shown to differ: paired tests, corrected by Holm over the table.
    """

    table: Annotated[col.Integer, Heading("Table")]
    """number of the table that the row belongs to"""
    model: Annotated[col.Model, SHOWN]
    study: Annotated[col.Text, shown("Study")]
    """name of the study"""
    label: col.Text
    """both, as `study: model`, the name of the row in paired tests"""
    experiment: col.Experiment
    title: col.Text
    """its title"""
    task: col.Task
    metric: col.Metric
    size: col.Integer
    """items in the context; tokens if the experiment has `tokens_of`"""
    size_in_words: Annotated[col.Text, Heading("Size")]
    """the size with its noun"""
    items: col.Items
    placement: col.CurvePlacement
    positions: col.Text
    """its positions, from the 1st"""
    prompt: col.Text
    """name of the prompt file"""
    data: col.Text
    """the data that the prompts are made of, with version and sha256"""
    decoding: col.Text
    """how answers were made; `not known` of recorded responses"""
    number_format: col.Text
    """number format of the model's computation"""
    prompts: col.Text
    """digest of the questions and their prompts, the same in all rows of a table; empty if the study does not say what
    was asked"""
    n: Annotated[col.Integer, shown("n")]
    """questions scored at every position"""
    accuracy: Annotated[col.Percent, shown("Accuracy")]
    """accuracy of a cell that is no curve, such as closed book"""
    accuracy_ci_low: col.Low
    accuracy_ci_high: col.High
    accuracy_start: Annotated[col.Percent, shown("Start")]
    """accuracy at the start, as in accuracy.csv"""
    accuracy_start_ci_low: col.Low
    accuracy_start_ci_high: col.High
    accuracy_middle: Annotated[col.Percent, shown("Middle")]
    """accuracy at the middle"""
    accuracy_middle_ci_low: col.Low
    accuracy_middle_ci_high: col.High
    accuracy_end: Annotated[col.Percent, shown("End")]
    """accuracy at the end"""
    accuracy_end_ci_low: col.Low
    accuracy_end_ci_high: col.High
    primacy: Annotated[col.Percent, shown("Primacy")]
    """start - middle"""
    primacy_ci_low: col.Low
    primacy_ci_high: col.High
    recency: Annotated[col.Percent, shown("Recency")]
    """end - middle"""
    recency_ci_low: col.Low
    recency_ci_high: col.High
    pbi: Annotated[col.Percent, shown("PBI")]
    """Position Bias Index, mean of start and end minus middle"""
    pbi_ci_low: col.Low
    pbi_ci_high: col.High
    shape: Annotated[col.Text, shown("Shape")]
    """the word for the shape (docs/claims.md), corrected over the curves of its own study, or why there is none"""
    tokens: Annotated[col.Number, shown("Tokens")]
    """mean tokens of a prompt; empty if not counted"""
    prompt_format: Annotated[col.Text, shown("Prompt format")]
    """the model's prompt template, with its digest unless prompts are sent as they are"""
    pbi_class: Annotated[col.Text, Heading("Class")]
    """the suite's class of the PBI"""
    class_certain: col.Boolean
    """whether the whole interval of the PBI lies in its class"""
    reason: col.Text
    """why the positions carry no information, see position_bias.csv"""
    noted: Annotated[col.Text, shown("Answers")]
    """counted answers; how many of them are cut or empty; how many are missing beside them"""
    n_empty: col.Integer
    """counted answers that were empty, at all positions"""
    n_cut: col.Integer
    """counted answers that ended at the limit of new tokens; empty if not known"""
    n_refused: col.Integer
    """counted answers that a provider's safety filter withheld or cut; empty as `n_cut`"""
    n_failed: col.Integer
    """prompts that were asked and got no answer"""
    n_not_recorded: col.Integer
    """prompts that recorded responses lack"""
    n_left_out: col.Integer
    """prompts left out because the question did not fit the context window at some position"""
    effective_length: Annotated[col.Text, Heading("Effective length")]
    """the effective length over the sizes of the experiment in this study, see effective_length.csv"""
    loss: Annotated[col.Percent, Heading("Loss")]
    """best accuracy of the smallest size minus worst of this one, with limits at `loss_confidence`"""
    loss_ci_low: col.Low
    loss_ci_high: col.High
    loss_confidence: Annotated[col.Percent, Heading("Confidence")]
    """confidence of these limits"""
    accuracy_letters: col.Text
    """rows of the table that share a letter are not shown to differ in `accuracy`; empty without a paired test"""
    accuracy_start_letters: col.Text
    """rows of the table that share a letter are not shown to differ in `accuracy_start`; empty without a paired test"""
    accuracy_middle_letters: col.Text
    """rows of the table that share a letter are not shown to differ in `accuracy_middle`; empty without a paired
    test"""
    accuracy_end_letters: col.Text
    """rows of the table that share a letter are not shown to differ in `accuracy_end`; empty without a paired test"""
    primacy_letters: col.Text
    """rows of the table that share a letter are not shown to differ in `primacy`; empty without a paired test"""
    recency_letters: col.Text
    """rows of the table that share a letter are not shown to differ in `recency`; empty without a paired test"""
    pbi_letters: col.Text
    """rows of the table that share a letter are not shown to differ in `pbi`; empty without a paired test"""


@declare("tokens_used", "Tokens and cost of each sweep", section="tokens")
class TokensUsedRow(TypedDict, total=False):
    """Tokens and cost of each sweep, from its manifest. The report makes this table, and saves it.

    Kept answers and their tokens. Asked last: the prompts of the sweep's last run, their tokens, the computed tokens,
    and the share that shared prefixes saved, in per cent. Empty: nothing was asked, or only the server knows. US$: by
    the prices of the models, of the tokens that the provider's counters have billed; for answers without a recorded
    bill, as if nothing was cached; each answer is counted in the sweep that paid for it.
    """

    model: Annotated[col.Model, SHOWN]
    experiment: Annotated[col.Experiment, SHOWN]
    n_answers: Annotated[col.Integer, shown("Answers")]
    """kept answers"""
    prompt_tokens: Annotated[col.Integer, shown("Prompt tokens")]
    """tokens of their prompts"""
    response_tokens: Annotated[col.Integer, shown("Answer tokens")]
    """their tokens"""
    last_asked: Annotated[col.Integer, shown("Asked last")]
    """prompts of the last run of the sweep"""
    last_prompt_tokens: Annotated[col.Integer, shown("Their prompt tokens")]
    """their tokens"""
    last_computed_tokens: Annotated[col.Integer, shown("Computed")]
    """computed tokens of these prompts"""
    saved: Annotated[col.Percent, shown("Saved")]
    """share of tokens that shared prefixes saved"""
    dollars: Annotated[col.Money, shown("US$")]
    """cost by the prices of the model, as billed; 0 of an answer that another sweep paid for"""
    bill: Annotated[col.Text, shown("Bill")]
    """whether the provider's counters are recorded"""
