"""The rows of advice.csv, and the advice in words."""

from collections.abc import Iterator

from litm.analysis.advice import LEAST_SCORED, Cell, Compared, Difference, Verdict, verdict
from litm.analysis.paired_scores import interval_columns
from litm.analysis.statistics import SIGNIFICANT, Estimate, holm
from litm.base.messages import percent, points
from litm.domain.condition import RANKED, Condition
from litm.examples.orders import ORDERS

#: Number of conditions of a set that are named one by one, at most.
NAMED = 5


def advice_rows(compared: Compared) -> Iterator[dict]:
    """One row per condition; conditions with too few scored questions are last."""
    if not compared.n:
        yield from _left_out(compared)
        return
    told = verdict(compared)
    least = min(compared.costs)
    spoken = compared.best if told.advised is None else told.advised
    for index, cell in enumerate(compared.cells):
        difference = compared.to_best.get(index)
        dollars = compared.dollars(index)
        yield {
            **_names(compared, cell),
            "n": compared.n,
            "n_left_out": compared.n_left_out,
            "n_clusters": None if compared.clusters is None else int(compared.clusters.max()) + 1,
            **interval_columns("accuracy", compared.accuracies[index]),
            "tokens": None if cell.tokens is None else sum(cell.tokens),
            "dollars": None if dollars is None else 1000 * dollars,
            "cost_ratio": compared.costs[index] / least if least else None,
            **interval_columns("difference", difference.estimate if difference else Estimate(0.0, 0.0, 0.0, 0.0)),
            "difference_ci_low_bonferroni": difference.worst if difference else 0.0,
            "p_value": difference.p_value if difference else None,
            "p_holm": compared.p_holm.get(index),
            "is_best": index == compared.best,
            "in_best_set": index in compared.best_set,
            "on_frontier": index in compared.frontier,
            "is_advised": index == told.advised,
            "n_for_5_points": told.needed,
            "reason": told.reason if index == spoken else "",
            "advice": " ".join(advice(compared, told)) if index == spoken else None,
        }
    yield from _left_out(compared)


def _left_out(compared: Compared) -> Iterator[dict]:
    """Rows of conditions that are not compared; if none is compared, the first has a sentence about it."""
    missing = [
        f"{len(cell.correct) - cell.scored} of {len(cell.correct)} questions were not scored, left out"
        for cell in compared.left_out
    ]
    reasons = list(zip(compared.left_out, missing, strict=True))
    if not compared.n:
        reasons += [(cell, "no question was scored under all conditions") for cell in compared.cells]
    for index, (cell, reason) in enumerate(reasons):
        words = None if compared.n or index else _nothing_compared(compared)
        yield {**_names(compared, cell), "n": 0, "is_advised": False, "reason": reason, "advice": words}


def _names(compared: Compared, cell: Cell) -> dict:
    return {
        "model": compared.model,
        "remedies_of": compared.study,
        "experiment": cell.condition.experiment,
        "size": cell.documents,
        "condition": condition_in_words(cell.condition, cell.documents),
        **_keys(cell.condition),
    }


def _keys(condition: Condition) -> dict:
    return {"order": condition.order, "reranker": condition.reranker, "cut": condition.cut, "prompt": condition.prompt}


def condition_in_words(condition: Condition, documents: int) -> str:
    """`5 documents, best last, reranked by my_reranker`."""
    return ", ".join([_count(documents, "document"), *_remedies(condition, documents)])


def _remedies(condition: Condition, documents: int) -> list[str]:
    parts = [ORDERS[condition.order].words] if documents > 1 else []
    parts += [f"reranked by {condition.reranker}"] if condition.reranker else []
    parts += [condition.cut] if condition.cut else []
    return parts + ([f"prompt {condition.prompt}"] if condition.prompt else [])


# --- Sentences -------------------------------------------------------------------------------------------------


def advice(compared: Compared, told: Verdict) -> list[str]:
    """The advice for one model and study in sentences."""
    if told.advised is None:
        return _no_advice(compared, told)
    index = told.advised
    sentences = [_advised(compared, index)]
    if len(compared.best_set) > 1:
        loses, _ = compared.most_lost
        sentences.append(f"It loses at most {percent(loses)} points to any other (corrected for all comparisons).")
    if index != compared.best:
        sentences.append(_behind(compared, index))
    sentences += [*_fewer(compared, index), *_more(compared, index), *_remedies_told(compared, index)]
    return [*sentences, _chosen(compared)]


