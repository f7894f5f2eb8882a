"""Tables of published numbers and of the paper's claims."""

from typing import Annotated, TypedDict

from litm.tables import columns as col
from litm.tables.table import SHOWN, Heading, declare, shown


@declare(
    "published_comparison",
    "Published numbers",
    inputs=("accuracy", "manifests", "published", "published_models"),
    settings=("data_versions",),
    rows="analysis.comparison.published_comparison_table",
    in_markdown=(
        "model", "experiment", "size", "placement", "n", "accuracy", "n_published", "accuracy_published", "difference",
        "difference_ci_low", "difference_ci_high", "accuracy_strict", "difference_strict", "difference_strict_ci_low",
        "difference_strict_ci_high", "verdict", "reason", "source", "note",
    ),
    section="published",
)  # fmt: skip
class PublishedComparisonRow(TypedDict, total=False):
    """Measured accuracies compared with the published ones of the same cells, one row per published value: the
    difference with its 95 % interval (two independent proportions, Newcombe's hybrid score interval), and whether they
    agree, or why they cannot be compared.

    Per cent, measured and published; difference: measured minus published in points, with its 95 % interval. Strict: by
    the text before the first line end even if it is blank, as in the paper. Rows that are not comparable have the
    reason.
    """

    model: Annotated[col.Model, SHOWN]
    experiment: Annotated[col.Experiment, SHOWN]
    size: Annotated[col.Size, SHOWN]
    placement: Annotated[col.Placement, SHOWN]
    position: col.Position
    metric: col.Metric
    n: Annotated[col.Integer, Heading("n")]
    """questions counted here"""
    accuracy: Annotated[col.Percent, shown("Accuracy")]
    """the accuracy measured here"""
    n_published: Annotated[col.Integer, Heading("Published n")]
    """questions of the published value"""
    accuracy_published: Annotated[col.Percent, shown("Published")]
    """the published accuracy"""
    difference: Annotated[col.Percent, shown("Difference")]
    """ours - theirs"""
    difference_ci_low: Annotated[col.Percent, shown("95 % from")]
    """lower 95 % limit, Newcombe's; a paired interval would be narrower, but needs the authors' single answers"""
    difference_ci_high: Annotated[col.Percent, shown("to")]
    """upper 95 % limit"""
    accuracy_strict: Annotated[col.Percent, shown("Strict")]
    """`accuracy_strict`: by the text before the first line end, even if it is blank, as in the paper; `accuracy` skips
    blank lines before the answer"""
    difference_strict: Annotated[col.Percent, shown("Strict - published")]
    """`accuracy_strict` - `accuracy_published`"""
    difference_strict_ci_low: col.Low
    difference_strict_ci_high: col.High
    verdict_strict: col.Text
    """`verdict` of the strict score"""
    verdict: Annotated[col.Text, shown("Verdict")]
    """`consistent` (the interval contains 0), `differs`, or `not comparable`"""
    reason: Annotated[col.Text, shown("Reason")]
    """why not comparable: another n, metric, data version, weights, prompt format, or quantisation"""
    source: Annotated[col.Text, shown("Source")]
    """table or section of the paper"""
    note: Annotated[col.Text, Heading("Note")]
    """a remark on the published value"""


@declare(
    "claims",
    "Claims, case by case",
    report=(
        "claim", "models", "experiment", "size", "verdict", "changes_with_reading", "shape", "quantity", "value",
        "ci_low", "ci_high", "confidence", "n", "role", "paper_says", "status", "reason",
    ),
)  # fmt: skip
class ClaimsRow(TypedDict, total=False):
    """The paper's claims, tested on each model, experiment and size that was run: supported, contradicted or not enough
    data, with the statistic, the interval that decides, and the reason; also the paper's finding on the case and
    whether the claim is contested.

    Per cent and points. From and to: the interval that decides, at the confidence that the number of cases asks for:
    the chance of any wrong verdict among the cases of a claim, an experiment and a role is at most 5 % (Holm). Depends
    on reading: by the answers' first lines the verdict is another than by the whole answers, and the reason says which.
    """

    claim: Annotated[col.Text, Heading("Claim")]
    """name of the claim"""
    models: Annotated[col.Text, Heading("Models")]
    """the models of the case"""
    experiment: Annotated[col.Text, Heading("Experiment")]
    """the experiment of the case; empty if the claim has no case"""
    size: Annotated[col.Integer, Heading("Size")]
    """the size, empty for a case of several sizes"""
    verdict: Annotated[col.Text, Heading("Verdict")]
    """`supported`, `contradicted` or `not enough data`"""
    changes_with_reading: Annotated[col.Boolean, Heading("Depends on reading")]
    """whether first lines and whole answers give different verdicts; empty for published accuracies"""
    verdict_first_line: col.Text
    """the verdict by the answers' first lines"""
    verdict_full: col.Text
    """the verdict by the whole recorded answers"""
    quantity: Annotated[col.Text, Heading("Statistic")]
    """what is measured; for a claim in several parts, such as a U, the part that decides"""
    value: Annotated[col.Percent, Heading("Value")]
    """its value"""
    ci_low: Annotated[col.Percent, Heading("From")]
    """lower limit of the interval that decides"""
    ci_high: Annotated[col.Percent, Heading("To")]
    """upper limit of the interval that decides"""
    confidence: Annotated[col.Percent, Heading("Confidence")]
    """confidence of the interval"""
    n: Annotated[col.Integer, Heading("n")]
    """questions"""
    reason: Annotated[col.Text, Heading("Reason")]
    """the reason for the verdict, in words"""
    section: col.Text
    """section of the paper as published in TACL, or another source of the claim"""
    shape: Annotated[col.Text, Heading("Shape")]
    """for claims about the shape of a curve: its word (docs/claims.md), in a family of its own"""
    role: Annotated[col.Text, Heading("Role")]
    """`claim`, or `exploratory` for models that the claim is not about, in a family of their own"""
    family_size: col.Integer
    """cases that the verdict is corrected for"""
    test: col.Text
    """`paired by question`, or `not paired`: published accuracies, with an interval that holds whatever the correlation
    of a model's answers is, and sizes with different questions"""
    evidence: col.Text
    """the kind of accuracies: `measured`, of `recorded` responses, or `published`"""
    paper_says: Annotated[col.Text, Heading("The paper")]
    """whether the claim holds for this case according to the paper; empty if it has no statement about this model,
    experiment and size"""
    paper_text: col.Text
    """the paper's statement in this workflow's words, and its source"""
    status: Annotated[col.Text, Heading("Status")]
    """later status of the claim: `supported` or `contested`"""
    contested_by: col.Text
    """the works that contest it"""
    statement: col.Text
    """the claim in a sentence"""
    finding: col.Text
    """the verdicts on all cases of the claim in words, the same in each of its rows; exploratory cases have their own
    sentence"""
