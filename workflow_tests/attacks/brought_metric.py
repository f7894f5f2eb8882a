"""What people bring: answers as tables write them, passages as PDFs have them, and what models say."""

from collections.abc import Iterator

from answer_texts import IN, NOT_IN
from brought_study import DOCUMENTS, QUESTIONS, TOWNS, UNKNOWN, completion, is_said, judged, study
from outcomes import RIGHT, WRONG, Arena, Case, Outcome

from litm.scoring.metrics import METRICS

CONFIG = {"models": ["served"], "my_data": {"documents": "docs", "questions": "questions.csv"}}


def _verdicts(arena: Arena) -> Iterator[Outcome]:
    metric = METRICS["whole_words"]
    for pairs, expected in ((IN, True), (NOT_IN, False)):
        for text, answer in pairs:
            verdict = metric.verdict(metric.judge, text, [answer])
            yield Outcome(f"{answer!r} in {text!r}", RIGHT if verdict == expected else WRONG)


def _table(form: str) -> str:
    rows = (f'"{question}","{form.format(answer)}"\n' for question, answer in QUESTIONS.items())
    return "question,answer\n" + "".join(rows)


def _ends(arena: Arena) -> Iterator[Outcome]:
    """An answer with a full stop is the answer, for the gold passage, for the distractors and for the metric."""
    people = {
        f"docs/{town}_people.txt": f"Who paid for the bridge of {town}: it was {who} who did, people say.\n"
        for town, (_, who) in TOWNS.items()
    }
    files = {**DOCUMENTS, **people, "questions.csv": _table("{}.")}
    found = study(arena, files, CONFIG)
    yield judged("answers that end with a full stop", found, lambda it: set(it.accuracy()) == {1.0})


def _ligatures(arena: Arena) -> Iterator[Outcome]:
    names = {who: who.replace("Quill", "Griffin").replace("Finn", "Flint") for who in QUESTIONS.values()}
    shown = {name: text.replace("Ada Quill", "Ada Gri\ufb03n") for name, text in DOCUMENTS.items()}
    table = "question,answer\n" + "".join(f"{question},{names[who]}\n" for question, who in QUESTIONS.items())
    said = {question: names[who].replace("ffi", "\ufb03") for question, who in QUESTIONS.items()}
    found = study(arena, {**shown, "questions.csv": table}, CONFIG, said)
    yield judged("ligatures in passages and answers", found, lambda it: set(it.accuracy()) == {1.0})


def _choices(arena: Arena) -> Iterator[Outcome]:
    """A model that says neither yes nor no is never right, and the level of a guess is said."""
    documents = {
        name: text + f"Is it of stone? {'yes' if number % 2 else 'no'}.\n"
        for number, (name, text) in enumerate(DOCUMENTS.items())
    }
    rows = (
        f"Is the bridge of {town} of stone?,{'yes' if number % 2 else 'no'},{town}.txt\n"
        for number, town in enumerate(TOWNS)
    )
    said = "I do not know, but a better document would tell."
    found = study(
        arena,
        {**documents, "questions.csv": "question,answer,file\n" + "".join(rows)},
        CONFIG,
        {},
        lambda body, _, __: (200, completion(body, said)),
    )
    yield judged("'no' in know and better", found, lambda it: set(it.accuracy()) == {0.0})
    checks = found.table("answer_checks")
    yield Outcome("the level of a guess", RIGHT if checks.chance.dropna().eq(0.5).any() else WRONG, str(checks))


def _rule_is_said(arena: Arena) -> Iterator[Outcome]:
    found = study(
        arena,
        {**DOCUMENTS, "questions.csv": _table("{}")},
        CONFIG,
        reply=lambda body, _, __: (200, completion(body, UNKNOWN)),
    )
    yield Outcome(
        "the metric is said at the start", RIGHT if is_said(found, "whole words") else WRONG, found.said[-300:]
    )


CASES = [
    Case("answers in other forms, and inside other words", _verdicts, fast=True),
    Case("answers that end with a full stop", _ends),
    Case("ligatures", _ligatures),
    Case("yes and no", _choices),
    Case("the rule is said", _rule_is_said),
]
