"""Effects that each curve could have shown: rows of detectable_effects.csv from score rows."""

from math import ceil
from pathlib import Path

import numpy as np
import pandas as pd

from litm.analysis.clusters import contrast_interval, design_effect
from litm.analysis.paired_scores import CompleteCases, complete_cases, curves, interval_columns
from litm.analysis.pbi import CONTRASTS, middle_index
from litm.analysis.power import (
    ASSUMED_ACCURACY,
    ASSUMED_CORRELATION,
    FIVE_POINTS,
    Assumption,
    detectable_effect,
    observed,
    questions_needed,
)
from litm.base.records import read_parquet


def detectable_effect_rows(scores: pd.DataFrame) -> list[dict]:
    """One row for each of primacy, recency, tilt and PBI of one curve: its estimate, and the effects that n can show.

    `mde` is the smallest effect that is shown with a chance of 80 %, `n_for_5_points` the number of questions that
    show one of 5 points, both for a curve with this mean accuracy and correlation. Questions in clusters count as fewer
    independent ones (`clusters.design_effect`). [] for a curve without a middle or a complete case. Errors as in
    `complete_cases`.
    """
    sweep = complete_cases(scores)
    three = start_middle_end(sweep)
    if three is None:
        return []
    assumed = observed(three)
    rows = []
    for contrast, weights in CONTRASTS.items():
        effect = design_effect(three, weights, sweep.clusters)
        needed = questions_needed(contrast, FIVE_POINTS, assumed)
        rows.append(
            {
                **sweep.names,
                "n": len(three),
                "quantity": contrast,
                **interval_columns("value", contrast_interval(three, weights, sweep.clusters), is_only=True),
                "accuracy_mean": assumed.accuracy,
                "correlation": assumed.correlation,
                "design_effect": effect,
                "mde": detectable_effect(contrast, int(len(three) / effect), assumed),
                "n_for_5_points": None if needed is None else ceil(needed * effect),
            }
        )
    return rows


def start_middle_end(sweep: CompleteCases) -> np.ndarray | None:
    """Columns of start, middle and end; None for a curve without a middle or a complete case."""
    middle = middle_index(sweep.depths)
    if middle is None or not len(sweep.matrix):
        return None
    return sweep.matrix[:, [0, middle, len(sweep.positions) - 1]]


def earlier(results: Path, model: str, experiment: str) -> tuple[Assumption, str]:
    """Accuracy and correlation from earlier scores of the sweep, or else of another model's, or else assumed; and their
    source.
    """
    own = results / "scores" / model / f"{experiment}.parquet"
    for path in [own, *sorted((results / "scores").glob(f"*/{experiment}.parquet"))]:
        if path.exists() and (found := earlier_curve(read_parquet(path))):
            return found[0], f"from earlier scores of {path.parent.name}, n = {found[1]:,}"
    return Assumption(ASSUMED_ACCURACY, ASSUMED_CORRELATION), "assumed"


def earlier_curve(scores: pd.DataFrame) -> tuple[Assumption, int] | None:
    """Mean accuracy and correlation over the curves of one experiment, weighted by questions, and the fewest questions
    of a curve; None without a curve that has a middle.
    """
    threes = [three for curve in curves(scores) if (three := start_middle_end(complete_cases(curve))) is not None]
    if not threes:
        return None
    told, weights = [observed(three) for three in threes], [len(three) for three in threes]
    return (
        Assumption(
            float(np.average([one.accuracy for one in told], weights=weights)),
            float(np.average([one.correlation for one in told], weights=weights)),
        ),
        min(weights),
    )
