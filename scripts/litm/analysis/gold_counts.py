"""What the table of gold passages says, in words."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

#: Values of `how` in gold_passages.csv: of questions that are left out, and of passages that nobody has named.
WITHOUT, LOOKED_FOR = ("none", "left_out"), "first_retrieved"


def gold_sentences(counts: "pd.DataFrame | None") -> list[str]:
    """A sentence for each set of questions of gold_counts.csv: how many have a gold passage and who says so."""
    told = []
    for name, rows in counts.groupby("questions", sort=False) if counts is not None else ():
        by_way = rows.set_index("how")["n"]
        total, lacking = int(by_way.sum()), int(by_way.reindex(WITHOUT).sum())
        looked_for = int(by_way.get(LOOKED_FOR, 0))
        taken = (
            f"; for {looked_for} of them the first retrieved passage with the answer was taken" if looked_for else ""
        )
        without = f"; {lacking} have none and are left out" if lacking else ""
        told.append(
            f"{name}: {total - lacking} of {total} questions have a gold passage{taken}{without} (look at and "
            f"correct them: results/tables/gold_passages.csv)"
        )
    return told
