"""The promised error rates of the claims: the families, their levels, and the procedure that keeps them.

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

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

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
