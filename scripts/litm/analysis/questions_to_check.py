"""Gold passages of questions, counted by the way in which they were found."""

import pandas as pd

from litm.tables.table import tables


def gold_counts(gold: pd.DataFrame) -> pd.DataFrame:
    """One row per question set and way of finding gold passages, the most frequent first; gold: gold_passages.csv."""
    marked = gold.assign(several=gold["n_with_answer"] > 1, noted=gold["note"].notna())
    counts = marked.groupby(["questions", "how"], sort=False).agg(
        n=("question", "size"), n_several=("several", "sum"), n_to_look_at=("noted", "sum")
    )
    ordered = counts.reset_index().sort_values(["questions", "n"], ascending=[True, False], kind="stable")
    return tables()["gold_counts"].frame(ordered)
