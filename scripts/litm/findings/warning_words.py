"""Warnings in words: a sentence for the warnings of a kind, with the models and experiments that they concern.

`4 models have answers cut at the limit of new tokens (a 12 of 600 on kv, b 3 of 600 on kv and 2 more): accuracy is a
lower bound; raise max_new_tokens (in define.experiments), unless they repeat themselves`
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, cast

from litm.base.groups import grouped
from litm.base.messages import FEW_CLUSTERS, counted, difference_in_words, first_of, in_range, percent
from litm.examples.written_questions import outcomes_in_words
from litm.findings.record import Finding, Number
from litm.scoring.doubts import WORDS, reason_in_words

#: Models, and experiments of a model or of a warning about questions, that a sentence names, at most.
MOST_MODELS, MOST_EXPERIMENTS = 4, 3

#: What to do, by name; {} are facts of the finding.
WARNING_REMEDIES: Mapping[str, str] = {
    **{f"doubt_{name}": doubt.remedy for name, doubt in WORDS.items() if doubt.remedy},
    "raise_max_new_tokens": "raise max_new_tokens (in define.experiments), unless they repeat themselves",
    "raise_request": "raise {key} (in the model's request), unless they repeat themselves",
    "strip_reasoning": "set the model's 'reasoning: strip' (no server is asked again)",
    "record_all": "nothing after it was recorded, `stop: end_token` records all of it",
    "accept_forms": "where words are inflected or compound, add their forms to the answers, separated by |, or set "
    "metric: best_subspan_em in define.experiments",
    "set_positions": "to compare the other positions, set positions: {kept} for {experiment} in define.experiments",
    "correct_gold": "check and correct them in results/tables/gold_passages.csv",
    "more_clusters": "use more clusters",
    "fill_in_labels": "fill in a copy of each table in results/labels and name it as the judge's 'labels' "
    "(docs/judged.md)",
    "other_labels": "the table named as the judge's 'labels' has none of these answers: leave it out, and fill in a "
    "copy of the one in results/labels (docs/judged.md)",
    "another_judge": "name another judge, or a prompt to which it replies with one word",
    "label_more": "label more answers: each position needs some that the judge calls right and wrong, with and without "
    "an accepted answer in them",
}


class Words(NamedTuple):
    """The words of a kind of warning."""

    what: str
    """What is the case, after `has`; of a warning about questions, the beginning of the sentence."""
    so: str = ""
    """What follows."""


OF_ANSWERS: Mapping[str, Words] = {
    "reasoning_text": Words("many answers with <think> or </think>", "they are scored with their reasoning"),
    "unknown_prompts": Words(
        "recorded answers without prompt_sha256, which do not say what prompts they answer",
        "their accuracy is valid only if the prompts had the seed, documents and text of this study",
    ),
    "unrecorded_positions": Words("no recorded answer at some positions", "their shape and PBI are unknown"),
    "left_out": Words(
        "questions that do not fit the context window at a position", "these are left out at all positions of the size"
    ),
    "failed": Words("questions that were asked and got no answer", "these are not counted"),
    "not_recorded": Words("questions without a recorded answer", "these are not counted"),
    "cut": Words("answers cut at the limit of new tokens", "accuracy is a lower bound"),
    "empty": Words("many empty answers", "they are scored as answers"),
    "refused": Words("many answers refused or withheld by the provider", "they are scored as received"),
    "reading": Words(
        "a conclusion that changes with how much of the answers is read", "see tables/reading_sensitivity.csv"
    ),
    "judge_unchecked": Words("answers judged by a model that nobody has checked", "how often it errs is unknown"),
    "judge_uncorrected": Words(
        "answers judged by a model", "the labels are too few to correct its errors at all positions"
    ),
    "judge_corrected": Words(
        "answers judged by a model",
        "the numbers are corrected by labels (tables/judge.csv), except kinds of wrong answers and comparisons with "
        "answers that have no labels",
    ),
    "judges_itself": Words("answers that the same model has judged", "models prefer their own answers"),
    "no_verdict": Words("answers without a verdict of the judge", "these are not counted"),
    "announced": Words("answers whose first line ends with a colon", "it may only announce the answer"),
    "inside_words": Words(
        "answers with an accepted answer only inside other words or numbers, or after another choice",
        "these count as wrong (column accuracy_lenient)",
    ),
}
OF_QUESTIONS: Mapping[str, Words] = {
    "written": Words(
        "The questions are written by a model",
        "with the passage alone the model that checked them is right and without documents wrong, because other "
        "questions are not kept",
    ),
    "written_before": Words("Questions of your table are written by a model", "its column written_by says so"),
    "gold_looked_for": Words("Some questions do not say which passage has the answer"),
    "answers_not_in_gold": Words(
        "The metric finds none of the answers of some questions in their gold documents",
        "an answer from there may count as wrong (tables/answer_checks.csv)",
    ),
    "answers_elsewhere": Words(
        "The metric finds the answers of many questions in other items of the context too",
        "a wrong answer may count as right (tables/answer_checks.csv)",
    ),
    "choices": Words(
        "The answers of many questions are a yes, a no or a letter",
        "no metric of words tells a guess from knowledge; the level to beat is not 0 % but that of the same answer to "
        "all of these",
    ),
    "few_clusters": Words(
        f"The questions are in clusters that are worth fewer than {FEW_CLUSTERS} of equal size",
        "the intervals may be too narrow",
    ),
    "filled": Words("Documents were filled in at random", "the retriever found too few"),
}


def warning_in_words(group: Sequence[Finding]) -> str:
    """A sentence, without its full stop, on warnings of one kind, see `warnings.in_groups`."""
    kind = group[0].kind
    if kind == "doubt":
        of_answers = dict.fromkeys(finding.facts["detail"] for finding in group)
        because = reason_in_words(group[0].facts["doubt"], [*of_answers])
        return _joined(_named(group), f"no shape, no PBI and no advice, because {because}", group)
    if kind == "recorded_doubt":
        return _joined(_named(group), group[0].facts["doubt"], group)
    if kind in OF_QUESTIONS:
        return _joined(f"{OF_QUESTIONS[kind].what} ({_questions(group)})", OF_QUESTIONS[kind].so, group)
    by_model = _by_share(group)
    where = {_experiments(findings) for findings in by_model.values()}
    # Experiments that all models have in common stand before the counts, others beside each model's.
    on = f" on {where.pop()}" if len(where) == 1 else ""
    has = f"{next(iter(by_model))}{on} has" if len(by_model) == 1 else f"{len(by_model):,} models{on} have"
    tell = DETAILS.get(kind, _count)
    details = [
        f"{'' if len(by_model) == 1 else model if on else _model_on([model], findings)} {tell(findings)}".lstrip()
        for model, findings in by_model.items()
    ]
    what = f"{has} {OF_ANSWERS[kind].what} ({first_of(details, MOST_MODELS, '; ')})"
    return _joined(what, OF_ANSWERS[kind].so, group)


def _by_share(group: Sequence[Finding]) -> dict[str, list[Finding]]:
    """The findings on each model; the largest shares first, where the kind has any."""
    ordered = sorted(group, key=lambda finding: -(finding.numbers.get("share", Number(0)).value or 0))
    return grouped(ordered, lambda finding: finding.models[0])


def _joined(what: str, so: str, group: Sequence[Finding]) -> str:
    """`what: so; remedy`."""
    return ": ".join(filter(None, [what, "; ".join(filter(None, [so, *_remedies(group)]))]))


def _remedies(group: Sequence[Finding]) -> list[str]:
    """What to do; if that is not the same for all, with the models that it is for."""
    by_text = grouped((finding for finding in group if finding.remedy), remedy_in_words)
    if len(by_text) == 1 and all(finding.remedy for finding in group):
        return [*by_text]
    models = {
        text: dict.fromkeys(model for finding in findings for model in finding.models)
        for text, findings in by_text.items()
    }
    return [f"{text} (for {first_of([*names], MOST_MODELS)})" if names else text for text, names in models.items()]


def remedy_in_words(finding: Finding) -> str:
    """What to do about a warning; "" where there is nothing."""
    if finding.remedy is None:
        return ""
    facts = {**finding.facts, "experiment": first_of(finding.experiments, MOST_EXPERIMENTS)}
    if finding.remedy == "set_positions":
        facts["kept"] = dict(facts["kept"])
    return WARNING_REMEDIES[finding.remedy].format_map(facts)


def _named(findings: Iterable[Finding]) -> str:
    """`a on kv, qa (size 10); b on kv`; of warnings about questions, the experiments."""
    by_model = grouped(findings, lambda finding: finding.models)
    return first_of([_model_on(models, of_model) for models, of_model in by_model.items()], MOST_MODELS, "; ")


def _model_on(models: Sequence[str], findings: Sequence[Finding]) -> str:
    return " on ".join(filter(None, [", ".join(models), _experiments(findings)]))


def _experiments(findings: Iterable[Finding]) -> str:
    names = (f"{', '.join(finding.experiments)}{_sizes(finding)}" for finding in findings)
    return first_of([*dict.fromkeys(names)], MOST_EXPERIMENTS)


def _sizes(finding: Finding) -> str:
    """` (size 10, 20)` of a doubt on some sizes alone."""
    if finding.facts.get("is_whole", True):
        return ""
    return f" (size {', '.join(f'{size:,}' for size in finding.facts['sizes'])})"


# --- Counts ----------------------------------------------------------------------------------------------------


def _count(findings: Sequence[Finding]) -> str:
    """`12 of 600`."""
    count, n = (sum(finding.facts["count"] for finding in findings), sum(finding.n or 0 for finding in findings))
    return f"{count:,} of {n:,}"


def _judged(findings: Sequence[Finding]) -> str:
    """`120 by gpt-4o-mini, 84 labels`."""
    judges = dict.fromkeys(finding.facts["judge"] for finding in findings)
    labels = sum(finding.facts.get("count", 0) for finding in findings)
    by = f"{sum(finding.n or 0 for finding in findings):,} by {first_of([*judges], MOST_MODELS)}"
    if brings := [finding.facts["with_labels"] for finding in findings if "with_labels" in finding.facts]:
        return f"{by}; 50 labels would tell each accuracy to about ±{100 * max(brings):.0f} points"
    return f"{by}, {labels:,} labels" if labels else by


def _cut(findings: Sequence[Finding]) -> str:
    """`12 of 600 at 30 to 100 tokens, 51.2 % of the others right`."""
    limits = [finding.facts["limit"] for finding in findings if finding.facts["limit"]]
    right, completed = (
        [finding.facts["right"] for finding in findings],
        [(finding.n or 0) - finding.facts["count"] for finding in findings],
    )
    others = (
        f", {percent(sum(right) / sum(completed))} % of the others right"
        if None not in right and any(completed)
        else ""
    )
    return _count(findings) + (f" at {in_range(limits)} tokens" if limits else "") + others


def _lacking(findings: Sequence[Finding]) -> str:
    """`12 of 600, up to 3 at a position`."""
    return f"{_count(findings)}, up to {max(finding.facts['most'] for finding in findings):,} at a position"


def _announced(findings: Sequence[Finding]) -> str:
    """`12 of 600, 3 of these right`."""
    partly = " at least in part" if any(finding.facts["is_graded"] for finding in findings) else ""
    return f"{_count(findings)}, {sum(finding.facts['right'] for finding in findings):,} of these right{partly}"


def _unknown(findings: Sequence[Finding]) -> str:
    return f"{sum(finding.n or 0 for finding in findings):,}"


def _positions(findings: Sequence[Finding]) -> str:
    """`4, 9 of 10, counted from 0`."""
    lacking = [
        f"{_own_experiment(finding, findings)}{', '.join(map(str, positions))} of {size:,}"
        for finding in findings
        for size, positions in finding.facts["without"]
    ]
    return f"{first_of(lacking, MOST_EXPERIMENTS, '; ')}, counted from 0"


def _reading(findings: Sequence[Finding]) -> str:
    """`pbi at size 10 +2.0 points [1.0, 3.0] by the first line, -1.0 points [-2.0, 1.0] by the whole answer`."""
    changes = []
    for finding in findings:
        facts = finding.facts
        place = f", {facts['placement']}" if facts["placement"] else ""
        first, full = (_difference(finding.numbers[name]) for name in ("first_line", "full"))
        more = f", and {facts['changes'] - 1:,} more" if facts["changes"] > 1 else ""
        changes.append(
            f"{_own_experiment(finding, findings)}{facts['quantity']} at size {facts['size']:,}{place} {first} by the "
            f"first line, {full} by the whole answer{more}"
        )
    return first_of(changes, MOST_EXPERIMENTS, "; ")


def _own_experiment(finding: Finding, findings: Sequence[Finding]) -> str:
    """The experiment of a finding that is detailed apart from others on the model."""
    return f"{_experiments([finding])} " if len(findings) > 1 else ""


def _difference(number: Number) -> str:
    return difference_in_words(*cast(tuple[float, float, float], number[:3]))


#: How the findings on a model are detailed, by kind.
DETAILS: Mapping[str, Callable[[Sequence[Finding]], str]] = {
    "judge_unchecked": _judged,
    "judge_uncorrected": _judged,
    "judge_corrected": _judged,
    "judges_itself": _judged,
    "cut": _cut,
    **dict.fromkeys(("left_out", "failed", "not_recorded"), _lacking),
    "announced": _announced,
    "unknown_prompts": _unknown,
    "unrecorded_positions": _positions,
    "reading": _reading,
}


def _questions(group: Sequence[Finding]) -> str:
    """The experiments, or question sets, those with equal numbers together: `a, b 2 of 20; c 3 of 40`."""
    named = []
    for detail, alike in grouped(group, _question_detail).items():
        names = [finding.facts.get("questions") or ", ".join(finding.experiments) for finding in alike]
        named.append(f"{first_of(names, MOST_EXPERIMENTS)} {detail}")
    return first_of(named, MOST_MODELS, "; ")


def _question_detail(finding: Finding) -> str:
    facts, n = finding.facts, finding.n or 0
    match finding.kind:
        case "gold_looked_for":
            parts = [f"{n - facts['without']:,} of {n:,} with a gold passage"]
            looked_for, without = facts["looked_for"], facts["without"]
            parts += [f"{looked_for:,} of them the first retrieved with the answer"] if looked_for else []
            parts += [f"{without:,} without, left out"] if without else []
            return ", ".join(parts)
        case "written":
            by, checked_by = facts["written_by"], facts["checked_by"]
            return f"{n:,} by {by}, checked by {checked_by}: {outcomes_in_words(facts['outcomes'])}"
        case "written_before":
            return f"{facts['written']:,} of {n:,} by {first_of(facts['written_by'], MOST_MODELS)}"
        case "few_clusters":
            worth = f", worth {facts['worth']} of equal size" if facts["worth"] < facts["clusters"] else ""
            clusters = counted(facts["clusters"], "cluster")
            return f"{counted(n, 'question')} in {clusters} ({facts['cluster']}){worth}"
        case "filled":
            sizes = zip(facts["shares"], facts["sizes"], strict=True)
            return ", ".join(f"{percent(share)} % at size {size:,}" for share, size in sizes)
        case "choices":
            return (
                f"{facts['count']:,} of {n:,}, {100 * (finding.numbers['chance'].value or 0):.0f} % by the same answer"
            )
        case _:
            return f"{facts['count']:,} of {n:,}"
