"""Common parts of claims about the shape of a curve: contrasts of start, middle and end, gaps between positions."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from litm.analysis.claims.evidence import Cell, Curve, Evidence, Measure, curves, largest, lowest, negated
from litm.analysis.claims.verdicts import AS_CLAIM, Criterion, Part, Question
from litm.analysis.pbi import CONTRASTS
from litm.base.messages import percent

ENDS = ("start", "middle", "end")
#: Start, middle and end of a curve.
Three = tuple[Cell, Cell, Cell]


def curves_with_middle(evidence: Evidence) -> Iterator[tuple[Curve, Three]]:
    """Every curve of three positions or more, with its start, middle and end."""
    for curve in curves(evidence):
        if curve.three:
            yield curve, curve.three


def contrasts_question(
    evidence: Evidence,
    curve: Curve,
    three: Three,
    asked: Sequence[tuple[str, Criterion]],
    role: str = AS_CLAIM,
) -> Question:
    """A question about several of `primacy`, `recency` and `tilt`, on the questions scored at every position.

    The verdict is withheld if start, middle and end are all at the floor or the ceiling, as in position_bias.csv,
    because their differences then carry no information.
    """
    correct, n = evidence.correct(curve.cells)
    of_three = [correct[curve.cells.index(cell)] for cell in three]
    words = ", ".join(f"{end} {percent(count / n)} %" for end, count in zip(ENDS, of_three, strict=True)) if n else ""
    return Question(
        models=(curve.model,),
        experiment=curve.experiment,
        size=curve.size,
        parts=tuple(
            Part(contrast, criterion, curve_contrast(evidence, curve, three, contrast)) for contrast, criterion in asked
        ),
        detail=words or "no question was scored at every position",
        withheld=(evidence.limit(curve.cells, three) or "") if n else "",
        role=role,
    )


def curve_contrast(evidence: Evidence, curve: Curve, three: Three, contrast: str) -> Measure | None:
    """One of `pbi.CONTRASTS`, on the complete cases of the whole curve."""
    return evidence.contrast(contrast_weights(curve, three, contrast))


def contrast_weights(curve: Curve, three: Three, contrast: str) -> dict[Cell, float]:
    """The weight of each cell of a curve in one of `pbi.CONTRASTS`."""
    return dict.fromkeys(curve.cells, 0.0) | dict(zip(three, CONTRASTS[contrast], strict=True))


def best_worst_gap(evidence: Evidence, curve: Curve) -> Measure | None:
    """Best minus worst position of a curve, with limits from those of all pairs of positions (`largest`)."""
    differences = _differences(evidence, curve, combinations(curve.cells, 2))
    both_ways = [*differences, *map(negated, differences)]
    return largest(both_ways) if both_ways else None


def middle_above_between(evidence: Evidence, curve: Curve, three: Three) -> Measure | None:
    """The smaller of: middle minus the lowest position before it, and middle minus the lowest after it; else None."""
    middle = three[1]
    at = curve.cells.index(middle)
    sides = [
        _differences(evidence, curve, [(middle, cell) for cell in cells])
        for cells in (curve.cells[1:at], curve.cells[at + 1 : -1])
    ]
    return lowest([largest(side) for side in sides]) if all(sides) else None


def _differences(evidence: Evidence, curve: Curve, pairs: Iterable[tuple[Cell, Cell]]) -> list[Measure]:
    """The difference of each pair of cells, on the complete cases of the whole curve; [] without these."""
    rest = dict.fromkeys(curve.cells, 0.0)
    differences = [evidence.contrast(rest | {first: 1, other: -1}) for first, other in pairs]
    return [difference for difference in differences if difference]
