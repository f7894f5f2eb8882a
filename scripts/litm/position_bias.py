"""What the position does to the accuracy of a curve: rows of position_bias.csv from score rows."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from litm.paired_scores import CompleteCases, complete_cases, generator_for, interval_columns
from litm.statistics import (
    Estimate,
    binomial_interval,
    cochrans_q,
    contrast_interval,
    gap_test,
    minimum_detectable_effect,
)

#: A PBI above the bound has the name, else the next; what is below all is inverted.
CLASSES = ((0.30, "strong"), (0.15, "moderate"), (0.05, "weak"))
#: A PBI this close to 0 is flat.
FLAT = 0.05
INVERTED = "inverted"

#: An accuracy whose interval reaches as low, or as high, as this may be at the floor, or at the ceiling.
FLOOR, CEILING = 0.02, 0.98
#: An accuracy as near to 0 or 1 as this is at the floor or the ceiling, if its interval says so too.
NEAR = 0.05

MEASURED, NO_INFORMATION = "measured", "no_information"

PERMUTATIONS = 10_000

#: The contrasts of start, middle and end, in this order.
CONTRASTS = {"primacy": (1, -1, 0), "recency": (0, -1, 1), "tilt": (-1, 0, 1), "pbi": (0.5, -1, 0.5)}

_INTERVALS = {f"{name}{part}": "Float64" for name in [*CONTRASTS, "pbi_area"] for part in ("", "_ci_low", "_ci_high")}

#: Columns of position_bias.csv and their types.
POSITION_BIAS_COLUMNS = {
    **dict.fromkeys(["model", "experiment", "task", "metric"], "string"),
    "size": "Int64",
    "items": "Int64",
    **dict.fromkeys(["placement", "target"], "string"),
    **dict.fromkeys(["n_complete", "n_incomplete", "positions"], "Int64"),
    "verdict": "string",
    "reason": "string",
    **dict.fromkeys(["start_position", "middle_position", "end_position"], "Int64"),
    **dict.fromkeys(["start_accuracy", "middle_accuracy", "end_accuracy", "edge_accuracy"], "Float64"),
    **_INTERVALS,
    "pbi_class": "string",
    "class_certain": "boolean",
    "mde": "Float64",
    **dict.fromkeys(["best_position", "worst_position"], "Int64"),
    **dict.fromkeys(
        ["best_accuracy", "worst_accuracy", "gap", "gap_null_mean", "gap_null_95", "gap_p", "cochran_q"], "Float64"
    ),
    "cochran_df": "Int64",
    "cochran_p": "Float64",
}


def position_bias_row(scores: pd.DataFrame, seed: int = 0, permutations: int = PERMUTATIONS) -> dict:
    """One row of position_bias.csv (`POSITION_BIAS_COLUMNS`) for one curve.

    Start and end are the first and the last position measured, middle is the one between them nearest to depth 0.5
    (the earlier of two that are as near). P = start - middle, R = end - middle, T = end - start,
    PBI = (start + end)/2 - middle; `pbi_area` as in `area_weights`; all in fractions with their paired 95 % intervals.
    The class is left out, and the reason said, where there is no information at all or none at start, middle and end
    (see `missing_information`: a PBI of 0 with all three at the floor is no flat curve); best and worst where all are
    equal. Values that need three positions, or a question, are None without. Errors: those of `complete_cases`.
    """
    sweep = complete_cases(scores)
    row: dict = dict.fromkeys(POSITION_BIAS_COLUMNS)
    reason = missing_information(sweep)
    row |= {**sweep.names, "n_complete": len(sweep.matrix), "n_incomplete": sweep.n_incomplete}
    row |= {"positions": len(sweep.positions), "verdict": NO_INFORMATION if reason else MEASURED, "reason": reason}
    if len(sweep.matrix):
        row |= _ends(sweep)
        if len(sweep.positions) > 1:
            row |= _bias(sweep)
            row |= _position_effect(sweep, permutations, generator_for(seed, "gap", *sweep.names.values()))
    return row


def missing_information(sweep: CompleteCases) -> str | None:
    """Why the positions cannot be told apart, or None if they can.

    At the floor: at every position the interval of the accuracy (`binomial_interval`) reaches down to 2 %. At the
    ceiling: at every position it reaches up to 98 %. Such a sweep cannot show an effect, so its PBI near 0 must not
    be read as a flat curve. That no question differs between positions is no such reason by itself: halfway between
    floor and ceiling it is what a flat curve looks like, and the intervals say how sure that is.
    """
    n = len(sweep.matrix)
    if not n:
        return "no question fits the context" if sweep.all_too_long else "no question was scored at every position"
    if len(sweep.positions) < 2:
        return "only one position"
    if sweep.all_empty:
        return "all answers are empty"
    return "too few questions" if n == 1 else limit_of(sweep.matrix.sum(axis=0).tolist(), n)


def limit_of(correct: Sequence[int], n: int) -> str | None:
    """What keeps accuracies from showing a difference: the floor, the ceiling, or too few questions to tell.

    correct: right answers of n at each position. It is the lack of questions where the intervals reach a limit that the
    accuracies themselves are not `NEAR` to.
    """
    intervals = [binomial_interval(count, n) for count in correct]
    floor, ceiling = all(low <= FLOOR for low, _ in intervals), all(high >= CEILING for _, high in intervals)
    if not (floor or ceiling):
        return None
    near_floor, near_ceiling = max(correct) <= NEAR * n, min(correct) >= (1 - NEAR) * n
    if floor != ceiling and (near_floor if floor else near_ceiling):
        return "floor" if floor else "ceiling"
    return "too few questions"


def pbi_class(pbi: float) -> str:
    """The suite's name: above 0.30 strong, 0.15 moderate, 0.05 weak; from -0.05 to 0.05 flat; below inverted.

    The suite calls a PBI strong *above* 0.30, so every bound belongs to the class nearer to 0, those of flat as well.
    """
    pbi = round(pbi, 12)  # (0.8 + 1.0)/2 - 0.6 is a little more than 0.3
    for bound, name in CLASSES:
        if pbi > bound:
            return name
    return "flat" if pbi >= -FLAT else INVERTED


def middle_index(depths: Sequence[float]) -> int | None:
    """Index of the depth nearest to 0.5 between the first and the last (the earlier of equals); None without one."""
    inner = range(1, len(depths) - 1)
    return min(inner, key=lambda index: round(abs(depths[index] - 0.5), 12)) if inner else None


def area_weights(depths: Sequence[float]) -> list[float] | None:
    """Weights of the area version of PBI: half the mean of each outer third by depth, minus the mean of the inner one.

    A depth of exactly 1/3 or 2/3 is outer. Each outer third counts the same, however many positions it has, so that a
    straight slope is no bias. None if a third has no position.
    """
    thirds = [0 if depth <= 1 / 3 + 1e-9 else 2 if depth >= 2 / 3 - 1e-9 else 1 for depth in depths]
    if set(thirds) != {0, 1, 2}:
        return None
    return [(-1 if third == 1 else 0.5) / thirds.count(third) for third in thirds]


def _ends(sweep: CompleteCases) -> dict:
    correct, n = sweep.matrix.sum(axis=0), len(sweep.matrix)
    middle = middle_index(sweep.depths)
    places = {"start": 0, "middle": middle, "end": len(sweep.positions) - 1}
    row: dict = {}
    for name, index in places.items():
        if index is not None:
            row |= {f"{name}_position": sweep.positions[index], f"{name}_accuracy": int(correct[index]) / n}
    return row | {"edge_accuracy": int(correct[0] + correct[-1]) / (2 * n)}


def _bias(sweep: CompleteCases) -> dict:
    """The contrasts of start, middle and end that the positions allow, and the PBI's class unless it says nothing."""
    columns, middle = len(sweep.positions), middle_index(sweep.depths)
    row: dict = {}
    for name, (start, mid, end) in CONTRASTS.items():
        if mid and middle is None:
            continue
        weights = np.zeros(columns)
        weights[[0, -1]] = start, end
        if middle is not None:
            weights[middle] = mid
        estimate = contrast_interval(sweep.matrix, weights.tolist())
        row |= interval_columns(name, estimate)
        if name == "pbi":
            row["mde"] = minimum_detectable_effect(estimate.standard_error)
            row |= _classify(sweep, estimate, sweep.matrix[:, weights != 0])
    area = area_weights(sweep.depths)
    return row | (interval_columns("pbi_area", contrast_interval(sweep.matrix, area)) if area else {})


