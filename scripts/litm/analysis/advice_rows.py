"""The rows of advice.csv, and the advice in words."""

from collections.abc import Iterator, Mapping, Sequence

from litm.analysis.advice import COLUMNS, LEAST_SCORED, Cell, Compared, Difference, Verdict, read_compared, verdict
from litm.analysis.grid import Files, interval_columns
from litm.analysis.power import needed_in_words, observed
from litm.analysis.sentences import counted, interval, remedies_in_words
from litm.analysis.statistics import SIGNIFICANT, Estimate, holm
from litm.base.messages import percent, points
from litm.records import RANKED, Condition


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
            **(_spoken(advice(compared, told)) if index == spoken else {}),
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
        words = {} if compared.n or index else _spoken([_nothing_compared(compared)])
        yield {**_names(compared, cell), "n": 0, "is_advised": False, "reason": reason, **words}


def _spoken(sentences: Sequence[str]) -> dict:
    headline, *details = sentences
    return {"advice": headline, "advice_details": " ".join(details) or None}


def _names(compared: Compared, cell: Cell) -> dict:
    return {
        "model": compared.model,
        "remedies_of": compared.study,
        "experiment": cell.condition.experiment,
        "size": cell.documents,
        "condition": condition_in_words(cell.condition, cell.documents),
        **{key: getattr(cell.condition, key) for key in ("order", "reranker", "cut", "prompt")},
    }


def condition_in_words(condition: Condition, documents: int) -> str:
    """`5 documents, best last, reranked by my_reranker`."""
    return ", ".join([counted(documents, "document"), *remedies_in_words(condition, documents)])


# --- Sentences -------------------------------------------------------------------------------------------------


def advice(compared: Compared, told: Verdict) -> list[str]:
    """The advice for one model and study: what to do; then why; then what is not known. One short sentence each."""
    if told.advised is None:
        return _no_advice(compared, told)
    index = told.advised
    others = len(compared.best_set) - 1
    return [
        f"{compared.model}: pass {_name(compared, index)}. {_facts(compared, index)}.",
        _why(compared, others),
        *([] if index == compared.best else [_behind(compared, index)]),
        *_neighbours(compared, index),
        *_remedies_told(compared, index),
        "These answers also chose the condition, so its accuracy is optimistic.",
    ]


def _why(compared: Compared, others: int) -> str:
    if not others:
        return f"All {len(compared.cells) - 1} other conditions are shown to be worse."
    loses, _ = compared.most_lost
    return (
        f"It is the cheapest of {others + 1} not shown to be worse than the best of {len(compared.cells)}, and loses "
        f"at most {percent(loses)} points."
    )


def _facts(compared: Compared, index: int) -> str:
    estimate = compared.accuracies[index]
    told = f"{percent(estimate.value)} % right {interval(estimate.low, estimate.high)}, n = {compared.n:,}"
    tokens, dollars = compared.cells[index].tokens, compared.dollars(index)
    if tokens is not None:
        told += f", {sum(tokens):,.0f} tokens a question"
    return told if dollars is None else f"{told}, US$ {1000 * dollars:,.2f} for 1,000 questions"


def _behind(compared: Compared, index: int) -> str:
    """A sentence on the condition with the most right answers, whose lead is not shown."""
    ahead, times = compared.difference(compared.best, index), _times(compared, compared.best, index)
    return f"Most right answers: {_name(compared, compared.best)} ({_told(ahead)}{times}); not shown to be better."


def _neighbours(compared: Compared, index: int) -> Iterator[str]:
    """Sentences on the next smaller and the largest number of documents under the same condition."""
    same, own = _same(compared, index), _documents(compared, index)
    smaller = [other for other in same if _documents(compared, other) < own]
    larger = [other for other in same if _documents(compared, other) > own]
    for other in [*smaller[-1:], *larger[-1:]]:
        difference = compared.difference(other, index)
        # Differences from the best use Holm's correction, as the set does.
        is_shown = (
            other not in compared.best_set if index == compared.best else not difference.worst <= 0 <= difference.most
        )
        yield (
            f"With {counted(_documents(compared, other), 'document')}: {_told(difference)}"
            f"{_times(compared, other, index)}{'' if is_shown else ', not shown'}."
        )


