"""Whether the statistics are right, by simulation at full scale, and how long they take.

    PYTHONPATH=scripts python benchmarks/calibration.py coverage
    PYTHONPATH=scripts python benchmarks/calibration.py methods
    PYTHONPATH=scripts python benchmarks/calibration.py speed

coverage: for flat, U-shaped and falling truths, n questions and answers that are correlated between positions or not:
    how often the 95 % intervals of P, R, T and PBI contain the truth; how often Cochran's Q, the pairs with Holm's
    correction and the gap's permutation test find an effect in the flat truth (p <= 0.05); and the half-width of the
    interval of PBI, ours (paired) and that of other questions at each position (unpaired).
methods: coverage of PBI's interval by ours, Student's, the percentile and the BCa bootstrap, also near the ceiling.
speed: seconds for all statistics of 12 models, sizes with 3, 5 and 7 positions, 2,655 questions.

Answers of five positions are simulated with a Gaussian copula: each question has a normal score at every position,
equally correlated, and is right where the score is below the quantile of the position's accuracy. A correlation of
0.809 of the scores is one of 0.6 of right and wrong at an accuracy of one half, as sin(0.6·pi/2) = 0.809.
"""

import argparse
import time
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from measuring import spread, table
from scipy import stats

from litm.analysis.cells import utilisation_rows
from litm.analysis.model_differences import model_difference_rows
from litm.analysis.positions import pairwise_rows, position_bias_row
from litm.analysis.statistics import (
    bootstrap_means,
    cochrans_q,
    contrast_interval,
    gap_test,
    mcnemar_pairs,
    percentile_interval,
)

TRUTHS = {
    "flat": (0.5, 0.5, 0.5, 0.5, 0.5),
    "U": (0.7, 0.55, 0.45, 0.5, 0.65),
    "monotone": (0.7, 0.6, 0.5, 0.4, 0.3),
}
NEAR_CEILING = {"flat, ceiling": (0.97,) * 5, "U, ceiling": (0.99, 0.96, 0.93, 0.95, 0.98)}
LATENT = {0.0: 0.0, 0.6: float(np.sin(0.6 * np.pi / 2))}
CONTRASTS = {"P": (1, 0, -1, 0, 0), "R": (0, 0, -1, 0, 1), "T": (-1, 0, 0, 0, 1), "PBI": (0.5, 0, -1, 0, 0.5)}
REPLICATES = 2_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["coverage", "methods", "speed"])
    parser.add_argument("--datasets", type=int, default=10_000, help="simulated data sets of each setting")
    parser.add_argument("--questions", type=int, nargs="+", default=[100, 500, 2655])
    parser.add_argument("--turns", type=int, default=1, help="speed: measurements of each")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    {"coverage": measure_coverage, "methods": compare_methods, "speed": measure_speed}[args.what](args)


def simulate(
    accuracies: tuple[float, ...], correlation: float, n: int, datasets: int, seed: int
) -> Iterator[np.ndarray]:
    """Matrices of right and wrong, one a data set."""
    rng = np.random.default_rng([seed, n, *(int(1000 * number) for number in (correlation, *accuracies))])
    thresholds, latent = stats.norm.ppf(accuracies), LATENT[correlation]
    for _ in range(datasets):
        own = rng.standard_normal((n, len(accuracies)))
        shared = rng.standard_normal((n, 1))
        yield (np.sqrt(latent) * shared + np.sqrt(1 - latent) * own < thresholds).astype(np.int64)


def measure_coverage(args: argparse.Namespace) -> None:
    print(f"{args.datasets} data sets a setting; percentages, half-widths of PBI's interval in points")
    columns = [*CONTRASTS, "Q", "pairs", "gap", "paired", "unpaired"]
    print(f"{'truth':10}{'n':>6}{'corr.':>7}" + "".join(f"{name:>10}" for name in columns))
    for truth, accuracies in TRUTHS.items():
        for n in args.questions:
            for correlation in LATENT:
                print(
                    f"{truth:10}{n:6}{correlation:7}" + coverage_row(args, truth, accuracies, n, correlation),
                    flush=True,
                )


def coverage_row(
    args: argparse.Namespace, truth: str, accuracies: tuple[float, ...], n: int, correlation: float
) -> str:
    covered = dict.fromkeys(CONTRASTS, 0)
    alarms = dict.fromkeys(("Q", "pairs", "gap"), 0)
    paired, unpaired = 0.0, 0.0
    rng = np.random.default_rng(args.seed)
    for matrix in simulate(accuracies, correlation, n, args.datasets, args.seed):
        for name, weights in CONTRASTS.items():
            estimate = contrast_interval(matrix, weights)
            covered[name] += bool(estimate.low <= np.dot(weights, accuracies) <= estimate.high)
        paired += (estimate.high - estimate.low) / 2
        means = matrix.mean(axis=0)
        unpaired += 1.96 * np.sqrt(np.square(CONTRASTS["PBI"]) @ (means * (1 - means)) / n)
        if truth == "flat":
            alarms["Q"] += cochrans_q(matrix).p_value <= 0.05
            alarms["pairs"] += any(pair.p_holm <= 0.05 for pair in mcnemar_pairs(matrix))
            alarms["gap"] += gap_test(matrix, 999, rng).p_value <= 0.05
    shares = [100 * count / args.datasets for count in covered.values()]
    false = [f"{100 * count / args.datasets:10.1f}" if truth == "flat" else f"{'':10}" for count in alarms.values()]
    widths = [100 * width / args.datasets for width in (paired, unpaired)]
    return "".join(f"{x:10.1f}" for x in shares) + "".join(false) + "".join(f"{x:10.2f}" for x in widths)


