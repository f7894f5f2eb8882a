"""The accuracy of each cell, from score rows."""

import pandas as pd

from litm.base.intervals import clustered_interval
from litm.domain.finish_reason import FAILED, LENGTH, NOT_RECORDED, REFUSED, UNKNOWN

#: Columns that identify a cell of the accuracy table.
CELL = ["model", "experiment", "task", "metric", "size", "items", "placement", "position", "depth", "target"]
#: Columns of a sweep's accuracies and their types.
COLUMNS = {
    **dict.fromkeys(["model", "experiment", "task", "metric"], "string"),
    **dict.fromkeys(["size", "items"], "int64"),
    "placement": "string",
    "position": "Int64",
    "depth": "Float64",
    "target": "string",
    "n": "int64",
    **dict.fromkeys(["accuracy", "ci_low", "ci_high", "accuracy_first_line", "accuracy_full"], "Float64"),
    **dict.fromkeys(["accuracy_strict", "accuracy_lenient"], "Float64"),
    "n_empty": "int64",
    **dict.fromkeys(["n_cut", "n_refused"], "Int64"),
    **dict.fromkeys(["n_failed", "n_not_recorded", "n_left_out", "n_preamble"], "int64"),
}


def accuracy_table(scores: pd.DataFrame) -> pd.DataFrame:
    """One row per cell (and target), in the order of the scores: accuracy, interval, counts of special answers.

    Columns as in `COLUMNS`; those in `CELL` identify the cell.

    n: questions counted. n_left_out: questions left out because they did not fit at some placement. n_failed: questions
    that were asked and got no answer. n_not_recorded: questions that recorded responses lack. n_empty, n_cut,
    n_refused: counted answers that were empty, ended at the limit of new tokens, or were withheld or cut by a
    provider's filter (each may be wrong for that reason alone); n_cut and n_refused are missing where finish reasons
    are unknown. n_preamble: counted answers whose first line ends with a colon.
    Accuracies are fractions; ci_low and ci_high are their 95 % limits, see `binomial_interval`, and
    `clustered_interval` for questions in clusters.
    """
    rows = [_cell_row(cell, group) for cell, group in scores.groupby(CELL, sort=False, dropna=False)]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def _cell_row(cell: tuple, group: pd.DataFrame) -> dict:
    failed = ~group["excluded"] & (group["finish_reason"] == FAILED)
    not_recorded = ~group["excluded"] & (group["finish_reason"] == NOT_RECORDED)
    counted = group[~group["excluded"] & ~failed & ~not_recorded]
    n, correct = len(counted), int(counted["correct"].sum())
    clusters = pd.factorize(counted["cluster"])[0] if "cluster" in counted else None
    low, high = (
        clustered_interval(counted["correct"].to_numpy(dtype=bool, na_value=False), clusters) if n else (None, None)
    )
    return {
        **dict(zip(CELL, cell, strict=True)),
        "n": n,
        "accuracy": correct / n if n else None,
        "ci_low": low,
        "ci_high": high,
        "accuracy_first_line": counted["correct_first_line"].sum() / n if n else None,
        "accuracy_full": counted["correct_full"].sum() / n if n else None,
        **{f"accuracy_{rule}": _share(counted[f"correct_{rule}"]) for rule in ("strict", "lenient")},
        "n_empty": int(counted["empty"].sum()),
        "n_cut": _ended(counted, LENGTH),
        "n_refused": _ended(counted, REFUSED),
        "n_failed": int(failed.sum()),
        "n_not_recorded": int(not_recorded.sum()),
        "n_left_out": int(group["excluded"].sum()),
        "n_preamble": int(counted["preamble"].sum()),
    }


def _share(verdicts: pd.Series) -> float | None:
    """The fraction of right answers; None if the rule judged none of them."""
    return verdicts.sum() / len(verdicts) if len(verdicts) and verdicts.notna().all() else None


def _ended(counted: pd.DataFrame, reason: str) -> int | None:
    """The number of answers that ended for a reason; None if any reason is unknown."""
    reasons = counted["finish_reason"]
    return None if (reasons == UNKNOWN).any() else int((reasons == reason).sum())
