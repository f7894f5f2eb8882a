"""Rows of cells: utilisation of the context, kinds of wrong answers, and answers by the first line and as a whole."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from litm.analysis.grid import (
    CELL,
    FIRST_LINE,
    FULL,
    Files,
    Grid,
    cluster_codes,
    curves,
    interval_columns,
    joined,
    read_curve,
    read_grid,
    sweep_of,
)
from litm.analysis.pbi import CONTRASTS
from litm.analysis.significance import changes_sign, conclusion
from litm.analysis.statistics import Estimate, as_answers, contrast_interval, proportion, utilisation
from litm.base.table_files import by_cell
from litm.examples.checks import answer_check_row
from litm.examples.tasks.question_answering import other_documents
from litm.records.examples import read_examples
from litm.scoring.doubts import doubt_of
from litm.scoring.wrong_answers import EMPTY, KINDS, OTHER_ITEM, REFUSAL

if TYPE_CHECKING:
    from litm.tables.questions import AnswerChecksRow
    from litm.tables.readings import AbsentRow, ReadingSensitivityRow, UtilisationRow, WrongAnswersRow


#: Columns of utilisation.csv, in the order of what is beside each other.
SIDES = ("accuracy", "accuracy_closed_book", "accuracy_oracle")


def utilisation_rows(
    scores: pd.DataFrame, closed_book: pd.DataFrame, oracle: pd.DataFrame
) -> "Iterator[UtilisationRow]":
    """One row per model and cell of `scores`: (accuracy - closed book)/(oracle - closed book) on the common questions.

    closed_book, oracle: score rows with each question of a model once. Accuracies are over the n common questions;
    `utilisation` and its limits are None unless oracle - closed book is clearly above 0; all are None without common
    questions. Raises `UserError` for a question that occurs twice.
    """
    for names, grid in _beside(scores, closed_book, oracle):
        columns: dict = {}
        for place, name in enumerate(SIDES):
            columns |= interval_columns(name, grid.accuracies[place] if grid.accuracies else None)
        columns |= interval_columns("utilisation", utilisation(grid.measured, grid.clusters))
        yield {**names, "n": len(grid.ids), **columns}


def _beside(scores: pd.DataFrame, *references: pd.DataFrame) -> Iterator[tuple[dict, Grid]]:
    """Each model and cell with the common questions of it and its references, side by side; clusters are the cell's
    own.
    """
    for names, rows in by_cell(scores, ["model", *CELL]):
        others = (part[part["model"] == names["model"]].drop(columns="cluster", errors="ignore") for part in references)
        yield names, joined(*(read_grid(part, "model") for part in (rows, *others))).complete()


def wrong_answer_rows(scores: pd.DataFrame) -> "Iterator[WrongAnswersRow]":
    """One row per cell of a sweep with a scored question, see the table `wrong_answers`; none of a cell in doubt, whose
    answers are neither right nor wrong.
    """
    for names, group in by_cell(scores, ["model", *CELL, "items"]):
        counted = group[~group["excluded"] & group["correct"].notna()]
        if len(counted) and not doubt_of(group):
            yield {**names, **_shares(counted)}


def _shares(counted: pd.DataFrame) -> "WrongAnswersRow":
    wrong = counted[counted["wrong_kind"].notna()]
    positions = Counter(map(int, counted["taken_from"].dropna()))
    shares = _share("wrong", counted["wrong_kind"].notna(), counted)
    for kind in KINDS:
        shares |= _share(kind, wrong["wrong_kind"] == kind, wrong)
    of_items: WrongAnswersRow = {"taken_from": taken_from(positions) or None, **_distances(counted)}
    return {"n": len(counted), "n_wrong": len(wrong), **shares, **of_items}


def _distances(counted: pd.DataFrame) -> "WrongAnswersRow":
    """The distance from the gold item of the items that answers of a cell were taken from, in parts of the context."""
    copied = counted[counted["taken_from"].notna() & counted["position"].notna() & (counted["items"] > 1)]
    steps = (copied["taken_from"] - copied["position"]).to_numpy(dtype=float)
    longest = copied["items"].to_numpy(dtype=float) - 1
    position = copied["position"].to_numpy(dtype=float)
    # Of an item at p among N, the distances of the others are 1 to p before it, and 1 to N - 1 - p after it.
    sums = (position * (position + 1) + (longest - position) * (longest - position + 1)) / 2
    clusters = cluster_codes(copied, pd.Index(copied["id"]))
    return {
        **interval_columns("copied_distance", proportion(abs(steps) / longest, clusters)),
        "copied_distance_chance": float((sums / longest**2).mean()) if len(copied) else None,
        **interval_columns("share_copied_before", proportion(steps < 0, clusters)),
    }


def _share(name: str, is_so: pd.Series, answers: pd.DataFrame) -> dict:
    """The share of these answers for which it is so, with its 95 % limits; None without answers."""
    clusters = cluster_codes(answers, pd.Index(answers["id"]))
    return interval_columns(f"share_{name}", proportion(is_so.to_numpy(dtype=bool), clusters))


def absent_rows(scores: pd.DataFrame) -> "Iterator[AbsentRow]":
    """One row per size of a sweep without gold items; none of a size in doubt."""
    for names, group in by_cell(scores, ["model", "experiment", "task", "metric", "size", "items"]):
        counted = group[~group["excluded"] & group["correct"].notna()]
        if len(counted) and not doubt_of(group):
            clusters = cluster_codes(counted, pd.Index(counted["id"]))
            kinds = counted["wrong_kind"].map({REFUSAL: "abstains", OTHER_ITEM: "copies"}).fillna("other")
            kinds = kinds.where(counted["wrong_kind"].notna(), "knows")
            shares: dict = {}
            for kind in ("abstains", "copies", "knows", "other"):
                shares |= interval_columns(kind, proportion((kinds == kind).to_numpy(dtype=bool), clusters))
            yield {**names, "n": len(counted), **shares}


def made_up(rows: pd.DataFrame) -> pd.Series:
    """Of each answer, 1 if it is made up, else 0: it is wrong and there, and it does not abstain; missing without a
    score.
    """
    is_wrong = rows["wrong_kind"].notna() & ~rows["wrong_kind"].isin([EMPTY, REFUSAL])
    return is_wrong.astype("Float64").where(rows["correct"].notna())


def taken_from(positions: Mapping[int, int]) -> str:
    """Number of answers taken from each position, the most frequent first: `4:12 0:7`."""
    ordered = sorted(positions.items(), key=lambda item: (-item[1], item[0]))
    return " ".join(f"{position}:{count}" for position, count in ordered)


ACCURACY, GAP, UTILISATION = "accuracy", "accuracy - closed book", "utilisation"
#: Fraction of first lines that end with a colon above which there is a warning.
MANY_PREAMBLES = 0.05
#: Number of such first lines in a sweep from which on there is one.
FEWEST_PREAMBLES = 5


def sensitivity_rows(
    scores: pd.DataFrame, closed_book: pd.DataFrame | None, oracle: pd.DataFrame | None
) -> "Iterator[ReadingSensitivityRow]":
    """Rows of one sweep: accuracy of each cell; primacy, recency, tilt and PBI of each curve; gap to closed book and
    utilisation of each cell, if the model has answered the references.

    Each quantity is computed as in its own table, with `correct_first_line` and with `correct_full` instead of
    `correct`. `changes`: whether the two intervals lead to different conclusions; missing for accuracies.
    """
    for names, rows in by_cell(scores, ["model", *CELL]):
        yield {**names, "quantity": ACCURACY, **_accuracies(rows)}
    for curve in map(read_curve, curves(scores)):
        for quantity in CONTRASTS:
            weights = curve.weights(quantity)
            if weights is not None and len(curve.cases.ids):
                of_curve: dict = {**curve.names}
                del of_curve["items"]
                readings = _readings(curve.cases, partial(contrast_interval, weights=weights))
                yield {**of_curve, "quantity": quantity, **readings}
    if closed_book is None:
        return
    for names, grid in _beside(scores, closed_book):
        if len(grid.ids):
            yield {**names, "quantity": GAP, **_readings(grid, partial(contrast_interval, weights=[1, -1]))}
    if oracle is not None:
        for names, grid in _beside(scores, closed_book, oracle):
            yield {**names, "quantity": UTILISATION, **_readings(grid, utilisation)}


def _accuracies(rows: pd.DataFrame) -> "ReadingSensitivityRow":
    counted = rows[~rows["excluded"] & rows["correct"].notna()]
    announced = counted[counted["preamble"]]
    return {
        **_readings(read_grid(counted, "placement"), proportion),
        "n_more_lines": int(counted["more_lines"].sum()),
        "n_preamble": len(announced),
        "n_preamble_right": int((announced["correct_first_line"].astype(float) > 0).sum()),
        # An accuracy is never below 0, so it has no conclusion.
        "conclusion_first_line": None,
        "conclusion_full": None,
        "changes_with_reading": None,
    }


def _readings(grid: Grid, estimate: Callable[..., Estimate | None]) -> "ReadingSensitivityRow":
    """A quantity of answers in both readings, their conclusions, and whether these differ."""
    first, full = (
        estimate(as_answers(grid.answers[reading]), clusters=grid.clusters) for reading in (FIRST_LINE, FULL)
    )
    return {
        "n": len(grid.ids),
        **interval_columns("value_first_line", first),
        **interval_columns("value_full", full),
        "conclusion_first_line": conclusion(first) if first else None,
        "conclusion_full": conclusion(full) if full else None,
        "changes_with_reading": changes_sign(first, full) if first and full else None,
    }


# --- Tables ----------------------------------------------------------------------------------------------------


def utilisation_table(gold_scores: Files, closed_book: Files, oracle: Files) -> "Iterator[UtilisationRow]":
    """One row per cell, in the order of the score files; each of the three has one file per sweep."""
    sweeps = zip(gold_scores.scores(), closed_book.scores(), oracle.scores(), strict=True)
    return (row for scores, book, best in sweeps for row in utilisation_rows(scores, book, best))


def wrong_answers_table(scores: Files) -> "Iterator[WrongAnswersRow]":
    """The rows of each sweep, in the order of the score files."""
    return (row for sweep in scores.scores() for row in wrong_answer_rows(sweep))


def absent_table(absent_scores: Files) -> "Iterator[AbsentRow]":
    """The rows of each sweep without gold items, in the order of the score files."""
    return (row for sweep in absent_scores.scores() for row in absent_rows(sweep))


def reading_sensitivity_table(scores: Files, references: Mapping[str, Mapping]) -> "Iterator[ReadingSensitivityRow]":
    """Yield the rows of each sweep, in the order of the score files."""
    named = {name for keys in references.values() for name in keys.values() if name}
    kept = {sweep_of(sweep): sweep for sweep in scores.scores() if sweep_of(sweep)[1] in named}
    for sweep in scores.scores():
        model, experiment = sweep_of(sweep)
        of_sweep = references.get(experiment, {})
        closed_book, oracle = (kept.get((model, of_sweep.get(name) or "")) for name in ("closed_book", "oracle"))
        yield from sensitivity_rows(sweep, closed_book, oracle)


def answer_checks_table(examples: Files, example_experiments: Sequence[tuple[str, str]]) -> "Iterator[AnswerChecksRow]":
    """One row per experiment and size; examples: one file of each; example_experiments: experiment of each file, and
    its metric.
    """
    for (experiment, metric), path in zip(example_experiments, examples.paths, strict=True):
        records = list(read_examples(path))
        yield answer_check_row(experiment, records[0].size, records, metric, other_documents)