def compare_methods(args: argparse.Namespace) -> None:
    n = args.questions[0]
    print(f"PBI at n = {n}: coverage of 95 % intervals in per cent, and mean half-width in points")
    print(f"{'truth':15}{'corr.':>6}" + "".join(f"{name:>14}" for name in METHODS))
    for truth, accuracies in (TRUTHS | NEAR_CEILING).items():
        for correlation in LATENT:
            true = np.dot(CONTRASTS["PBI"], accuracies)
            intervals: dict[str, list[tuple[float, float]]] = {name: [] for name in METHODS}
            rng = np.random.default_rng(args.seed)
            for matrix in simulate(accuracies, correlation, n, args.datasets, args.seed):
                means = bootstrap_means((matrix @ np.array(CONTRASTS["PBI"]))[:, None], REPLICATES, rng)[:, 0]
                for name, method in METHODS.items():
                    intervals[name].append(method(matrix, means))
            cells = []
            for ends in intervals.values():
                low, high = np.array(ends).T
                covered = (low - 1e-12 <= true) & (true <= high + 1e-12)
                cells.append(f"{100 * covered.mean():7.1f} ±{100 * (high - low).mean() / 2:5.2f}")
            print(f"{truth:15}{correlation:6}" + "".join(f"{cell:>14}" for cell in cells), flush=True)


def ours(matrix: np.ndarray, means: np.ndarray) -> tuple[float, float]:
    estimate = contrast_interval(matrix, CONTRASTS["PBI"])
    return estimate.low, estimate.high


def students(matrix: np.ndarray, means: np.ndarray) -> tuple[float, float]:
    contrasts = matrix @ np.array(CONTRASTS["PBI"])
    half = stats.t.ppf(0.975, len(contrasts) - 1) * contrasts.std(ddof=1) / np.sqrt(len(contrasts))
    return float(contrasts.mean() - half), float(contrasts.mean() + half)


def percentile(matrix: np.ndarray, means: np.ndarray) -> tuple[float, float]:
    return percentile_interval(means)


def bca(matrix: np.ndarray, means: np.ndarray) -> tuple[float, float]:
    """Efron (1987); the acceleration of a mean is its skewness over 6√n; ties count half."""
    contrasts = matrix @ np.array(CONTRASTS["PBI"])
    mean = contrasts.mean()
    spread = np.square(contrasts - mean).sum()
    share = (means < mean - 1e-12).mean() + (np.abs(means - mean) <= 1e-12).mean() / 2
    if not spread or not 0 < share < 1:
        return percentile_interval(means)
    bias = stats.norm.ppf(share)
    acceleration = ((contrasts - mean) ** 3).sum() / (6 * spread**1.5)
    z = bias + stats.norm.ppf([0.025, 0.975])
    low, high = np.quantile(means, stats.norm.cdf(bias + z / (1 - acceleration * z)))
    return float(low), float(high)


METHODS: dict[str, Callable[[np.ndarray, np.ndarray], tuple[float, float]]] = {
    "ours": ours,
    "Student": students,
    "percentile": percentile,
    "BCa": bca,
}


def measure_speed(args: argparse.Namespace) -> None:
    n, models = args.questions[-1], [f"model {number:02}" for number in range(12)]
    sizes = {10: (0, 4, 9), 20: (0, 4, 9, 14, 19), 30: (0, 4, 9, 14, 19, 24, 29)}
    scores = simulated_scores(models, sizes, n, args.seed)
    closed_book, oracle = (simulated_scores(models, {1: (0,)}, n, args.seed + shift) for shift in (1, 2))
    oracle["correct"] |= closed_book["correct"].to_numpy()
    print(f"{len(models)} models, {sum(map(len, sizes.values()))} cells, {n} questions: {len(scores)} score rows\n")
    rows = []
    sweeps = [group for _, group in scores.groupby(["model", "size"])]
    for name, work in {
        "position bias": lambda: [position_bias_row(sweep) for sweep in sweeps],
        "pairs of positions": lambda: [pairwise_rows(sweep) for sweep in sweeps],
        "pairs of models": lambda: model_difference_rows(scores),
        "utilisation": lambda: utilisation_rows(scores, closed_book, oracle),
    }.items():
        seconds = []
        for _ in range(args.turns):
            start = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - start)
        rows.append([name, spread(seconds)])
    print(table(["statistics", "seconds"], rows))


def simulated_scores(models: list[str], sizes: dict[int, tuple[int, ...]], n: int, seed: int) -> pd.DataFrame:
    """Score rows with a U of each model's own."""
    rng = np.random.default_rng(seed)
    ids = np.array([f"question {number}" for number in range(n)])
    cells = []
    for model in models:
        ability = rng.standard_normal(n)
        for size, positions in sizes.items():
            for position in positions:
                depth = position / max(1, size - 1)
                correct = ability + rng.standard_normal(n) < rng.normal(abs(2 * depth - 1), 0.2)
                names = {"model": model, "experiment": "e", "task": "t", "metric": "m", "size": size, "items": size}
                place = {"placement": f"gold_at_{position}", "position": position, "depth": depth}
                cells.append(pd.DataFrame({**names, **place, "id": ids, "target": "gold", "correct": correct}))
    scores = pd.concat(cells, ignore_index=True).assign(empty=False, excluded=False)
    texts = ["model", "experiment", "task", "metric", "placement", "id", "target"]
    return scores.astype({**dict.fromkeys(texts, "string"), "correct": "boolean", "position": "Int64"})


if __name__ == "__main__":
    main()