def _classify(sweep: CompleteCases, estimate: Estimate, three: np.ndarray) -> dict:
    """The class of a PBI and whether it is certain; if there is none, the reason unless the sweep has one already.

    three: the columns of start, middle and end.
    """
    if missing_information(sweep):
        return {}
    limit = limit_of(three.sum(axis=0).tolist(), len(three))
    if limit:
        return {"reason": f"{limit} at start, middle and end"}
    certain = pbi_class(estimate.low) == pbi_class(estimate.high)
    return {"pbi_class": pbi_class(estimate.value), "class_certain": certain}


def _position_effect(sweep: CompleteCases, permutations: int, rng: np.random.Generator) -> dict:
    gap, q = gap_test(sweep.matrix, permutations, rng), cochrans_q(sweep.matrix)
    correct = sweep.matrix.sum(axis=0)
    return {
        "best_position": sweep.positions[int(correct.argmax())] if gap.gap else None,
        "worst_position": sweep.positions[int(correct.argmin())] if gap.gap else None,
        "best_accuracy": int(correct.max()) / len(sweep.matrix),
        "worst_accuracy": int(correct.min()) / len(sweep.matrix),
        "gap": gap.gap,
        "gap_null_mean": gap.null_mean,
        "gap_null_95": gap.null_95,
        "gap_p": gap.p_value,
        "cochran_q": q.statistic,
        "cochran_df": q.df,
        "cochran_p": q.p_value,
    }
