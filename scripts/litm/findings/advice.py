"""What to do with retrieved documents, by the comparison of remedies."""

from typing import TYPE_CHECKING, Any

from litm.findings.record import Finding, Kind, Number, Strength
from litm.scoring.doubts import is_doubt

if TYPE_CHECKING:
    from litm.analysis.advice import Compared

#: Reasons why there is no advice: at the floor, one condition, the cheapest may lose over 5 points, no common question,
#: no condition that scored enough of its questions.
FLOOR, ONE_CONDITION, MAY_LOSE = "floor", "one condition", "the cheapest may lose over 5 points"
NOTHING_COMMON, NOTHING_SCORED = "nothing common", "nothing scored"
#: Roles of compared conditions.
BEST, OTHER_NUMBER, REMEDY, LARGEST_REMEDY, WORSE = "best", "other number", "remedy", "largest remedy", "worse"

KINDS = {
    "advice": Kind(
        "What to pass to a model in a study of remedies: shown if the data support an advice; cannot tell if the "
        "cheapest condition not shown to be worse may lose over 5 points; uninformative at the floor and in doubt.",
        numbers={
            "accuracy": "accuracy of the condition",
            "may_lose": "the most that it may lose to another condition: the largest of their corrected limits",
            "tokens": "mean tokens of a prompt and its answer",
            "dollars": "US dollars for 1,000 questions",
            "other": "accuracy of the condition that it may lose most to",
        },
        facts={
            "condition": "the advised condition; without an advice the cheapest not shown to be worse; null in doubt",
            "experiment": "the experiment of the condition",
            "documents": "its number of documents",
            "reason": "why there is no advice: a doubt, `floor`, `one condition`, `the cheapest may lose over 5 "
            "points`, `nothing common`, `nothing scored`; null for an advice",
            "is_best": "whether the condition has the most right answers",
            "n_conditions": "conditions compared",
            "n_alike": "conditions not shown to be worse than the best, the best among them",
            "other": "the condition that it may lose most to",
            "in_doubt": "the conditions in doubt",
            "needed": "questions that tell the conditions apart, null if that does not matter",
            "assumed": "accuracy, correlation and design effect that this number assumes",
            "compared": "other conditions with their role, difference in accuracy, times the cost, whether shown",
        },
    )
}


def advice_finding(compared: "Compared") -> Finding:
    """The advice for one model and study."""
    if not compared.n:
        return _finding(compared, NOTHING_COMMON if compared.cells else NOTHING_SCORED, None)
    reason = compared.reason
    if is_doubt(reason):
        return _finding(compared, reason, None)
    index = compared.best if reason in (FLOOR, ONE_CONDITION) else compared.cheapest
    return _finding(compared, reason or None, index)


def _finding(compared: "Compared", reason: str | None, index: int | None) -> Finding:
    numbers = dict.fromkeys(KINDS["advice"].numbers, Number(None))
    facts: dict[str, Any] = dict.fromkeys(KINDS["advice"].facts)
    facts |= {"reason": reason, "n_conditions": len(compared.cells), "compared": [], "in_doubt": []}
    if is_doubt(reason):
        facts["in_doubt"] = [cell.name for cell in compared.cells if cell.doubt]
    if index is not None:
        cell, (loses, other) = compared.cells[index], compared.most_lost
        accuracy = compared.accuracies[index]
        numbers |= {
            "accuracy": Number(accuracy.value, *accuracy.limits),
            "may_lose": Number(loses),
            "tokens": Number(cell.tokens),
            "dollars": Number(None if cell.dollars is None else 1000 * cell.dollars),
            "other": Number(compared.accuracies[other].value),
        }
        facts |= {
            "condition": cell.name,
            "experiment": cell.condition.experiment,
            "documents": cell.documents,
            "is_best": index == compared.best,
            "n_alike": len(compared.best_set),
            "other": compared.cells[other].name,
        }
    if reason == MAY_LOSE and compared.needed is not None:
        assumed = compared.assumed
        facts |= {"needed": compared.needed, "assumed": [assumed.accuracy, assumed.correlation, assumed.design_effect]}
    strength = {None: Strength.SHOWN, MAY_LOSE: Strength.CANNOT_TELL, ONE_CONDITION: None}.get(
        reason, Strength.UNINFORMATIVE
    )
    return Finding("advice", (compared.model,), (compared.study,), None, None, compared.n, strength, numbers, facts)
