"""How long the prompts of a size are, in words for titles and axes."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from litm.figures.drawing.rows import shown_cells

if TYPE_CHECKING:
    import pandas as pd


def mean_tokens(figure: Mapping, token_counts: "pd.DataFrame | None", size: object) -> dict[str, float]:
    """The mean tokens of a prompt of this size, by model, over the figure's experiments and their placements.

    token_counts: rows of token_counts.csv, which has no rows of models whose tokens nobody counted.
    """
    if token_counts is None:
        return {}
    rows = shown_cells(figure, token_counts)
    rows = rows[(rows["size"] == size) & (rows["n"] > 0)]
    return {str(model): float(mean) for model, mean in rows.groupby("model", sort=False)["mean"].mean().items()}


def length_in_words(figure: Mapping, token_counts: "pd.DataFrame | None", size: object) -> str:
    """~2,900 tokens, or ~2,600 to 3,100 tokens where the models' tokenizers differ by more; '' if not known.

    Means of the models, to two significant digits.
    """
    means = [_rounded(mean) for mean in mean_tokens(figure, token_counts, size).values()]
    if not means:
        return ""
    least, most = min(means), max(means)
    return f"~{least:,} tokens" if least == most else f"~{least:,} to {most:,} tokens"


def with_length(figure: Mapping, token_counts: "pd.DataFrame | None", size: object, title: str) -> str:
    """The title of a size with the length of its prompts, unless it says or counts tokens itself."""
    length = "" if "token" in title else length_in_words(figure, token_counts, size)
    return f"{title}, {length}" if length else title


def longer_than_trained(figure: Mapping, token_counts: "pd.DataFrame | None", size: object) -> tuple[str, ...]:
    """The models whose prompts of this size are longer than those that they were trained on, with that length.

    By `training_lengths` of the figure: tokens by model, of those that say it (`about.training_length`).
    """
    known = figure.get("training_lengths") or {}
    means = mean_tokens(figure, token_counts, size)
    return tuple(f"{model} ({known[model]:,})" for model, mean in means.items() if mean > known.get(model, mean))


def _rounded(number: float) -> int:
    """To two significant digits."""
    return int(float(f"{number:.1e}"))