def _advised(compared: Compared, index: int) -> str:
    verb = "answers best with" if len(compared.best_set) == 1 else "answers as well as can be shown with"
    return f"With these documents {compared.model} {verb} {_name(compared, index)}: {_facts(compared, index)}."


def _facts(compared: Compared, index: int) -> str:
    estimate = compared.accuracies[index]
    told = f"{percent(estimate.value)} % [{percent(estimate.low)}, {percent(estimate.high)}], n = {compared.n:,}"
    tokens, dollars = compared.cells[index].tokens, compared.dollars(index)
    if tokens is not None:
        told += f", {sum(tokens):,.0f} tokens a question"
    return told if dollars is None else f"{told}, US$ {1000 * dollars:,.2f} for 1,000 questions"


def _behind(compared: Compared, index: int) -> str:
    """A sentence on the condition with the most right answers, whose lead is not significant."""
    ahead, ratio = compared.difference(compared.best, index), _times(compared, compared.best, index)
    cost = f", at {ratio} times the cost" if ratio else ""
    return (
        f"The most right answers are those with {_name(compared, compared.best)} ({_told(ahead)}{cost}); this "
        "difference is not significant after correction."
    )


def _more(compared: Compared, index: int) -> Iterator[str]:
    """Sentences on the effect of more documents under the same condition."""
    larger = [other for other in _same(compared, index) if _documents(compared, other) > _documents(compared, index)]
    if not larger:
        return
    other = larger[-1]
    difference, ratio = compared.difference(other, index), _times(compared, other, index)
    told = f"({_documents(compared, other)}: {_told(difference)})" + (
        f" and cost {ratio} times as much" if ratio else ""
    )
    # Differences from the best use Holm's correction, as the set does.
    is_shown = (
        other not in compared.best_set if index == compared.best else not difference.worst <= 0 <= difference.most
    )
    by_chance = "" if is_shown else ", but not by more than chance after the correction"
    if difference.estimate.high < 0:
        yield f"More documents answer worse {told}{by_chance}."
    elif difference.estimate.low > 0:
        yield f"More documents answer more {told}{by_chance}."
    else:
        yield f"More documents gain nothing that {compared.n:,} questions can show {told}."


def _fewer(compared: Compared, index: int) -> Iterator[str]:
    """Sentences on the loss by fewer documents under the same condition."""
    fewer = [other for other in _same(compared, index) if _documents(compared, other) < _documents(compared, index)]
    if fewer:
        other = fewer[-1]
        number = _count(_documents(compared, other), "document")
        yield f"With {number} it is {_told(compared.difference(other, index))}."


def _remedies_told(compared: Compared, index: int) -> Iterator[str]:
    """Sentences on each single remedy at the advised number of documents, against documents as retrieved."""
    documents = _documents(compared, index)
    own = [one for one in range(len(compared.cells)) if _documents(compared, one) == documents]
    plain = next((one for one in own if compared.cells[one].condition.is_plain), None)
    single = [one for one in own if len(compared.cells[one].condition.differing) == 1]
    if plain is None or not single:
        return
    differences = {one: compared.difference(one, plain) for one in single}
    corrected = dict(zip(single, holm([one.p_value for one in differences.values()]), strict=True))
    shown = [one for one in single if corrected[one] < SIGNIFICANT]
    with_documents = f"with {_count(documents, 'document')}"
    for key, word in (("order", "The order matters"), ("", "Shown to make a difference")):
        named = [one for one in shown if (_key(compared, one) == "order") == (key == "order")]
        if named:
            told = "; ".join(f"{_remedy(compared, one)} {_told(differences[one])}" for one in named)
            yield f"{word} {with_documents}, against best first: {told}."
    if not shown:
        most = max(single, key=lambda one: abs(differences[one].estimate.value))
        yield (
            f"No remedy alone is shown to make a difference {with_documents}; the largest is "
            f"{_remedy(compared, most)}, {_told(differences[most])}."
        )


