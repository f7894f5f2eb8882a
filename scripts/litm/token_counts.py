"""The token-count table: how long the prompts of each cell are."""

from collections.abc import Sequence

import pandas as pd


def token_count_row(model: str, experiment: str, size: int, placement: str, tokens: Sequence[int]) -> dict:
    """Mean, sample standard deviation, minimum and maximum of a cell's prompt tokens (paper, Tables 2 to 4)."""
    counts = pd.Series(tokens, dtype="int64")
    return {
        "model": model,
        "experiment": experiment,
        "size": size,
        "placement": placement,
        "n": len(counts),
        "mean": counts.mean(),
        "sd": counts.std(ddof=1) if len(counts) > 1 else 0.0,
        "min": int(counts.min()),
        "max": int(counts.max()),
    }
