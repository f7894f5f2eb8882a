"""Judged answers beside their labels: the error of a judge, rows of judge.csv."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from litm.analysis.grid import Files, interval_columns
from litm.analysis.statistics import Estimate
from litm.base.intervals import binomial_interval
from litm.base.table_files import by_cell
from litm.records.responses import FAILED, NOT_RECORDED
from litm.scoring.judge_error import Labelled, corrected_accuracy
from litm.scoring.scores import labelled_cell

if TYPE_CHECKING:
    from litm.tables.readings import JudgeRow

#: Columns of a cell.
CELL = ["model", "experiment", "size", "placement", "position", "depth"]


def judge_rows(scores: pd.DataFrame) -> "Iterator[JudgeRow]":
    """One row per cell of a judged sweep: what the judge says, and as far as there are labels, how often it errs.

    Sensitivity is the share of right answers that the judge calls right, specificity that of wrong answers that it
    calls wrong; each label counts as the answers of its stratum that it stands for.
    """
    for names, group in by_cell(scores, CELL):
        asked = group[~group["excluded"] & ~group["finish_reason"].isin([FAILED, NOT_RECORDED])]
        counted = asked[asked["correct"].notna()]
        row: JudgeRow = {**names, "n": len(counted), "n_no_verdict": len(asked) - len(counted)}
        if len(counted):
            verdicts = counted["correct"].to_numpy(dtype=float)
            row["accuracy_judge"] = float(verdicts.mean())
            row["accuracy_strict"] = float(counted["correct_strict"].astype(float).mean())
        row["n_labels"] = int(counted["label"].notna().sum()) if "label" in counted else 0
        if row["n_labels"]:
            clusters = pd.factorize(counted["cluster"])[0] if "cluster" in counted else None
            labelled = labelled_cell(counted, verdicts, clusters)
            if labelled.is_complete:
                row = {**row, **interval_columns("accuracy", Estimate(*corrected_accuracy(labelled)))}
            for name, verdict in (("sensitivity", 1.0), ("specificity", 0.0)):
                row = {**row, **interval_columns(name, _rate(labelled, verdict))}
        yield row


def _rate(answers: Labelled, verdict: float) -> Estimate | None:
    """The share of the answers whose label is this verdict that the judge gives it; None without such a label.

    Its interval is the binomial one at Kish's effective number of labels.
    """
    labels = answers.labels.ravel()
    sizes, counts, _ = answers.counts.T
    weights = (sizes / np.maximum(counts, 1))[answers.strata.ravel()]
    is_so = labels == verdict
    if not is_so.any():
        return None
    agrees = is_so & (answers.verdicts.ravel() == verdict)
    share = float(weights[agrees].sum() / weights[is_so].sum())
    worth = float(weights[is_so].sum() ** 2 / (weights[is_so] ** 2).sum())
    return Estimate(share, *binomial_interval(share * worth, worth))


# --- Tables ----------------------------------------------------------------------------------------------------


def judge_table(judged_scores: Files) -> "Iterator[JudgeRow]":
    """The rows of each sweep, in the order of the score files."""
    return (row for sweep in judged_scores.scores() for row in judge_rows(sweep))
