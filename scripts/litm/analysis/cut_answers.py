"""Sentences on answers that ended at the limit of new tokens: the measured accuracy is a lower bound."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any


def cut_sentences(rows: Iterable[Mapping[Any, Any]], limits: Mapping[str, int]) -> list[str]:
    """One sentence per model and experiment with cut answers, in the order of the rows.

    rows: of the accuracy table, as numbers or as texts of a CSV file; limits: new tokens per answer by experiment. An
    answer to several gold items has several rows and counts once. Rows without n_cut are skipped: recorded responses
    may lack finish reasons.
    """
    answers: Counter[tuple[str, str]] = Counter()
    cut: Counter[tuple[str, str]] = Counter()
    for sweep, n, n_cut in _cells(rows):
        answers[sweep] += n
        cut[sweep] += n_cut
    return [
        f"{model} on {experiment}: {cut[model, experiment]:,} of {n:,} answers were cut{_at(limits.get(experiment))}; "
        "accuracy is a lower bound: raise max_new_tokens"
        for (model, experiment), n in answers.items()
        if cut[model, experiment]
    ]


def _cells(rows: Iterable[Mapping[Any, Any]]) -> Iterator[tuple[tuple[str, str], int, int]]:
    """(model, experiment), number of answers and of cut answers, once per cell."""
    seen = set()
    for row in rows:
        cell = (row["model"], row["experiment"], str(row["size"]), row["placement"])
        n_cut = str(row["n_cut"])
        if cell not in seen and n_cut.replace(".", "", 1).isdigit():
            seen.add(cell)
            yield (row["model"], row["experiment"]), int(float(row["n"])), int(float(n_cut))


def _at(limit: int | None) -> str:
    return f" at {limit} tokens" if limit else ""
