"""Log-probability of the right answer by position, in nats: means of cells, effects of position, pairs of positions.

Evidence of another kind than accuracy, and never mixed with it: it has no floor and no ceiling, so questions that are
answered right everywhere, or nowhere, still tell positions apart. The question is the unit, as elsewhere: positions are
compared within questions, by `statistics.mean_of_numbers` of the differences.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from math import ceil, sqrt
from operator import itemgetter
from typing import TYPE_CHECKING, cast

import numpy as np
import pandas as pd
from scipy import special

from litm.analysis.grid import CORRECT, CurveGrid, Files, cluster_codes, curves, interval_columns, read_curve, tested
from litm.analysis.pbi import CONTRASTS
from litm.analysis.power import CONFIDENCE, MOST_QUESTIONS, POWER
from litm.analysis.significance import with_holm
from litm.analysis.statistics import Moments, mean_of_numbers
from litm.base.groups import grouped
from litm.base.table_files import by_cell
from litm.scoring.log_probabilities import QUANTITIES

if TYPE_CHECKING:
    from litm.tables.log_probability import LogProbabilityEffectsRow, LogProbabilityRow

CURVE = ("model", "experiment", "task", "size", "items")
CELL = [*CURVE, "placement", "position", "depth", "target"]
#: Name of the effect of a pair of positions, in log_probability_effects.csv.
PAIR = "pair"
#: Sum of the normal quantiles of a two-sided test at 5 % and of a power of 80 %.
QUANTILES = float(special.ndtri((1 + CONFIDENCE) / 2) + special.ndtri(POWER))


def log_probability_table(log_probabilities: Files) -> "Iterator[LogProbabilityRow]":
    """One row per cell, in the order of the files."""
    for sweep in log_probabilities.scores():
        for names, rows in by_cell(sweep, CELL):
            yield {**names, **_means(rows)}


def _means(rows: pd.DataFrame) -> "LogProbabilityRow":
    measured = rows[~rows["excluded"] & rows["answer"].notna()]
    clusters = cluster_codes(measured, pd.Index(measured["id"]))
    left_out = int(rows["excluded"].sum())
    means: dict = {}
    for name in ("answer_tokens", *QUANTITIES) if len(measured) else ():
        values = measured[name].to_numpy(dtype=float)
        if name in QUANTITIES and (estimated := mean_of_numbers(values, clusters)):
            whole = estimated.estimate()
            # No probability is above 1.
            means |= interval_columns(name, replace(whole, high=min(0.0, whole.high)))
        means[name] = float(values.mean())
    return {"n": len(measured), "n_left_out": left_out, "n_failed": len(rows) - len(measured) - left_out, **means}


def effects_and_pairs(log_probabilities: Files) -> "list[LogProbabilityEffectsRow]":
    """One row per curve with a middle, quantity and effect, of the questions measured at every position; then one per
    curve, quantity and pair of positions.

    p is corrected over all effects on the curves of an experiment, or over the pairs of a curve, for each quantity by
    itself.
    """
    rows_of_curves = [rows for sweep in log_probabilities.scores() for rows in curves(sweep)]
    families = grouped(
        (effect for rows in rows_of_curves for effect in _effects(rows)), itemgetter("experiment", "quantity")
    )
    pairs = (of_curve for rows in rows_of_curves for of_curve in _pairs(rows))
    return [row for family in (*families.values(), *pairs) for row in with_holm(family)]


def _effects(rows: pd.DataFrame) -> "Iterator[LogProbabilityEffectsRow]":
    for names, curve in measured_curves(rows):
        three = curve.three
        if three is None:
            continue
        for effect, weights in CONTRASTS.items():
            estimated = mean_of_numbers(three @ np.array(weights), curve.cases.clusters)
            value, with_test = tested(estimated)
            yield {
                **names,
                "effect": effect,
                "n": len(three),
                "value": value,
                **with_test,
                "n_needed": questions_needed(estimated, len(three)) if estimated else None,
            }


def questions_needed(effect: Moments, n: int) -> int | None:
    """The number of questions that shows an effect of this size in 80 % of studies, if n questions have this standard
    error with these degrees of freedom, and others as many a question: the power of Student's test, from the noncentral
    t distribution. None where the effect or the error is 0, and for more than `MOST_QUESTIONS`.
    """
    if not effect.value or not effect.standard_error:
        return None
    size = float(abs(effect.value) / (effect.standard_error * sqrt(n)))
    by_normal = ceil((QUANTILES / size) ** 2)
    # Student's test needs a few more, and at least one degree of freedom.
    each = n / (float(effect.df) + 1)
    first = max(by_normal, ceil(2 * each))
    more = range(first, first + ceil(9 * each)) if by_normal < MOST_QUESTIONS else ()
    return next((m for m in more if _power(size, m, m / each - 1) >= POWER), None)


def _power(size: float, n: int, df: float) -> float:
    """The chance that n questions show an effect. size: in standard deviations of the questions' differences."""
    return 1 - float(special.nctdtr(df, size * sqrt(n), special.stdtrit(df, (1 + CONFIDENCE) / 2)))


def _pairs(rows: pd.DataFrame) -> "Iterator[list[LogProbabilityEffectsRow]]":
    """The pairs of positions of a curve, by quantity."""
    for names, curve in measured_curves(rows):
        matrix, positions, pairs = curve.cases.answers[CORRECT], curve.positions, []
        for a, b in combinations(range(len(positions)), 2):
            difference, with_test = tested(mean_of_numbers(matrix[:, a] - matrix[:, b], curve.cases.clusters))
            pair: LogProbabilityEffectsRow = {
                **names,
                "effect": PAIR,
                "position_a": positions[a],
                "position_b": positions[b],
                "n": len(matrix),
                "value": difference,
                **with_test,
            }
            pairs.append(pair)
        yield pairs


def measured_curves(rows: pd.DataFrame) -> "Iterator[tuple[LogProbabilityEffectsRow, CurveGrid]]":
    """Each quantity of a curve with questions measured at every position: the names of curve and quantity, and its
    values in nats as answers.
    """
    for quantity in QUANTITIES:
        curve = read_curve(rows.assign(correct=rows[quantity], metric=quantity, empty=False))
        if len(curve.cases.ids):
            names = {name: value for name, value in curve.names.items() if name in CURVE}
            yield cast("LogProbabilityEffectsRow", {**names, "quantity": quantity}), curve
