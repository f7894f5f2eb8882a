"""What the position of the gold item does to a curve: rows of position_bias and position_pairs."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from litm.analysis import power
from litm.analysis.grid import CurveGrid, Files, curves, difference_columns, generator_for, interval_columns, read_curve
from litm.analysis.pbi import CONTRASTS, area_weights, class_words, misplaced, pbi_class
from litm.analysis.shapes import MEASURED, NO_INFORMATION
from litm.analysis.significance import any_pair_p, cochrans_q, gap_test, with_holm
from litm.analysis.statistics import Estimate, design_effect, gap_interval, proportion

if TYPE_CHECKING:
    from litm.tables.positions import PositionBiasRow, PositionPairsRow

#: Number of replicates of the permutation test.
PERMUTATIONS = 10_000


def position_bias_row(scores: pd.DataFrame, seed: int = 0, permutations: int = PERMUTATIONS) -> "PositionBiasRow":
    """One row of position_bias.csv for one curve.

    Start and end are the first and the last measured position, middle is the one between them nearest to depth 0.5, or
    the mean of two that are equally near, which have no single `position_middle`; each is missing, with what needs it,
    unless it is near its place (`misplaced`). P = start - middle, R = end - middle, T = end - start, PBI = (start +
    end)/2 - middle; `pbi_area` as in `area_weights`; all are fractions with paired 95 % intervals. Without information,
    in general or at start, middle and end, the row has a reason instead of a class (see
    `CurveGrid.missing_information`: a PBI of 0 with all three at the floor is no flat curve). Best and worst are
    missing if all positions are equal, and values that need three positions, or a question, without these. Errors as in
    `read_curve`.
    """
    curve = read_curve(scores)
    reason, n = curve.missing_information, len(curve.cases.ids)
    row: PositionBiasRow = {
        **curve.names,
        "n": n,
        "n_left_out": len(curve.ids) - n,
        "n_positions": len(curve.positions),
        "verdict": NO_INFORMATION if reason else MEASURED,
        "reason": reason or misplaced(curve.depths, curve.positions),
    }
    if n:
        row = {**row, **interval_columns("accuracy_all", proportion(curve.cases.measured, curve.cases.clusters))}
        row |= _ends(curve) | _bias(curve) | detectable_effects(curve)
        row |= _position_effect(curve, permutations, generator_for(seed, "gap", *curve.names.values()))
    return row


def _ends(curve: CurveGrid) -> "PositionBiasRow":
    correct, n = curve.cases.right.sum(axis=0), len(curve.cases.ids)
    has_ends = {"start", "end"} <= curve.places.keys()
    at_places: dict = {}
    for name, columns in curve.places.items():
        at_places[f"position_{name}"] = curve.positions[columns[0]] if len(columns) == 1 else None
        at_places[f"accuracy_{name}"] = float(correct[[*columns]].sum()) / (n * len(columns))
    return {"accuracy_edge": float(correct[0] + correct[-1]) / (2 * n) if has_ends else None, **at_places}


def _bias(curve: CurveGrid) -> "PositionBiasRow":
    """Contrasts of start, middle and end that the positions allow, and the PBI's class if it carries information."""
    cases = curve.cases
    row: PositionBiasRow = {}
    for name in CONTRASTS:
        weights = curve.weights(name)
        if weights is None:
            continue
        estimate = cases.contrast(weights).estimate()
        row = {**row, **interval_columns(name, estimate)}
        if name == "pbi":
            row |= _classify(curve, estimate, cases.limit(np.flatnonzero(weights)))
    if area := area_weights(curve.depths):
        row = {**row, **interval_columns("pbi_area", cases.contrast(area).estimate())}
    return row


def _classify(curve: CurveGrid, estimate: Estimate, limit: str | None) -> "PositionBiasRow":
    """The class of a PBI and whether it is certain; without a class the reason, unless the curve has one already.

    limit: of start, middle and end.
    """
    if curve.missing_information:
        return {}
    if limit:
        return {"reason": f"{limit} at start, middle and end"}
    return {
        "pbi_class": pbi_class(estimate.value),
        "class_certain": pbi_class(estimate.low) == pbi_class(estimate.high),
        "class_words": class_words(estimate.value, estimate.low, estimate.high),
    }


