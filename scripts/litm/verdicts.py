"""Verdicts: what a judge is asked about an answer, and what it says of it, in the words of its reply."""

import re
from collections.abc import Iterable

RIGHT, WRONG, NO_ANSWER = "right", "wrong", "none"
#: The verdicts, as patterns of a reply's words; the first that fits counts.
_VERDICTS = {
    NO_ANSWER: re.compile(r"\b(?:none|no[ _-]answer)\b", re.IGNORECASE),
    WRONG: re.compile(r"(?:\bwrong|\bincorrect|(?:\bnot|n['\u2019]t) (?:right|correct))\b", re.IGNORECASE),
    RIGHT: re.compile(r"\b(?:right|correct)\b", re.IGNORECASE),
}
#: A question, which repeats the judge's task, and a denied error, which is no plain verdict.
_QUESTION = re.compile(r"[^.!?]*\?")
_DENIED = re.compile(r"(?:\bnot|n['\u2019]t) (?:wrong|incorrect)\b", re.IGNORECASE)
#: The text fields of a judge's prompt.
PLACES = ("question", "answers", "answer")
_PLACE = re.compile("{(" + "|".join(PLACES) + ")}")
#: What a prompt ends with that is asked again, after a reply that is no verdict.
REMINDER = "\n\nReply with one word and nothing else: right, wrong, or none."


def judge_prompt(template: str, question: str, answers: Iterable[str], answer: str) -> str:
    """The prompt about one answer; every line of the answer is marked, so that it cannot pass for another part."""
    quoted = "\n".join(f"| {line}" for line in answer.strip().splitlines() or [""])
    texts = {"question": question, "answers": "; ".join(answers), "answer": quoted}
    return _PLACE.sub(lambda place: texts[place[1]], template)


def read_verdict(reply: str) -> str | None:
    """The verdict of a reply, from its first line that is not blank; None for a reply that is none or several."""
    left = _QUESTION.sub(" ", reply.strip().split("\n", 1)[0])
    if _DENIED.search(left):
        return None
    said = []
    for verdict, pattern in _VERDICTS.items():
        if pattern.search(left):
            said.append(verdict)
            left = pattern.sub(" ", left)
    return said[0] if len(said) == 1 else None
