"""How often a family of claims has a wrong verdict, by simulation, and a family of curves a wrong word.

    PYTHONPATH=scripts python benchmarks/claim_errors.py estimates
    PYTHONPATH=scripts python benchmarks/claim_errors.py scores
    PYTHONPATH=scripts python benchmarks/claim_errors.py words

estimates: m normal estimates with one standard error and equal correlation, of truths at the bounds of the criterion,
    where errors are most frequent.
scores: right and wrong answers of m models to n questions at start, middle and end; the claim is the U. With the chance
    `correlation` the three answers of a question come from one uniform number, else from three, so that this is the
    correlation of two answers of the same accuracy.
words: the same answers, and whether the word of any curve says what is not so.

In all of them 5 % is promised, whatever the truth; what is printed is per cent of the simulated families, with its
standard error.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import pairwise, product
from math import sqrt

import numpy as np
from measuring import table
from scipy import special

from litm.analysis.shapes import (
    END_LOWER,
    FALLING,
    FLAT,
    INVERTED,
    NONE,
    PRIMACY,
    PRIMACY_UNCLEAR,
    RECENCY,
    RECENCY_UNCLEAR,
    RISING,
    SMALL,
    START_LOWER,
    UNEVEN,
    U,
)
from litm.analysis.statistics import moments_of, paired_difference
from litm.claims.curve_words import Measures, words_of
from litm.claims.evidence import Measure, largest, negated
from litm.claims.verdicts import (
    ABOVE_ZERO,
    ALPHA,
    CONTRADICTED,
    NEGLIGIBLE,
    NOT_ENOUGH,
    SUPPORTED,
    WITHIN_SMALL,
    Criterion,
    Part,
    Question,
    decide,
)

CURVES = (1, 5, 10, 23)
ERRORS = (0.003, 0.004, 0.005, 0.01, 0.02)
QUESTIONS = (30, 100, 500, 2655)
Truth = tuple[float, float, float]
#: Accuracies at start, middle and end, and whether the curve is no U (then "supported" is wrong) or one of 2 points or
#: more (then "contradicted" is). Those in `MIXED` are families of both.
NO_U: dict[str, Truth] = {
    "flat": (0.6, 0.6, 0.6),
    "recency alone": (0.6, 0.6, 0.75),
    "recency alone, near 1": (0.95, 0.95, 0.98),
    "rising": (0.4, 0.6, 0.8),
}
A_U: dict[str, Truth] = {"U of 2 points": (0.62, 0.6, 0.62), "U, one end of 2 points": (0.62, 0.6, 0.8)}
TRUTHS = {**{name: (truth,) for name, truth in {**NO_U, **A_U}.items()}}
TRUTHS["flat and U of 2 points"] = (NO_U["flat"], A_U["U of 2 points"])
TRUTHS["half recency alone, half U of 2 points"] = (NO_U["recency alone"], A_U["U of 2 points"])
#: Right (1) or wrong (0) at start, middle and end.
PATTERNS = np.array(list(product((0, 1), repeat=3)))
P, R = (1, -1, 0), (0, -1, 1)
#: Families of each setting that `decide` judges too, to see that the arrays say the same.
CHECKED = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["estimates", "scores", "words"])
    parser.add_argument("--families", type=int, default=10_000, help="simulated families of each setting")
    parser.add_argument("--curves", type=int, nargs="+", default=CURVES)
    parser.add_argument("--questions", type=int, nargs="+", default=QUESTIONS)
    parser.add_argument("--correlation", type=float, default=0.85, help="of a question's answers")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    {"estimates": of_estimates, "scores": of_scores, "words": of_words}[args.what](args)


# --- Wrong verdicts, all families at once ---
#
# A level is the smallest alpha at which the two-sided interval of confidence 1 - alpha shows something. Arrays are
# (families, cases), or (families, cases, parts). `check` compares with `decide`.


def holm(levels: np.ndarray) -> np.ndarray:
    """Which cases Holm's procedure rejects at ALPHA, family by family."""
    order = np.argsort(levels, axis=1)
    times = np.arange(levels.shape[1], 0, -1)
    stepped = np.maximum.accumulate(np.take_along_axis(levels, order, axis=1) * times, axis=1)
    rejected = np.empty(levels.shape, dtype=bool)
    np.put_along_axis(rejected, order, stepped <= ALPHA, axis=1)
    return rejected


