"""The claim of a U by the log-probability of the right answer: evidence of another kind, in a table of its own."""

from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from litm.analysis.grid import Files, curves, interval_columns
from litm.analysis.log_probability import measured_curves
from litm.analysis.pbi import CONTRASTS, PLACES
from litm.analysis.statistics import mean_of_numbers
from litm.claims.curve_words import families, name_of
from litm.claims.evidence import measure_of
from litm.claims.statements import u_shape
from litm.claims.verdicts import ABOVE, Criterion, Part, Question, Range, reason

if TYPE_CHECKING:
    from litm.tables.log_probability import LogProbabilityClaimsRow

#: Nats have no difference that is negligible for every model, so only a difference with the other sign contradicts.
POSITIVE = Criterion(ABOVE, Range("below 0", ((-inf, 0),)))
#: The quantity that decides: of the answer as a whole, so that a token more or less changes nothing.
DECIDES = "answer"
ENDS = ("primacy", "recency")


def log_probability_claims_table(log_probabilities: Files) -> "Iterator[LogProbabilityClaimsRow]":
    """One row per curve with a middle, with the verdict on primacy and recency above 0; families and their level as for
    accuracy, see docs/claims.md.
    """
    questions = (
        measured_question
        for sweep in log_probabilities.scores()
        for rows in curves(sweep)
        for measured_question in _questions(rows)
    )
    for family in families(questions):
        for question, decision, size in family:
            measured = {part.statistic: part.measure for part in question.parts if part.measure}
            model, experiment, size_of_curve, _ = name_of(question)
            effects: dict = {}
            for name, measure in measured.items():
                effects |= interval_columns(name, measure.estimate())
            yield {
                "claim": u_shape.__name__,
                "model": model,
                "experiment": experiment,
                "size": size_of_curve,
                "verdict": decision.verdict,
                "n": max((measure.n for measure in measured.values()), default=0),
                **effects,
                "reason": reason(question, decision),
                "family_size": size,
            }


def _questions(rows: pd.DataFrame) -> Iterator[Question]:
    for names, curve in measured_curves(rows):
        three, clusters = curve.three, curve.cases.clusters
        if names["quantity"] == DECIDES and three is not None:
            moments_of = {name: mean_of_numbers(three @ np.array(CONTRASTS[name]), clusters) for name in ENDS}
            parts = tuple(Part(name, POSITIVE, measure_of(moments, len(three))) for name, moments in moments_of.items())
            means_text = ", ".join(
                f"{place} {nats:.2f}" for place, nats in zip(PLACES, three.mean(axis=0), strict=True)
            )
            yield Question((names["model"],), names["experiment"], names["size"], parts, f"nats: {means_text}")
