"""Sentences on the table of gold passages."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

#: Values of `how` in gold_passages.csv: for questions that are left out, and for passages that the user did not name.
WITHOUT, LOOKED_FOR = ("none", "left_out"), "first_retrieved"


def gold_sentences(counts: "pd.DataFrame | None") -> list[str]:
    """One sentence per question set of gold_counts.csv: the number of gold passages and how they were found."""
    told = []
    for name, rows in counts.groupby("questions", sort=False) if counts is not None else ():
        by_way = rows.set_index("how")["n"]
        total, lacking = int(by_way.sum()), int(by_way.reindex(WITHOUT).sum())
        looked_for = int(by_way.get(LOOKED_FOR, 0))
        taken = (
            f"; for {looked_for} of them the first retrieved passage with the answer was taken" if looked_for else ""
        )
        without = f"; questions without one, left out: {lacking}" if lacking else ""
        told.append(
            f"{name}: {total - lacking} of {total} questions have a gold passage{taken}{without} (look at and "
            f"correct them: results/tables/gold_passages.csv)"
        )
    return told
