"""What the intervals cover and what numbers of questions can show, by simulation: the tables of docs/evidence.md.

    PYTHONPATH=scripts python benchmarks/evidence.py --page docs/evidence.md

Coverage: start, middle and end have each of nine accuracies from 2 to 99 %, in all 729 combinations; right and wrong of
one question at two positions are correlated by a Gaussian copula (`litm.analysis.power.pattern_shares`) with 0, 0.5 and
0.85 between the normal scores. In a first round every setting is simulated; in a second the settings with the lowest
coverage are again, with more data sets, since the least of thousands of estimates is too low. What an accuracy's
interval covers is summed exactly.

Power: the detectable effect of `litm.analysis.power`, and how often its interval excludes 0 in simulated data.
"""

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
from measuring import table
from scipy import stats

from litm.analysis.pbi import CONTRASTS
from litm.analysis.power import (
    FIVE_POINTS,
    Assumption,
    detectable_effect,
    latent_correlation,
    pattern_shares,
    planned_accuracies,
    questions_needed,
)
from litm.analysis.statistics import moments_of
from litm.base.files import with_parts, write_text
from litm.base.intervals import binomial_interval, wilson_interval

ACCURACIES = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.98, 0.99)
LATENT = (0.0, 0.5, 0.85)
QUESTIONS = (30, 50, 100, 500, 2655)
#: The setting that was reported as too low.
NAMED = (0.99, 0.95, 0.98)
PATTERNS = np.array(list(product((0, 1), repeat=3)))
PAIRS = ((1, -1, 0), (0, -1, 1), (-1, 0, 1))
#: Settings of the second round, for each n and quantity.
WORST = 15

Setting = tuple[tuple[float, float, float], float]
#: Which data sets' intervals contain the truth, from counts of patterns (data sets, 8), accuracies and n.
Covers = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--what", nargs="+", choices=["coverage", "power"], default=["coverage", "power"])
    parser.add_argument("--datasets", type=int, default=2_000, help="data sets of each setting in the first round")
    parser.add_argument("--again", type=int, default=40_000, help="data sets in the second round, and of power")
    parser.add_argument("--questions", type=int, nargs="+", default=QUESTIONS)
    parser.add_argument("--page", type=Path, help="a page with the lines between which the tables are written")
    args = parser.parse_args()
    for what in args.what:
        made = "\n\n".join({"coverage": coverage, "power": power_tables}[what](args))
        print(made, flush=True)
        if args.page:
            page = args.page.read_text(encoding="utf-8")
            write_text(args.page, with_parts(page, {what: made}))


# --- Coverage ---


def coverage(args: argparse.Namespace) -> Iterator[str]:
    """What intervals cover by n: over all settings, at their worst, and in the setting that is named."""
    yield table(["n", "least, Wilson's", "least", "at", "mean", "most"], accuracy_rows(args.questions))
    settings: list[Setting] = list(product(product(ACCURACIES, repeat=3), LATENT))
    columns = ["quantity", "n", "least", "at start/middle/end", "correlation", "mean", "most"]
    columns += [f"{'/'.join(f'{100 * one:g}' for one in NAMED)}, 0.85", "least, Agresti & Min's"]
    yield table(columns, quantity_rows(settings, args))


def accuracy_rows(questions: Iterable[int]) -> Iterator[list[str]]:
    """Exact coverage of the interval of an accuracy, for truths from 2 to 99 % in steps of 0.1 points."""
    truths = np.linspace(0.02, 0.99, 971)
    for n in questions:
        shares = stats.binom.pmf(np.arange(n + 1), n, truths[:, None])
        covered = {}
        for name, interval in (("wilson", wilson_interval), ("ours", binomial_interval)):
            low, high = np.array([interval(count, n) for count in range(n + 1)]).T
            covered[name] = (shares * ((low <= truths[:, None]) & (truths[:, None] <= high))).sum(axis=1)
        ours = covered["ours"]
        found = [covered["wilson"].min(), ours.min(), truths[ours.argmin()], ours.mean(), ours.max()]
        yield [f"{n:,}", *(f"{100 * value:.1f}" for value in found)]


def quantity_rows(settings: Sequence[Setting], args: argparse.Namespace) -> Iterator[list[str]]:
    for name, (covers, before) in QUANTITIES.items():
        for n in args.questions:
            first, again = two_rounds(covers, settings, n, args)
            worst = min(again, key=lambda index: again[index])
            accuracies, latent = settings[worst]
            named = share_covered(covers, (NAMED, 0.85), n, args.again, 1)
            theirs = [min(two_rounds(one, settings, n, args)[1].values()) for one in before]
            numbers = [first.mean(), first.max(), named, *theirs]
            yield [
                name, f"{n:,}", f"**{100 * again[worst]:.1f}**", "/".join(f"{100 * one:g}" for one in accuracies),
                f"{latent:g}", *(f"{100 * value:.1f}" for value in numbers), *([] if before else [""]),
            ]  # fmt: skip


