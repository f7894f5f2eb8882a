"""What to do with retrieved documents, by the comparison of remedies."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from litm.examples.orders import remedies_in_words
from litm.findings.record import SHOWN, Finding, Kind, Number, Strength
from litm.records.conditions import RANKED
from litm.scoring.doubts import is_doubt

if TYPE_CHECKING:
    from litm.analysis.advice import Against, Compared

#: Reasons why there is no advice: at the floor, one condition, the cheapest may lose over 5 points, no common question,
#: no condition that scored enough of its questions.
FLOOR, ONE_CONDITION, MAY_LOSE = "floor", "one condition", "may lose"
NOTHING_COMMON, NOTHING_SCORED = "nothing common", "nothing scored"
#: Roles of compared conditions.
BEST, OTHER_NUMBER, REMEDY, WORSE = "best", "other number", "remedy", "worse"

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
            "made_up": "share of made-up answers of the condition where no document has the answer",
            "made_up_plain": "the same for as many documents as retrieved",
            "made_up_more": "made_up minus made_up_plain, paired",
        },
        facts={
            "condition": "the advised condition; without an advice the cheapest not shown to be worse, at the floor "
            "the best; null in doubt and where nothing is compared",
            "experiment": "the experiment of the condition",
            "documents": "its number of documents",
            "n_without_answer": "questions asked without the documents that have the answer; null if none was, or in "
            "doubt",
            "is_made_up_shown": "whether made_up_more is shown to differ from 0; null without it",
            "order": "the order of its documents",
            "reason": "why there is no advice: a doubt, `floor`, `one condition`, `may lose`, `nothing common`, "
            "`nothing scored`; null for an advice",
            "is_best": "whether the condition has the most right answers",
            "n_conditions": "conditions compared",
            "n_alike": "conditions not shown to be worse than the best, the best among them",
            "other": "the condition that it may lose most to",
            "in_doubt": "the conditions in doubt",
            "needed": "questions that tell the conditions apart, null if that does not matter",
            "assumed": "accuracy, correlation and design effect that this number assumes",
            "least_scored": "fraction of its questions that a compared condition must have scored",
            "compared": "other conditions: role (best, other number, remedy, worse), condition, documents, difference "
            "from the condition with its limits (of a remedy from documents as retrieved; of a worse one, from the "
            "best), times its cost, whether it is shown",
        },
    )
}


def advice_finding(compared: "Compared") -> Finding:
    """The advice for one model and study."""
    from litm.analysis import advice as reasons

    named = {reasons.FLOOR: FLOOR, reasons.ONE_CONDITION: ONE_CONDITION, reasons.MAY_LOSE: MAY_LOSE, "": None}
    reason: str | None = NOTHING_COMMON if compared.cells else NOTHING_SCORED
    index = None
    if compared.n:
        reason = named.get(compared.reason, compared.reason)
    if compared.n and not is_doubt(reason):
        index = compared.best if reason in (FLOOR, ONE_CONDITION) else compared.cheapest
    facts = {
        **dict.fromkeys(KINDS["advice"].facts),
        "reason": reason,
        "n_conditions": len(compared.cells),
        "in_doubt": [cell.name for cell in compared.cells if cell.doubt],
        "least_scored": reasons.LEAST_SCORED,
        **({} if index is None else _facts(compared, index)),
        "compared": [] if index is None else [*_others(compared, index, reason)],
    }
    if reason == MAY_LOSE and compared.needed is not None:
        assumed = compared.assumed
        numbers_assumed = [assumed.accuracy, assumed.correlation, assumed.design_effect]
        facts |= {"needed": compared.needed, "assumed": numbers_assumed}
    return Finding(
        "advice",
        (compared.model,),
        (compared.study,),
        n=compared.n,
        strength=_STRENGTHS.get(reason, Strength.UNINFORMATIVE),
        numbers=dict.fromkeys(KINDS["advice"].numbers, Number(None)) | _numbers(compared, index),
        facts=facts,
    )


_STRENGTHS = {None: Strength.SHOWN, MAY_LOSE: Strength.CANNOT_TELL, ONE_CONDITION: None}


def _numbers(compared: "Compared", index: int | None) -> dict[str, Number]:
    if index is None:
        return {}
    cell, accuracy, (loses, other) = compared.cells[index], compared.accuracies[index], compared.most_lost
    made_up = compared.made_up(index)
    shares = [made_up.share, made_up.plain, made_up.difference] if made_up else []
    return {
        **{
            name: Number(share.value, *share.limits)
            for name, share in zip(("made_up", "made_up_plain", "made_up_more"), shares, strict=False)
            if share
        },
        "accuracy": Number(accuracy.value, *accuracy.limits),
        "may_lose": Number(loses),
        "tokens": Number(cell.tokens),
        "dollars": Number(None if cell.dollars is None else 1000 * cell.dollars),
        "other": Number(compared.accuracies[other].value),
    }


def _facts(compared: "Compared", index: int) -> dict[str, Any]:
    cell, made_up = compared.cells[index], compared.made_up(index)
    p_value = made_up.p_value if made_up else None
    return {
        "n_without_answer": made_up.n if made_up else None,
        "is_made_up_shown": None if p_value is None else p_value < SHOWN,
        "condition": cell.name,
        "experiment": cell.condition.experiment,
        "documents": cell.documents,
        "order": cell.condition.order,
        "is_best": index == compared.best,
        "n_alike": len(compared.best_set),
        "other": compared.cells[compared.most_lost[1]].name,
    }


def _others(compared: "Compared", index: int, reason: str | None) -> Iterator[dict[str, Any]]:
    """The conditions that the advice names beside its own."""
    if reason == MAY_LOSE:
        for against in compared.shown_worse():
            if compared.cells[against.index].condition.is_plain:
                yield _other(compared, WORSE, against, index)
    if reason is not None:
        return
    if index != compared.best:
        from litm.analysis.advice import Against

        ahead = Against(compared.best, compared.difference(compared.best, index), False)
        yield _other(compared, BEST, ahead, index)
    for against in compared.other_numbers(index):
        yield _other(compared, OTHER_NUMBER, against, index)
    for against in compared.remedies(index):
        condition = compared.cells[against.index].condition
        parts = remedies_in_words(condition)
        remedy = parts[0] if condition.order != RANKED else parts[-1]
        yield _other(compared, REMEDY, against, index) | {"condition": remedy}


def _other(compared: "Compared", role: str, against: "Against", index: int) -> dict[str, Any]:
    cell, estimate = compared.cells[against.index], against.difference.estimate
    return {
        "role": role,
        "condition": cell.name,
        "documents": cell.documents,
        "difference": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "times": compared.times(against.index, index),
        "is_shown": against.is_shown,
    }
