"""Pairwise differences between the positions of a curve: rows of position_pairs.csv."""

import pandas as pd

from litm.analysis.paired_scores import CompleteCases, clustered_difference_columns, complete_cases, difference_columns
from litm.analysis.statistics import PairTest, holm, mcnemar_pairs


def pairwise_rows(scores: pd.DataFrame) -> list[dict]:
    """One row per pair of positions of one (model, experiment, size): difference, exact McNemar p, p by Holm.

    `difference` is accuracy_a - accuracy_b on the complete cases, with its own (not simultaneous) 95 % interval.
    [] for one position, or without a complete case. Errors as in `complete_cases`.
    """
    sweep = complete_cases(scores)
    n = len(sweep.matrix)
    correct = sweep.matrix.sum(axis=0)
    tests = mcnemar_pairs(sweep.matrix) if n else []
    tested = [_differences(sweep, test) for test in tests]
    corrected = holm([row["p_value"] for row in tested])
    return [
        {
            **sweep.names,
            "position_a": sweep.positions[test.first],
            "position_b": sweep.positions[test.second],
            "n": n,
            "accuracy_a": int(correct[test.first]) / n,
            "accuracy_b": int(correct[test.second]) / n,
            **differences,
            "p_holm": p_holm,
        }
        for test, differences, p_holm in zip(tests, tested, corrected, strict=True)
    ]


def _differences(sweep: CompleteCases, test: PairTest) -> dict:
    """The difference of two positions with its test, by question or, if there are clusters, by cluster."""
    if sweep.clusters is None:
        return difference_columns(test.only_first, test.only_second, len(sweep.matrix))
    return clustered_difference_columns(sweep.matrix[:, [test.first, test.second]], sweep.clusters)
