"""From what claims ask to their rows in claims.csv: an interval decides, corrected for how many are asked together."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from litm.analysis.claims.criteria import Criterion
from litm.analysis.claims.evidence import Evidence
from litm.analysis.claims.measures import Measure
from litm.analysis.claims.relations import Relations

SUPPORTED, CONTRADICTED, NOT_ENOUGH = "supported", "contradicted", "not enough data"
#: The chance of one wrong verdict or more among the rows of a claim and an experiment.
ALPHA = 0.05


@dataclass(frozen=True)
class Question:
    """A claim asked of one thing.

    statistic: what is measured; detail: the accuracies it is made of, in words; measure: None where it cannot be
    measured, and then `detail` is the reason.
    """

    models: tuple[str, ...]
    experiment: str
    size: int | None
    statistic: str
    criterion: Criterion
    measure: Measure | None
    detail: str


@dataclass(frozen=True)
class Claim:
    """A claim of the paper.

    statement: in a sentence; section: of the paper, as published in TACL; needs: what must be selected
    for it to be asked at all; ask: of what it can be asked.
    """

    name: str
    statement: str
    section: str
    needs: str
    ask: Callable[[Evidence, Relations], Iterable[Question]]


@dataclass(frozen=True)
class Decision:
    """A verdict with the interval that decided it; nothing of the interval where there is none."""

    verdict: str
    low: float | None = None
    high: float | None = None
    confidence: float | None = None


def decide(questions: Sequence[Question]) -> list[Decision]:
    """Verdicts on questions that are asked together, with Holm's (1979) correction made by intervals.

    Of m questions each gets its interval at the confidence 1 - 0.05/m. Those that it decides are done; the others are
    asked again as the m' that are left, until an interval of none of them decides. Those remain open, with the last
    interval. So the chance that any verdict among them is wrong is 5 % at most, and the interval of a row is the one
    that its verdict comes from.
    """
    decisions = [Decision(NOT_ENOUGH)] * len(questions)
    left = [index for index, question in enumerate(questions) if question.measure is not None]
    while left:
        confidence = 1 - ALPHA / len(left)
        for index in left:
            decisions[index] = decision_at(questions[index], confidence)
        still_open = [index for index in left if decisions[index].verdict == NOT_ENOUGH]
        if still_open == left:
            break
        left = still_open
    return decisions


def decision_at(question: Question, confidence: float) -> Decision:
    """What the interval of a question's measure, which it must have, says at one confidence."""
    assert question.measure is not None
    low, high = question.measure.interval(confidence)
    verdicts = {True: SUPPORTED, False: CONTRADICTED, None: NOT_ENOUGH}
    return Decision(verdicts[question.criterion.verdict(low, high)], low, high, confidence)


def reason(question: Question, decision: Decision) -> str:
    """Why a row has its verdict, in words."""
    if question.measure is None:
        return question.detail
    criterion = question.criterion
    if decision.verdict == SUPPORTED:
        why = f"the whole interval is {criterion.wanted}"
    elif decision.verdict == CONTRADICTED:
        why = f"the whole interval is {criterion.denied}"
    else:
        why = f"the interval is neither all {criterion.wanted} nor all {criterion.denied}{_alone(question, decision)}"
    sources = question.measure.sources
    return f"{question.detail}; {why}" + (f" (not paired; from {', '.join(sources)})" if sources else "")


def _alone(question: Question, decision: Decision) -> str:
    alone = decision_at(question, 1 - ALPHA)
    return "" if alone.verdict == decision.verdict else f" (at 95 %, if nothing else were asked: {alone.verdict})"
