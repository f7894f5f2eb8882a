"""The promised error rates of the claims: the families, their levels, and the procedure that keeps them.

**Family.** All cases of one claim in one experiment that were asked in one role (as the paper's claim, or exploratory):
all models and sizes. A case whose accuracies are all at the floor or the ceiling counts, though it gets no verdict:
leaving it out would depend on the answers. A case without a question to compare does not count.

**Level.** The chance that a family has one wrong verdict or more is at most `ALPHA` = 5 %, whatever is true of its
cases and however these depend on one another. Half of it is for "supported", half for "contradicted".

**Procedure.** Each half is a family of one-sided hypotheses (that the claim is false; that it is true), and each is
tested by Holm's (1979) step-down procedure: of m hypotheses that are left each is tested at level ALPHA/2/m; those
that are rejected leave *their own half* alone; the rest is tested again until none is rejected. Holm's procedure
controls the chance of any wrong rejection under any dependence (Holm 1979, Scand. J. Statist. 6, 65-70, theorem 1); the
sum over both halves is ALPHA (Bonferroni's inequality). A case never changes its half's count by a verdict of the
other half. Two-sided Holm with the direction read off afterwards would be a little more powerful, but its control of
wrong directions is proved for independent statistics alone (Shaffer 1980, Ann. Statist. 8, 1342-1347; Finner 1999, Ann.
Statist. 27, 274-289), and answers of models to the same questions are not independent.

**Claims in several parts.** A U is primacy above 0 *and* recency above 0. "Supported" needs every part, each at the
full level of the case: an intersection-union test, whose level needs no correction for the number of parts (Berger
1982, Technometrics 24, 295-300, theorem 1). "Contradicted" needs one part, so that each of k parts is tested at 1/k of
the level (Bonferroni).

**Tests by intervals.** A limit of a two-sided interval of confidence 1 - a errs on its side with chance a/2. So a
hypothesis at level ALPHA/2/m is rejected where the interval of confidence 1 - ALPHA/m is beyond its bound, and that is
the interval that a row shows; a case that stays open shows the widest of those that did not decide it. One case alone
is decided by the usual 95 % interval.

**Words of a curve** (U, recency alone, rising, flat, ...) are a family of their own: all statements that words are made
of, of all curves of an experiment. A third of ALPHA each is for "this is above that", "this is below that" and "flat"
(equivalence: all positions within 5 points of one another, each pair at full level, Berger 1982), by Holm. A curve
whose U is supported, as one of all models or as one of the base models, is called U (or W), at the level of that
verdict. Every table and page takes the word from `curve_words`.

Over a whole table with F families the chance of one wrong verdict is at most F·5 %; to have 5 % there, believe what
holds at the confidence 1 - 0.05/(F·family_size).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

#: The chance of one wrong verdict or more in a family, and of one wrong word or more.
ALPHA = 0.05
#: Halves of ALPHA: supported, contradicted.
VERDICT_SHARE = 1 / 2
#: Thirds of ALPHA: above, below, flat.
WORD_SHARE = 1 / 3

Case = TypeVar("Case")


@dataclass(frozen=True)
class Steps(Generic[Case]):
    """rejected: each rejected hypothesis with the confidence that rejected it; last: the confidence of the last step,
    which rejected none of the others.
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
