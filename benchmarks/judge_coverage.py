"""Coverage of the numbers that a judge gives, with and without the correction by labels.

A made-up model answers `questions` questions at five positions, right with a share that depends on the question. A
judge of known sensitivity and specificity, equal at all positions or worse in the middle, calls each answer right or
wrong, and the strict rule finds 59 % of the right answers with a precision of 94 %. Printed for each number of labels:
how often the interval has the true accuracy in the middle, the true difference of start and middle, and the true PBI,
and how often a PBI is shown although the curve is flat.
"""

import argparse

import numpy as np

from litm.analysis.statistics import Estimate, contrast_interval, corrected_moments
from litm.base.intervals import clustered_interval
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
    easiness = rng.normal(size=(n, 1)) * 0.7 + rng.normal(size=(n, POSITIONS)) * (1 - 0.7**2) ** 0.5
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
            Estimate(*corrected_accuracy(labelled, 2)),
            *(corrected_moments(labelled, weights).estimate() for weights in (DIFFERENCE, PBI)),
        ]
        for row, estimates in enumerate((plain, corrected)):
            totals[row, :3] += [e.low <= value <= e.high for e, value in zip(estimates, wanted, strict=True)]
            totals[row, 3] += not estimates[2].low <= 0 <= estimates[2].high
            totals[row, 4] += (estimates[2].high - estimates[2].low) / 2
    return totals / replicates


def main() -> None:
    """Print one row for each curve, judge and number of labels."""
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


if __name__ == "__main__":
    main()
