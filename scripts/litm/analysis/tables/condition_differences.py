"""Table of paired differences between two conditions of one model."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from litm.analysis.table import BOOLEAN, FLOAT, INTEGER, P_VALUE, PERCENT, TEXT, Column, Table, with_interval

if TYPE_CHECKING:
    from litm.analysis.grid import Files

#: Columns that the report shows.
_REPORT = (
    "condition", "setting_a", "setting_b", "model_a", "size_a", "quantity", "place", "n", "value_a", "value_b",
    "difference", "difference_ci_low", "difference_ci_high", "p_holm", "in_words",
)  # fmt: skip
_SIDE = {
    "setting": (TEXT, "the condition on side {}: the values of its keys, a size, a model or an experiment"),
    "model": (TEXT, "the model of side {}"),
    "experiment": (TEXT, "the experiment of side {}"),
    "size": (INTEGER, "items in the contexts of side {}"),
}
_HEADINGS = {"setting_a": "A", "setting_b": "B", "model_a": "Model", "size_a": "Size"}


def _side(side: str) -> dict[str, Column]:
    return {
        f"{name}_{side}": Column(dtype, doc.format(side), _HEADINGS.get(f"{name}_{side}", ""))
        for name, (dtype, doc) in _SIDE.items()
    }


TABLE = Table(
    name="condition_differences",
    title="Differences between conditions",
    doc=(
        "Paired differences a - b on the same questions: experiments of one model that differ in one condition, sizes "
        "of one experiment, tuned models and their base models (`about.tuned_from`), and every experiment against its "
        "oracle and closed book."
    ),
    order=24,
    inputs=("condition_scores",),
    settings=("comparisons", "tuned_models"),
    note=(
        "A minus B in points on the questions that both sides scored, with paired 95 % intervals, at equal positions "
        "or, if sizes differ, at start, middle and end. Words and p (Holm) are corrected over all rows of the same "
        "comparison and model (accuracies and contrasts of positions separately); intervals are not. The best and the "
        "worst position are chosen by the same answers, so their interval and p are corrected for the choice "
        "(Bonferroni)."
    ),
    columns={
        "condition": Column(
            TEXT,
            "what differs: a key of the experiments, or several where `compared_with` or `query_aware_of` names the "
            "pair; `size`, `model`, `oracle`, `closed_book`",
            "Condition",
        ),
        **_side("a"),
        **_side("b"),
        "metric": Column(TEXT, "the metric that judges the answers"),
        "quantity": Column(
            TEXT,
            "`accuracy` at a place, `mean accuracy` of all places, or `primacy`, `recency`, `pbi` of the curves; of "
            "a tuned and its base model also `best-worst gap` (best minus worst place of each)",
            "Quantity",
        ),
        "place": Column(
            TEXT, "position from the 1st, or start, middle, end; best and worst are chosen by accuracy", "Place"
        ),
        "position_a": Column(INTEGER, "position on side a, from 0; empty without a single one"),
        "position_b": Column(INTEGER, "position on side b"),
        "n": Column(INTEGER, "questions that both sides scored at all positions concerned", "n"),
        "n_scored_only_a": Column(INTEGER, "questions that only side a scored there, left out"),
        "n_scored_only_b": Column(INTEGER, "questions that only side b scored there, left out"),
        "n_clusters": Column(INTEGER, "clusters of the n questions; empty without `cluster`"),
        "value_a": Column(FLOAT, "the quantity on side a, on the n questions", "Value A", PERCENT),
        "value_b": Column(FLOAT, "the same on side b", "Value B", PERCENT),
        **with_interval("difference", Column(FLOAT, "`value_a` - `value_b`, paired by question", "A - B", PERCENT)),
        "p_value": Column(
            FLOAT,
            "of no difference: exact McNemar test at a place, Student's t of the contrast for other quantities; of "
            "best-worst gaps corrected for all pairs of places (Bonferroni), because the same answers choose the pair",
            unit=P_VALUE,
        ),
        "chosen_of": Column(INTEGER, "number of positions among which the place was chosen, 1 if it was not chosen"),
        "family": Column(TEXT, "the rows that `p_holm` is corrected over"),
        "p_holm": Column(
            FLOAT, "`p_value` corrected over the family; Bonferroni's for a chosen position", "p (Holm)", P_VALUE
        ),
        "in_words": Column(TEXT, "the conclusion at 5 % after the correction", "In words"),
        **with_interval("difference_first_line", Column(FLOAT, "the difference by the answers' first lines")),
        **with_interval("difference_full", Column(FLOAT, "the difference by the whole recorded answers")),
        "changes_with_reading": Column(
            BOOLEAN, "whether these two intervals lead to different conclusions (above 0, below 0, neither)"
        ),
    },
    report=_REPORT,
)


def rows(condition_scores: "Files", comparisons: Sequence[Mapping], tuned_models: Sequence) -> Iterator[dict]:
    """One row per comparison, model, size and place: comparisons in their order, then tuned models."""
    from litm.analysis.conditions import condition_difference_rows
    from litm.analysis.grid import GRID_COLUMNS as COLUMNS
    from litm.analysis.grid import read_grids
    from litm.records import Comparison

    grids = read_grids(condition_scores.scores(COLUMNS))
    return condition_difference_rows(grids, map(Comparison.from_json, comparisons), tuned_models)
