"""How the positions of a curve differ, two by two: rows of position_pairs.csv."""

import pandas as pd

from litm.analysis.paired_scores import complete_cases, difference_columns
from litm.analysis.statistics import mcnemar_pairs


def pairwise_rows(scores: pd.DataFrame) -> list[dict]:
    """A row for each pair of positions of one (model, experiment, size): difference, exact McNemar p, and Holm's.

    `difference` is accuracy_a - accuracy_b on the complete cases, with its own (not simultaneous) 95 % interval.
    [] if there is one position or no complete case. Errors: those of `complete_cases`.
    """
    sweep = complete_cases(scores)
    n = len(sweep.matrix)
    correct = sweep.matrix.sum(axis=0)
    return [
        {
            **sweep.names,
            "position_a": sweep.positions[pair.first],
            "position_b": sweep.positions[pair.second],
            "n": n,
            "accuracy_a": int(correct[pair.first]) / n,
            "accuracy_b": int(correct[pair.second]) / n,
            **difference_columns(pair.only_first, pair.only_second, n),
            "p_holm": pair.p_holm,
        }
        for pair in (mcnemar_pairs(sweep.matrix) if n else [])
    ]
