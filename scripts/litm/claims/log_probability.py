"""The claim of a U by the log-probability of the right answer: evidence of another kind, beside the effects."""

from collections.abc import Iterator
from itertools import chain
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from litm.analysis.grid import Files, curves
from litm.analysis.log_probability import effects_and_pairs, measured_curves
from litm.analysis.pbi import CONTRASTS, PLACES
from litm.analysis.statistics import mean_of_numbers
from litm.claims.curve_words import families, name_of
from litm.claims.evidence import measure_of
from litm.claims.verdicts import ABOVE, Criterion, Part, Question, Range, reason

if TYPE_CHECKING:
    from litm.tables.log_probability import LogProbabilityEffectsRow

#: Nats have no difference that is negligible for every model, so only a difference with the other sign contradicts.
POSITIVE = Criterion(ABOVE, Range("below 0", ((-inf, 0),)))
#: The quantity that decides: of the answer as a whole, so that a token more or less changes nothing.
DECIDES = "answer"
ENDS = ("primacy", "recency")


def log_probability_effects_table(log_probabilities: Files) -> "list[LogProbabilityEffectsRow]":
    """The rows of `effects_and_pairs`, with the verdict on a U in the row of the index of `DECIDES`; families and their
    level as for accuracy, see docs/claims.md.
    """
    rows = effects_and_pairs(log_probabilities)
    of_index = {
        (row["model"], row["experiment"], row["size"]): row
        for row in rows
        if (row["quantity"], row["effect"]) == (DECIDES, "pbi")
    }
    for family in families(_questions(log_probabilities)):
        for question, decision, size in family:
            model, experiment, size_of_curve, _ = name_of(question)
            row = of_index[model, experiment, size_of_curve]
            row |= {"u_verdict": decision.verdict, "u_reason": reason(question, decision), "u_family_size": size}
    return rows


def _questions(log_probabilities: Files) -> Iterator[Question]:
    rows_of_curves = (rows for sweep in log_probabilities.scores() for rows in curves(sweep))
    for names, curve in chain.from_iterable(map(measured_curves, rows_of_curves)):
        three, clusters = curve.three, curve.cases.clusters
        if names["quantity"] == DECIDES and three is not None:
            moments_of = {name: mean_of_numbers(three @ np.array(CONTRASTS[name]), clusters) for name in ENDS}
            parts = tuple(Part(name, POSITIVE, measure_of(moments, len(three))) for name, moments in moments_of.items())
            means_text = ", ".join(
                f"{place} {nats:.2f}" for place, nats in zip(PLACES, three.mean(axis=0), strict=True)
            )
            yield Question((names["model"],), names["experiment"], names["size"], parts, f"nats: {means_text}")
