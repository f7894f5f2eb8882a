"""The advice of a study of remedies in sentences, which advice.csv has too."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from litm.base.messages import counted, difference_in_words, first_of, interval, money, percent
from litm.findings.advice import BEST, FLOOR, NOTHING_COMMON, NOTHING_SCORED, ONE_CONDITION, OTHER_NUMBER, REMEDY, WORSE
from litm.findings.record import SHOWN, Finding
from litm.records.conditions import RANKED
from litm.scoring.doubts import doubt_in_words, is_doubt

#: Conditions in doubt that a sentence names, at most.
MOST_DOUBTFUL = 3


def advice_sentences(finding: Finding) -> list[str]:
    """The advice for one model and study: what to do; then why; then what is not known. One short sentence each."""
    if finding.kind == "session_remedies":
        return _session_sentences(finding)
    if finding.facts["reason"] is not None:
        return _no_advice(finding)
    return [
        f"{finding.models[0]}: pass {finding.facts['condition']}. {cost(finding)}.",
        _why(finding),
        *(_behind(other) for other in _of_role(finding, BEST)),
        *(_other_number(other) for other in _of_role(finding, OTHER_NUMBER)),
        *_remedies(finding),
        "These answers also chose the condition, so its accuracy is optimistic.",
        *_made_up(finding),
    ]


def _session_sentences(finding: Finding) -> list[str]:
    """The remedies in a session: those that help, the most helpful first; those that cost accuracy; the others."""
    remedies = sorted(finding.facts["remedies"], key=lambda remedy: -remedy["difference"])
    shown = [remedy for remedy in remedies if remedy["p_holm"] < SHOWN]
    helping, costing = ([r for r in shown if (r["difference"] > 0) == is_up] for is_up in (True, False))
    other = "; ".join(_in_session(remedy) for remedy in remedies if remedy not in shown)
    begin = f"{finding.models[0]}: "
    sentences = [
        *(f"{_in_session(remedy)}." for remedy in helping),
        *([_unhelped(remedies)] if not helping else []),
        *(f"Shown to be worse: {_in_session(remedy)}." for remedy in costing),
        *([f"Not shown to change anything: {other}."] if other else []),
    ]
    return [f"{begin}{sentences[0][0].lower()}{sentences[0][1:]}", *sentences[1:]]


def _unhelped(remedies: Sequence[Mapping[str, Any]]) -> str:
    """Why no remedy is shown to help: nothing is to be mended, too few questions, or neither."""
    if all(remedy["accuracy_without"] == 1 for remedy in remedies):
        return "All answers are right without a remedy."
    needed = [remedy["n_for_5_points"] or 0 for remedy in remedies if remedy["p_holm"] >= SHOWN]
    n = min(remedy["n"] for remedy in remedies)
    if max(needed, default=0) > n:
        return (
            f"The {counted(n, 'question')} do not suffice to tell whether a remedy helps; {max(needed):,} would show "
            "5 points."
        )
    return "No remedy is shown to help."


def _in_session(remedy: Mapping[str, Any]) -> str:
    """`repeat the instruction at the end: 41 → 92 % (+51.0 points [40.1, 61.9], n = 20, 92 steps); costs 30 tokens`."""
    before, after = (f"{100 * remedy[name]:.0f}" for name in ("accuracy_without", "accuracy"))
    difference = difference_in_words(remedy["difference"], remedy["ci_low"], remedy["ci_high"])
    text = f"{remedy['setting']}: {before} → {after} % ({difference}, n = {remedy['n']:,}, {remedy['size']:,} steps)"
    if remedy["tokens"] is None:
        return text
    dollars = "" if not remedy["dollars"] else f", US$ {money(abs(remedy['dollars']))} for 1,000 questions"
    return f"{text}; {'costs' if remedy['tokens'] >= 0 else 'saves'} {abs(remedy['tokens']):,.0f} tokens{dollars}"


def cost(finding: Finding) -> str:
    """`82.1 % right [78.0, 85.6], n = 400, 1,034 tokens a question, US$ 0.20 for 1,000 questions`."""
    accuracy, tokens, dollars = (finding.numbers[name] for name in ("accuracy", "tokens", "dollars"))
    facts = f"{percent(accuracy.value or 0.0)} % right {interval(accuracy.low or 0.0, accuracy.high or 0.0)}"
    facts += f", n = {finding.n:,}"
    if tokens.value is not None:
        facts += f", {tokens.value:,.0f} tokens a question"
    return facts if dollars.value is None else f"{facts}, US$ {money(dollars.value)} for 1,000 questions"


def _of_role(finding: Finding, role: str) -> list[Mapping[str, Any]]:
    return [other for other in finding.facts["compared"] if other["role"] == role]


def _difference(other: Mapping[str, Any]) -> str:
    return difference_in_words(other["difference"], other["low"], other["high"])


def _times(other: Mapping[str, Any]) -> str:
    """` at 3.8 times the cost`; "" if it rounds to 1.0 or is unknown."""
    ratio = "1.0" if other["times"] is None else f"{other['times']:.1f}"
    return "" if ratio == "1.0" else f" at {ratio} times the cost"


def _why(finding: Finding) -> str:
    alike, every = finding.facts["n_alike"], finding.facts["n_conditions"]
    if alike == 1:
        return f"All {every - 1} other conditions are shown to be worse."
    loses = percent(finding.numbers["may_lose"].value or 0.0)
    return (
        f"It is the cheapest of {alike} not shown to be worse than the best of {every}, and loses at most {loses} "
        "points."
    )


def _made_up(finding: Finding) -> Iterator[str]:
    """What the advised condition costs where no document has the answer, or for an order that this is not known."""
    facts, numbers = finding.facts, finding.numbers
    if facts["n_without_answer"] is not None:
        share, plain, more = (numbers[name] for name in ("made_up", "made_up_plain", "made_up_more"))
        text, n = "Made-up answers where no document has the answer", facts["n_without_answer"]
        if plain.value is None:
            yield f"{text}: {percent(share.value or 0)} % {interval(share.low or 0, share.high or 0)}, n = {n:,}."
        else:
            difference = difference_in_words(more.value or 0, more.low or 0, more.high or 0)
            shown = "" if facts["is_made_up_shown"] else ", not shown"
            arrow = f"{percent(plain.value)} % as retrieved → {percent(share.value or 0)} %"
            yield f"{text}: {arrow}, {difference}{shown}, n = {n:,}."
    elif facts["order"] != RANKED and facts["documents"] > 1:
        yield (
            "Whether this order brings more made-up answers where no document has the answer was not checked; "
            f"this line of the config does: define: {{experiments: {{{finding.experiments[0]}: {{absent: true}}}}}}."
        )


def _behind(other: Mapping[str, Any]) -> str:
    """A sentence on the condition with the most right answers, whose lead is not shown."""
    return f"Most right answers: {other['condition']} ({_difference(other)}{_times(other)}); not shown to be better."


def _other_number(other: Mapping[str, Any]) -> str:
    shown = "" if other["is_shown"] else ", not shown"
    return f"With {counted(other['documents'], 'document')}: {_difference(other)}{_times(other)}{shown}."


def _remedies(finding: Finding) -> Iterator[str]:
    """A sentence on the single remedies at the advised number of documents, against documents as retrieved."""
    remedies = _of_role(finding, REMEDY)
    effects = "; ".join(f"{other['condition']} {_difference(other)}" for other in remedies)
    if any(other["is_shown"] for other in remedies):
        yield f"Against best first with {counted(finding.facts['documents'], 'document')}: {effects}."
    elif remedies:
        yield f"No remedy is shown to help; the largest effect: {effects}."


def _no_advice(finding: Finding) -> list[str]:
    facts, begin = finding.facts, f"{finding.models[0]}: no advice"
    (study,), reason, every = finding.experiments, facts["reason"], facts["n_conditions"]
    if reason == NOTHING_COMMON:
        return [f"{begin}. No question was scored under all conditions of {study}."]
    if reason == NOTHING_SCORED:
        return [
            f"{begin}. No condition of {study} scored {facts['least_scored']:.0%} of its questions; advice.csv has the "
            "number for each."
        ]
    if is_doubt(reason):
        doubtful = first_of(facts["in_doubt"], MOST_DOUBTFUL, "; ")
        return [f"{begin}. With {doubtful}: {doubt_in_words(reason)}."]
    named = f"{facts['condition']}, {cost(finding)}"
    if reason == FLOOR:
        return [f"{begin}. Hardly any answer is right under any of the {every} conditions; the best: {named}."]
    if reason == ONE_CONDITION:
        return [f"{begin}. Only one condition was scored: {named}."]
    cheap = "The best, also the cheapest of those like it" if facts["is_best"] else "The cheapest not shown to be worse"
    questions = counted(finding.n or 0, "question")
    return [
        f"{begin} yet: {questions} cannot tell the {every} conditions apart{_needed(finding)}.",
        f"{cheap}: {named}.",
        f"It may lose up to {percent(finding.numbers['may_lose'].value or 0.0)} points to {facts['other']} "
        f"({percent(finding.numbers['other'].value or 0.0)} %).",
        *_shown_worse(finding),
    ]


def _needed(finding: Finding) -> str:
    """`; 791 would show 5 points (...)`; "" where that does not matter."""
    if finding.facts["needed"] is None:
        return ""
    # Needs scipy, which the console does not.
    from litm.analysis.power import Assumption, needed_in_words

    assumed, comparisons = Assumption(*finding.facts["assumed"]), finding.facts["n_conditions"] - 1
    return f"; {needed_in_words(finding.facts['needed'], assumed, comparisons=comparisons)}"


def _shown_worse(finding: Finding) -> Iterator[str]:
    """A sentence for a case without advice: the conditions shown to be worse, documents as retrieved."""
    if n_worse := finding.facts["n_conditions"] - finding.facts["n_alike"]:
        plain = ", ".join(f"{other['documents']}: {_difference(other)}" for other in _of_role(finding, WORSE))
        among = f", among them documents as retrieved ({plain})" if plain else ""
        yield f"Shown to be worse than the best: {counted(n_worse, 'condition')}{among}."
