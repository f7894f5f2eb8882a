"""Verdicts on the questions of claims, and their error rates: the families, their levels, and the procedure that keeps
them.

**Family.** All cases of one claim, one experiment and one role (the paper's claim, or exploratory), over all models and
sizes. A case whose accuracies are all at the floor or the ceiling gets no verdict but counts, because leaving it out
would depend on the answers. A case without a question to compare does not count.

**Level.** The chance that a family has a wrong verdict is at most `ALPHA` = 5 %, for any truth and any dependence of
its cases. Half of it is for "supported", half for "contradicted".

**Procedure.** Each half is a family of one-sided hypotheses (the claim is false; the claim is true), tested by Holm's
(1979) step-down procedure: each of the m remaining hypotheses is tested at level ALPHA/2/m; rejected hypotheses leave
*their own half* only; the others are tested again until none is rejected. Holm's procedure controls the chance of any
wrong rejection under any dependence (Holm 1979, Scand. J. Statist. 6, 65-70, theorem 1); the sum over both halves is
ALPHA (Bonferroni's inequality). A verdict of one half never changes the count of the other. Two-sided Holm with the
direction read off afterwards would have slightly more power, but its control of wrong directions is proved only for
independent statistics (Shaffer 1980, Ann. Statist. 8, 1342-1347; Finner 1999, Ann. Statist. 27, 274-289), and answers
of models to the same questions are not independent.

**Claims in several parts.** A U is primacy above 0 *and* recency above 0. "Supported" needs every part, each at the
full level of the case: an intersection-union test, whose level needs no correction for the number of parts (Berger
1982, Technometrics 24, 295-300, theorem 1). "Contradicted" needs one part, so that each of k parts is tested at 1/k of
the level (Bonferroni).

**Tests by intervals.** Each limit of a two-sided interval of confidence 1 - a errs with chance a/2. So a hypothesis is
rejected at level ALPHA/2/m if the interval of confidence 1 - ALPHA/m is beyond its bound. The row has this interval; an
open case has the widest interval that did not decide it. A single case is decided by the usual 95 % interval.

**Words of a curve** (U, recency alone, rising, flat, ...) are a separate family: all statements in the words of all
curves of an experiment. "Above", "below" and "flat" (equivalence: all positions within 5 points of one another, each
pair at full level, Berger 1982) have a third of ALPHA each, by Holm. A curve whose U is supported, among all models or
among the base models, is called U (or W) at the level of that verdict. All tables and pages take the word from
`curve_words`.

Over a whole table with F families the chance of a wrong verdict is at most F·5 %. For 5 % over the table, use only
verdicts that hold at the confidence 1 - 0.05/(F·family_size).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from litm.analysis.shapes import SMALL
from litm.claims.evidence import Evidence, Measure, Relations

#: Fraction: smaller effects are negligible. Of the paper's curves the smallest Position Bias Index is 2.8 points (Table
#: 6), and the smallest side of one that is a U 1.2 (Table 5).
NEGLIGIBLE = 0.02
#: Fraction: accuracy that counts as "near-perfect" (Section 4.2), as near to 1 as a ceiling, see `pbi.NEAR`.
NEAR_PERFECT = 0.95


class Answer(Enum):
    """What can be shown about a quantity: the claim, or its opposite."""

    WANTED = "wanted"
    DENIED = "denied"


@dataclass(frozen=True)
class Criterion:
    """Two ranges of a quantity: one supports the claim (wanted), one contradicts it (denied).

    margins: functions of (low, high): how far the whole interval is inside the range of each answer; above 0 it is
    shown. sides: number of limits that can each show the denial alone: 2 for "outside these bounds", else 1. weaker: of
    two overlapping ranges ("above 0" and "below 2 points"), the one that means a negligible effect. It is not shown if
    an effect is shown, see `verdicts.shows`.
    """

    wanted: str
    denied: str
    margins: dict[Answer, Callable[[float, float], float]]
    sides: int = 1
    weaker: Answer | None = None

    def margin(self, answer: Answer, interval: tuple[float, float]) -> float:
        """How far the interval is inside the range of the answer, in units of the quantity; below 0 outside."""
        return self.margins[answer](*interval)


def _two(wanted: Callable[[float, float], float], denied: Callable[[float, float], float]) -> dict:
    return {Answer.WANTED: wanted, Answer.DENIED: denied}


#: There is an effect: supported above 0, contradicted if at most negligible.
ABOVE_ZERO = Criterion(
    "above 0", "below 2 points", _two(lambda low, high: low, lambda low, high: NEGLIGIBLE - high), weaker=Answer.DENIED
)
#: There is a loss: the same criterion below 0.
BELOW_ZERO = Criterion(
    "below 0",
    "above -2 points",
    _two(lambda low, high: -high, lambda low, high: low + NEGLIGIBLE),
    weaker=Answer.DENIED,
)
#: There is no effect: the opposite of `ABOVE_ZERO`.
NOT_ABOVE_ZERO = Criterion(
    "below 2 points", "above 0", _two(lambda low, high: NEGLIGIBLE - high, lambda low, high: low), weaker=Answer.WANTED
)
#: The quantity is small or negative.
AT_MOST_SMALL = Criterion(
    "below 5 points", "above 5 points", _two(lambda low, high: SMALL - high, lambda low, high: low - SMALL)
)
#: The quantity is small in either direction.
WITHIN_SMALL = Criterion(
    "within 5 points of 0",
    "more than 5 points from 0",
    _two(
        lambda low, high: min(low + SMALL, SMALL - high),
        lambda low, high: max(low - SMALL, -SMALL - high),
    ),
    sides=2,
)
#: The accuracy is near perfect.
ALMOST_ONE = Criterion(
    "above 95 %", "below 95 %", _two(lambda low, high: low - NEAR_PERFECT, lambda low, high: NEAR_PERFECT - high)
)
#: Probability of at least one wrong verdict in a family, and of at least one wrong word.
ALPHA = 0.05
#: Fraction of ALPHA for each verdict: supported, contradicted.
VERDICT_SHARE = 1 / 2
#: Fraction of ALPHA for each kind of statement: above, below, flat.
WORD_SHARE = 1 / 3
Case = TypeVar("Case")


@dataclass(frozen=True)
class Steps(Generic[Case]):
    """rejected: each rejected hypothesis with the confidence that rejected it; last: confidence of the last step, which
    rejected no further hypothesis.
    """

    rejected: dict[Case, float]
    last: float


def step_down(
    cases: Iterable[Case], is_rejected: Callable[[Case, float], bool], share: float = VERDICT_SHARE
) -> Steps[Case]:
    """Holm's procedure on one-sided hypotheses at the level `share`·ALPHA, by two-sided intervals.

    is_rejected: takes a hypothesis and the confidence of a two-sided interval; one limit of the interval tests it.
    """
    left = list(cases)
    rejected: dict[Case, float] = {}
    confidence = 1.0
    while left:
        confidence = 1 - 2 * share * ALPHA / len(left)
        now = [case for case in left if is_rejected(case, confidence)]
        if not now:
            break
        rejected |= dict.fromkeys(now, confidence)
        left = [case for case in left if case not in rejected]
    return Steps(rejected, confidence)


SUPPORTED, CONTRADICTED, NOT_ENOUGH = "supported", "contradicted", "not enough data"
#: Roles of a case: the claim is about it, or it is another one, which belongs to a family of its own.
AS_CLAIM, EXPLORATORY = "claim", "exploratory"


@dataclass(frozen=True)
class Part:
    """A claim's statement on one quantity; measure: None if it cannot be measured; size: if parts differ in size."""

    statistic: str
    criterion: Criterion
    measure: Measure | None
    size: int | None = None