def _chosen(compared: Compared) -> str:
    """A sentence on the number of conditions compared and on the certainty of the choice."""
    among = f"{len(compared.cells)} conditions were compared on the same {compared.n:,} questions"
    others = len(compared.best_set) - 1
    verb = "other does" if others == 1 else "others do"
    told = f"{others:,} {verb} not differ significantly" if others else "all others differ significantly"
    return (
        f"{among}: {told} from the best (Holm, 5 %), whose accuracy is optimistic, as it was chosen by these answers."
    )


def _nothing_compared(compared: Compared) -> str:
    if compared.cells:
        return f"No advice for {compared.model} in {compared.study}: no question was scored under all conditions."
    return (
        f"No advice for {compared.model} in {compared.study}: no condition scored {LEAST_SCORED:.0%} of its questions; "
        "advice.csv has the number for each."
    )


def _no_advice(compared: Compared, told: Verdict) -> list[str]:
    best, cheapest = compared.best, compared.cheapest
    among = f"{len(compared.cells)} conditions on {_count(compared.n, 'question')}"
    if told.reason == "floor":
        return [
            f"No advice for {compared.model}: hardly anything is answered under any of {among}; the best is "
            f"{_name(compared, best)}, {_facts(compared, best)}."
        ]
    if told.reason == "one condition":
        return [f"No advice for {compared.model}: only {_name(compared, best)} ({_facts(compared, best)}) was scored."]
    loses, other = compared.most_lost
    which = "the cheapest that does not differ significantly from the best"
    if cheapest == best:
        which = "the one with the most right answers"
    sentences = [
        f"No advice for {compared.model}: of {among}, {which}, {_name(compared, cheapest)} "
        f"({_facts(compared, cheapest)}), may lose up to {percent(loses)} points to {_name(compared, other)} "
        f"({percent(compared.accuracies[other].value)} %)."
    ]
    if told.needed is not None:
        sentences.append(f"About {told.needed:,} questions would show a difference of 5 points between the two.")
    return [*sentences, *_shown_worse(compared)]


def _shown_worse(compared: Compared) -> Iterator[str]:
    """Sentences for a case without advice: the number of conditions shown to be worse, documents as retrieved."""
    worse = [index for index in range(len(compared.cells)) if index not in compared.best_set]
    if not worse:
        return
    plain = [index for index in worse if compared.cells[index].condition.is_plain]
    told = ", ".join(f"{_documents(compared, index)}: {_told(compared.to_best[index])}" for index in plain)
    verb, which = ("is", "") if len(worse) == 1 else ("are", "among them ")
    among = f": {which}documents as they were retrieved ({told})" if told else ""
    yield f"{_count(len(worse), 'condition')} {verb} shown to be worse than the best{among}."


def _same(compared: Compared, index: int) -> list[int]:
    """Indices of all numbers of documents under the same condition, ascending."""
    condition = compared.cells[index].condition
    own = [one for one, cell in enumerate(compared.cells) if cell.condition.experiment == condition.experiment]
    # A single document has no order and is never cut, so the plain cell serves these conditions too.
    if set(condition.differing) <= {"order", "cut"} and all(_documents(compared, one) > 1 for one in own):
        own += [one for one, cell in enumerate(compared.cells) if cell.documents == 1 and cell.condition.is_plain]
    return sorted(own, key=lambda one: _documents(compared, one))


def _documents(compared: Compared, index: int) -> int:
    return compared.cells[index].documents


def _key(compared: Compared, index: int) -> str:
    return compared.cells[index].condition.differing[0]


def _remedy(compared: Compared, index: int) -> str:
    """The one remedy of a condition in words."""
    condition = compared.cells[index].condition
    parts = _remedies(condition, 2)
    return parts[0] if condition.order != RANKED else parts[-1]


def _name(compared: Compared, index: int) -> str:
    return condition_in_words(compared.cells[index].condition, _documents(compared, index))


def _told(difference: Difference) -> str:
    """A difference with its paired 95 % interval."""
    one = difference.estimate
    return f"{points(one.value)} [{percent(one.low)}, {percent(one.high)}]"


def _times(compared: Compared, index: int, other: int) -> str:
    """Ratio of two conditions' costs, such as `3.8`; "" if it rounds to 1.0 or is unknown."""
    ratio = f"{compared.costs[index] / compared.costs[other]:.1f}" if compared.costs[other] else "1.0"
    return ratio if ratio != "1.0" else ""


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
