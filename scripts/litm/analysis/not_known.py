"""The questions that a model gets wrong without documents, as a condition of curves."""

from collections.abc import Mapping

import pandas as pd

#: Questions that are wrong without documents, and those that were asked so, by model.
Numbers = Mapping[str, tuple[int, int]]


def not_known_scores(
    scores: pd.DataFrame, closed_book: pd.DataFrame
) -> tuple[pd.DataFrame, dict[str, tuple[int, int]]]:
    """The score rows of the questions that each model gets wrong without documents, and the `Numbers` of these.

    closed_book: score rows of the same models and questions without a gold item. A model whose closed-book answers are
    not scored, or never wrong, has no row and a 0 among the numbers.
    """
    numbers, kept = {}, [scores.iloc[:0]]
    for model, rows in scores.groupby("model", sort=False):
        book = closed_book[(closed_book["model"] == model) & closed_book["correct"].notna() & ~closed_book["excluded"]]
        asked = book[book["id"].isin(rows["id"])]
        wrong = asked.loc[asked["correct"].astype(float) == 0, "id"]
        numbers[str(model)] = wrong.nunique(), asked["id"].nunique()
        kept.append(rows[rows["id"].isin(wrong)])
    return pd.concat(kept, ignore_index=True), numbers


def selection_note(numbers: Numbers) -> str:
    """What to know of these curves before a number is quoted.

    One wrong answer selects a question, so some are known and were wrong by chance; models have questions of their own.
    """
    counts = "; ".join(f"{model} {wrong:,} of {asked:,}" for model, (wrong, asked) in numbers.items())
    return (
        f"only questions that a model gets wrong without documents ({counts}): chosen by one answer each, so some are "
        "known, and each model has its own: compare positions, not models"
    )
