"""The rows that figures are made of, and those of them that one figure shows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Rows:
    """The rows of tables that a figure reads; `INPUTS` of its kind names those that are there.

    accuracy: rows of accuracy.csv; scores: the score rows of each sweep, one table a sweep; recall: rows of the recall
    tables of the retrievers in the figure; published: published accuracies, with the columns of the accuracy table;
    position_bias: position_bias.csv; differences: condition_differences.csv; advice: advice.csv; token_counts: rows of
    token_counts.csv, None where nobody counted any; wrong_answers: wrong_answers.csv.
    """

    accuracy: "pd.DataFrame" = None  # type: ignore[assignment]
    scores: "Iterable[pd.DataFrame]" = ()
    recall: "pd.DataFrame | None" = None
    published: "pd.DataFrame | None" = None
    position_bias: "pd.DataFrame" = None  # type: ignore[assignment]
    differences: "pd.DataFrame" = None  # type: ignore[assignment]
    advice: "pd.DataFrame" = None  # type: ignore[assignment]
    token_counts: "pd.DataFrame | None" = None
    wrong_answers: "pd.DataFrame" = None  # type: ignore[assignment]


def shown_cells(figure: Mapping, accuracy: "pd.DataFrame") -> "pd.DataFrame":
    """The rows of a figure's experiments, models and sizes."""
    shown = accuracy["experiment"].isin(list(figure["experiments"]))
    for key, column in (("models", "model"), ("sizes", "size")):
        if figure.get(key):
            shown &= accuracy[column].isin(list(figure[key]))
    return accuracy[shown]


def mean_tokens(figure: Mapping, token_counts: "pd.DataFrame | None", size: object) -> dict[str, float]:
    """The mean tokens of a prompt of this size, by model, over the figure's experiments and their placements.

    token_counts: rows of token_counts.csv, which has none of models whose tokens nobody counted; None without any.
    """
    if token_counts is None:
        return {}
    rows = shown_cells(figure, token_counts)
    rows = rows[(rows["size"] == size) & rows["mean"].notna()]
    return {str(model): float(mean) for model, mean in rows.groupby("model", sort=False)["mean"].mean().items()}


def scored(cells: "pd.DataFrame") -> "pd.DataFrame":
    """The cells in which any question was scored."""
    return cells[cells["n"] > 0]


def models_in(cells: "pd.DataFrame") -> list[str]:
    """The models in the order in which they come first."""
    return list(dict.fromkeys(cells["model"]))


def absent_models(cells: "pd.DataFrame") -> tuple[str, ...]:
    """The models without a scored question in any of the cells, for example because no prompt fits their context."""
    present = set(scored(cells)["model"])
    return tuple(model for model in models_in(cells) if model not in present)