def _remedies_told(compared: Compared, index: int) -> Iterator[str]:
    """A sentence on the single remedies at the advised number of documents, against documents as retrieved."""
    documents = _documents(compared, index)
    own = [one for one in range(len(compared.cells)) if _documents(compared, one) == documents]
    plain = next((one for one in own if compared.cells[one].condition.is_plain), None)
    single = [one for one in own if len(compared.cells[one].condition.differing) == 1]
    if plain is None or not single:
        return
    differences = {one: compared.difference(one, plain) for one in single}
    corrected = dict(zip(single, holm([one.p_value for one in differences.values()]), strict=True))
    shown = [one for one in single if corrected[one] < SIGNIFICANT]
    if shown:
        told = "; ".join(f"{_remedy(compared, one)} {_told(differences[one])}" for one in shown)
        yield f"Against best first with {counted(documents, 'document')}: {told}."
    else:
        most = max(single, key=lambda one: abs(differences[one].estimate.value))
        yield f"No remedy is shown to help; the largest effect: {_remedy(compared, most)} {_told(differences[most])}."


def _nothing_compared(compared: Compared) -> str:
    if compared.cells:
        return f"{compared.model}: no advice. No question was scored under all conditions of {compared.study}."
    return (
        f"{compared.model}: no advice. No condition of {compared.study} scored {LEAST_SCORED:.0%} of its questions; "
        "advice.csv has the number for each."
    )


def _no_advice(compared: Compared, told: Verdict) -> list[str]:
    best, cheapest = compared.best, compared.cheapest
    begin, named = f"{compared.model}: no advice", f"{_name(compared, best)}, {_facts(compared, best)}"
    if told.reason == "floor":
        return [f"{begin}. Hardly anything is right under any of {len(compared.cells)} conditions; the best: {named}."]
    if told.reason == "one condition":
        return [f"{begin}. Only one condition was scored: {named}."]
    loses, other = compared.most_lost
    headline = f"{begin} yet: {counted(compared.n, 'question')} do not tell the {len(compared.cells)} conditions apart."
    if told.needed is not None:
        headline = f"{headline[:-1]}; {needed_in_words(told.needed, observed(compared.correct))}."
    cheap = "The best, also the cheapest of those like it" if cheapest == best else "The cheapest not shown to be worse"
    return [
        headline,
        f"{cheap}: {_name(compared, cheapest)}, {_facts(compared, cheapest)}.",
        f"It may lose up to {percent(loses)} points to {_name(compared, other)} "
        f"({percent(compared.accuracies[other].value)} %).",
        *_shown_worse(compared),
    ]


def _shown_worse(compared: Compared) -> Iterator[str]:
    """A sentence for a case without advice: the conditions shown to be worse, documents as retrieved."""
    worse = [index for index in range(len(compared.cells)) if index not in compared.best_set]
    if worse:
        plain = [index for index in worse if compared.cells[index].condition.is_plain]
        told = ", ".join(f"{_documents(compared, index)}: {_told(compared.to_best[index])}" for index in plain)
        among = f", among them documents as retrieved ({told})" if told else ""
        yield f"Shown to be worse than the best: {counted(len(worse), 'condition')}{among}."


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


def _remedy(compared: Compared, index: int) -> str:
    """The one remedy of a condition in words."""
    condition = compared.cells[index].condition
    parts = remedies_in_words(condition)
    return parts[0] if condition.order != RANKED else parts[-1]


def _name(compared: Compared, index: int) -> str:
    return condition_in_words(compared.cells[index].condition, _documents(compared, index))


def _told(difference: Difference) -> str:
    """A difference with its paired 95 % interval."""
    one = difference.estimate
    return f"{points(one.value)} {interval(one.low, one.high)}"


def _times(compared: Compared, index: int, other: int) -> str:
    """The ratio of two conditions' costs, such as ` at 3.8 times the cost`; "" if it rounds to 1.0 or is unknown."""
    ratio = f"{compared.costs[index] / compared.costs[other]:.1f}" if compared.costs[other] else "1.0"
    return "" if ratio == "1.0" else f" at {ratio} times the cost"


# --- The table -------------------------------------------------------------------------------------------------


def advice_table(
    remedy_scores: Files, conditions: Sequence[Mapping], prices: Mapping[str, Mapping | None]
) -> Iterator[dict]:
    """One row per model, condition and number of documents; studies and conditions in the order of the config."""
    known = [Condition(**one) for one in conditions]
    for compared in read_compared(remedy_scores.scores(COLUMNS), known, prices):
        yield from advice_rows(compared)
