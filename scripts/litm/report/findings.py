"""The table of position bias in sentences."""

from collections.abc import Mapping, Sequence

import pandas as pd

from litm.analysis.claims.criteria import NO_INFORMATION
from litm.analysis.claims.meanings import END_LOWER, FLAT, MEANINGS, NONE, START_LOWER, UNEVEN
from litm.analysis.statistics import SIGNIFICANT
from litm.base.messages import ordinal, percent, points

#: Number of curves that the overview names one by one, at most.
NAMED = 6
#: Differences by word that the word does not state, though their single intervals may exclude 0: the word is corrected
#: for all curves of the experiment.
UNSAID = {
    NONE: ("primacy", "recency", "tilt"),
    FLAT: ("primacy", "recency", "tilt"),
    UNEVEN: ("primacy", "recency", "tilt"),
    START_LOWER: ("recency",),
    END_LOWER: ("primacy",),
}


def overview(
    accuracy: pd.DataFrame, position_bias: pd.DataFrame | None, published: pd.DataFrame | None = None
) -> list[str]:
    """Sentences: what was measured, the results over all curves, and the comparison with published values."""
    models, experiments = accuracy["model"].nunique(), accuracy["experiment"].nunique()
    told = [
        f"{_count(models, 'model')}, {_count(experiments, 'experiment')}, {_count(len(accuracy), 'cell')} with "
        f"{int(accuracy['n'].sum()):,} answers counted."
    ]
    if position_bias is not None:
        told += _bias_overview(position_bias)
    if published is not None and len(published):
        counts = ", ".join(f"{n} {verdict}" for verdict, n in published["verdict"].value_counts().items())
        told.append(f"Compared with {_count(len(published), 'published value')}: {counts}.")
    return told


def _bias_overview(position_bias: pd.DataFrame) -> list[str]:
    measured = position_bias[position_bias["verdict"] != NO_INFORMATION]
    differ = int((measured["cochran_p_holm"] < SIGNIFICANT).sum())
    unclear, silent = len(measured) - differ, len(position_bias) - len(measured)
    told = [
        f"Positions differ by more than chance in {differ} of {_count(len(position_bias), 'curve')} (Cochran's Q, p < "
        f"{SIGNIFICANT} by Holm), and are not shown to differ in {unclear}; {silent} have no information on position "
        "(floor, ceiling, or too few questions)."
    ]
    indexed = sorted(measured[measured["pbi_class"].notna()].to_dict("records"), key=lambda row: row["pbi"])
    told += _shapes(indexed)
    if len(indexed) > 1:
        told.append(
            f"The Position Bias Index (edges minus middle) is highest for {_index(indexed[-1])}, and lowest for "
            f"{_index(indexed[0])}."
        )
    return told


def _index(row: Mapping) -> str:
    return f"{_curve_name(row)} ({_with_interval(row, 'pbi')}, n = {row['n']:,})"


def _with_interval(row: Mapping, name: str) -> str:
    """A difference in points with its interval."""
    return f"{points(row[name])} [{percent(row[f'{name}_ci_low'])}, {percent(row[f'{name}_ci_high'])}]"


def _shapes(curves: Sequence[Mapping]) -> list[str]:
    """Comparisons of start and end with the middle: one sentence per word, which names its curves if there are at most
    `NAMED` and they show a difference.
    """
    by_word: dict[str, list[Mapping]] = {}
    for row in curves:
        if not pd.isna(row["shape"]):
            by_word.setdefault(row["shape"], []).append(row)
    told = []
    for word in sorted(by_word, key=list(MEANINGS).index):
        rows = by_word[word]
        named = [f"{_curve_name(row)} ({_ends(row)}, n = {row['n']:,})" for row in rows]
        is_told = len(rows) <= NAMED and word != NONE
        which = "; ".join(named) if is_told else f"{len(rows)} of {_count(len(curves), 'curve')}"
        told.append(f"{word[0].upper()}{word[1:]} ({MEANINGS[word]}): {which}.")
    return told


def _ends(row: Mapping) -> str:
    return ", ".join(f"{name} {_with_interval(row, name)}" for name in ("primacy", "recency"))


def excludes_0(row: Mapping, name: str) -> bool:
    """Whether the single 95 % interval of a difference excludes 0."""
    return row[f"{name}_ci_low"] > 0 or row[f"{name}_ci_high"] < 0


def shape(row: Mapping) -> str:
    """The curve's word and its meaning, with primacy and recency; '' for a curve without a word.

    Then the differences whose single interval excludes 0 and that the word, corrected over all curves of the
    experiment, does not state. For a curve without differences also the smallest effect that n can show.
    """
    word = row["shape"]
    if pd.isna(word):
        return ""
    told = [f"{word} ({MEANINGS[word]}; {_ends(row)}"]
    alone = [name for name in UNSAID.get(word, ()) if excludes_0(row, name)]
    if alone:
        tilt = f", tilt {_with_interval(row, 'tilt')}" if "tilt" in alone else ""
        told.append(f"{tilt}; without 0 by its own 95 % interval, uncorrected: {', '.join(alone)}")
    if word == NONE and not pd.isna(row["pbi_mde"]):
        told.append(f"; {row['n']:,} questions show a PBI from {percent(row['pbi_mde'])} points on")
    return "".join(told) + ")"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _curve_name(row: Mapping) -> str:
    placement = "" if pd.isna(row["placement"]) else f", {row['placement']}"
    return f"{row['model']} on {row['experiment']}, size {row['size']}{placement}"


def findings(position_bias: pd.DataFrame | None) -> list[str]:
    """One or two sentences per curve: best and worst position, whether positions differ by more than chance, PBI."""
    return [] if position_bias is None else [_finding(row) for row in position_bias.to_dict("records")]


def _finding(row: Mapping) -> str:
    what = _curve_name(row)
    if row["verdict"] == NO_INFORMATION:
        left_out = f", {row['n_left_out']} left out" if row["n_left_out"] else ""
        return f"{what}: no information on position, {row['reason']} (n = {row['n']}{left_out})."
    if not row["gap"]:
        everywhere = f"at each of the {row['n_positions']} positions"
        spread = f"{percent(row['accuracy_best'])} % {everywhere} (n = {row['n']})"
    else:
        best, worst = (ordinal(int(row[f"position_{end}"]) + 1) for end in ("best", "worst"))
        spread = (
            f"best with the answer in the {best} ({percent(row['accuracy_best'])} %), "
            f"worst in the {worst} ({percent(row['accuracy_worst'])} %), "
            f"gap {_gap(row)}, n = {row['n']}; the positions {_chance(row['cochran_p_holm'])}"
        )
    return f"{what}: {spread}.{_describe_pbi(row)}"


def _gap(row: Mapping) -> str:
    return f"{percent(row['gap'])} points [{percent(row['gap_ci_low'])}, {percent(row['gap_ci_high'])}]"


def _chance(p: float) -> str:
    """The result of Cochran's Q in words."""
    written = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    differ = "differ by more than chance" if p < SIGNIFICANT else "are not shown to differ"
    return f"{differ} (Cochran's Q, {written} by Holm)"


def _describe_pbi(row: Mapping) -> str:
    if pd.isna(row["pbi"]):
        return ""
    if pd.isna(row["pbi_class"]):
        return f" Its PBI carries no information ({row['reason']})."
    ends = shape(row)
    told = f" Shape: {ends}." if ends else ""
    return f"{told} PBI {_with_interval(row, 'pbi')}: {row['class_words']}."