@dataclass(frozen=True)
class Question:
    """A claim on one case.

    parts: statements that must all hold; detail: their accuracies in words, or why nothing is measured; withheld: why
    there is no verdict although there are measures; role: `AS_CLAIM` or `EXPLORATORY`.
    """

    models: tuple[str, ...]
    experiment: str
    size: int | None
    parts: tuple[Part, ...]
    detail: str
    withheld: str = ""
    role: str = AS_CLAIM

    @property
    def measured(self) -> list[Part]:
        return [part for part in self.parts if part.measure is not None]

    @property
    def is_counted(self) -> bool:
        """Whether the correction counts the case: it could have had a verdict."""
        return bool(self.measured)


@dataclass(frozen=True)
class Claim:
    """A claim of the paper, of the suite, or of this project.

    statement: one sentence; section: of the paper as published in TACL, or another source; needs: what must be selected
    to test it; ask: function that yields its cases.
    """

    name: str
    statement: str
    section: str
    needs: str
    ask: Callable[[Evidence, Relations], Iterable[Question]]


@dataclass(frozen=True)
class Decision:
    """A verdict with the part and the interval that decided it; both None if nothing was measured.

    An open case has the part that is farthest from the claim.
    """

    verdict: str
    part: Part | None = None
    low: float | None = None
    high: float | None = None
    confidence: float | None = None


