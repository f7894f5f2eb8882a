"""The verdict of each curve in one sentence: the word of position_bias.csv, also printed at the end of a run."""

from collections.abc import Mapping, Sequence
from typing import cast

import pandas as pd

from litm.analysis.claims.meanings import word_of
from litm.report.words import Lengths, SizeNames, place, tokens

#: Kinds of figures whose verdicts are shown; other figures of the same curves do not repeat them.
SHAPE_KINDS = ("accuracy_by_position", "accuracy_by_target")


def verdicts(
    figure: Mapping, position_bias: pd.DataFrame | None, names: SizeNames, lengths: Lengths, several: bool
) -> list[dict]:
    """Verdicts on the curves of a figure: {what, tokens, says} per size, in the order of the table.

    what: the size in words, with the experiment if the figure has several. tokens: its length, '' if unknown. says:
    {word, meaning, of} per word, where `of` names its models and is '' if the study has one model. several: whether the
    study has several models.
    """
    if position_bias is None or position_bias.empty or figure["kind"] not in SHAPE_KINDS:
        return []
    shown = position_bias[position_bias["experiment"].isin(list(figure["experiments"]))]
    for limit, column in (("models", "model"), ("sizes", "size")):
        if figure.get(limit) is not None:
            shown = shown[shown[column].isin(list(figure[limit]))]
    found = []
    for curve, rows in shown.groupby(["experiment", "size"], sort=False):
        experiment, size = cast(tuple[str, int], curve)
        what = names(experiment, size)
        found.append(
            {
                "what": f"{experiment}, {what}" if len(figure["experiments"]) > 1 else what,
                "tokens": tokens(lengths, experiment, size),
                "says": _words(rows.to_dict("records"), several),
            }
        )
    return found


def _words(rows: Sequence[Mapping], several: bool) -> list[dict]:
    """Each word once, in the order of the models."""
    owners: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        owners.setdefault(word_of(row), []).append(_owner(row, several))
    return [
        {"word": word, "meaning": meaning, "of": ", ".join(filter(None, of))} for (word, meaning), of in owners.items()
    ]


def _owner(row: Mapping, several: bool) -> str:
    """`model (n = 40)`, with the placement if it distinguishes curves of one size."""
    placement = "" if pd.isna(row["placement"]) else f" at {place(row['placement'])}"
    n = f"n = {row['n']:,}"
    return f"{row['model']}{placement} ({n})" if several else f"{placement.removeprefix(' ')} {n}".strip()
