"""The shape of a curve in words: U, recency alone, rising, flat, ...

A word states only what is shown. It combines statements (the start is above the middle, all positions are within 5
points of one another, ...); the statements on all curves of an experiment are one family, see `error_rates`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from litm.analysis.claims.criteria import SMALL
from litm.analysis.claims.error_rates import ALPHA, WORD_SHARE, step_down
from litm.analysis.claims.evidence import Cell, Curve, Evidence
from litm.analysis.claims.meanings import (
    END_LOWER,
    FALLING,
    FLAT,
    INVERTED,
    NONE,
    PRIMACY,
    PRIMACY_UNCLEAR,
    RECENCY,
    RECENCY_UNCLEAR,
    RISING,
    START_LOWER,
    UNEVEN,
    U,
    W,
)
from litm.analysis.claims.measures import Measure
from litm.analysis.claims.shape import best_worst_gap, curve_contrast, middle_above_between

#: Words by the shown signs of start - middle and end - middle: 1 above 0, -1 below 0, 0 neither.
OF_ENDS = {
    (1, 1): U, (-1, -1): INVERTED, (-1, 1): RISING, (1, -1): FALLING,
    (1, 0): PRIMACY, (0, 1): RECENCY, (-1, 0): START_LOWER, (0, -1): END_LOWER,
}  # fmt: skip


@dataclass(frozen=True)
class CurveMeasures:
    """Measures of a curve that statements are about; withheld: why it has no word."""

    primacy: Measure | None
    recency: Measure | None
    tilt: Measure | None
    gap: Measure | None
    between: Measure | None
    withheld: str = ""


def measures_of(evidence: Evidence, curve: Curve, three: tuple[Cell, Cell, Cell], withheld: str = "") -> CurveMeasures:
    """The measures of a curve; withheld: as of its question."""
    contrasts = {name: curve_contrast(evidence, curve, three, name) for name in ("primacy", "recency", "tilt")}
    gap, between = best_worst_gap(evidence, curve), middle_above_between(evidence, curve, three)
    return CurveMeasures(**contrasts, gap=gap, between=between, withheld=withheld)


def words_of(curves: Sequence[CurveMeasures]) -> list[str]:
    """One word per curve of one family; "" if it is withheld or was not measured."""
    above = _shown(curves, ("primacy", "recency", "tilt", "gap", "between"), lambda low, high: low > 0)
    below = _shown(curves, ("primacy", "recency", "tilt"), lambda low, high: high < 0)
    flat = {index for index, _ in _shown(curves, ("gap",), lambda low, high: high < SMALL)}
    return [
        ""
        if curve.withheld or curve.primacy is None
        else _word(curve, partial(_sign, above, below, index), index in flat)
        for index, curve in enumerate(curves)
    ]


def _shown(
    curves: Sequence[CurveMeasures], names: Sequence[str], holds: Callable[[float, float], bool]
) -> set[tuple[int, str]]:
    """(curve, measure) of each measure for which `holds` is shown, with Holm's correction over all of them."""
    measures = {
        (index, name): measure
        for index, curve in enumerate(curves)
        for name in names
        if (measure := getattr(curve, name)) is not None
    }

    def is_shown(case: tuple[int, str], confidence: float) -> bool:
        return not curves[case[0]].withheld and holds(*measures[case].interval(confidence))

    return set(step_down(measures, is_shown, WORD_SHARE).rejected)


def _differs(measure: Measure | None) -> bool:
    """Whether the single 95 % interval of a measure excludes 0."""
    assert measure is not None
    low, high = measure.interval(1 - ALPHA)
    return low > 0 or high < 0


def _sign(above: set, below: set, index: int, name: str) -> int:
    return ((index, name) in above) - ((index, name) in below)


def _word(curve: CurveMeasures, sign: Callable[[str], int], is_flat: bool) -> str:
    ends = sign("primacy"), sign("recency")
    if sign("between") > 0 and min(ends) >= 0:
        return W
    # Otherwise a claim, corrected for fewer cases, could show what "alone" denies.
    if ends == (1, 0) and _differs(curve.recency):
        return RECENCY_UNCLEAR
    if ends == (0, 1) and _differs(curve.primacy):
        return PRIMACY_UNCLEAR
    if any(ends):
        return OF_ENDS[ends]
    if sign("tilt"):
        return RISING if sign("tilt") > 0 else FALLING
    if sign("gap") > 0:
        return UNEVEN
    return FLAT if is_flat else NONE
