"""Table of remedies: their effect, their cost, and the advice."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from litm.analysis.columns import EXPERIMENT, MODEL
from litm.analysis.table import BOOLEAN, FLOAT, INTEGER, P_VALUE, PERCENT, TEXT, Column, Table, with_interval

if TYPE_CHECKING:
    import pandas as pd

    from litm.analysis.grid import Files

#: Columns that the report shows.
_REPORT = (
    "model", "condition", "n", "accuracy", "tokens", "dollars", "cost_ratio", "difference", "p_holm", "in_best_set",
    "on_frontier", "is_advised",
)  # fmt: skip
TABLE = Table(
    name="advice",
    title="Remedies: effect and cost",
    doc=(
        "Each condition of an experiment with `remedies` and each number of documents: accuracy, tokens and money per "
        "question, the difference from the best condition on the same questions, and the advice, if the data support "
        "one."
    ),
    order=12,
    inputs=("remedy_scores",),
    settings=("conditions", "prices"),
    note=(
        "All conditions on their common scored questions. Difference: the condition minus the best one, with its "
        "paired 95 % interval; p (Holm), corrected over all comparisons with the best, decides: below 0.05 a condition "
        "is shown to be worse. The same answers choose the best condition, so its accuracy is optimistic; in at least "
        "95 % of such studies the truly best condition is among those not shown to be worse. On the frontier: no other "
        "condition is as accurate for less. Advised: the cheapest condition not shown to be worse, if it is shown to "
        "lose at most 5 points to any other; otherwise none."
    ),
    columns={
        "model": MODEL,
        "remedies_of": Column(TEXT, "the experiment whose remedies are compared"),
        "experiment": EXPERIMENT,
        "size": Column(INTEGER, "documents shown; with a cut, the largest number"),
        "condition": Column(TEXT, "the condition in words", "Condition"),
        "order": Column(TEXT, "the order of the documents"),
        "reranker": Column(TEXT, "the reranker, empty without one"),
        "cut": Column(TEXT, "rule by which documents are left out by their scores, empty for none"),
        "prompt": Column(TEXT, "the prompt, if it differs from the study's"),
        "n": Column(INTEGER, "questions that all conditions of the study scored", "n"),
        "n_left_out": Column(INTEGER, "questions that some of them did not score, left out"),
        "n_clusters": Column(INTEGER, "clusters of the n questions; empty without `cluster`"),
        **with_interval("accuracy", Column(FLOAT, "accuracy on the n questions", "Accuracy", PERCENT)),
        "tokens": Column(FLOAT, "mean tokens of prompt and answer per question; empty if not counted", "Tokens"),
        "dollars": Column(
            FLOAT, "US dollars per 1,000 questions by the model's `prices`; empty without prices", "US$ per 1,000"
        ),
        "cost_ratio": Column(
            FLOAT,
            "cost divided by that of the cheapest condition: in dollars, else tokens, else documents",
            "Times",
        ),
        **with_interval(
            "difference", Column(FLOAT, "accuracy minus that of the best condition, paired", "Minus the best", PERCENT)
        ),
        "difference_ci_low_bonferroni": Column(
            FLOAT, "its lower limit, corrected for all comparisons (Bonferroni)", unit=PERCENT
        ),
        "p_value": Column(FLOAT, "exact McNemar test against the best; empty for the best", unit=P_VALUE),
        "p_holm": Column(FLOAT, "the same by Holm over all conditions of model and study", "p (Holm)", P_VALUE),
        "is_best": Column(BOOLEAN, "whether it has the most right answers"),
        "in_best_set": Column(BOOLEAN, "whether it is not shown to be worse than the best", "Not shown to be worse"),
        "on_frontier": Column(
            BOOLEAN, "whether no other condition is as accurate and cheaper, or better at the same cost", "Frontier"
        ),
        "is_advised": Column(BOOLEAN, "whether it is advised", "Advised"),
        "n_for_5_points": Column(
            INTEGER,
            "questions that show a difference of 5 points between two conditions with a chance of 80 %, at the mean "
            "accuracy and correlation of all conditions",
        ),
        "reason": Column(TEXT, "why a condition is left out, or why there is no advice", ""),
        "advice": Column(TEXT, "the advice in a sentence, in the advised row, or in the best row without an advice"),
        "advice_details": Column(TEXT, "why, and what is not known"),
    },
    report=_REPORT,
)


def rows(remedy_scores: "Files", conditions: Sequence[Mapping], prices: Mapping[str, Mapping | None]) -> Iterator[dict]:
    """One row per model, condition and number of documents; studies and conditions in the order of the config."""
    from litm.analysis.advice import COLUMNS, read_compared
    from litm.analysis.advice_rows import advice_rows
    from litm.records import Condition

    known = [Condition.from_json(one) for one in conditions]
    for compared in read_compared(remedy_scores.scores(COLUMNS), known, prices):
        yield from advice_rows(compared)


def warnings(frame: "pd.DataFrame") -> list[str]:
    """The advice, for the console."""
    told = frame[frame["advice"].notna()].fillna({"advice_details": ""})
    return [f"{row['advice']} {row['advice_details']}".rstrip() for row in told.to_dict("records")]
