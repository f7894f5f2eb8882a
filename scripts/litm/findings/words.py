"""A finding as a sentence, by its kind: the same on the console, in the report, on the page over studies and in a
notebook. Nothing is decided here.
"""

from collections.abc import Callable, Mapping, Sequence
from math import exp, floor, log10
from typing import Any

from litm.analysis.shapes import MEANINGS, NONE
from litm.base.groups import grouped
from litm.base.messages import counted, first_of, in_range, interval, ordinal, p_in_words, percent, points
from litm.findings.advice_words import advice_sentences
from litm.findings.kinds import KINDS
from litm.findings.record import Finding, Number, Strength
from litm.findings.warning_words import MOST_MODELS, WARNING_REMEDIES, warning_in_words
from litm.scoring.doubts import doubt_in_words
from litm.scoring.metrics import METRICS, Metric

#: Names of a list in a sentence, and models that a headline names, at most.
MOST_NAMES, MOST_TOLD = 3, 3
#: What to do, by the names of remedies.
REMEDIES: Mapping[str, str] = {
    **WARNING_REMEDIES,
    "fewer_items": "use fewer or shorter items, or another model",
    "raise_limit": "raise max_new_tokens (or the limit in the model's `request`), or use another model if the answers "
    "repeat themselves",
    "another_prompt": "use another prompt or another model",
    "more_questions": "use more",
    "harder_questions": "use harder questions or longer contexts",
    "check_prompt": "use easier questions or another model, or check prompt_template and the answers",
    "questions_that_need_documents": "use questions that need the documents",
    "easier_questions": "use easier questions or another model",
    "more_or_questions_that_need_documents": "use more questions or questions that need the documents",
    "more_or_easier_questions": "use more questions, easier questions or another model",
    "more_clusters_or_questions_that_need_documents": "use more clusters ({cluster}) or questions that need the "
    "documents",
    "more_clusters_or_easier_questions": "use more clusters ({cluster}), easier questions or another model",
}
#: Why the positions of a curve tell nothing.
REASONS = {
    "floor": "hardly any answer is right at any position",
    "cut": "hardly any answer is right at any position and most were cut",
    "refused": "hardly any answer is right at any position and most are refusals",
    "too few questions": "there are too few questions",
    "ceiling": "nearly every answer is right at every position",
}
#: Where accuracy is lost, by the number of a curve and whether it is above 0.
LOST = {
    ("pbi", True): "when the answer is in the middle",
    ("pbi", False): "when the answer is at the start or the end",
    ("primacy", True): "when the answer is not at the start",
    ("primacy", False): "when the answer is at the start",
    ("recency", True): "when the answer is not at the end",
    ("recency", False): "when the answer is at the end",
    ("tilt", True): "when the answer is at the start instead of the end",
    ("tilt", False): "when the answer is at the end instead of the start",
    ("gap", True): "between the best and the worst position of the answer",
}
PLACES = {"accuracy": "", "start": " at the start", "middle": " in the middle", "end": " at the end"}
#: Where an answer is that an effect of position above 0 makes more probable, and where it is not.
BETWEEN = {
    "pbi": ("at start and end", "in the middle"),
    "primacy": ("at the start", "in the middle"),
    "recency": ("at the end", "in the middle"),
    "tilt": ("at the end", "at the start"),
}
#: Nats: a larger difference of log-probabilities is told as a factor of this size.
MOST_NATS = 20


def sentence(finding: Finding) -> str:
    """A finding as a sentence, or as several."""
    if KINDS[finding.kind].is_warning:
        return warning_sentence([finding])
    return SENTENCES[finding.kind](finding)


def warning_sentence(group: Sequence[Finding]) -> str:
    """The warnings of a `WarningGroup` as one sentence."""
    kind = group[0].kind
    words = WARNINGS[kind](group) if kind in WARNINGS else warning_in_words(group)
    return f"{words[0].upper() if kind in WARNINGS and words.startswith('for ') else words[0]}{words[1:]}."


def where(finding: Finding) -> str:
    """`a on kv`, `a and b on kv, qa and 3 more`, with the size and the placement if it concerns one."""
    models, experiments = " and ".join(finding.models), first_of(finding.experiments, MOST_NAMES)
    named = " on ".join(filter(None, [models, experiments]))
    of_size = None if finding.size is None else f"size {finding.size:,}"
    return ", ".join(filter(None, [named, of_size, finding.placement]))


