"""The table of remedies in a session."""

from typing import Annotated, TypedDict

from litm.tables import columns as col
from litm.tables.table import Heading, declare


@declare(
    "session_remedies",
    "Remedies in your session",
    inputs=("session_scores",),
    settings=("session_remedies", "prices"),
    rows="analysis.session_remedies.session_remedies_table",
    report=(
        "model", "setting", "size", "n", "accuracy_without", "accuracy", "difference", "ci_low",
        "ci_high", "p_holm", "tokens_without", "tokens", "dollars_without", "dollars",
    ),
)  # fmt: skip
class SessionRemediesRow(TypedDict, total=False):
    """What helps in your session: each remedy against the session as it is, on the same questions.

    Accuracies are means over the positions that both have. p (Holm) is corrected over the remedies and sizes of the
    model; intervals are not.
    """

    model: col.Model
    experiment: col.Experiment
    compared_with: col.Text
    """the experiment without the remedy"""
    remedy: col.Text
    """`repeat`, `result_words`, `keep_results`, `compacted` (keys of the questions), or `repeat_session`"""
    setting: Annotated[col.Text, Heading("Remedy")]
    """the remedy in words"""
    size: col.Size
    n: Annotated[col.Integer, Heading("n")]
    """questions scored on both sides at all positions"""
    accuracy: Annotated[col.Percent, Heading("With it")]
    """mean accuracy with the remedy"""
    accuracy_without: Annotated[col.Percent, Heading("Without")]
    """mean accuracy without it"""
    difference: Annotated[col.Percent, Heading("Difference")]
    """`accuracy` - `accuracy_without`, paired by question"""
    ci_low: Annotated[col.Percent, Heading("95 % from")]
    """lower 95 % limit, paired by question"""
    ci_high: Annotated[col.Percent, Heading("to")]
    """upper 95 % limit"""
    p_value: col.PValue
    """Student's t of the difference"""
    p_holm: Annotated[col.PValue, Heading("p (Holm)")]
    """`p_value` corrected over the remedies and sizes of the model"""
    n_for_5_points: Annotated[col.Integer, Heading("n for 5 points")]
    """questions that show a difference of 5 points with a chance of 80 %, without the correction"""
    tokens: Annotated[col.Number, Heading("Tokens")]
    """mean tokens of a prompt with its answer, with the remedy; empty if not counted"""
    tokens_without: Annotated[col.Number, Heading("Tokens without")]
    """the same without it"""
    dollars: Annotated[col.Number, Heading("US $ for 1,000")]
    """US dollars for 1,000 questions with the remedy; empty without prices"""
    dollars_without: Annotated[col.Number, Heading("US $ without")]
    """the same without it"""