def _position_effect(curve: CurveGrid, permutations: int, rng: np.random.Generator) -> "PositionBiasRow":
    """Best and worst position, their gap, and tests of any difference: by permutation and Cochran's Q; of answers that
    labels correct, whose expected values cannot be permuted, by the pairs of positions.
    """
    cases, correct = curve.cases, curve.cases.right.sum(axis=0)
    row: PositionBiasRow = {
        "position_best": curve.positions[int(correct.argmax())] if np.ptp(correct) else None,
        "position_worst": curve.positions[int(correct.argmin())] if np.ptp(correct) else None,
        "accuracy_best": float(correct.max()) / len(cases.ids),
        "accuracy_worst": float(correct.min()) / len(cases.ids),
    }
    row = {**row, **interval_columns("gap", gap_interval(cases.measured, cases.clusters))}
    if cases.labelled is not None:
        p = any_pair_p(cases.labelled)
        return {**row, "gap_p_value": p, "cochran_p_value": p}
    gap = gap_test(cases.matrix, permutations, rng, cases.clusters)
    q = cochrans_q(cases.matrix, cases.clusters)
    return {
        **row,
        "gap_null_mean": gap.null_mean,
        "gap_null_95": gap.null_95,
        "gap_p_value": gap.p_value,
        "cochran_q": q.statistic,
        "cochran_df": q.df,
        "cochran_p_value": q.p_value,
    }


def pairwise_rows(scores: pd.DataFrame) -> "list[PositionPairsRow]":
    """One row per pair of positions of one (model, experiment, size): difference, exact McNemar p, p by Holm.

    `difference` is accuracy_a - accuracy_b on the complete cases, with its own (not simultaneous) 95 % interval.
    [] without a complete case. Errors as in `read_curve`.
    """
    curve = read_curve(scores)
    if curve.cases.ids.empty:
        return []
    pairs = (curve.cases.complete(pair) for pair in combinations(range(len(curve.positions)), 2))
    rows: Iterator[PositionPairsRow] = (
        {
            **curve.names,
            "position_a": pair.columns[0],
            "position_b": pair.columns[1],
            "n": len(pair.ids),
            **difference_columns(pair),
        }
        for pair in pairs
    )
    return with_holm(rows)


def detectable_effects(curve: CurveGrid) -> "PositionBiasRow":
    """The effects that n questions can show, as columns of primacy, recency, tilt and PBI.

    `{effect}_mde` is the smallest effect that is shown with a chance of 80 %, `{effect}_n_for_5_points` the number of
    questions that show one of 5 points, both for a curve with this mean accuracy and correlation. Questions in clusters
    count as fewer independent ones (`{effect}_design_effect`). Empty for a curve without start, middle and end.
    """
    three, cases = curve.three, curve.cases
    if three is None:
        return {}
    mean = power.observed(three)
    columns: dict = {"accuracy_mean": mean.accuracy, "correlation": mean.correlation}
    for contrast in CONTRASTS:
        effect = design_effect(cases.measured, np.asarray(curve.weights(contrast)), cases.clusters)
        assumed = replace(mean, design_effect=effect)
        columns |= {
            f"{contrast}_design_effect": assumed.design_effect,
            f"{contrast}_mde": power.detectable_effect(contrast, len(three), assumed),
            f"{contrast}_n_for_5_points": power.questions_needed(contrast, power.FIVE_POINTS, assumed),
        }
    row: PositionBiasRow = {**columns}
    return row


# --- Tables ----------------------------------------------------------------------------------------------------


def position_pairs_table(curve_scores: Files) -> "list[PositionPairsRow]":
    """One row per pair of positions, curve by curve in the order of the score files."""
    rows = (row for sweep in curve_scores.scores() for curve in curves(sweep) for row in pairwise_rows(curve))
    return with_holm(rows, "p_value", "p_holm_all")