def remedy(finding: Finding) -> str:
    """What to do, as the end of a sentence: `: use more`; "" without a remedy."""
    return f": {REMEDIES[finding.remedy]}" if finding.remedy else ""


def share(number: Number) -> str:
    """A fraction in per cent with its interval, `12.3 % [10.1, 14.5]`; `unknown` without a value."""
    if number.value is None:
        return "unknown"
    return f"{percent(number.value)} %{limits(number)}"


def difference(number: Number) -> str:
    """A difference in points with its interval, `+29.6 points [18.6, 38.6]`; `unknown` without a value."""
    return "unknown" if number.value is None else f"{points(number.value)}{limits(number)}"


def limits(number: Number) -> str:
    """` [18.6, 38.6]`; "" without limits."""
    return "" if number.low is None or number.high is None else f" {interval(number.low, number.high)}"


def about(number: int) -> str:
    """A number of questions to two digits, rounded up: `about 600`."""
    step = 10 ** max(0, floor(log10(number)) - 1) if number else 1
    return f"about {-(-number // step) * step:,}"


def mean_label(finding: Finding) -> str:
    """`accuracy`, or the label of the metric's mean if it is not the usual one."""
    label = METRICS[finding.facts["metric"]].label if finding.facts["metric"] else Metric.label
    return label if label != Metric.label else label.lower()


# --- Kinds -----------------------------------------------------------------------------------------------------


def _study(finding: Finding) -> str:
    facts = finding.facts
    sentences = [
        f"{counted(facts['n_models'], 'model')}, {counted(facts['n_experiments'], 'experiment')}, "
        f"{counted(facts['n_cells'], 'cell')} with {facts['n_answers']:,} answers counted."
    ]
    if facts["n_curves"]:
        rest = facts["n_curves"] - facts["n_differing"] - facts["n_flat"] - facts["n_silent"]
        doubts = ", or answers in doubt" if facts["has_doubts"] else ""
        sentences.append(
            f"Positions are shown to differ in {facts['n_differing']} of {counted(facts['n_curves'], 'curve')}, and to "
            f"be within 5 points of one another in {facts['n_flat']}; neither is shown in {rest}, and "
            f"{facts['n_silent']} have no information on position (floor, ceiling, or too few questions{doubts})."
        )
    if facts["published"]:
        counts = ", ".join(f"{n} {verdict}" for verdict, n in facts["published"].items())
        sentences.append(f"Compared with {counted(sum(facts['published'].values()), 'published value')}: {counts}.")
    return " ".join(sentences)


def _stand_ins(finding: Finding) -> str:
    return f"Nothing is concluded from {', '.join(finding.models)}: no model gave these answers."


def _curve(finding: Finding) -> str:
    return f"{where(finding)}: {_of_curve(finding)}."


def _of_curve(finding: Finding) -> str:
    facts, numbers = finding.facts, finding.numbers
    left_out = f", {facts['n_left_out']:,} left out" if facts["n_left_out"] else ""
    n = f"n = {finding.n:,}{left_out}"
    if numbers["best"].value is None or (finding.strength is Strength.UNINFORMATIVE or facts["reason"] in REASONS):
        return f"no information on position, {REASONS.get(facts['reason']) or doubt_in_words(facts['reason'])} ({n})"
    if facts["position_best"] is None:
        spread = f"{share(numbers['best'])} at each of the {facts['n_positions']} positions"
    else:
        best, worst = (ordinal(facts[f"position_{end}"] + 1) for end in ("best", "worst"))
        spread = (
            f"best with the answer in the {best} ({share(numbers['best'])}), worst in the {worst} "
            f"({share(numbers['worst'])}), gap {difference(numbers['gap'])[1:]}"
        )
    return ". ".join(filter(None, [f"{spread}, {n}", _shape(finding), _index(finding)]))


def _shape(finding: Finding) -> str:
    """The word and its meaning with primacy and recency; without a word, Cochran's Q."""
    facts, numbers = finding.facts, finding.numbers
    if word := facts["shape"]:
        ends = ", ".join(f"{name} {difference(numbers[name])}" for name in ("primacy", "recency"))
        return f"Shape: {word} ({_meaning(finding)}; {ends})"
    differ = "differ by more than chance" if facts["is_differing"] else "are not shown to differ"
    cochran = numbers["cochran"]
    test = "pairs of positions" if cochran.value is None else "Cochran's Q"
    return f"The positions {differ}" + ("" if cochran.p is None else f" ({test}, {p_in_words(cochran.p)} by Holm)")


