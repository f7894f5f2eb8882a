"""Verdicts on the questions of claims. docs/claims.md has their error rates and the proof: families, levels, and the
procedure, which `decide` follows.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf
from typing import TypeVar

from litm.analysis.shapes import SMALL
from litm.claims.evidence import Evidence, Measure, Relations

#: Fraction: smaller effects are negligible. Of the paper's curves the smallest Position Bias Index is 2.8 points (Table
#: 6), and the smallest side of one that is a U 1.2 (Table 5).
NEGLIGIBLE = 0.02
#: Fraction: accuracy that counts as "near-perfect" (Section 4.2).
NEAR_PERFECT = 0.95


@dataclass(frozen=True)
class Range:
    """A statement on a quantity: it lies in one of several ranges."""

    words: str
    """The statement in words."""
    limits: tuple[tuple[float, float], ...]
    """Lower and upper limit of each range, both exclusive."""

    def margin(self, low: float, high: float) -> float:
        """How far the whole interval is inside, in units of the quantity; above 0 the range is shown."""
        return max(min(low - least, most - high) for least, most in self.limits)


@dataclass(frozen=True)
class Criterion:
    """Two ranges of a quantity that decide a claim."""

    wanted: Range
    """The range that supports the claim."""
    denied: Range
    """The range that contradicts it."""
    weaker: Range | None = None
    """Of two overlapping ranges ("above 0" and "below 2 points"), the one that means a negligible effect. It is not
    shown if an effect is shown, see `shows`.
    """


ABOVE, AT_MOST_NEGLIGIBLE = Range("above 0", ((0, inf),)), Range("below 2 points", ((-inf, NEGLIGIBLE),))
BELOW, AT_LEAST_NEGLIGIBLE = Range("below 0", ((-inf, 0),)), Range("above -2 points", ((-NEGLIGIBLE, inf),))
#: There is an effect: supported above 0, contradicted if at most negligible.
ABOVE_ZERO = Criterion(ABOVE, AT_MOST_NEGLIGIBLE, weaker=AT_MOST_NEGLIGIBLE)
#: There is a loss: the same criterion below 0.
BELOW_ZERO = Criterion(BELOW, AT_LEAST_NEGLIGIBLE, weaker=AT_LEAST_NEGLIGIBLE)
#: There is no effect: the opposite of `ABOVE_ZERO`.
NOT_ABOVE_ZERO = Criterion(AT_MOST_NEGLIGIBLE, ABOVE, weaker=AT_MOST_NEGLIGIBLE)
#: The quantity is small or negative.
AT_MOST_SMALL = Criterion(Range("below 5 points", ((-inf, SMALL),)), Range("above 5 points", ((SMALL, inf),)))
#: The quantity is small in either direction.
WITHIN_SMALL = Criterion(
    Range("within 5 points of 0", ((-SMALL, SMALL),)),
    Range("more than 5 points from 0", ((-inf, -SMALL), (SMALL, inf))),
)
#: The accuracy is near perfect.
ALMOST_ONE = Criterion(Range("above 95 %", ((NEAR_PERFECT, inf),)), Range("below 95 %", ((-inf, NEAR_PERFECT),)))
#: The share is more than half.
MOST = Criterion(Range("above 50 %", ((1 / 2, inf),)), Range("below 50 %", ((-inf, 1 / 2),)))
#: Probability of at least one wrong verdict in a family, and of at least one wrong word.
ALPHA = 0.05
#: Fraction of ALPHA for each verdict: supported, contradicted.
VERDICT_SHARE = 1 / 2
#: Fraction of ALPHA for each kind of statement: above, below, flat.
WORD_SHARE = 1 / 3
Case = TypeVar("Case")


def step_down(
    cases: Iterable[Case], is_rejected: Callable[[Case, float], bool], share: float = VERDICT_SHARE
) -> tuple[dict[Case, float], float]:
    """Holm's procedure on one-sided hypotheses at the level `share`·ALPHA, by two-sided intervals: each rejected
    hypothesis with the confidence that rejected it, and the confidence of the last step, which rejected no further one.

    is_rejected: takes a hypothesis and the confidence of a two-sided interval; one limit of the interval tests it.
    """
    untested = list(cases)
    rejected: dict[Case, float] = {}
    confidence = 1.0
    while untested:
        confidence = 1 - 2 * share * ALPHA / len(untested)
        now = [case for case in untested if is_rejected(case, confidence)]
        if not now:
            break
        rejected |= dict.fromkeys(now, confidence)
        untested = [case for case in untested if case not in rejected]
    return rejected, confidence


SUPPORTED, CONTRADICTED, NOT_ENOUGH = "supported", "contradicted", "not enough data"
#: Roles of a case: the claim is about it, or it is another one, which belongs to a family of its own.
AS_CLAIM, EXPLORATORY = "claim", "exploratory"


@dataclass(frozen=True)
class Part:
    """A claim's statement on one quantity."""

    statistic: str
    """The name of the quantity."""
    criterion: Criterion
    """The ranges that support and contradict the claim."""
    measure: Measure | None
    """The measured quantity, None if it cannot be measured."""
    size: int | None = None
    """The size of the part, if parts differ in size."""


