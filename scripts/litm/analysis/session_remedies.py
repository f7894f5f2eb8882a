"""Remedies against forgetting in a session: each against the session as it is, on the same questions."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from litm.analysis.grid import CurveGrid, Files, joined, limits, read_grids, sweep_of
from litm.analysis.log_probability import questions_needed
from litm.analysis.power import FIVE_POINTS
from litm.analysis.significance import holm
from litm.base.groups import grouped
from litm.records.bills import Prices

if TYPE_CHECKING:
    from litm.tables.session_remedies import SessionRemediesRow


def session_remedies_table(
    session_scores: Files, session_remedies: Sequence[Mapping[str, str]], prices: Mapping[str, Mapping | None]
) -> "list[SessionRemediesRow]":
    """One row per model, remedy and size, in the order of the config; without sweeps in doubt.

    session_remedies: {experiment, compared_with, remedy, setting}, see `config.session_remedies`.
    """
    grids = read_grids(session_scores.scores())
    costs = {
        (*sweep_of(scores), int(size)): scores[scores["size"] == size]
        for scores in session_scores.scores()
        for size in scores["size"].unique()
    }
    made: list[SessionRemediesRow] = []
    for remedy in session_remedies:
        for model, experiment, size in grids:
            without = (model, remedy["compared_with"], size)
            if experiment == remedy["experiment"] and without in grids:
                sides = grids[model, experiment, size], grids[without]
                rows = costs[model, experiment, size], costs[without]
                made += _rows({"model": model, **remedy, "size": size}, sides, rows, prices.get(model))
    of_models = grouped(made, itemgetter("model"))
    for of_model in of_models.values():
        tested = [1.0 if row["p_value"] is None else row["p_value"] for row in of_model]
        for row, corrected in zip(of_model, holm(tested), strict=True):
            row["p_holm"] = corrected
    return [row for of_model in of_models.values() for row in of_model]


def _rows(
    named: Mapping[str, Any], sides: Sequence[CurveGrid], rows: Sequence[pd.DataFrame], price: Mapping[str, Any] | None
) -> "Iterator[SessionRemediesRow]":
    """The row of a remedy at one size; none without a common question. sides, rows: with the remedy, without it."""
    places = [place for place in sides[0].positions if place in sides[1].positions]
    both = joined(*(side.complete([side.positions.index(place) for place in places]) for side in sides)).complete()
    if both.ids.empty:
        return
    share = 1 / len(places)
    contrast = both.contrast([share] * len(places) + [-share] * len(places))
    means = both.right.mean(axis=0).reshape(2, -1).mean(axis=1)
    (tokens, dollars), (tokens_without, dollars_without) = (_cost(side, places, price) for side in rows)
    yield {
        **named,  # type: ignore[typeddict-item]
        "n": len(both.ids),
        "accuracy": float(means[0]),
        "accuracy_without": float(means[1]),
        "difference": contrast.estimate().value,
        **limits(contrast.estimate()),
        "p_value": contrast.p_value,
        "n_for_5_points": questions_needed(replace(contrast, value=np.array(FIVE_POINTS)), len(both.ids)),
        "tokens": tokens,
        "tokens_without": tokens_without,
        "dollars": dollars,
        "dollars_without": dollars_without,
    }


def _cost(
    rows: pd.DataFrame, places: Sequence[int], price: Mapping[str, Any] | None
) -> tuple[float | None, float | None]:
    """Mean tokens of prompt and answer at these positions, and US dollars for 1,000 questions; None if not known."""
    asked = rows[~rows["excluded"] & rows["position"].isin(places)]
    counts = asked[["prompt_tokens", "response_tokens"]].astype("Float64")
    if counts.empty or counts.isna().any(axis=None):
        return None, None
    dollars = 1000 * float(Prices.from_entry(price).of_rows(asked).mean()) if price else None
    return float(counts.mean().sum()), dollars
