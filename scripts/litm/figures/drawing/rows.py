"""Rows of tables for figures, and the selection of one figure's rows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Rows:
    """Rows of tables that a figure reads; `INPUTS` of its kind names the fields that are set.

    accuracy: rows of accuracy.csv; scores: score rows, one table per sweep; recall: recall tables of the figure's
    retrievers; published: published accuracies, with the columns of the accuracy table; position_bias:
    position_bias.csv; differences: condition_differences.csv; advice: advice.csv; token_counts: rows of
    token_counts.csv, None if no tokens were counted; wrong_answers: wrong_answers.csv, None if the study has no such
    table.
    """

    accuracy: "pd.DataFrame" = None  # type: ignore[assignment]
    scores: "Iterable[pd.DataFrame]" = ()
    recall: "pd.DataFrame | None" = None
    published: "pd.DataFrame | None" = None
    position_bias: "pd.DataFrame" = None  # type: ignore[assignment]
    differences: "pd.DataFrame" = None  # type: ignore[assignment]
    advice: "pd.DataFrame" = None  # type: ignore[assignment]
    token_counts: "pd.DataFrame | None" = None
    wrong_answers: "pd.DataFrame | None" = None


def shown_cells(figure: Mapping, accuracy: "pd.DataFrame") -> "pd.DataFrame":
    """The rows of a figure's experiments, models and sizes."""
    shown = accuracy["experiment"].isin(list(figure["experiments"]))
    for key, column in (("models", "model"), ("sizes", "size")):
        if figure.get(key):
            shown &= accuracy[column].isin(list(figure[key]))
    return accuracy[shown]


def mean_tokens(figure: Mapping, token_counts: "pd.DataFrame | None", size: object) -> dict[str, float]:
    """Mean tokens of a prompt of this size, by model, over the figure's experiments and their placements.

    token_counts: rows of token_counts.csv, which lacks models without counted tokens; None without any.
    """
    if token_counts is None:
        return {}
    rows = shown_cells(figure, token_counts)
    rows = rows[(rows["size"] == size) & rows["tokens_mean"].notna()]
    return {str(model): float(mean) for model, mean in rows.groupby("model", sort=False)["tokens_mean"].mean().items()}


def scored(cells: "pd.DataFrame") -> "pd.DataFrame":
    """Cells with a scored question."""
    return cells[cells["n"] > 0]


def models_in(cells: "pd.DataFrame") -> list[str]:
    """Models in the order of their first rows."""
    return list(dict.fromkeys(cells["model"]))


def absent_models(cells: "pd.DataFrame") -> tuple[str, ...]:
    """Models without a scored question in any cell, for example because no prompt fits their context window."""
    present = set(scored(cells)["model"])
    return tuple(model for model in models_in(cells) if model not in present)