def two_rounds(
    covers: Covers, settings: Sequence[Setting], n: int, args: argparse.Namespace
) -> tuple[np.ndarray, dict[int, float]]:
    """What is covered in each setting, and by their numbers in those of the second round."""
    first = np.array([share_covered(covers, setting, n, args.datasets, 0) for setting in settings])
    return first, {index: share_covered(covers, settings[index], n, args.again, 1) for index in first.argsort()[:WORST]}


def share_covered(covers: Covers, setting: Setting, n: int, datasets: int, round_: int) -> float:
    accuracies, latent = setting
    shares = pattern_shares(accuracies, latent)
    rng = np.random.default_rng([round_, n, *(round(1000 * one) for one in (*accuracies, latent))])
    counts = rng.multinomial(n, shares / shares.sum(), size=datasets)
    return float(covers(counts, np.array(accuracies), n).mean())


def limits(
    counts: np.ndarray, weights: Sequence[float], n: int, confidence: float = 0.95
) -> tuple[np.ndarray, np.ndarray]:
    d = PATTERNS @ np.array(weights, dtype=float)
    return moments_of(counts @ d, counts @ d**2, n, float(np.abs(weights).sum()) / 2).limits(confidence)


def contains(low: np.ndarray, truth: float, high: np.ndarray) -> np.ndarray:
    return (low <= truth + 1e-12) & (truth - 1e-12 <= high)


def covers_contrast(weights: Sequence[float]) -> Covers:
    def covers(counts: np.ndarray, accuracies: np.ndarray, n: int) -> np.ndarray:
        low, high = limits(counts, weights, n)
        return contains(low, float(accuracies @ weights), high)

    return covers


def covers_gap(counts: np.ndarray, accuracies: np.ndarray, n: int) -> np.ndarray:
    """As `statistics.gap_interval`: the corrected lower limits and the others' upper ones, of all pairs."""
    ordered = [np.array(sign) * pair for pair in map(np.array, PAIRS) for sign in (1, -1)]
    low = np.max([limits(counts, pair, n, 1 - 0.05 / 6)[0] for pair in ordered], axis=0)
    high = np.max([limits(counts, pair, n)[1] for pair in ordered], axis=0)
    return contains(np.maximum(0, low), float(np.ptp(accuracies)), high)


def covers_before(weights: Sequence[float]) -> Covers:
    """The interval of Agresti & Min (2005) for any contrast: two questions more, tossed with a fair coin."""

    def covers(counts: np.ndarray, accuracies: np.ndarray, n: int) -> np.ndarray:
        w = np.array(weights, dtype=float)
        d = PATTERNS @ w
        centre = counts @ d / (n + 2)
        variance = np.maximum(0, (counts @ d**2 + w @ w / 2) / (n + 2) - centre**2)
        half = stats.t.ppf(0.975, n + 1) * np.sqrt(variance / (n + 2))
        value = counts @ d / n
        return contains(np.minimum(centre - half, value), float(accuracies @ w), np.maximum(centre + half, value))

    return covers


#: Our interval of each quantity, and Agresti & Min's, which is not for a gap.
QUANTITIES: dict[str, tuple[Covers, list[Covers]]] = {
    "two positions (primacy, recency, tilt, pairs)": (covers_contrast(PAIRS[0]), [covers_before(PAIRS[0])]),
    "PBI": (covers_contrast(CONTRASTS["pbi"]), [covers_before(CONTRASTS["pbi"])]),
    "gap of three": (covers_gap, []),
}


# --- Power ---


def power_tables(args: argparse.Namespace) -> Iterator[str]:
    """What n shows of each assumed curve, with the simulated power; and which n shows 5 points."""
    curves = [
        Assumption(accuracy, correlation) for accuracy in (0.5, 0.7, 0.9, 0.97) for correlation in (0.3, 0.5, 0.7)
    ]
    columns = ["accuracy", "correlation", *(f"n = {n:,}" for n in args.questions), "n for 5 points"]
    for contrast, title in (("primacy", "Difference of two positions"), ("pbi", "Position Bias Index")):
        rows = [
            [f"{100 * one.accuracy:g} %", f"{one.correlation:g}"]
            + [cell(contrast, n, one, args.again) for n in args.questions]
            + [f"{questions_needed(contrast, FIVE_POINTS, one):,}"]
            for one in curves
        ]
        yield f"{title}: smallest effect in points that is shown with a chance of 80 % (simulated: per cent)"
        yield table(columns, rows)


def cell(contrast: str, n: int, assumed: Assumption, datasets: int) -> str:
    effect = detectable_effect(contrast, n, assumed)
    if effect is None:
        return "none"
    shares = pattern_shares(planned_accuracies(contrast, effect, assumed.accuracy), latent_correlation(assumed))
    counts = np.random.default_rng([n, round(1000 * effect)]).multinomial(n, shares / shares.sum(), size=datasets)
    low, _ = limits(counts, CONTRASTS[contrast], n)
    return f"{100 * effect:.1f} ({100 * (low > 0).mean():.1f})"


if __name__ == "__main__":
    main()