def decide(questions: Sequence[Question]) -> list[Decision]:
    """Verdicts on the questions of one family; the chance of any wrong one is at most `ALPHA`, see above."""
    counted = [index for index, question in enumerate(questions) if question.is_counted]
    supported = step_down(counted, lambda index, level: _all_wanted(questions[index], level))
    contradicted = step_down(counted, lambda index, level: bool(_denied(questions[index], level)))
    decisions = []
    for index, question in enumerate(questions):
        if not question.is_counted or question.withheld:
            decisions.append(Decision(NOT_ENOUGH))
        elif index in supported.rejected:
            level = supported.rejected[index]
            decisions.append(_decision(SUPPORTED, _nearest(question, level), level))
        elif index in contradicted.rejected:
            level = contradicted.rejected[index]
            part = max(
                _denied(question, level), key=lambda part: _margin(part, Answer.DENIED, _split(question, part, level))
            )
            decisions.append(_decision(CONTRADICTED, part, _split(question, part, level)))
        else:
            part = _nearest(question, supported.last)
            level = max(supported.last, _split(question, part, contradicted.last))
            decisions.append(_decision(NOT_ENOUGH, part, level))
    return decisions


def _all_wanted(question: Question, confidence: float) -> bool:
    """Whether every part is shown to hold (intersection-union test)."""
    return not question.withheld and all(shows(part, Answer.WANTED, confidence) for part in question.parts)


def _denied(question: Question, confidence: float) -> list[Part]:
    """Parts that are shown not to hold, each at its share of the level."""
    if question.withheld:
        return []
    return [part for part in question.measured if shows(part, Answer.DENIED, _split(question, part, confidence))]


def _split(question: Question, part: Part, confidence: float) -> float:
    """The confidence at which one of several parts and sides can contradict the claim."""
    return 1 - (1 - confidence) / (len(question.measured) * part.criterion.sides)


def shows(part: Part, answer: Answer, confidence: float) -> bool:
    """Whether the interval of a part at this confidence shows the answer; never for a part without a measure.

    The `weaker` of two overlapping ranges is not shown if the 95 % interval shows the other. So a small real effect is
    not called negligible, and two claims about one quantity, corrected for different numbers of cases, cannot
    contradict each other. Rejections become rarer, which keeps the level.
    """
    if part.measure is None or _margin(part, answer, confidence) <= 0:
        return False
    (other,) = set(Answer) - {answer}
    return answer is not part.criterion.weaker or _margin(part, other, 1 - ALPHA) <= 0


def _margin(part: Part, answer: Answer, confidence: float) -> float:
    assert part.measure is not None
    return part.criterion.margin(answer, part.measure.interval(confidence))


def _nearest(question: Question, confidence: float) -> Part:
    """The part that is nearest to its denial, or farthest from the claim."""
    return min(question.measured, key=lambda part: _margin(part, Answer.WANTED, confidence))


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
        why = f"{which} is {part.criterion.wanted}" + ("" if is_one else ", and the other parts are as claimed")
    elif decision.verdict == CONTRADICTED:
        why = f"{which} is {part.criterion.denied}"
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
        range_of = {Answer.WANTED: criterion.wanted, Answer.DENIED: criterion.denied}
        return f"{which} is all {range_of[criterion.weaker]}, but the 95 % interval by itself does not have 0 in it"
    (alone,) = decide([question])
    hint = "" if alone.verdict == NOT_ENOUGH else f" (at 95 %, if nothing else were asked: {alone.verdict})"
    return f"{which} is neither all {criterion.wanted} nor all {criterion.denied}{hint}"
