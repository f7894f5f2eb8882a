"""What the table of position bias says, in words."""

from collections.abc import Mapping

import pandas as pd

from litm.analysis.pbi import NO_INFORMATION
from litm.base.formatting import ordinal, percent

#: A smaller p value is called more than chance.
SIGNIFICANT = 0.05


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
    classes = measured["pbi_class"].dropna().value_counts()
    if not classes.empty:
        named = ", ".join(f"{count} {name}" for name, count in classes.items())
        told.append(f"By the Position Bias Index (edges minus middle): {named}.")
    indexed = sorted(measured[measured["pbi_class"].notna()].to_dict("records"), key=lambda row: row["pbi"])
    if len(indexed) > 1:
        least, most = indexed[0], indexed[-1]
        told.append(
            f"The index is highest for {_curve_name(most)} ({percent(most['pbi'])} points), and lowest for "
            f"{_curve_name(least)} ({percent(least['pbi'])} points)."
        )
    return told


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
            f"n = {row['n_complete']}; the positions {_chance(row['cochran_p'])}"
        )
    return f"{what}: {spread}.{_describe_pbi(row)}"


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
    interval = f"[{percent(row['pbi_ci_low'])}, {percent(row['pbi_ci_high'])}]"
    return f" PBI {percent(row['pbi'])} points {interval}: {row['class_words']}."
