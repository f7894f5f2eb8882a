"""How often a family of claims has a wrong verdict, by simulation, and a family of curves a wrong word.

    PYTHONPATH=scripts python benchmarks/claim_errors.py estimates
    PYTHONPATH=scripts python benchmarks/claim_errors.py scores
    PYTHONPATH=scripts python benchmarks/claim_errors.py words
    PYTHONPATH=scripts python benchmarks/claim_errors.py headline
    PYTHONPATH=scripts python benchmarks/claim_errors.py small

estimates: m normal estimates with one standard error and equal correlation, of truths at the bounds of the criterion,
    where errors are most frequent.
scores: right and wrong answers of m models to n questions at start, middle and end; the claim is the U. With the chance
    `CORRELATION` the three answers of a question come from one uniform number, else from three, so that this is the
    correlation of two answers of the same accuracy.
words: the same answers, and whether the word of any curve says what is not so.
headline: the same answers of 18 models in 8 experiments, and whether the headline of the study shows an effect of
    position where there is none, or has limits without the true effect.

small: how often a loss is wrongly shown to be small where questions are only lost, which is the worst case: sums of
    binomial probabilities, the largest over `SMALL_QUESTIONS`, with the limits of small contrasts and the usual ones.

In the others 5 % is promised, whatever the truth; what is printed is per cent of the simulated families, with its
standard error.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import pairwise, product
from math import sqrt

import numpy as np
from evidence import PAIRS, PATTERNS, contrast
from measuring import table
from scipy import special

from litm.analysis import shapes
from litm.analysis.pbi import CONTRASTS
from litm.analysis.shapes import SMALL
from litm.analysis.significance import holm
from litm.analysis.statistics import moments_of
from litm.claims import verdicts
from litm.claims.curve_words import Measures, words_of
from litm.claims.effective_length import MARGIN
from litm.claims.evidence import Measure, largest, negated
from litm.claims.verdicts import ABOVE_ZERO, ALPHA, NEGLIGIBLE, WITHIN_SMALL, Criterion, Part, Question, decide
from litm.findings.curves import EFFECTS
from litm.findings.headline import headline_of
from litm.findings.record import Finding, Number, Strength, StudyFindings

CURVES = (1, 5, 10, 23)
ERRORS = (0.003, 0.004, 0.005, 0.01, 0.02)
QUESTIONS = (30, 100, 500, 2655)
#: Of the answers to a question.
CORRELATION = 0.85
#: Families of each setting that `decide` judges too, to see that the arrays say the same.
CHECKED = 5
#: Accuracies at start, middle and end.
Truth = tuple[float, float, float]
FLAT, RECENCY_ALONE, SMALL_U = (0.6, 0.6, 0.6), (0.6, 0.6, 0.75), (0.62, 0.6, 0.62)
#: The first four are no U, so that "supported" is wrong; the next two are one of 2 points or more, so that
#: "contradicted" is. The last are families of both.
TRUTHS: dict[str, tuple[Truth, ...]] = {
    "flat": (FLAT,),
    "recency alone": (RECENCY_ALONE,),
    "recency alone, near 1": ((0.95, 0.95, 0.98),),
    "rising": ((0.4, 0.6, 0.8),),
    "U of 2 points": (SMALL_U,),
    "U, one end of 2 points": ((0.62, 0.6, 0.8),),
    "flat and U of 2 points": (FLAT, SMALL_U),
    "half recency alone, half U of 2 points": (RECENCY_ALONE, SMALL_U),
}
SMALL_QUESTIONS = (*range(5, 501), 700, 1000, 2000, 2655, 3500)
#: What is shown, the least loss for which it is wrong, its level, and the number of independent models.
SMALL_STATEMENTS = (
    ("claim: below 2 points", NEGLIGIBLE, ALPHA / 2, 1),
    ("word: flat", SMALL, ALPHA / 3, 1),
    ("advice of 2 conditions", SMALL, ALPHA / 2, 1),
    ("`litm compare`: not 5 points worse", SMALL, ALPHA, 1),
    *((f"effective length, models: {models}", MARGIN, ALPHA / 2, models) for models in (1, 4, 16)),
)
#: Contrasts that are above 0 in a U.
ENDS = ("primacy", "recency")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["estimates", "scores", "words", "headline", "small"])
    parser.add_argument("--families", type=int, default=10_000, help="simulated families of each setting")
    parser.add_argument("--curves", type=int, nargs="+", default=CURVES)
    parser.add_argument("--questions", type=int, nargs="+", default=QUESTIONS)
    args = parser.parse_args()
    if args.what == "small":
        print(table(["statement", "promised", "at most", "n", "usual limits", "n"], small_rows()))
        return
    if args.what == "headline":
        columns = ["truth", "n", "shown, but none", "limits without the effect"]
        rows = (
            [name, n, *headline_cells(WORD_TRUTHS[name], n, args.families)]
            for name in HEADLINE_TRUTHS
            for n in args.questions
        )
        print(f"{args.families} studies a setting; per cent of studies with something wrong\n")
        print(table(columns, rows))
        return
    if args.what == "estimates":
        columns, rows = ["truth", "correlation", "standard error"], estimates_rows(args.curves, args.families)
    else:
        truths, cell = {"scores": (TRUTHS, scores_cell), "words": (WORD_TRUTHS, words_cell)}[args.what]
        columns = ["truth", "n"]
        rows = (
            [name, n, *(cell(of, m, n, args.families) for m in args.curves)]
            for name, of in truths.items()
            for n in args.questions
        )
    print(f"{args.families} families a setting; per cent of families with something wrong\n")
    print(table([*columns, *(f"m = {m}" for m in args.curves)], rows))


def rate(wrong: Sequence[bool] | np.ndarray) -> str:
    """Per cent, and its standard error."""
    share = float(np.mean(wrong))
    return f"{100 * share:.1f} ±{100 * sqrt(share * (1 - share) / len(wrong)):.1f}"


# --- Wrong verdicts, all families at once ---
#
# A level is the smallest alpha at which the two-sided interval of confidence 1 - alpha shows something. Arrays are
# (families, cases), or (families, cases, parts).

Levels = tuple[np.ndarray, np.ndarray]


def above_zero(above: np.ndarray, below: np.ndarray) -> Levels:
    """The levels at which each part is shown to be above 0, and at most `NEGLIGIBLE`; of their one-sided p."""
    return 2 * above, np.where(2 * above <= ALPHA, 1, 2 * below)


def within_small(centre: np.ndarray, error: float) -> Levels:
    """The levels at which each part is shown to be within `SMALL` of 0, and outside."""
    of_low, of_high = (special.ndtr((centre - bound) / error) for bound in (-SMALL, SMALL))
    return 2 * np.maximum(1 - of_low, of_high), 4 * np.minimum(1 - of_high, of_low)


def wrong_verdicts(
    criterion: Criterion, truths: Sequence[float], levels: Levels, first: Sequence[Sequence[Question]]
) -> str:
    """The rate of families with a wrong verdict by the levels of their parts; the truths of the cases are in turn.

    Stops unless `decide` gives the first families the same verdicts.
    """
    wanted, denied = levels
    # A case is supported by all its parts, and contradicted by one.
    of_cases = wanted.max(axis=2), np.minimum(1, denied.shape[2] * denied.min(axis=2))
    shown = [np.apply_along_axis(holm, 1, one) <= ALPHA for one in of_cases]
    found = np.select(shown, [verdicts.SUPPORTED, verdicts.CONTRADICTED], verdicts.NOT_ENOUGH)
    expected = [[decision.verdict for decision in decide(questions)] for questions in first]
    assert found[: len(first)].tolist() == expected, (found[: len(first)], expected)
    return rate(any_wrong(criterion, truths, found))


def any_wrong(criterion: Criterion, truths: Sequence[float], found: np.ndarray) -> np.ndarray:
    """Whether a family has a wrong verdict; the truths of the cases are in turn."""
    of_cases = np.resize(truths, found.shape[1]).tolist()
    denials = [
        (found == verdict) & [is_wrong(criterion, truth, verdict) for truth in of_cases]
        for verdict in (verdicts.SUPPORTED, verdicts.CONTRADICTED)
    ]
    return np.any(denials, axis=(0, 2))


def is_wrong(criterion: Criterion, truth: float, verdict: str) -> bool:
    """Whether a verdict says of the truth what is not so; a truth at a bound of a range is outside of it."""
    if verdict == verdicts.NOT_ENOUGH:
        return False
    said = criterion.wanted if verdict == verdicts.SUPPORTED else criterion.denied
    return said.margin(truth, truth) <= 0


def question(criterion: Criterion, *measures: Measure) -> Question:
    """Whether all measures meet the criterion."""
    return Question(("m",), "e", 1, tuple(Part("s", criterion, measure) for measure in measures), "")


# --- Wrong verdicts on estimates ---


def estimates_rows(curves: Sequence[int], families: int) -> Iterator[list[object]]:
    truths: dict[str, tuple[Criterion, Sequence[float]]] = {
        "all 0": (ABOVE_ZERO, (0.0,)),
        "all 2 points": (ABOVE_ZERO, (NEGLIGIBLE,)),
        "0 and 2 points": (ABOVE_ZERO, (0.0, NEGLIGIBLE)),
        "within 5 points: all 5": (WITHIN_SMALL, (SMALL,)),
    }
    for (name, of), correlation, error in product(truths.items(), (0.0, 0.5), ERRORS):
        cells = [estimates_cell(*of, m, error, correlation, families) for m in curves]
        yield [name, correlation, f"{100 * error:.1f}", *cells]


def estimates_cell(
    criterion: Criterion, values: Sequence[float], m: int, error: float, correlation: float, families: int
) -> str:
    drawn = estimates(values, m, error, correlation, families)
    of_zero, of_small = (special.ndtr((bound - drawn[..., None]) / error) for bound in (0, NEGLIGIBLE))
    levels = above_zero(of_zero, 1 - of_small) if criterion is ABOVE_ZERO else within_small(drawn[..., None], error)
    first = [[question(criterion, normal(float(value), error)) for value in family] for family in drawn[:CHECKED]]
    return wrong_verdicts(criterion, values, levels, first)


def estimates(
    values: Sequence[float], m: int, error: float, correlation: float, families: int, seed: int = 0
) -> np.ndarray:
    """Families of estimates of m quantities, whose truths are `values` in turn."""
    rng = np.random.default_rng([seed, m, round(1e4 * error), round(100 * correlation)])
    shared, own = rng.standard_normal((families, 1)), rng.standard_normal((families, m))
    return np.resize(values, m) + error * (sqrt(correlation) * shared + sqrt(1 - correlation) * own)


def normal(value: float, error: float) -> Measure:
    """An estimate with a normal interval."""

    def interval(confidence: float) -> tuple[float, float]:
        half = error * float(special.ndtri((1 + confidence) / 2))
        return value - half, value + half

    return Measure(value, 10, interval)


# --- Wrong verdicts on answers ---


def scores_cell(truths: Sequence[Truth], m: int, n: int, families: int) -> str:
    counts = answers(truths, m, n, families)
    found = [contrast(counts, CONTRASTS[end], n) for end in ENDS]
    above = [special.stdtr(n + 1, -one.centre / one.standard_error) for one in found]
    levels = above_zero(np.stack(above, axis=2), np.stack([one.p_of_more(NEGLIGIBLE) for one in found], axis=2))
    first = [[u_question(case) for case in family] for family in counts[:CHECKED]]
    return wrong_verdicts(ABOVE_ZERO, heights(truths), levels, first)


def heights(truths: Sequence[Truth]) -> list[float]:
    """How far the middle is below both ends: above 0 in a U."""
    return [min(start, end) - middle for start, middle, end in truths]


def answers(truths: Sequence[Truth], m: int, n: int, families: int, seed: int = 0) -> np.ndarray:
    """How many of n questions have each of `PATTERNS`: (families, m, 8) for m curves with these truths in turn."""
    rng = np.random.default_rng([seed, m, n])
    chances = [pattern_chances(truth) for truth in truths]
    return np.stack([rng.multinomial(n, chances[index % len(chances)], size=families) for index in range(m)], axis=1)


def pattern_chances(truth: Truth) -> np.ndarray:
    """The chance of each of `PATTERNS`."""
    apart = np.where(PATTERNS, truth, 1 - np.array(truth)).prod(axis=1)
    together = np.zeros(len(PATTERNS))
    for low, high in pairwise(sorted({0.0, 1.0, *truth})):
        # One number between these two is right where the accuracy is above it.
        together[((np.array(truth) >= high) == PATTERNS).all(axis=1)] += high - low
    return CORRELATION * together + (1 - CORRELATION) * apart


def u_question(counts: np.ndarray) -> Question:
    """Whether the curve of these answers is a U."""
    return question(ABOVE_ZERO, *(difference(counts, end) for end in ENDS))


def difference(counts: np.ndarray, name: str) -> Measure:
    """A contrast of two positions with its interval as everywhere, from how often there is each pattern."""
    d = PATTERNS @ np.array(CONTRASTS[name])
    total, squares, n = float(counts @ d), float(counts @ d**2), int(counts.sum())
    return Measure(total / n, n, partial(limits, total, squares, n))


@cache
def limits(total: float, squares: float, n: int, confidence: float) -> tuple[float, float]:
    """The same numbers come again and again."""
    return moments_of(np.array(total), np.array(squares), n, most=1.0).estimate(confidence, of_small=True).limits


# --- Losses that are wrongly shown to be small ---


def small_rows() -> Iterator[list[object]]:
    for name, bound, level, models in SMALL_STATEMENTS:
        of_kinds = [
            max((lost_chance(n, bound, level / models, of_small), n) for n in SMALL_QUESTIONS)
            for of_small in (True, False)
        ]
        told = [(f"{100 * (1 - (1 - most) ** models):.1f}", n) for most, n in of_kinds]
        yield [name, f"{100 * level:.1f}", *told[0], *told[1]]


def lost_chance(n: int, bound: float, level: float, of_small: bool) -> float:
    """The chance that a loss of `bound` is shown to be less, if no question is won."""
    lost = np.arange(n + 1)
    is_shown = moments_of(lost, lost, n, most=1.0).limits(1 - 2 * level, of_small)[1] < bound
    return float(special.bdtr(is_shown.sum() - 1, n, bound)) if is_shown[0] else 0.0


# --- Wrong words ---

#: Whether a word is so, of start, middle and end.
IS_SO: dict[str, Callable[[float, float, float], bool]] = {
    shapes.U: lambda start, middle, end: min(start, end) > middle,
    shapes.INVERTED: lambda start, middle, end: max(start, end) < middle,
    shapes.PRIMACY: lambda start, middle, end: start > middle,
    shapes.RECENCY: lambda start, middle, end: end > middle,
    shapes.RECENCY_UNCLEAR: lambda start, middle, end: start > middle,
    shapes.PRIMACY_UNCLEAR: lambda start, middle, end: end > middle,
    shapes.START_LOWER: lambda start, middle, end: start < middle,
    shapes.END_LOWER: lambda start, middle, end: end < middle,
    shapes.RISING: lambda start, middle, end: end > start,
    shapes.FALLING: lambda start, middle, end: end < start,
    shapes.FLAT: lambda start, middle, end: max(start, middle, end) - min(start, middle, end) < SMALL - 1e-9,
    shapes.UNEVEN: lambda start, middle, end: not start == middle == end,
    shapes.NONE: lambda start, middle, end: True,
}
WORD_TRUTHS: dict[str, tuple[Truth, ...]] = {
    "flat": (FLAT,),
    "recency alone": (RECENCY_ALONE,),
    "5 points at the end": ((0.6, 0.6, 0.65),),
    "5 points up and down": ((0.6, 0.625, 0.65), (0.65, 0.625, 0.6)),
    "flat, recency alone and falling": (FLAT, RECENCY_ALONE, (0.7, 0.6, 0.5)),
}


def words_cell(truths: Sequence[Truth], m: int, n: int, families: int) -> str:
    return rate([has_wrong_word(truths, family) for family in answers(truths, m, n, families)])


def has_wrong_word(truths: Sequence[Truth], family: np.ndarray) -> bool:
    words = words_of([curve_measures(counts) for counts in family])
    return any(not IS_SO[word](*truths[index % len(truths)]) for index, word in enumerate(words))


def curve_measures(counts: np.ndarray) -> Measures:
    found = {name: difference(counts, name) for name in PAIRS}
    return found | {"gap": largest([*found.values(), *map(negated, found.values())])}


# --- Wrong headlines ---

MODELS, EXPERIMENTS = 18, 8
HEADLINE_TRUTHS = ("flat", "recency alone", "flat, recency alone and falling")


def headline_cells(truths: Sequence[Truth], n: int, families: int) -> list[str]:
    """The rates of studies whose headline shows an effect of a flat curve, and has limits without the true effect."""
    wrong = [wrong_headline(truths, family) for family in answers(truths, MODELS * EXPERIMENTS, n, families)]
    return [rate(column) for column in np.transpose(wrong)]


def wrong_headline(truths: Sequence[Truth], family: np.ndarray) -> tuple[bool, bool]:
    """Whether the headline of a study shows an effect of a flat curve, and whether it has limits without the effect.

    The curves of the family are those of the first model, then of the next.
    """
    words = words_of([curve_measures(counts) for counts in family])
    for experiment in range(EXPERIMENTS):
        decided = decide([u_question(counts) for counts in family[experiment::EXPERIMENTS]])
        for model, decision in enumerate(decided):
            if decision.verdict == verdicts.SUPPORTED:
                words[model * EXPERIMENTS + experiment] = shapes.U
    curves = [curve_finding(*curve) for curve in zip(range(len(words)), family, words, strict=True)]
    names = (tuple(f"{kind}{number}" for number in range(most)) for kind, most in (("m", MODELS), ("e", EXPERIMENTS)))
    headline = headline_of(StudyFindings(*names, tuple(curves)))
    is_of_flat = is_missed = False
    for finding in headline:
        if finding.strength is Strength.SHOWN:
            truth, effect = truths[(finding.size or 0) % len(truths)], finding.facts["effect"]
            number = finding.numbers[effect]
            is_of_flat |= len({*truth}) == 1
            is_missed |= not number.low <= true_effect(truth, effect) <= number.high
    return is_of_flat, is_missed


def curve_finding(place: int, counts: np.ndarray, word: str) -> Finding:
    """The finding of a curve from how often there is each pattern; its size is its place in the family."""
    effect = None if word in (shapes.NONE, shapes.FLAT) else EFFECTS.get(word, "gap")
    measures = curve_measures(counts) | {"pbi": difference(counts, "pbi")}
    numbers = {effect: Number(measures[effect].value, *measures[effect].interval(1 - ALPHA))} if effect else {}
    model, experiment = divmod(place, EXPERIMENTS)
    return Finding(
        "curve",
        (f"m{model}",),
        (f"e{experiment}",),
        place,
        strength=Strength.SHOWN if effect else Strength.CANNOT_TELL,
        numbers=numbers,
        facts={"effect": effect, "needed": None},
    )


def true_effect(truth: Truth, name: str) -> float:
    """The true value of the number of a headline."""
    return max(truth) - min(truth) if name == "gap" else float(np.dot(CONTRASTS[name], truth))


if __name__ == "__main__":
    main()
