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
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from measuring import table
from scipy import stats

from litm.analysis import power
from litm.analysis.pbi import CONTRASTS
from litm.analysis.power import Assumption, pattern_shares
from litm.analysis.statistics import Moments, moments_of
from litm.base.files import with_parts, write_text
from litm.base.intervals import binomial_interval, wilson_interval

ACCURACIES = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.98, 0.99)
LATENT = (0.0, 0.5, 0.85)
QUESTIONS = (30, 50, 100, 500, 2655)
Setting = tuple[tuple[float, float, float], float]
#: The setting that was reported as too low.
NAMED: Setting = ((0.99, 0.95, 0.98), 0.85)
#: Right (1) or wrong (0) at start, middle and end.
PATTERNS = np.array(list(product((0, 1), repeat=3)))
#: Contrasts of each pair of positions.
PAIRS = ("primacy", "recency", "tilt")
#: Settings of the second round, for each n and quantity.
WORST = 15
#: Which data sets' intervals contain the truth, from counts of patterns (data sets, 8), accuracies and n.
Covers = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", type=int, default=2_000, help="data sets of each setting in the first round")
    parser.add_argument("--again", type=int, default=40_000, help="data sets in the second round, and of power")
    parser.add_argument("--questions", type=int, nargs="+", default=QUESTIONS)
    parser.add_argument("--page", type=Path, help="a page with the lines between which the tables are written")
    args = parser.parse_args()
    parts = {"coverage": "\n\n".join(coverage(args)), "power": "\n\n".join(power_tables(args))}
    print(*parts.values(), sep="\n")
    if args.page:
        write_text(args.page, with_parts(args.page.read_text(encoding="utf-8"), parts))


def contrast(counts: np.ndarray, weights: Sequence[float], n: int) -> Moments:
    """A contrast of start, middle and end, from how many of n questions have each of `PATTERNS`: (..., 8)."""
    d = PATTERNS @ np.array(weights)
    return moments_of(counts @ d, counts @ d**2, n, float(np.abs(weights).sum()) / 2)


# --- Coverage ---


def coverage(args: argparse.Namespace) -> Iterator[str]:
    """What intervals cover by n: over all settings, at their worst, and in the setting that is named."""
    yield table(["n", "least, Wilson's", "least", "at", "mean", "most"], accuracy_rows(args.questions))
    columns = ["quantity", "n", "least", "at start/middle/end", "correlation", "mean", "most", ", ".join(names(NAMED))]
    yield table([*columns, "least, Agresti & Min's"], quantity_rows(args))


def names(setting: Setting) -> tuple[str, str]:
    """The accuracies in per cent, and the correlation."""
    return "/".join(f"{100 * one:g}" for one in setting[0]), f"{setting[1]:g}"


def contains(low: np.ndarray, truth: np.ndarray | float, high: np.ndarray) -> np.ndarray:
    return (low <= truth + 1e-12) & (truth - 1e-12 <= high)


def accuracy_rows(questions: Iterable[int]) -> Iterator[list[str]]:
    """Exact coverage of the interval of an accuracy, for truths from 2 to 99 % in steps of 0.1 points."""
    truths = np.linspace(0.02, 0.99, 971)
    for n in questions:
        shares = stats.binom.pmf(np.arange(n + 1), n, truths[:, None])
        covered = []
        for interval in (wilson_interval, binomial_interval):
            low, high = np.array([interval(count, n) for count in range(n + 1)]).T
            covered.append((shares * contains(low, truths[:, None], high)).sum(axis=1))
        wilson, ours = covered
        found = [wilson.min(), ours.min(), truths[ours.argmin()], ours.mean(), ours.max()]
        yield [f"{n:,}", *(f"{100 * value:.1f}" for value in found)]


def quantity_rows(args: argparse.Namespace) -> Iterator[list[str]]:
    settings: list[Setting] = list(product(product(ACCURACIES, repeat=3), LATENT))
    for (name, (covers, before)), n in product(QUANTITIES.items(), args.questions):
        first, again = two_rounds(covers, settings, n, args)
        least, worst = min(again, key=lambda one: one[0])
        numbers = [first.mean(), first.max(), share_covered(covers, NAMED, n, args.again, 1)]
        if before:
            numbers.append(min(two_rounds(before, settings, n, args)[1])[0])
        cells = [f"{100 * value:.1f}" for value in numbers] + ([] if before else [""])
        yield [name, f"{n:,}", f"**{100 * least:.1f}**", *names(worst), *cells]


