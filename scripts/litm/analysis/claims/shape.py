"""What claims about the shape of a curve share: contrasts of start, middle and end."""

from collections.abc import Iterator

from litm.analysis.claims.criteria import Criterion
from litm.analysis.claims.evidence import Cell, Curve, Evidence, curves
from litm.analysis.claims.measures import Measure
from litm.analysis.claims.verdicts import Question
from litm.analysis.pbi import CONTRASTS, limit_of
from litm.base.formatting import percent

ENDS = ("start", "middle", "end")


def curves_with_middle(evidence: Evidence) -> Iterator[tuple[Curve, tuple[Cell, Cell, Cell]]]:
    """Every curve of three positions or more, with its start, middle and end."""
    for curve in curves(evidence):
        if curve.three:
            yield curve, curve.three


def contrast_question(
    evidence: Evidence, curve: Curve, three: tuple[Cell, Cell, Cell], contrast: str, criterion: Criterion
) -> Question:
    """Ask about `primacy`, `recency`, `tilt` or `pbi`, on the questions that were scored at every position.

    It cannot be answered where start, middle and end are all at the floor or the ceiling, as in position_bias.csv:
    their differences are then no sign of anything.
    """
    measure = curve_contrast(evidence, curve, three, contrast)
    correct, n = evidence.correct(curve.cells)
    of_three = [correct[curve.cells.index(cell)] for cell in three]
    limit = limit_of(of_three, n) if n else "no question was scored at every position"
    words = ", ".join(f"{end} {percent(count / n)} %" for end, count in zip(ENDS, of_three, strict=True)) if n else ""
    return Question(
        models=(curve.model,),
        experiment=curve.experiment,
        size=curve.size,
        statistic=contrast,
        criterion=criterion,
        measure=None if limit else measure,
        detail="; ".join(filter(None, [words, limit])),
    )


def curve_contrast(evidence: Evidence, curve: Curve, three: tuple[Cell, Cell, Cell], contrast: str) -> Measure | None:
    """One of `position_bias.CONTRASTS`, on the complete cases of the whole curve."""
    weights = dict.fromkeys(curve.cells, 0.0) | dict(zip(three, CONTRASTS[contrast], strict=True))
    return evidence.contrast(weights)
