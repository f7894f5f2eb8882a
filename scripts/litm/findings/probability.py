"""Effects of position on the log-probability of the right answer."""

from collections.abc import Container, Iterable, Iterator
from itertools import groupby
from operator import itemgetter

from litm.findings.curves import CONTRASTS, SILENT, Row
from litm.findings.record import Finding, Kind, Number, Strength

KINDS = {
    "log_probability": Kind(
        "Effects of position on the log-probability of the right answer, in nats.",
        numbers={name: f"{name} in nats; p corrected over the curves of the experiment" for name in CONTRASTS},
        facts={
            "told": "the names of the effects to tell: primacy and recency if one of them is shown, else any that is",
            "reason": "why accuracy tells nothing on the positions of the curve, null if it tells something",
        },
    )
}


def probability_findings(
    effects: Iterable[Row], curves: Iterable[Finding], stand_ins: Container[str] = ()
) -> Iterator[Finding]:
    """A finding for each curve with log-probabilities, in the order of the rows.

    effects: rows of log_probability_effects.csv; curves: findings on accuracy.
    """
    reasons = {(*curve.sweep, curve.size): curve.facts["reason"] for curve in curves}
    best = (
        row
        for row in effects
        if row["quantity"] == "answer" and row["effect"] in CONTRASTS and row["model"] not in stand_ins
    )
    for curve, rows in groupby(best, itemgetter("model", "experiment", "size")):
        of_curve = {row["effect"]: row for row in rows}
        numbers = {name: Number.of_row(of_curve[name], "value", "", "p_holm") for name in CONTRASTS}
        ends = [name for name in ("primacy", "recency") if numbers[name].is_shown]
        shown = ends or [name for name in CONTRASTS if numbers[name].is_shown]
        reason = reasons.get(curve)
        model, experiment, size = curve
        yield Finding(
            "log_probability",
            (model,),
            (experiment,),
            size,
            n=of_curve["pbi"]["n"],
            strength=Strength.SHOWN if shown else Strength.CANNOT_TELL,
            numbers=numbers,
            facts={"told": shown, "reason": reason if reason in SILENT else None},
        )
