"""Score rows made by hand, and a check of table rows."""

import json
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from litm.scoring.scores import Score, accuracy_rows, typed
from litm.tables.table import tables


def score_rows(
    correct: Mapping[int | None, Sequence[bool | None]], size: int = 9, ids: Sequence[str] | None = None, **changes
) -> pd.DataFrame:
    """Score rows from right and wrong for each position: {position: [of question 0, of question 1, ...]}."""
    names = {"model": "m", "experiment": "e", "task": "t", "metric": "best_subspan_em", "size": size, "target": "gold"}
    same = {
        **dict.fromkeys(Score._fields, 0),
        **names,
        "finish_reason": "stop",
        "cluster": None,
        "doubt": None,
        "label": None,
    }
    rows = [
        {
            **same,
            "placement": "no_gold" if position is None else f"gold_at_{position}",
            "position": position,
            "depth": None if position is None else position / (size - 1),
            "id": ids[index] if ids else f"q{index}",
            "correct": value,
            **changes,
        }
        for position, values in correct.items()
        for index, value in enumerate(values)
    ]
    return typed(Score, [Score(**row) for row in rows])


def accuracy_table(scores: pd.DataFrame) -> pd.DataFrame:
    """The accuracies of score rows as figures and tables read them."""
    return tables()["accuracy"].frame(accuracy_rows(scores))


def first_right(share: float, n: int = 200) -> list[bool]:
    """Verdicts on n questions with the first ones right, so that two conditions differ by exactly their accuracies."""
    return [index < round(share * n) for index in range(n)]


def of_shares(shares: Sequence[float], n: int = 200) -> np.ndarray:
    """(questions, conditions): answers with exactly these accuracies, of `first_right`."""
    return np.column_stack([first_right(share, n) for share in shares]).astype(int)


def sized_scores(
    by_size: Mapping[int, Sequence[float]], n: int = 200, own_questions: bool = False, **more
) -> pd.DataFrame:
    """Score rows of one model with these accuracies at evenly spaced positions of each size; `of_shares`."""
    frames = []
    for size, shares in by_size.items():
        positions = np.linspace(0, size - 1, len(shares)).astype(int).tolist()
        frame = of_matrix(of_shares(shares, n), positions, size=size, prompt_tokens=100 * size, **more)
        frames.append(frame.assign(id=frame["id"] + f"/{size}") if own_questions else frame)
    return pd.concat(frames, ignore_index=True)


def of_matrix(matrix: np.ndarray, positions: Sequence[int], **more) -> pd.DataFrame:
    columns = zip(positions, matrix.T.tolist(), strict=True)
    return score_rows({position: [bool(value) for value in values] for position, values in columns}, **more)


def random_matrix(accuracies: Sequence[float], n: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    ability = 0.15 * rng.standard_normal((n, 1))
    return (rng.random((n, len(accuracies))) + ability < accuracies).astype(int)


def assert_plain(row: Mapping) -> None:
    """Check a row: no NaN, only JSON values, and the types of the columns."""
    json.dumps(row, allow_nan=False)