def above_zero(centre: np.ndarray, error: np.ndarray, tail: Callable) -> tuple[np.ndarray, np.ndarray]:
    """The levels at which each part is shown to be above 0, and at most `NEGLIGIBLE`."""
    above, below = 2 * tail(centre / error), 2 * tail((NEGLIGIBLE - centre) / error)
    return above, np.where(above <= ALPHA, 1, below)


def within_small(centre: np.ndarray, error: np.ndarray, tail: Callable) -> tuple[np.ndarray, np.ndarray]:
    """The levels at which each part is shown to be within `SMALL` of 0, and outside."""
    within = np.maximum(tail((centre + SMALL) / error), tail((SMALL - centre) / error))
    return 2 * within, 4 * np.minimum(tail((centre - SMALL) / error), tail((-SMALL - centre) / error))


def verdicts_of(wanted: np.ndarray, denied: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which cases are supported, and which contradicted, by the levels of their parts."""
    parts = wanted.shape[2]
    return holm(wanted.max(axis=2)), holm(np.minimum(1, parts * denied.min(axis=2)))


def normal_tail(z: np.ndarray) -> np.ndarray:
    return special.ndtr(-z)


def of_estimates(args: argparse.Namespace) -> None:
    truths: dict[str, tuple[Criterion, Sequence[float]]] = {
        "all 0": (ABOVE_ZERO, (0.0,)),
        "all 2 points": (ABOVE_ZERO, (NEGLIGIBLE,)),
        "0 and 2 points": (ABOVE_ZERO, (0.0, NEGLIGIBLE)),
        "within 5 points: all 5": (WITHIN_SMALL, (SMALL,)),
    }
    rows = []
    for name, (criterion, values) in truths.items():
        for correlation in (0.0, 0.5):
            for error in ERRORS:
                cells = [estimates_cell(criterion, values, m, error, correlation, args) for m in args.curves]
                rows.append([name, correlation, f"{100 * error:.1f}", *cells])
    print(f"{args.families} families a setting; per cent of families with a wrong verdict\n")
    print(table(["truth", "correlation", "standard error", *(f"m = {m}" for m in args.curves)], rows))


def estimates_cell(
    criterion: Criterion, values: Sequence[float], m: int, error: float, correlation: float, args: argparse.Namespace
) -> str:
    drawn = np.array(list(estimates(values, m, error, correlation, args.families, args.seed)))
    levels = (above_zero if criterion is ABOVE_ZERO else within_small)(drawn[..., None], error, normal_tail)
    found = verdicts_of(*levels)
    check(found, [[question((Part("s", criterion, normal(float(v), error)),)) for v in row] for row in drawn[:CHECKED]])
    return rate(any_wrong(criterion, values, *found))


def any_wrong(
    criterion: Criterion, values: Sequence[float], supported: np.ndarray, contradicted: np.ndarray
) -> np.ndarray:
    """Whether a family has a wrong verdict; the truths are `values` in turn."""
    truths = np.resize(values, supported.shape[1]).tolist()
    false_support = np.array([is_wrong(criterion, truth, SUPPORTED) for truth in truths])
    false_denial = np.array([is_wrong(criterion, truth, CONTRADICTED) for truth in truths])
    return (supported & false_support | contradicted & false_denial).any(axis=1)


def check(found: tuple[np.ndarray, np.ndarray], families: Sequence[Sequence[Question]]) -> None:
    """Stop unless `decide` gives the first families the same verdicts."""
    for index, questions in enumerate(families):
        expected = [decision.verdict for decision in decide(questions)]
        pairs = zip(found[0][index], found[1][index], strict=True)
        got = [SUPPORTED if yes else CONTRADICTED if no else NOT_ENOUGH for yes, no in pairs]
        assert got == expected, (got, expected)


def estimates(
    values: Sequence[float], m: int, error: float, correlation: float, families: int, seed: int
) -> Iterator[np.ndarray]:
    """Estimates of m quantities each, whose truths are `values` in turn."""
    rng = np.random.default_rng([seed, m, round(1e4 * error), round(100 * correlation)])
    shared, own = rng.standard_normal((families, 1)), rng.standard_normal((families, m))
    yield from np.resize(values, m) + error * (sqrt(correlation) * shared + sqrt(1 - correlation) * own)


def is_wrong(criterion: Criterion, truth: float, verdict: str) -> bool:
    """Whether a verdict says of the truth what is not so; a truth at a bound of a range is outside of it."""
    if verdict == NOT_ENOUGH:
        return False
    said = criterion.wanted if verdict == SUPPORTED else criterion.denied
    return said.margin(truth, truth) <= 0


def question(parts: tuple[Part, ...]) -> Question:
    return Question(("m",), "e", 1, parts, "")


def normal(value: float, error: float) -> Measure:
    """An estimate with a normal interval."""

    def interval(confidence: float) -> tuple[float, float]:
        half = error * quantile(confidence)
        return value - half, value + half

    return Measure(value, 10, interval)


@cache
def quantile(confidence: float) -> float:
    return float(special.ndtri((1 + confidence) / 2))


# --- Wrong verdicts on answers ---


def of_scores(args: argparse.Namespace) -> None:
    rows = [
        [name, n, *(scores_cell(truths, m, n, args) for m in args.curves)]
        for name, truths in TRUTHS.items()
        for n in args.questions
    ]
    print(f"{args.families} families a setting, answers correlated {args.correlation}; per cent with a wrong verdict\n")
    print(table(["truth", "n", *(f"m = {m}" for m in args.curves)], rows))


def scores_cell(truths: Sequence[Truth], m: int, n: int, args: argparse.Namespace) -> str:
    counts = np.array(list(answers(truths, m, n, args)))
    tail = partial(student_tail, n)
    centre, error = (np.stack(arrays, axis=2) for arrays in zip(*map(partial(estimate, counts), (P, R)), strict=True))
    found = verdicts_of(*above_zero(centre, error, tail))
    check(found, [[u_question(case) for case in family] for family in counts[:CHECKED]])
    is_no_u = np.array([not is_u(truths[index % len(truths)], 0) for index in range(m)])
    is_large = np.array([is_u(truths[index % len(truths)], NEGLIGIBLE - 1e-9) for index in range(m)])
    return rate((found[0] & is_no_u | found[1] & is_large).any(axis=1))


def estimate(counts: np.ndarray, weights: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Centre and standard error of a contrast as in `statistics.contrast_interval`, for all families and cases."""
    contrast, n = PATTERNS @ np.array(weights), int(counts[0, 0].sum())
    found = moments_of(counts @ contrast, counts @ contrast**2, n, float(np.abs(weights).sum()) / 2)
    return found.centre, found.standard_error


def student_tail(n: int, t: np.ndarray) -> np.ndarray:
    return special.stdtr(n + 1, -t)


def answers(truths: Sequence[Truth], m: int, n: int, args: argparse.Namespace) -> Iterator[np.ndarray]:
    """How many of n questions have each of `PATTERNS`: (m, 8) for a family of m curves with these truths in turn."""
    rng = np.random.default_rng([args.seed, m, n])
    chances = [pattern_chances(truth, args.correlation) for truth in truths]
    columns = [rng.multinomial(n, chances[index % len(chances)], size=args.families) for index in range(m)]
    yield from np.stack(columns, axis=1)


def pattern_chances(truth: Truth, correlation: float) -> np.ndarray:
    """The chance of each of `PATTERNS`."""
    apart = np.where(PATTERNS, truth, 1 - np.array(truth)).prod(axis=1)
    together = np.zeros(len(PATTERNS))
    for low, high in pairwise(sorted({0.0, 1.0, *truth})):
        # One number between these two is right where the accuracy is above it.
        pattern = tuple(int(accuracy >= high) for accuracy in truth)
        together[int("".join(map(str, pattern)), 2)] += high - low
    return correlation * together + (1 - correlation) * apart


def u_question(counts: np.ndarray) -> Question:
    """Whether the curve of these answers is a U."""
    return question(tuple(Part(name, ABOVE_ZERO, difference(counts, *ends)) for name, ends in ENDS.items()))


def wrong_u(truths: Sequence[Truth], family: np.ndarray) -> bool:
    """Whether the family has a wrong verdict by `decide`."""
    return any(
        (decision.verdict == SUPPORTED and not is_u(truths[index % len(truths)], 0))
        or (decision.verdict == CONTRADICTED and is_u(truths[index % len(truths)], NEGLIGIBLE - 1e-9))
        for index, decision in enumerate(decide([u_question(counts) for counts in family]))
    )


def is_u(truth: Truth, above: float) -> bool:
    return min(truth[0], truth[2]) - truth[1] > above


#: Pairs of columns: each comparison is the first minus the second.
ENDS = {"primacy": (0, 1), "recency": (2, 1)}


#: Patterns that are right in the first of two columns alone.
ONLY = {
    (first, other): np.flatnonzero((PATTERNS[:, first] == 1) & (PATTERNS[:, other] == 0))
    for first, other in product(range(3), repeat=2)
}


def difference(counts: np.ndarray, first: int, other: int) -> Measure:
    """The difference of two columns, with its interval as everywhere, from how often there is each pattern."""
    only_first, only_other = int(counts[ONLY[first, other]].sum()), int(counts[ONLY[other, first]].sum())
    n = int(counts.sum())
    return Measure((only_first - only_other) / n, n, partial(limits, only_first, only_other, n))


@cache
def limits(only_first: int, only_other: int, n: int, confidence: float) -> tuple[float, float]:
    """The same numbers come again and again."""
    return paired_difference(only_first, only_other, n, confidence).limits


# --- Wrong words ---

#: Whether a word is so, of start, middle and end.
IS_SO: dict[str, Callable[[float, float, float], bool]] = {
    U: lambda start, middle, end: min(start, end) > middle,
    INVERTED: lambda start, middle, end: max(start, end) < middle,
    PRIMACY: lambda start, middle, end: start > middle,
    RECENCY: lambda start, middle, end: end > middle,
    RECENCY_UNCLEAR: lambda start, middle, end: start > middle,
    PRIMACY_UNCLEAR: lambda start, middle, end: end > middle,
    START_LOWER: lambda start, middle, end: start < middle,
    END_LOWER: lambda start, middle, end: end < middle,
    RISING: lambda start, middle, end: end > start,
    FALLING: lambda start, middle, end: end < start,
    FLAT: lambda start, middle, end: max(start, middle, end) - min(start, middle, end) < SMALL - 1e-9,
    UNEVEN: lambda start, middle, end: not start == middle == end,
    NONE: lambda start, middle, end: True,
    "": lambda start, middle, end: True,
}
WORD_TRUTHS: dict[str, tuple[Truth, ...]] = {
    "flat": ((0.6, 0.6, 0.6),),
    "recency alone": ((0.6, 0.6, 0.75),),
    "5 points at the end": ((0.6, 0.6, 0.65),),
    "5 points up and down": ((0.6, 0.625, 0.65), (0.65, 0.625, 0.6)),
    "flat, recency alone and falling": ((0.6, 0.6, 0.6), (0.6, 0.6, 0.75), (0.7, 0.6, 0.5)),
}


def of_words(args: argparse.Namespace) -> None:
    rows = []
    for name, truths in WORD_TRUTHS.items():
        for n in args.questions:
            wrong = [rate([wrong_word(truths, family) for family in answers(truths, m, n, args)]) for m in args.curves]
            rows.append([name, n, *wrong])
    print(f"{args.families} families a setting, answers correlated {args.correlation}; per cent with a wrong word\n")
    print(table(["truth", "n", *(f"m = {m}" for m in args.curves)], rows))


def wrong_word(truths: Sequence[Truth], family: np.ndarray) -> bool:
    words = words_of([curve_measures(counts) for counts in family])
    return any(not IS_SO[word](*truths[index % len(truths)]) for index, word in enumerate(words))


def curve_measures(counts: np.ndarray) -> Measures:
    of = partial(difference, counts)
    primacy, recency, tilt = of(0, 1), of(2, 1), of(2, 0)
    gap = largest([primacy, recency, tilt, *map(negated, (primacy, recency, tilt))])
    return {"primacy": primacy, "recency": recency, "tilt": tilt, "gap": gap}


def rate(wrong: Sequence[bool] | np.ndarray) -> str:
    """Per cent, and its standard error."""
    share = float(np.mean(wrong))
    return f"{100 * share:.1f} ±{100 * sqrt(share * (1 - share) / len(wrong)):.1f}"


if __name__ == "__main__":
    main()
