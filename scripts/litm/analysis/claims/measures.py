"""Quantities with an interval at any confidence, and their combinations.

A correction for many tests needs the same interval at several confidences, so a measure has a function for it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import hypot


@dataclass(frozen=True)
class Measure:
    """A value, its number of questions, and its two-sided interval as a function of the confidence.

    sources: where it is printed, if it was not measured here; is_paired: whether answers are compared question by
    question.
    """

    value: float
    n: int
    interval: Callable[[float], tuple[float, float]]
    sources: tuple[str, ...] = ()
    is_paired: bool = True


def largest(measures: Sequence[Measure]) -> Measure:
    """The largest of several quantities.

    The lower limit is the largest of their lower limits, corrected by Bonferroni's inequality, because any of them may
    be it. The upper limit is the largest of their upper limits, uncorrected, because it fails only if the limit of the
    truly largest quantity fails.
    """
    return negated(lowest([negated(measure) for measure in measures]))


def lowest(measures: Sequence[Measure]) -> Measure:
    """The lowest of several quantities, with limits as in `largest`, the other way round."""

    def interval(confidence: float) -> tuple[float, float]:
        corrected = 1 - (1 - confidence) / len(measures)
        lows = [measure.interval(confidence)[0] for measure in measures]
        highs = [measure.interval(corrected)[1] for measure in measures]
        return min(lows), min(highs)

    return _combined(min(measure.value for measure in measures), measures, interval)


def negated(measure: Measure) -> Measure:
    """The same quantity with the other sign."""

    def interval(confidence: float) -> tuple[float, float]:
        low, high = measure.interval(confidence)
        return -high, -low

    return _combined(-measure.value, [measure], interval)


def scaled(measure: Measure, factor: float) -> Measure:
    """A quantity times a factor above 0."""

    def interval(confidence: float) -> tuple[float, float]:
        low, high = measure.interval(confidence)
        return factor * low, factor * high

    return _combined(factor * measure.value, [measure], interval)


def minus(first: Measure, second: Measure) -> Measure:
    """The difference of two quantities that are estimated separately (Zou & Donner 2008).

    d - √((a - aₗ)² + (bᵤ - b)²) to d + √((aᵤ - a)² + (b - bₗ)²), d = a - b: exact if the two are independent,
    conservative if they are positively correlated, as quantities of the same questions are.
    """

    def interval(confidence: float) -> tuple[float, float]:
        (first_low, first_high), (second_low, second_high) = first.interval(confidence), second.interval(confidence)
        below = hypot(first.value - first_low, second_high - second.value)
        above = hypot(first_high - first.value, second.value - second_low)
        return value - below, value + above

    value = first.value - second.value
    return _combined(value, [first, second], interval)


def _combined(value: float, parts: Sequence[Measure], interval: Callable[[float], tuple[float, float]]) -> Measure:
    sources = tuple(dict.fromkeys(source for part in parts for source in part.sources))
    is_paired = all(part.is_paired for part in parts)
    return Measure(value, min(part.n for part in parts), interval, sources, is_paired)