def _meaning(finding: Finding) -> str:
    word = finding.facts["shape"]
    return undecided(finding) if word == NONE else MEANINGS[word]


def undecided(finding: Finding) -> str:
    """What the questions of a curve without a shown effect say, and how many would say more."""
    detectable, needed = finding.numbers["detectable"].value, finding.facts["needed"]
    if finding.strength is Strength.NOT_SHOWN:
        return f"{finding.n:,} questions would show a PBI of 5 points"
    shows = "" if detectable is None else f"{finding.n:,} questions show a PBI from {percent(detectable)} points on"
    more = f"{about(needed)} would show one of 5" if needed else ""
    return "cannot tell yet: " + (", ".join(filter(None, [shows, more])) or "use more questions")


def _index(finding: Finding) -> str:
    pbi, facts = finding.numbers["pbi"], finding.facts
    if pbi.value is None:
        return f"No PBI: {facts['reason']}" if facts["reason"] else ""
    if not facts["pbi_class"]:
        return f"The PBI carries no information ({facts['reason']})"
    return f"PBI {difference(pbi)}: {facts['class_words']}"


def _accuracy(finding: Finding) -> str:
    if doubt := finding.facts["doubt"]:
        return f"{where(finding)}: in doubt, because {doubt_in_words(doubt)}."
    return f"{where(finding)}: {share(finding.numbers['overall'])}, n = {finding.n:,}."


def _size(finding: Finding) -> str:
    said = {
        Strength.SHOWN: "shown to be more than 10",
        Strength.NOT_SHOWN: "shown to be less than 10",
        Strength.CANNOT_TELL: "not shown to be more or less than 10",
        Strength.UNINFORMATIVE: "which has at most 10 to lose",
    }
    loss, smallest = finding.numbers["loss"], finding.facts["smallest"]
    lost = f"{percent(loss.value or 0.0)} points{limits(loss)}"
    how_sure = said[finding.strength] if finding.strength else ""
    below = f"the worst position is {lost} below the best of size {smallest:,}"
    return f"{where(finding)}: {below}, {how_sure}, n = {finding.n:,}."


def _no_information(group: Sequence[Finding]) -> str:
    facts = group[0].facts
    n = in_range([number for finding in group for number in (finding.n or 0, finding.facts["n_most"])])
    clusters = {finding.facts["cluster"] for finding in group} - {None}
    more = f" clusters ({clusters.pop()})" if len(clusters) == 1 else ""
    alike = grouped(group, lambda finding: finding.experiments)
    named = [
        f"{first_of([finding.models[0] for finding in same], MOST_MODELS)} on {first_of(experiments, MOST_NAMES)}"
        for experiments, same in alike.items()
    ]
    which = first_of(named, MOST_MODELS, "; ")
    return f"{which}: positions show nothing, because {REASONS[facts['reason']]} (n = {n}){remedy(group[0])}{more}"


def _references(finding: Finding) -> str:
    oracle, closed_book = (share(finding.numbers[name]) for name in ("oracle", "closed_book"))
    n = "" if finding.n is None else f" (n = {finding.n:,})"
    accuracies = f"Right with the document alone: {oracle}; without any: {closed_book}{n}."
    helps = (
        "the document with the answer helps, so its position and the number and order of documents can matter. "
        if finding.strength is Strength.SHOWN
        else ""
    )
    return f"{where(finding)}: {helps}{accuracies}"


def _no_benefit(group: Sequence[Finding]) -> str:
    which = first_of([_beside(finding) for finding in group], MOST_MODELS, "; ")
    of_findings = (REMEDIES[finding.remedy].format_map(finding.facts) for finding in group if finding.remedy)
    remedies = list(dict.fromkeys(of_findings))
    is_differing = any(finding.facts["is_differing"] for finding in group)
    effect = "" if is_differing else ", so positions and documents have nothing to show"
    return f"The document alone is not shown to help {which}{effect}: {'; or '.join(remedies)}"


def _beside(finding: Finding) -> str:
    """`a on qa (20.0 % [0.5, 71.6] right with it, 0.0 % [0.0, 52.2] without, n = 5)`."""
    oracle, closed_book = (finding.numbers[name] for name in ("oracle", "closed_book"))
    without = "" if closed_book.value is None else f", {share(closed_book)} without"
    differ = ", though positions differ" if finding.facts["is_differing"] else ""
    return f"{where(finding)} ({share(oracle)} right with it{without}, n = {finding.n:,}{differ})"


