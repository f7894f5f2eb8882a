"""What the table of position bias says, in words."""

from collections.abc import Mapping, Sequence

import pandas as pd

from litm.analysis.pbi import NO_INFORMATION
from litm.base.formatting import ordinal, percent, points

#: A smaller p value is called more than chance.
SIGNIFICANT = 0.05
#: So many curves are named one by one in the overview.
NAMED = 6
NO_DIFFERENCE = "no difference shown"
#: What the signs of primacy and recency come to: above the middle (1), below it (-1), or not shown to differ (0).
SHAPES = {
    (1, 1): "both ends above the middle (U)",
    (1, 0): "strong at the start",
    (0, 1): "strong at the end",
    (0, 0): NO_DIFFERENCE,
    (-1, 0): "weak at the start",
    (0, -1): "weak at the end",
    (-1, -1): "both ends below the middle (inverted)",
    (1, -1): "falling",
    (-1, 1): "rising",
}


def overview(
    accuracy: pd.DataFrame, position_bias: pd.DataFrame | None, published: pd.DataFrame | None = None
) -> list[str]:
    """What was measured, what came out over all curves, and how it compares with what was published, in sentences."""
    models, experiments = accuracy["model"].nunique(), accuracy["experiment"].nunique()
    told = [
        f"{_count(models, 'model')}, {_count(experiments, 'experiment')}, {_count(len(accuracy), 'cell')} with "
        f"{int(accuracy['n'].sum()):,} answers counted."
    ]
    if position_bias is not None:
        told += _bias_overview(position_bias)
    if published is not None and len(published):
        counts = ", ".join(f"{n} {verdict}" for verdict, n in published["verdict"].value_counts().items())
        told.append(f"Beside {_count(len(published), 'published value')}: {counts}.")
    return told


def _bias_overview(position_bias: pd.DataFrame) -> list[str]:
    measured = position_bias[position_bias["verdict"] != NO_INFORMATION]
    differ = int((measured["cochran_p"] < SIGNIFICANT).sum())
    unclear, silent = len(measured) - differ, len(position_bias) - len(measured)
    told = [
        f"Positions differ by more than chance in {differ} of {_count(len(position_bias), 'curve')} (Cochran's Q, p < "
        f"{SIGNIFICANT}), and are not shown to differ in {unclear}; {silent} say nothing on position "
        "(floor, ceiling, or too few questions)."
    ]
    indexed = sorted(measured[measured["pbi_class"].notna()].to_dict("records"), key=lambda row: row["pbi"])
    if indexed:
        told.append(_shapes(indexed))
    if len(indexed) > 1:
        told.append(
            f"The Position Bias Index (edges minus middle) is highest for {_index(indexed[-1])}, and lowest for "
            f"{_index(indexed[0])}."
        )
    return told


def _index(row: Mapping) -> str:
    return f"{_curve_name(row)} ({_with_interval(row, 'pbi')}, n = {row['n_complete']:,})"


def _with_interval(row: Mapping, name: str) -> str:
    """A difference in points with its interval."""
    return f"{points(row[name])} [{percent(row[f'{name}_ci_low'])}, {percent(row[f'{name}_ci_high'])}]"


def _shapes(curves: Sequence[Mapping]) -> str:
    """How start and end compare with the middle: each curve where they are few, else how many have which shape."""
    if len(curves) <= NAMED:
        told = [f"{_curve_name(row)}: {shape(row)}" for row in curves]
    else:
        counts = pd.Series([shape_name(row) for row in curves]).value_counts()
        told = [f"{name} in {count}" for name, count in counts.items()]
    return f"Start and end beside the middle, by 95 % intervals: {'; '.join(told)}."


def sign(row: Mapping, name: str) -> int:
    """1 where the whole interval of a difference is above 0, -1 where it is below, 0 where nothing is shown."""
    return int(row[f"{name}_ci_low"] > 0) - int(row[f"{name}_ci_high"] < 0)


def shape_name(row: Mapping) -> str:
    """How the ends compare with the middle, in words that the intervals of primacy and recency carry."""
    return SHAPES[sign(row, "primacy"), sign(row, "recency")]


def shape(row: Mapping) -> str:
    """The same with primacy and recency, and with what n could have shown where nothing is."""
    name = shape_name(row)
    numbers = f"start {_with_interval(row, 'primacy')}, end {_with_interval(row, 'recency')}"
    if name == NO_DIFFERENCE and not pd.isna(row["mde"]):
        numbers += f"; n = {row['n_complete']:,} shows an index of {percent(row['mde'])} points"
    return f"{name} ({numbers})"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _curve_name(row: Mapping) -> str:
    placement = "" if pd.isna(row["placement"]) else f", {row['placement']}"
    return f"{row['model']} on {row['experiment']}, size {row['size']}{placement}"


def findings(position_bias: pd.DataFrame | None) -> list[str]:
    """A sentence or two for each curve: best and worst, whether positions differ by more than chance, PBI."""
    return [] if position_bias is None else [_finding(row) for row in position_bias.to_dict("records")]


def _finding(row: Mapping) -> str:
    what = _curve_name(row)
    if row["verdict"] == NO_INFORMATION:
        left_out = f", {row['n_incomplete']} left out" if row["n_incomplete"] else ""
        return f"{what}: no information on position, {row['reason']} (n = {row['n_complete']}{left_out})."
    if not row["gap"]:
        everywhere = f"at each of the {row['positions']} positions"
        spread = f"{percent(row['best_accuracy'])} % {everywhere} (n = {row['n_complete']})"
    else:
        best, worst = (ordinal(int(row[f"{end}_position"]) + 1) for end in ("best", "worst"))
        spread = (
            f"best with the answer in the {best} ({percent(row['best_accuracy'])} %), "
            f"worst in the {worst} ({percent(row['worst_accuracy'])} %), "
            f"gap {_gap(row)}, n = {row['n_complete']}; the positions {_chance(row['cochran_p'])}"
        )
    return f"{what}: {spread}.{_describe_pbi(row)}"


def _gap(row: Mapping) -> str:
    return f"{percent(row['gap'])} points [{percent(row['gap_ci_low'])}, {percent(row['gap_ci_high'])}]"


def _chance(p: float) -> str:
    """What Cochran's Q says, in words."""
    written = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    differ = "differ by more than chance" if p < SIGNIFICANT else "are not shown to differ"
    return f"{differ} (Cochran's Q, {written})"


def _describe_pbi(row: Mapping) -> str:
    if pd.isna(row["pbi"]):
        return ""
    if pd.isna(row["pbi_class"]):
        return f" Its PBI says nothing ({row['reason']})."
    certain = "" if row["class_certain"] else ", but the interval reaches into another class"
    ends = shape(row)
    return f" {ends[0].upper()}{ends[1:]}. PBI {_with_interval(row, 'pbi')}: {row['pbi_class']}{certain}."
