"""Rows of the position bias table for the forest plot and the report."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from litm.base.records import plain_rows

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class IndexedCurve:
    """A row of position_bias.csv.

    placement: '' unless prompts have several gold items. index: lower limit, index and upper limit as fractions, None
    without an index. n: questions scored at every position. reason: why there is no information, '' if there is some.
    pbi_class: None if the index carries no information. is_certain: whether the whole interval is in the class. shape:
    the curve's word, '' without one.
    """

    experiment: str
    model: str
    size: int
    placement: str
    index: tuple[float, float, float] | None
    n: int
    reason: str
    pbi_class: str | None
    is_certain: bool
    shape: str = ""


def indexed_curves(position_bias: "pd.DataFrame") -> list[IndexedCurve]:
    """Rows of position_bias.csv grouped by experiment; experiments and rows in the order of the table."""
    curves = [_curve(row) for row in plain_rows(position_bias)]
    order = {name: place for place, name in enumerate(dict.fromkeys(curve.experiment for curve in curves))}
    return sorted(curves, key=lambda curve: order[curve.experiment])


def _curve(row: Mapping) -> IndexedCurve:
    limits = (row["pbi_ci_low"], row["pbi"], row["pbi_ci_high"])
    return IndexedCurve(
        experiment=str(row["experiment"]),
        model=str(row["model"]),
        size=int(row["size"]),
        placement=row.get("placement") or "",
        index=None if row["pbi"] is None else (float(limits[0]), float(limits[1]), float(limits[2])),
        n=int(row["n"]),
        reason=row["reason"] or "",
        pbi_class=row["pbi_class"],
        is_certain=bool(row["class_certain"]),
        shape=row.get("shape") or "",
    )
