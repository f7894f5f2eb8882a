"""Effective length: the longest context whose worst position is close to short contexts; effective_length.csv."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from litm.analysis.grid import Files
from litm.claims.evidence import Curve, Evidence, Measure, by_sweep, curves, largest, scored_evidence

if TYPE_CHECKING:
    from litm.tables.sizes import EffectiveLengthRow

#: Fraction: tolerated loss of the worst position of a size against the best position of the smallest size.
MARGIN = 0.10
#: Probability of any wrong "shown" in an experiment, half of it for each side.
ALPHA = 0.05
WITHIN, BEYOND, OPEN = "shown within", "shown beyond", "not shown"
#: Why there is no effective length, by whether a question was scored at the smallest size.
UNKNOWN = {
    False: "no question was scored at the smallest size",
    True: "none: not shown to be right at the smallest size more often than the margin",
}


def effective_length_rows(evidence: Evidence) -> "Iterator[EffectiveLengthRow]":
    """One row per size of each model and experiment with several sizes.

    The loss of a size is L = max(aⱼ) - min(bₖ) over the positions j of the smallest size and k of its own: the largest
    of all differences aⱼ - bₖ, each with a paired interval, or an unpaired one if sizes have different questions. Its
    limits come from theirs (`evidence.largest`): the lower one is corrected for their number (Bonferroni). Best minus
    worst of the sample would overestimate the loss.

    Confidence is 1 - ALPHA/m in an experiment of m models. From the smallest size up each size is tested for L < MARGIN
    until one is not shown, and from the largest size down for L > MARGIN, so that the number of sizes needs no
    correction (fixed sequence; Maurer, Hothorn & Lehmacher 1995).

    A model whose best position of the smallest size is not shown to be above MARGIN has no effective length, because
    even an accuracy of 0 would be within the margin.
    """
    groups = [group for group in by_sweep(curves(evidence)) if len(group) > 1]
    models = Counter(group[0].experiment for group in groups)
    for group in groups:
        yield from _rows(evidence, group, 1 - ALPHA / models[group[0].experiment])


def _rows(evidence: Evidence, group: Sequence[Curve], confidence: float) -> "Iterator[EffectiveLengthRow]":
    """Rows of one model and experiment, sizes ascending."""
    first = group[0]
    accuracies = [accuracy for cell in first.cells if (accuracy := evidence.accuracy(cell))]
    best = largest(accuracies) if accuracies else None
    losses = [_loss(evidence, first, curve) for curve in group]
    limits = [loss.interval(confidence) if loss else (-inf, inf) for loss in losses]
    is_known = best is not None and best.interval(confidence)[0] > MARGIN
    verdicts = _verdicts(limits) if is_known else [OPEN] * len(group)
    words = in_words([curve.size for curve in group], verdicts) if is_known else UNKNOWN[best is not None]
    for curve, loss, (low, high), verdict in zip(group, losses, limits, verdicts, strict=True):
        row: EffectiveLengthRow = {
            "model": curve.model,
            "experiment": curve.experiment,
            "size": curve.size,
            "tokens_mean": evidence.prompt_tokens(curve.cells),
            "size_smallest": first.size,
            "margin": MARGIN,
            "confidence": confidence,
            "verdict": verdict,
            "effective_length": words,
        }
        if loss is not None and best is not None:
            right, n = evidence.correct(curve.cells)
            row |= {"n": loss.n, "is_paired": loss.is_paired, "accuracy_best": best.value}
            row |= {"position_worst": curve.cells[right.index(min(right))].position, "accuracy_worst": min(right) / n}
            row |= {"loss": loss.value, "ci_low": low, "ci_high": high}
        yield row


def _loss(evidence: Evidence, first: Curve, curve: Curve) -> Measure | None:
    """The best accuracy of any position of the smallest size minus the worst of this one; None if no question was
    scored.
    """
    pairs = [(a, b) for a in first.cells for b in curve.cells if a != b]
    differences = [difference for pair in pairs if (difference := evidence.difference_of_means(pair[:1], pair[1:]))]
    if not differences or not evidence.correct(curve.cells)[1]:
        return None
    loss = largest(differences)
    if curve is not first:
        return loss

    def interval(level: float) -> tuple[float, float]:
        low, high = loss.interval(level)
        # Within one size, the best is never below the worst.
        return max(0.0, low), high

    return replace(loss, interval=interval)


def _verdicts(limits: Sequence[tuple[float, float]]) -> list[str]:
    """The verdict on each size: `WITHIN` if this and all smaller ones are, `BEYOND` if this and all larger ones are."""
    within, beyond = [high < MARGIN for _, high in limits], [low > MARGIN for low, _ in limits]
    return [
        WITHIN if all(within[: place + 1]) else BEYOND if all(beyond[place:]) else OPEN for place in range(len(limits))
    ]


def in_words(sizes: Sequence[int], verdicts: Sequence[str]) -> str:
    """The effective length in words, from the verdicts on sizes in ascending order."""
    within = [size for size, verdict in zip(sizes, verdicts, strict=True) if verdict == WITHIN]
    beyond = [size for size, verdict in zip(sizes, verdicts, strict=True) if verdict == BEYOND]
    if len(within) == len(sizes):
        return f"{within[-1]} or more: shown"
    least = f"{within[-1]} or more: shown" if within else f"{sizes[0]} or more: not shown"
    most = f"less than {beyond[0]}: shown" if beyond else f"less than {sizes[-1]}: not shown"
    return f"less than {sizes[0]}: shown" if beyond and beyond[0] == sizes[0] else f"{least}; {most}"


def effective_length_table(sized_scores: Files) -> "Iterator[EffectiveLengthRow]":
    """One row per model, experiment and size, in the order of the score files."""
    return effective_length_rows(scored_evidence(sized_scores.scores()))
