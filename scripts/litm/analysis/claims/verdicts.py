"""Verdicts on the questions of claims: intervals decide, at the levels of `error_rates`."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from litm.analysis.claims.criteria import Answer, Criterion
from litm.analysis.claims.error_rates import ALPHA, step_down
from litm.analysis.claims.evidence import Evidence
from litm.analysis.claims.measures import Measure
from litm.analysis.claims.relations import Relations

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
    """Verdicts on the questions of one family; the chance of any wrong one is at most `ALPHA`, see `error_rates`."""
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
