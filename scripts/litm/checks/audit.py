"""Audit: does the model give the recorded answers again if prompts are asked one at a time, with nothing shared?

Batching may change more answers at some positions than at others, which would look like an effect of position. So the
same questions are asked again at all positions, and the numbers of changed answers are compared.
"""

from collections.abc import Iterable
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from litm.analysis.significance import gap_test
from litm.base.groups import grouped
from litm.base.intervals import binomial_interval
from litm.base.store import text_sha256
from litm.placements import gold_positions
from litm.records.examples import Example
from litm.records.responses import FAILED, OVERFLOW, SweepResponse
from litm.scoring.scores import judge

if TYPE_CHECKING:
    from litm.tables.commands import AuditRow

#: Permutations of the test.
REPLICATES = 2_000
#: Columns within which the answers to a question are paired.
CURVE = ["model", "experiment", "size"]


def audit_rows(
    model: str,
    experiment: str,
    metric: str,
    examples: Iterable[Example],
    recorded: Iterable[SweepResponse],
    again: Iterable[SweepResponse],
    seed: int,
) -> "list[AuditRow]":
    """One row per cell, in the order of the examples, on the answers asked `again`.

    recorded, again: responses; `again` has the same questions at all placements of a size. A flip is an answer with
    another text, or with another verdict of the metric (for any target). Rates have 95 % intervals, see
    `binomial_interval`. gap_p is the p-value of `gap_test` over the placements of the size, equal in all its rows and
    missing for a single placement: is some placement flipped more often than chance explains? Both count questions,
    also if the experiment has `cluster`: a flip comes from the computation of a prompt, not from an article.
    """
    flips = _flips(metric, examples, recorded, again)
    rows: list[AuditRow] = []
    for size, of_size in flips.groupby("size", sort=False):
        gaps = {kind: _gap_p(of_size, kind, seed) for kind in ("text", "correct")}
        for placement, cell in of_size.groupby("placement", sort=False):
            position = gold_positions(str(placement))
            names: dict = {"model": model, "experiment": experiment, "size": size, "placement": placement}
            rows.append(
                {
                    **names,
                    "position": position[0] if len(position) == 1 else None,
                    "n": len(cell),
                    **_rate("text", cell["text"], gaps["text"]),
                    **_rate("correct", cell["correct"], gaps["correct"]),
                }
            )
    return rows


def _flips(
    metric: str, examples: Iterable[Example], recorded: Iterable[SweepResponse], again: Iterable[SweepResponse]
) -> pd.DataFrame:
    """A row for each example that was asked again: its name, and whether the text and the verdict flipped."""
    first = {response.name: response for response in recorded}
    second = {response.name: response for response in again}
    rows = [
        {
            "size": example.size,
            "placement": example.placement,
            "id": example.id,
            "text": first[example.name].text != second[example.name].text,
            "correct": _verdicts(metric, example, first[example.name])
            != _verdicts(metric, example, second[example.name]),
        }
        for example in examples
        if example.name in second
    ]
    return pd.DataFrame(rows, columns=["size", "placement", "id", "text", "correct"])


def _verdicts(metric: str, example: Example, response: SweepResponse) -> list[float | None]:
    return [
        judge(metric, response.scored_text, target.answers, example.answers)["correct"] for target in example.targets
    ]


def _rate(kind: str, flips: pd.Series, gap_p: float | None) -> dict:
    count = int(flips.sum())
    low, high = binomial_interval(count, len(flips))
    return {
        f"n_flips_{kind}": count,
        f"flip_rate_{kind}": count / len(flips),
        f"flip_rate_{kind}_ci_low": low,
        f"flip_rate_{kind}_ci_high": high,
        f"flip_rate_{kind}_p_value": gap_p,
    }


def _gap_p(flips: pd.DataFrame, kind: str, seed: int) -> float | None:
    matrix = flips.pivot(index="id", columns="placement", values=kind).to_numpy(dtype=np.int64)
    if matrix.shape[1] < 2:
        return None
    return gap_test(matrix, REPLICATES, np.random.default_rng(seed)).p_value


def audit_findings(table: pd.DataFrame) -> list[str]:
    """One line per model, experiment and size: the flips, their cells, and whether positions differ."""
    return [_finding(cells) for _, cells in table.groupby(CURVE, sort=False)]


def _finding(cells: pd.DataFrame) -> str:
    model, experiment, size = (cells[name].iloc[0] for name in CURVE)
    answers, text, correct = (int(cells[column].sum()) for column in ("n", "n_flips_text", "n_flips_correct"))
    where = f"{model} on {experiment}, size {size}"
    asked = f"{answers} answers to {cells['n'].iloc[0]} questions"
    if not text:
        return f"{where}: no flips in {asked}"
    flipped = ", ".join(
        f"{cell['placement']} {cell['n_flips_text']}/{cell['n']}"
        for cell in cells.to_dict("records")
        if cell["n_flips_text"]
    )
    flips = f"{where}: {text} of {asked} differ in text ({flipped}), {correct} in being right"
    p_value = cells["flip_rate_text_p_value"].iloc[0]
    return flips if pd.isna(p_value) else f"{flips}; do placements differ? p = {p_value:.3f}"


# --- The sample


def audit_sample(responses: Iterable[SweepResponse], per_cell: int, seed: int) -> set[tuple[int, str]]:
    """(size, id) of at most `per_cell` questions per size, sampled from those with an answer at every placement.

    A question's rank depends only on the seed and its id, so a larger sample contains a smaller one, and sizes and
    models share questions where possible.
    """
    placements: dict[int, set[str]] = {}
    answered: dict[tuple[int, str], set[str]] = {}
    for response in responses:
        placements.setdefault(response.size, set()).add(response.placement)
        if response.finish_reason not in (OVERFLOW, FAILED):
            answered.setdefault((response.size, response.id), set()).add(response.placement)
    complete = [question for question, at in answered.items() if at == placements[question[0]]]
    by_size = grouped(sorted(complete, key=lambda question: _lot(seed, question[1])), itemgetter(0))
    return {question for of_size in by_size.values() for question in of_size[:per_cell]}


def _lot(seed: int, id: str) -> tuple[str, str]:
    return text_sha256(f"{seed}/audit/{id}"), id