def _pair(finding: Finding) -> str:
    """`a minus b on kv, mean of 2 sizes, n = 40: b is better in the middle by 29.6 points [18.6, 38.6]; ...`."""
    (a, b), facts, numbers = finding.models, finding.facts, finding.numbers
    sizes = f", mean of {facts['n_sizes']} sizes" if facts["n_sizes"] > 1 else ""
    label = "" if mean_label(finding) == "accuracy" else f", {mean_label(finding)}"
    better: dict[str, list[str]] = {}
    for name, place in PLACES.items():
        if (number := numbers[name]).is_shown and number.value is not None:
            winner = a if number.value > 0 else b
            better.setdefault(winner, []).append(f"{place} by {_size_of(number)}".strip())
    parts = [f"{model} is better {' and '.join(places)}" for model, places in better.items()]
    overall = numbers["accuracy"]
    parts = parts or [
        f"no difference in {mean_label(finding)} is shown ({a} minus {b}: {difference(overall)}{_p(overall)})"
    ]
    if facts["silent"]:
        parts.append(f"PBIs are not compared, because positions show nothing about {' and '.join(facts['silent'])}")
    elif (pbi := numbers["pbi"]).value is not None:
        fewer = (
            f", from {facts['n_sizes_pbi']} of {facts['n_sizes']} sizes"
            if facts["n_sizes_pbi"] < facts["n_sizes"]
            else ""
        )
        if pbi.is_shown:
            higher = a if pbi.value > 0 else b
            parts.append(f"{higher} has the higher PBI ({a} minus {b}: {difference(pbi)}{fewer})")
        else:
            parts.append(f"no difference in PBI is shown ({a} minus {b}: {difference(pbi)}{_p(pbi)}{fewer})")
    named = f"{a} and {b} on {first_of(finding.experiments, MOST_NAMES)}{sizes}, n = {finding.n:,}{label}"
    return f"{named}: {'; '.join(parts)}."


def _p(number: Number) -> str:
    return "" if number.p is None else f", {p_in_words(number.p)}"


def _size_of(number: Number) -> str:
    """The size of a difference, with its interval in the same direction: `29.6 points [18.6, 38.6]`."""
    value, low, high = number.value or 0.0, number.low or 0.0, number.high or 0.0
    low, high = (low, high) if value > 0 else (-high, -low)
    return f"{percent(abs(value))} points {interval(low, high)}"


def _log_probability(finding: Finding) -> str:
    numbers, facts = finding.numbers, finding.facts
    shown = [_times_as_probable(name, numbers[name]) for name in facts["told"]]
    none = f"its probability is not shown to differ between start, middle and end (PBI {_nats(numbers['pbi'])})"
    is_silent = f"accuracy shows nothing here ({REASONS[facts['reason']]}); " if facts["reason"] else ""
    words = f"the right answer is {', '.join(shown)}" if shown else f"of the right answer, {none}"
    return f"{where(finding)}: {is_silent}by log-probability, {words}. n = {finding.n:,}."


def _times_as_probable(name: str, number: Number) -> str:
    """`1.6 times as probable in the middle as at the start (primacy -0.47 nats [-0.73, -0.21], p = 0.012)`."""
    value = number.value or 0.0
    more, less = BETWEEN[name][:: 1 if value > 0 else -1]
    # Two digits, written out up to a billion.
    factor = float(f"{exp(min(abs(value), MOST_NATS)):.2g}")
    return f"{factor:,.9g} times as probable {more} as {less} ({name.replace('pbi', 'PBI')} {_nats(number)})"


def _nats(number: Number) -> str:
    if number.value is None:
        return "unknown"
    return f"{number.value:+.2f} nats [{number.low:.2f}, {number.high:.2f}]{_p(number)}"


def _advice(finding: Finding) -> str:
    return " ".join(advice_sentences(finding))


#: The sentence on warnings of a kind of this module's makers, without its full stop.
WARNINGS: Mapping[str, Callable[[Sequence[Finding]], str]] = {
    "no_information": _no_information,
    "no_benefit": _no_benefit,
}
#: The sentence of each other kind.
SENTENCES: Mapping[str, Callable[[Finding], str]] = {
    "study": _study,
    "stand_ins": _stand_ins,
    "curve": _curve,
    "accuracy": _accuracy,
    "size": _size,
    "references": _references,
    "pair": _pair,
    "log_probability": _log_probability,
    "advice": _advice,
    "session_remedies": _advice,
}