@dataclass(frozen=True)
class Question:
    """A claim on one case."""

    models: tuple[str, ...]
    experiment: str
    size: int | None
    parts: tuple[Part, ...]
    """Statements that must all hold."""
    detail: str
    """Their accuracies in words, or why nothing is measured."""
    withheld: str = ""
    """Why there is no verdict although there are measures."""
    role: str = AS_CLAIM
    """`AS_CLAIM` or `EXPLORATORY`."""

    @property
    def measured(self) -> list[Part]:
        return [part for part in self.parts if part.measure is not None]

    @property
    def is_counted(self) -> bool:
        """Whether the correction counts the case: it could have had a verdict."""
        return bool(self.measured)


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, of the suite, or of this project."""

    name: str
    statement: str
    """One sentence."""
    section: str
    """Of the paper as published in TACL, or another source."""
    needs: str
    """What must be selected to test it."""
    ask: Callable[[Evidence, Relations], Iterable[Question]]
    """Function that yields its cases."""


@dataclass(frozen=True)
class Decision:
    """A verdict with the part and the interval that decided it; both None if nothing was measured.

    An open case has the part that is farthest from the claim.
    """

    verdict: str
    """`SUPPORTED`, `CONTRADICTED` or `NOT_ENOUGH`."""
    part: Part | None = None
    """The part that decided, None if nothing was measured."""
    low: float | None = None
    """Lower limit of the interval that decided, None if nothing was measured."""
    high: float | None = None
    """Upper limit of that interval."""
    confidence: float | None = None
    """The level of that interval, corrected for the cases of the family."""


def decide(questions: Sequence[Question]) -> list[Decision]:
    """Verdicts on the questions of one family; the chance of any wrong one is at most `ALPHA`, see docs/claims.md."""
    counted = [index for index, question in enumerate(questions) if question.is_counted]
    supported, last_supported = step_down(counted, lambda index, level: _all_wanted(questions[index], level))
    contradicted, last_contradicted = step_down(counted, lambda index, level: bool(_denied(questions[index], level)))
    decisions = []
    for index, question in enumerate(questions):
        if not question.is_counted or question.withheld:
            decisions.append(Decision(NOT_ENOUGH))
        elif level := supported.get(index):
            decisions.append(_decision(SUPPORTED, _nearest(question, level), level))
        elif level := contradicted.get(index):
            denied = _denied(question, level)
            part = max(denied, key=lambda part: _margin(part, part.criterion.denied, _split(question, part, level)))
            decisions.append(_decision(CONTRADICTED, part, _split(question, part, level)))
        else:
            part = _nearest(question, last_supported)
            widest = max(last_supported, _split(question, part, last_contradicted))
            decisions.append(_decision(NOT_ENOUGH, part, widest))
    return decisions


def _all_wanted(question: Question, confidence: float) -> bool:
    """Whether every part is shown to hold (intersection-union test)."""
    return not question.withheld and all(shows(part, part.criterion.wanted, confidence) for part in question.parts)


def _denied(question: Question, confidence: float) -> list[Part]:
    """Parts that are shown not to hold, each at its share of the level."""
    if question.withheld:
        return []
    return [
        part for part in question.measured if shows(part, part.criterion.denied, _split(question, part, confidence))
    ]


def _split(question: Question, part: Part, confidence: float) -> float:
    """The confidence at which one of several parts, or of the ranges of one, can contradict the claim."""
    return 1 - (1 - confidence) / (len(question.measured) * len(part.criterion.denied.limits))


def shows(part: Part, answer: Range, confidence: float) -> bool:
    """Whether the interval of a part at this confidence shows one of its ranges; never for a part without a measure.

    The `weaker` of two overlapping ranges is not shown if the 95 % interval shows the other. So a small real effect is
    not called negligible, and two claims about one quantity, corrected for different numbers of cases, cannot
    contradict each other. Rejections become rarer, which keeps the level.
    """
    if part.measure is None or _margin(part, answer, confidence) <= 0:
        return False
    criterion = part.criterion
    other = criterion.denied if answer is criterion.wanted else criterion.wanted
    return answer is not criterion.weaker or _margin(part, other, 1 - ALPHA) <= 0


def _margin(part: Part, answer: Range, confidence: float) -> float:
    assert part.measure is not None
    return answer.margin(*part.measure.interval(confidence))


def _nearest(question: Question, confidence: float) -> Part:
    """The part that is nearest to its denial, or farthest from the claim."""
    return min(question.measured, key=lambda part: _margin(part, part.criterion.wanted, confidence))


def _decision(verdict: str, part: Part, confidence: float) -> Decision:
    assert part.measure is not None
    return Decision(verdict, part, *part.measure.interval(confidence), confidence)


def reason(question: Question, decision: Decision) -> str:
    """The reason of a row's verdict in words."""
    part = decision.part
    if part is None or part.measure is None:
        return "; ".join(filter(None, [question.detail, question.withheld]))
    is_one = len(question.parts) == 1
    which = "the whole interval" if is_one else f"the whole interval of {part.statistic}"
    if decision.verdict == SUPPORTED:
        why = f"{which} is {part.criterion.wanted.words}" + ("" if is_one else ", and the other parts are as claimed")
    elif decision.verdict == CONTRADICTED:
        why = f"{which} is {part.criterion.denied.words}"
    else:
        why = _open(question, decision, part)
    sources = part.measure.sources
    return f"{question.detail}; {why}" + (f" (not paired; from {', '.join(sources)})" if sources else "")


def _open(question: Question, decision: Decision, part: Part) -> str:
    """The reason why a case is open."""
    if missing := [other.statistic for other in question.parts if other.measure is None]:
        return f"not measured: {', '.join(missing)}"
    assert decision.confidence is not None
    criterion = part.criterion
    which = "the interval" if len(question.parts) == 1 else f"the interval of {part.statistic}"
    if criterion.weaker and _margin(part, criterion.weaker, decision.confidence) > 0:
        return f"{which} is all {criterion.weaker.words}, but the 95 % interval by itself does not have 0 in it"
    (alone,) = decide([question])
    hint = "" if alone.verdict == NOT_ENOUGH else f" (at 95 %, if nothing else were asked: {alone.verdict})"
    return f"{which} is neither all {criterion.wanted.words} nor all {criterion.denied.words}{hint}"