def two_rounds(
    covers: Covers, settings: Sequence[Setting], n: int, args: argparse.Namespace
) -> tuple[np.ndarray, list[tuple[float, Setting]]]:
    """What is covered in each setting, and in those of the second round with their settings."""
    first = np.array([share_covered(covers, setting, n, args.datasets, 0) for setting in settings])
    worst = [settings[index] for index in first.argsort()[:WORST]]
    return first, [(share_covered(covers, setting, n, args.again, 1), setting) for setting in worst]


def share_covered(covers: Covers, setting: Setting, n: int, datasets: int, round_: int) -> float:
    accuracies, latent = setting
    seed = [round_, n, *(round(1000 * one) for one in (*accuracies, latent))]
    counts = drawn(pattern_shares(accuracies, latent), n, datasets, seed)
    return float(covers(counts, np.array(accuracies), n).mean())


def drawn(shares: np.ndarray, n: int, datasets: int, seed: Sequence[int]) -> np.ndarray:
    """How many of n questions have each of `PATTERNS`, in every data set."""
    return np.random.default_rng(seed).multinomial(n, shares / shares.sum(), size=datasets)


def covers_contrast(name: str, counts: np.ndarray, accuracies: np.ndarray, n: int) -> np.ndarray:
    low, high = contrast(counts, CONTRASTS[name], n).limits(0.95)
    return contains(low, accuracies @ CONTRASTS[name], high)


def covers_gap(counts: np.ndarray, accuracies: np.ndarray, n: int) -> np.ndarray:
    """As `statistics.gap_interval`: the corrected lower limits and the others' upper ones, of all pairs."""
    pairs = [contrast(counts, sign * np.array(CONTRASTS[name]), n) for name in PAIRS for sign in (1, -1)]
    low = np.max([pair.limits(1 - 0.05 / len(pairs))[0] for pair in pairs], axis=0)
    high = np.max([pair.limits(0.95)[1] for pair in pairs], axis=0)
    return contains(np.maximum(0, low), float(np.ptp(accuracies)), high)


def covers_before(name: str, counts: np.ndarray, accuracies: np.ndarray, n: int) -> np.ndarray:
    """The interval of Agresti & Min (2005) for any contrast: two questions more, tossed with a fair coin."""
    w = np.array(CONTRASTS[name])
    d = PATTERNS @ w
    centre = counts @ d / (n + 2)
    variance = np.maximum(0, (counts @ d**2 + w @ w / 2) / (n + 2) - centre**2)
    half = stats.t.ppf(0.975, n + 1) * np.sqrt(variance / (n + 2))
    value = counts @ d / n
    return contains(np.minimum(centre - half, value), accuracies @ w, np.maximum(centre + half, value))


#: Our interval of each quantity, and Agresti & Min's, which is not for a gap.
QUANTITIES: dict[str, tuple[Covers, Covers | None]] = {
    "two positions (primacy, recency, tilt, pairs)": (
        partial(covers_contrast, "primacy"),
        partial(covers_before, "primacy"),
    ),
    "PBI": (partial(covers_contrast, "pbi"), partial(covers_before, "pbi")),
    "gap of three": (covers_gap, None),
}


# --- Power ---


#: Mean accuracies of the assumed curves, and correlations.
CURVES = ((0.5, 0.7, 0.9, 0.97), (0.3, 0.5, 0.7))


def power_tables(args: argparse.Namespace) -> Iterator[str]:
    """What n shows of each assumed curve, with the simulated power; and which n shows 5 points."""
    columns = ["accuracy", "correlation", *(f"n = {n:,}" for n in args.questions), "n for 5 points"]
    for name, title in (("primacy", "Difference of two positions"), ("pbi", "Position Bias Index")):
        yield f"{title}: smallest effect in points that is shown with a chance of 80 % (simulated: per cent)"
        yield table(columns, (power_row(name, Assumption(*one), args) for one in product(*CURVES)))


def power_row(name: str, assumed: Assumption, args: argparse.Namespace) -> list[str]:
    cells = [power_cell(name, n, assumed, args.again) for n in args.questions]
    needed = power.questions_needed(name, power.FIVE_POINTS, assumed)
    return [f"{100 * assumed.accuracy:g} %", f"{assumed.correlation:g}", *cells, f"{needed:,}"]


def power_cell(name: str, n: int, assumed: Assumption, datasets: int) -> str:
    effect = power.detectable_effect(name, n, assumed)
    if effect is None:
        return "none"
    accuracies = power.planned_accuracies(name, effect, assumed.accuracy)
    shares = pattern_shares(accuracies, power.latent_correlation(assumed))
    low, _ = contrast(drawn(shares, n, datasets, [n, round(1000 * effect)]), CONTRASTS[name], n).limits(0.95)
    return f"{100 * effect:.1f} ({100 * (low > 0).mean():.1f})"


if __name__ == "__main__":
    main()
