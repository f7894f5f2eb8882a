"""Coverage of the numbers that a judge gives, with and without the correction by labels.

A made-up model answers `questions` questions at five positions, right with a share that depends on the question. A
judge of known sensitivity and specificity, equal at all positions or worse in the middle, calls each answer right or
wrong, and the strict rule finds 59 % of the right answers with a precision of 94 %. Printed for each number of labels:
how often the interval has the true accuracy in the middle, the true difference of start and middle, and the true PBI,
and how often a PBI is shown although the curve is flat.

A second table has what is made of contrasts: for each `Made`, how often it is right where the judge errs more on one
side than on the other.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from litm.analysis.advice import Cell, Compared
from litm.analysis.grid import CORRECT, Grid
from litm.analysis.regression import NOT_WORSE, WORSE, regression_row, verdict_of
from litm.analysis.statistics import Estimate, contrast_interval, corrected_moments, gap_interval, utilisation
from litm.base.intervals import clustered_interval
from litm.records.conditions import Condition
from litm.scoring.judge_error import Labelled, corrected_accuracy, drawn

POSITIONS = 5
DIFFERENCE, PBI = [1, 0, -1, 0, 0], [0.5, 0, -1, 0, 0.5]
#: Accuracies by position of the two curves.
CURVES = {"flat": [0.6] * 5, "U": [0.75, 0.65, 0.5, 0.6, 0.7]}
#: Sensitivity and specificity by position.
JUDGES = {
    "equal .95/.95": ([0.95] * 5, [0.95] * 5),
    "equal .80/.90": ([0.80] * 5, [0.90] * 5),
    "worse in the middle": ([0.95, 0.9, 0.75, 0.9, 0.95], [0.95, 0.9, 0.85, 0.9, 0.95]),
    "always right": ([1.0] * 5, [0.0] * 5),
}


def answers_of(curve: list[float], judge: tuple, n: int, rng: np.random.Generator) -> tuple:
    """Truth, verdicts and strict verdicts, (questions, positions) each; answers to a question depend on each other."""
    easiness = rng.normal(size=(n, 1)) * 0.7 + rng.normal(size=(n, len(curve))) * (1 - 0.7**2) ** 0.5
    truth = easiness < np.array([_quantile(share) for share in curve])
    sensitivity, specificity = map(np.array, judge)
    verdicts = np.where(truth, rng.random(truth.shape) < sensitivity, rng.random(truth.shape) >= specificity)
    # Precision .94 at recall .59 and an accuracy of .6: 5.6 % of the wrong answers have an accepted text.
    strict = np.where(truth, rng.random(truth.shape) < 0.59, rng.random(truth.shape) < 0.056)
    return truth.astype(int), verdicts.astype(int), strict.astype(int)


def _quantile(share: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(share))


def covered(curve: str, judge: str, n: int, labels: int, replicates: int, seed: int) -> np.ndarray:
    """(2, 4) shares of replicates: plain and corrected; accuracy, difference and PBI covered, PBI shown; with the mean
    half width of the PBI's interval as a fifth.
    """
    rng = np.random.default_rng([seed, n, labels])
    true = np.array(CURVES[curve])
    wanted = (true[2], true[0] - true[2], (true[0] + true[4]) / 2 - true[2])
    totals = np.zeros((2, 5))
    for _ in range(replicates):
        truth, verdicts, strict = answers_of(CURVES[curve], JUDGES[judge], n, rng)
        known = np.where(drawn(verdicts, strict, labels, rng), truth, np.nan)
        labelled = Labelled(verdicts, strict, known)
        middle = verdicts[:, 2]
        plain = [
            Estimate(float(middle.mean()), *clustered_interval(middle, None)),
            *(contrast_interval(verdicts, weights) for weights in (DIFFERENCE, PBI)),
        ]
        corrected = [
            Estimate(*corrected_accuracy(labelled, np.eye(POSITIONS)[2])),
            *(corrected_moments(labelled, weights).estimate() for weights in (DIFFERENCE, PBI)),
        ]
        for row, estimates in enumerate((plain, corrected)):
            totals[row, :3] += [e.low <= value <= e.high for e, value in zip(estimates, wanted, strict=True)]
            totals[row, 3] += not estimates[2].low <= 0 <= estimates[2].high
            totals[row, 4] += (estimates[2].high - estimates[2].low) / 2
    return totals / replicates


@dataclass(frozen=True)
class Made:
    """A statement that is made of contrasts, and a judge that misleads it."""

    accuracies: list[float]
    """Of each column: a position, a reference, a side or a condition."""
    sensitivity: list[float]
    specificity: list[float]
    is_right: Callable[[Grid], bool]
    """Whether the statement on these answers holds."""


def _gap(grid: Grid) -> bool:
    """Best minus worst of a flat curve is not shown to be above 0."""
    return gap_interval(grid.measured).low <= 0


def _utilisation(grid: Grid) -> bool:
    """(0.5 - 0.2)/(0.8 - 0.2), or nothing said."""
    used = utilisation(grid.measured)
    return used is None or used.low <= 0.5 <= used.high


def _regression(wrong: str) -> Callable[[Grid], bool]:
    """A side that is worse by exactly the margin of 10 points, without this verdict."""

    def is_right(grid: Grid) -> bool:
        row, *_ = regression_row({}, grid, len(grid.ids), 0.1)
        return verdict_of(row["p_worse"], row["p_not_worse"]) != wrong

    return is_right


def _best(grid: Grid) -> bool:
    """The truly best condition, the last, is in the set."""
    return len(grid.columns) - 1 in _compared(grid).best_set


def _advised(grid: Grid) -> bool:
    """The cheapest condition, which loses 8 points, is not advised."""
    return _compared(grid).advised != 0


def _compared(grid: Grid) -> Compared:
    cells = (Cell(Condition("s", "s"), documents, grid) for documents in (1, 3, 5, 10))
    return Compared("m", "s", tuple(cells), grid, (), 0)


MADE = {
    "gap: none of a flat curve": Made(CURVES["flat"], [0.95, 0.9, 0.65, 0.9, 0.95], [0.9] * POSITIONS, _gap),
    "utilisation": Made([0.5, 0.2, 0.8], [0.75, 0.95, 0.95], [0.95, 0.95, 0.95], _utilisation),
    "regression: no false *worse*": Made([0.6, 0.7], [0.8, 0.95], [0.95, 0.95], _regression(WORSE)),
    "regression: no false *not worse*": Made([0.6, 0.7], [0.95, 0.95], [0.75, 0.95], _regression(NOT_WORSE)),
    "advice: the best is in the set": Made([0.6, 0.64, 0.68, 0.7], [0.95] * 3 + [0.8], [0.8] * 3 + [0.95], _best),
    "advice: none that loses 8 points": Made([0.62, 0.64, 0.68, 0.7], [0.95] * 4, [0.5] + [0.95] * 3, _advised),
}


def made_right(made: Made, n: int, labels: int, replicates: int, seed: int) -> np.ndarray:
    """(2,) shares of replicates in which the statement is right: by the judge alone, and corrected."""
    rng = np.random.default_rng([seed, n, labels])
    totals = np.zeros(2)
    for _ in range(replicates):
        truth, verdicts, strict = answers_of(made.accuracies, (made.sensitivity, made.specificity), n, rng)
        known = np.where(drawn(verdicts, strict, labels, rng), truth, np.nan)
        columns = [*range(len(made.accuracies))]
        alone = Grid(columns, pd.RangeIndex(n), {CORRECT: verdicts}, None)
        totals += made.is_right(alone), made.is_right(Grid(columns, alone.ids, alone.answers, None, strict, known))
    return totals / replicates


def main() -> None:
    """Print one row for each curve, judge and number of labels, then one for each `Made`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=2000)
    parser.add_argument("--questions", type=int, default=200)
    options = parser.parse_args()
    print("| curve | judge | labels | | accuracy | difference | PBI | PBI shown | half width |")
    print("|---|---|---|---|---|---|---|---|---|")
    for curve in CURVES:
        for judge in JUDGES:
            for labels in (50, 100, 300):
                shares = covered(curve, judge, options.questions, labels, options.replicates, seed=0)
                for name, row in zip(("judge alone", "corrected"), shares, strict=True):
                    numbers = " | ".join(f"{value:.3f}" for value in row)
                    print(f"| {curve} | {judge} | {labels} | {name} | {numbers} |", flush=True)
    print("\n| statement | labels | judge alone | corrected |")
    print("|---|---|---|---|")
    for name, made in MADE.items():
        for labels in (50, 100, 300):
            alone, corrected = made_right(made, options.questions, labels, options.replicates, seed=0)
            print(f"| {name} | {labels} | {alone:.3f} | {corrected:.3f} |", flush=True)


if __name__ == "__main__":
    main()
