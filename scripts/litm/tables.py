"""Tidy tables made of score rows, token counts and examples."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from litm.finish_reasons import LENGTH
from litm.metrics import normalize_answer
from litm.records import atomic_writer
from litm.statistics import wilson_interval

#: What a cell of the accuracy table is: these columns name it.
CELL = ["model", "experiment", "task", "metric", "size", "placement", "position", "depth", "target"]


def accuracy_table(scores: pd.DataFrame) -> pd.DataFrame:
    """One row a cell (and target), in the order of the scores: accuracy, its interval, and what was not counted.

    n: questions counted; n_excluded: questions left out because they did not fit at some placement;
    n_empty, n_cut: counted answers that were empty, or ended at the limit of new tokens (both may be wrong
    answers for that reason alone). Accuracies are fractions; ci_low and ci_high are Wilson's 95 % limits.
    """
    rows = [_cell_row(cell, group) for cell, group in scores.groupby(CELL, sort=False, dropna=False)]
    return pd.DataFrame(rows)


def _cell_row(cell: tuple, group: pd.DataFrame) -> dict:
    counted = group[~group["excluded"]]
    n, correct = len(counted), int(counted["correct"].sum())
    low, high = wilson_interval(correct, n) if n else (None, None)
    return {
        **dict(zip(CELL, cell, strict=True)),
        "n": n,
        "accuracy": correct / n if n else None,
        "ci_low": low,
        "ci_high": high,
        "accuracy_first_line": counted["correct_first_line"].sum() / n if n else None,
        "accuracy_full": counted["correct_full"].sum() / n if n else None,
        "n_empty": int(counted["empty"].sum()),
        "n_cut": int((counted["finish_reason"] == LENGTH).sum()),
        "n_excluded": int(group["excluded"].sum()),
    }


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


def answer_check_row(experiment: str, examples: Iterable[dict]) -> dict:
    """Counts of gold answers that make a question easier or odder than it looks, for one set of questions.

    n_symbols_only: a gold answer that normalises to nothing (compared as written, see `best_subspan_em`);
    n_short: one of two characters or fewer after normalisation; n_in_question: one contained in the question.
    """
    n = n_symbols_only = n_short = n_in_question = 0
    for example in examples:
        answers = [normalize_answer(a) for target in example["targets"] for a in target["answers"]]
        question = normalize_answer(example["question"])
        n += 1
        n_symbols_only += any(not a for a in answers)
        n_short += any(0 < len(a) <= 2 for a in answers)
        n_in_question += any(a and a in question for a in answers)
    return {
        "experiment": experiment,
        "n": n,
        "n_symbols_only": n_symbols_only,
        "n_short": n_short,
        "n_in_question": n_in_question,
    }


def write_csv(path: str | Path, table: pd.DataFrame) -> None:
    """Write a table as CSV: fractions with six decimals, missing values empty."""
    with atomic_writer(path) as raw:
        raw.write(table.to_csv(index=False, float_format="%.6f", lineterminator="\n").encode())