# --- The headline ----------------------------------------------------------------------------------------------


def headline(findings: Sequence[Finding]) -> str:
    """The findings of `FirstScreen.headline` as a sentence, followed by the advice."""
    of_kind = grouped(findings, lambda finding: finding.strength if finding.kind == "curve" else finding.kind)
    experiments = {name for kind in HEADLINES for finding in of_kind.get(kind, ()) for name in finding.experiments}
    on = f"on {next(iter(experiments))}, " if len(experiments) == 1 else ""
    parts: list[str] = []
    for kind, say in HEADLINES.items():
        if alike := of_kind.get(kind):
            parts.append(say(alike, bool(parts), not on))
    effects = on + "; ".join(parts)
    # A sentence that begins with a model's name keeps its spelling.
    is_named = not effects.startswith(("on ", "for "))
    sentences = [f"{effects if is_named else effects.capitalize()[0] + effects[1:]}."] if effects else []
    others = [sentence(finding) for kind in ("accuracy", "pair", "stand_ins") for finding in of_kind.get(kind, ())]
    advice = [advice_sentences(finding)[0] for finding in of_kind.get("advice", ())]
    return " ".join([*sentences, *others, *advice])


def _lose(findings: Sequence[Finding], is_more: bool, has_experiment: bool) -> str:
    losses = [_loses(finding, has_experiment) for finding in findings[:MOST_TOLD]]
    n_more = len(findings) - MOST_TOLD
    others = f"{n_more} more {'loses' if n_more == 1 else 'lose'} accuracy by position"
    return "; ".join([*losses, *([others] if n_more > 0 else [])])


def _loses(finding: Finding, has_experiment: bool) -> str:
    """`a loses 9 points [5, 13] when the answer is not at the start`."""
    name = finding.facts["effect"]
    number = finding.numbers[name]
    value, low, high = number.value or 0.0, number.low or 0.0, number.high or 0.0
    is_positive = value > 0
    low, high = (low, high) if is_positive else (-high, -low)
    on = f" on {finding.experiments[0]}" if has_experiment else ""
    between = f"[{100 * low:.0f}, {100 * high:.0f}]"
    return f"{finding.models[0]} loses {100 * abs(value):.0f} points {between}{on} {LOST[name, is_positive]}"


def _which(findings: Sequence[Finding], is_more: bool) -> str:
    """The models of findings: their names, or how many they are."""
    names = [finding.models[0] for finding in findings]
    if len(names) <= 2:
        return " and ".join(names)
    return f"{len(names)} {'other ' if is_more else ''}models"


def _no_loss(findings: Sequence[Finding], is_more: bool, has_experiment: bool) -> str:
    be = "is" if len(findings) == 1 else "are"
    which = _which(findings, is_more)
    return f"{which} {be} not shown to lose by position, though the questions suffice to show 5 points"


def _untold(findings: Sequence[Finding], is_more: bool, has_experiment: bool) -> str:
    needed = [finding.facts["needed"] for finding in findings if finding.facts["needed"]]
    enough = f", {about(max(needed))} would" if needed else ""
    return f"for {_which(findings, is_more)} the questions do not suffice to tell{enough}"


def _unhelped(findings: Sequence[Finding], is_more: bool, has_experiment: bool) -> str:
    return f"for {_which(findings, is_more)} the document is not shown to help, so its position has nothing to show"


def _silent(findings: Sequence[Finding], is_more: bool, has_experiment: bool) -> str:
    reasons = {finding.facts["reason"] for finding in findings}
    why = ", because " + REASONS[reasons.pop()] if len(reasons) == 1 and reasons <= REASONS.keys() else ""
    return f"for {_which(findings, is_more)} the answers say nothing on positions{why}"


#: What a headline says of findings of one strength or kind, in its order.
HEADLINES: Mapping[Any, Callable[[Sequence[Finding], bool, bool], str]] = {
    Strength.SHOWN: _lose,
    Strength.CANNOT_TELL: _untold,
    Strength.NOT_SHOWN: _no_loss,
    "no_benefit": _unhelped,
    Strength.UNINFORMATIVE: _silent,
}
