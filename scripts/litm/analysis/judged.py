"""Judged answers beside their labels: the error of a judge, rows of judge.csv."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import special

from litm.analysis.grid import Files, interval_columns, sweep_of
from litm.analysis.statistics import Estimate
from litm.base.intervals import binomial_interval, clustered_interval
from litm.base.table_files import by_cell
from litm.records.responses import FAILED, NOT_RECORDED, read_responses
from litm.scoring.judge_error import Labelled, corrected_accuracy
from litm.scoring.judging import SWAPPED, read_verdicts
from litm.scoring.scores import labelled_cell

if TYPE_CHECKING:
    from litm.tables.readings import JudgeAgreementRow, JudgeRow

#: Columns of a cell.
CELL = ["model", "experiment", "size", "placement", "position", "depth"]


def judge_rows(
    scores: pd.DataFrame, verdicts: Mapping[tuple[int, str, str], bool | None] | None = None
) -> "Iterator[JudgeRow]":
    """One row per cell of a judged sweep: what the judge says, and as far as there are labels, how often it errs.

    verdicts: see `judging.read_verdicts`, for those with the accepted answers in reverse order.

    Sensitivity is the share of right answers that the judge calls right, specificity that of wrong answers that it
    calls wrong; each label counts as the answers of its stratum that it stands for.
    """
    for names, group in by_cell(scores, CELL):
        asked = group[~group["excluded"] & ~group["finish_reason"].isin([FAILED, NOT_RECORDED])]
        counted = asked[asked["correct"].notna()]
        row: JudgeRow = {**names, "n": len(counted), "n_no_verdict": len(asked) - len(counted)}
        if len(counted):
            correct = counted["correct"].to_numpy(dtype=float)
            row["accuracy_judge"] = float(correct.mean())
            row["accuracy_strict"] = float(counted["correct_strict"].astype(float).mean())
        row["n_swapped"], row["n_swap_changes"] = _swaps(names, verdicts or {})
        row["n_labels"] = int(counted["label"].notna().sum()) if "label" in counted else 0
        if row["n_labels"]:
            clusters = pd.factorize(counted["cluster"])[0] if "cluster" in counted else None
            labelled = labelled_cell(counted, correct, clusters)
            if labelled.is_complete:
                row = {**row, **interval_columns("accuracy", Estimate(*corrected_accuracy(labelled)))}
            for name, verdict in (("sensitivity", 1.0), ("specificity", 0.0)):
                row = {**row, **interval_columns(name, _rate(labelled, verdict))}
        yield row


def _swaps(names: Mapping, verdicts: Mapping[tuple[int, str, str], bool | None]) -> tuple[int, int]:
    """The answers of a cell that were judged in both orders of the accepted answers, and those judged differently."""
    swapped = [
        (verdict, verdicts.get((size, placement, id.removesuffix(SWAPPED))))
        for (size, placement, id), verdict in verdicts.items()
        if id.endswith(SWAPPED) and (size, placement) == (names["size"], names["placement"])
    ]
    return len(swapped), sum(verdict != first for verdict, first in swapped)


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


def agreement_rows(a: pd.DataFrame, b: pd.DataFrame) -> "Iterator[JudgeAgreementRow]":
    """One row on two judges' verdicts on the same answers of one model, a row of scores each: their agreement and
    Cohen's (1960) kappa, with Student's t of a jackknife over the questions.
    """
    names = ["size", "placement", "id"]
    both = a[[*names, "correct"]].merge(b[[*names, "correct"]], on=names, suffixes=("_a", "_b")).dropna()
    if both.empty:
        return
    cells = both["correct_a"].astype(int) * 2 + both["correct_b"].astype(int)
    questions, ids = pd.factorize(both["id"])
    counts = np.zeros((len(ids), 4))
    np.add.at(counts, (questions, cells.to_numpy()), 1)
    whole = counts.sum(axis=0)
    agreement = clustered_interval((both["correct_a"] == both["correct_b"]).to_numpy(dtype=float), questions)
    yield {
        "model": str(a["model"].iloc[0]),
        "experiment_a": str(a["experiment"].iloc[0]),
        "experiment_b": str(b["experiment"].iloc[0]),
        "n": len(both),
        "agreement": float(whole[[0, 3]].sum() / whole.sum()),
        "agreement_ci_low": agreement[0],
        "agreement_ci_high": agreement[1],
        **interval_columns("kappa", _kappa_interval(whole, counts)),
    }


def _kappa(counts: np.ndarray) -> np.ndarray:
    """(…, 4) counts of both wrong, right by b alone, right by a alone, both right; NaN if one verdict is on all."""
    shares = counts / counts.sum(axis=-1, keepdims=True)
    right_a, right_b = shares[..., 2] + shares[..., 3], shares[..., 1] + shares[..., 3]
    expected = right_a * right_b + (1 - right_a) * (1 - right_b)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((shares[..., 0] + shares[..., 3] - expected) / (1 - expected))


def _kappa_interval(whole: np.ndarray, counts: np.ndarray) -> Estimate | None:
    value, questions = float(_kappa(whole)), len(counts)
    without = _kappa(whole - counts) if questions > 1 else np.array([np.nan])
    if not np.isfinite(value) or not np.isfinite(without).all():
        return None
    error = float(np.sqrt((questions - 1) / questions * ((without - without.mean()) ** 2).sum()))
    half = float(special.stdtrit(questions - 1, 0.975)) * error
    return Estimate(value, max(-1.0, value - half), min(1.0, value + half))


# --- Tables ----------------------------------------------------------------------------------------------------


def judge_table(judged_scores: Files, verdicts: Files) -> "Iterator[JudgeRow]":
    """The rows of each sweep, in the order of the score files; verdicts: the judge's replies to each."""
    for sweep, path in zip(judged_scores.scores(), verdicts.paths, strict=True):
        yield from judge_rows(sweep, read_verdicts(read_responses(path)))


def judge_agreement_table(
    agreeing_scores: Files, judge_pairs: Sequence[tuple[str, str]]
) -> "Iterator[JudgeAgreementRow]":
    """A row for each model and pair of experiments that differ in their judges alone."""
    sweeps = {(model, name): scores for scores in agreeing_scores.scores() for model, name in [sweep_of(scores)]}
    for a, b in judge_pairs:
        for model in dict.fromkeys(model for model, _ in sweeps):
            if {(model, a), (model, b)} <= sweeps.keys():
                yield from agreement_rows(sweeps[model, a], sweeps[model, b])
