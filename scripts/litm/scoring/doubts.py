"""Doubts: technical reasons why an answer is neither right nor wrong, such as a prompt that the server cut.

A number is in doubt if more than half of its answers are (docs/numbers.md). Where a right answer shows that the reason
does not hold, there is no doubt.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from litm.answer_words import WHOLE_WORDS, choice_of
from litm.base.groups import grouped
from litm.base.messages import single_spaced
from litm.placements import ABSENT, NO_GOLD
from litm.records.examples import Target
from litm.records.responses import FAILED, NOT_RECORDED, REFUSED
from litm.scoring.metrics import FIRST_LINE, METRICS, first_line

if TYPE_CHECKING:
    import pandas as pd

PROMPTS_CUT, PROMPT_REPEATED, WITHHELD, ERROR, NOT_IN_GOLD, SAME_ANSWER, EMPTY, REPETITION = (
    "prompts_cut", "prompt_repeated", "refused", "error", "not_in_gold", "same_answer", "empty", "repetition",
)  # fmt: skip


class Doubt(NamedTuple):
    """A doubt in words."""

    reason: str
    """{} stands for a detail of the answers."""
    remedy: str = ""
    """What to do; "" where only the answers can say it."""


#: The doubts in words, in the order in which they are looked for. A value of the column `doubt` is one of these, with a
#: detail after a colon where the words have one.
WORDS = {
    PROMPTS_CUT: Doubt(
        "the server cut the prompts to {} tokens",
        "raise its context length (num_ctx in Ollama) or use fewer or shorter items",
    ),
    PROMPT_REPEATED: Doubt("most answers repeat their prompt", "check the endpoint, its `echo` and prompt_template"),
    WITHHELD: Doubt("most answers were refused or withheld by the provider", "use another prompt or another model"),
    ERROR: Doubt("most answers are a server's or a program's error messages", "ask these again"),
    NOT_IN_GOLD: Doubt(
        "the metric finds none of the accepted answers in the gold documents of most questions, and hardly any answer "
        "is right",
        "check the answers (tables/answer_checks.csv) or use another metric",
    ),
    SAME_ANSWER: Doubt("all answers are the same, and right for no question: {}"),
    EMPTY: Doubt("most answers are empty", "check prompt_template, max_new_tokens and the server's log"),
    REPETITION: Doubt(
        "most answers repeat one piece of text and hardly any is right", "check prompt_template and the model's files"
    ),
}
#: Doubts that no right answer refutes: a text with its prompt has all answers of the prompt.
REGARDLESS = (PROMPTS_CUT, PROMPT_REPEATED)
#: Fraction: more right answers than this refute a reason; with fewer exceptions, all answers count as the same.
FEW = 0.05
#: Words of a prompt that an answer has by copying, not by quoting.
STRETCH = 30
#: Characters of the shortest beginning of a prompt.
BEGINNING = 40
#: Questions to which one wrong text may be no answer; fewer may share it by chance.
FEWEST_QUESTIONS = 5
#: Characters of the longest piece, a sentence, and how often a text has it at least, of a text that repeats itself; and
#: characters by which other pieces are told apart without comparing whole texts.
PIECE, TIMES, BEGUN = 200, 8, 30
#: Characters of a text in a value.
MOST_TEXT = 60
#: Placements of prompts that lack the answer.
WITHOUT_ANSWER = (NO_GOLD, ABSENT)
#: Metrics that search a text for an answer, so that they find it in a gold document too.
SEARCHING = ("best_subspan_em", WHOLE_WORDS)
#: How error messages of servers and programs begin.
_ERROR = re.compile(
    r"\W*(?:<!doctype html|<html|traceback \(most recent|(?:\w+\.)*\w*(?:error|exception)\W*(?::|code|\d{3}\b)"
    r"|(?:\w+ )?error(?:\]|\W*$|[\"']?\s*[:=]| - )|an (?:\w+ )?error (?:has )?occurred"
    r"|error (?:calling|communicating|generating|processing|while|during)\b|\w+(?:Error|Exception)\("
    r"|(?:request|api call|call) failed|failed to (?:generate|get|fetch|call|connect|process|parse)\b"
    r"|(?:http\S*\s+)?[45]\d\d\s+(?:bad|unauthorized|forbidden|not found|too many|internal|service|gateway)"
    r"|bad gateway|internal server error|service (?:temporarily )?unavailable|gateway time-?out|too many requests"
    r"|rate limit|(?:request|connection|read) (?:timed out|timeout|error|reset)"
    r"|https?connectionpool\(|cuda (?:error|out of memory)|[\"'](?:status|code)[\"']:\s*[45]\d\d\b)",
    re.IGNORECASE,
)
#: What a chat format writes before a prompt.
_ROLES = re.compile(r"(?:<[^<>]{1,40}>|\[/?INST\]|\b(?:user|human|system|assistant|prompt)\b|[\s:#])*", re.IGNORECASE)


class Answer(NamedTuple):
    """An answer to one target of a prompt, as far as doubts need it."""

    row: Any
    """A `scores.Score`."""
    text: str
    """The answer, empty without one."""
    length: int
    """Characters of the prompt."""
    accepted: Sequence[str]
    signs: Sequence[str]
    """Values of `WORDS`, of the answer and its own prompt."""

    @property
    def is_counted(self) -> bool:
        """Whether it counts in an accuracy."""
        return not self.row.excluded and self.row.finish_reason not in (FAILED, NOT_RECORDED)

    @property
    def correct(self) -> float:
        return float(self.row.correct or 0)


def read_answer(row: Any, text: str, prompt: str, target: Target) -> Answer:
    """The answer of a score row to a target of a prompt; without signs if it does not count."""
    answer = Answer(row, text, len(prompt), target.answers, ())
    gold = target.text_in(prompt) if target.span else ""
    return answer._replace(signs=[*_signs(row, text, prompt, gold, target.answers)]) if answer.is_counted else answer


def _signs(row: Any, text: str, prompt: str, gold: str, answers: Sequence[str]) -> Iterator[str]:
    metric = METRICS[row.metric]
    if repeats_prompt(text, prompt, gold):
        yield PROMPT_REPEATED
    if row.finish_reason == REFUSED:
        yield WITHHELD
    if is_error(text):
        yield ERROR
    # A question may have a yes, a no or a letter as its answer without any in the document.
    is_choice = all(map(choice_of, answers))
    if row.metric in SEARCHING and gold and not is_choice and not metric.judge(gold, answers):
        yield NOT_IN_GOLD
    if row.empty:
        yield EMPTY
    if repeats_itself(first_line(text) if metric.reads == FIRST_LINE else text):
        yield REPETITION


def repeats_prompt(text: str, prompt: str, gold: str) -> bool:
    """Whether an answer begins as its prompt does, has all of it, or begins with a long stretch of it outside the gold
    item, which an answer may quote.
    """
    roles = _ROLES.match(text)
    words = text[roles.end() if roles else 0 :].split()
    answer, begun = " ".join(words), " ".join(words[:STRETCH])
    if len(begun) < BEGINNING or not prompt:
        return False
    # Of most answers and prompts one of the first words tells that none of the following holds.
    if not _has_all(prompt, words[:STRETCH]) and not _has_all(answer, prompt.split(maxsplit=STRETCH)[:STRETCH]):
        return False
    asked = single_spaced(prompt)
    is_stretch = len(words) >= STRETCH and begun in asked and begun not in single_spaced(gold)
    is_all = answer.startswith(asked) or (asked in answer and asked.count(" ") >= STRETCH)
    return asked.startswith(begun) or is_stretch or is_all


def _has_all(text: str, words: Iterable[str]) -> bool:
    return all(word in text for word in words)


def is_error(text: str) -> bool:
    """Whether a text begins as an error message of a server or a program."""
    return _ERROR.match(text) is not None


def repeats_itself(text: str) -> bool:
    """Whether the last four fifths of a text are `TIMES` or more repetitions of a piece."""
    end = text[len(text) // 5 :]
    sizes, begun = range(1, min(PIECE, len(end) // TIMES) + 1), end[: min(BEGUN, len(end) // 2)]
    return any(end.startswith(begun, size) and end[size:] == end[:-size] for size in sizes)


def doubts_on(answers: Sequence[Answer], limit: int | None) -> list[str | None]:
    """The doubt on each answer of a sweep, None without one.

    limit: tokens to which a server cut prompts, None if it did not.
    """
    sizes = grouped((answer for answer in answers if answer.is_counted), lambda answer: answer.row.size)
    doubts: dict[int, str | None] = {}
    for of_size in sizes.values():
        same, refuted = _same_text(of_size), {sign for sign in WORDS if _is_refuted(sign, of_size)}
        for answer in of_size:
            signs = {sign: "" for sign in answer.signs if sign not in refuted}
            if limit and (answer.row.prompt_tokens or 0) >= limit:
                signs[PROMPTS_CUT] = f": {limit}"
            if same and answer.text == same and answer.row.placement not in WITHOUT_ANSWER:
                signs[SAME_ANSWER] = f": {single_spaced(same)[:MOST_TEXT]}"
            doubts[id(answer)] = next((f"{sign}{signs[sign]}" for sign in WORDS if sign in signs), None)
    return [doubts.get(id(answer)) for answer in answers]


def _is_refuted(sign: str, answers: Iterable[Answer]) -> bool:
    """Whether more than `FEW` of the answers with a sign are right, so that the others count as wrong."""
    with_sign = [answer.correct for answer in answers if sign in answer.signs]
    return sign not in REGARDLESS and sum(with_sign) > FEW * len(with_sign)


def _same_text(answers: Iterable[Answer]) -> str | None:
    """The text of nearly all answers of a size to prompts with an answer, if several questions with other accepted
    answers have it and it is right for none; else None.

    Nearly all: a model may honestly say that it does not know, at many positions, or without the answer.
    """
    asked = [answer for answer in answers if answer.row.placement not in WITHOUT_ANSWER]
    texts = Counter(answer.text for answer in asked).most_common(1)
    same = [answer for answer in asked if answer.text == texts[0][0]]
    is_of_all = len(same) >= (1 - FEW) * len(asked) and len({answer.row.id for answer in same}) >= FEWEST_QUESTIONS
    is_wrong = not any(answer.correct for answer in same) and len({tuple(answer.accepted) for answer in same}) > 1
    return texts[0][0] if is_of_all and is_wrong else None


# --- Numbers ---------------------------------------------------------------------------------------------------


def doubt_of(scores: "pd.DataFrame") -> str | None:
    """The doubt on a number from these score rows: the most frequent if more than half of the counted are in doubt."""
    if "doubt" not in scores:
        return None
    counted = scores[~scores["excluded"] & ~scores["finish_reason"].isin([FAILED, NOT_RECORDED])]
    values = counted["doubt"].dropna()
    return str(values.mode().iloc[0]) if 2 * len(values) > len(counted) else None


def few_errors(scores: "pd.DataFrame") -> str:
    """What to say of error messages among the answers of a sweep that are too few for a doubt; "" without any."""
    count = int(scores["doubt"].eq(ERROR).sum()) if "doubt" in scores else 0
    if count == 0 or 2 * count > len(scores):
        return ""
    return (
        f"{count:,} of {len(scores):,} answers are error messages and count as wrong: ask these again, or remove them"
    )


def curve_doubt(scores: "pd.DataFrame") -> str | None:
    """The doubt on a comparison of the positions of these rows: on all of them, or on those of one placement."""
    if "doubt" not in scores or scores["doubt"].isna().all():
        return None
    cells = (rows for _, rows in scores.groupby(["placement", "position"], dropna=False, sort=False))
    return next(filter(None, map(doubt_of, (scores, *cells))), None)


def sound(scores: "pd.DataFrame") -> "pd.DataFrame":
    """The score rows of the sizes that are not in doubt."""
    if "doubt" not in scores:
        return scores
    doubtful = [size for size, rows in scores.groupby("size") if curve_doubt(rows)]
    return scores[~scores["size"].isin(doubtful)]


def is_doubt(value: str | None) -> bool:
    """Whether a reason is one of the doubts."""
    return parts_of(value or "")[0] in WORDS


def parts_of(value: str) -> tuple[str, str]:
    """The name of a doubt, and its detail as text, "" without one."""
    name, _, detail = value.partition(": ")
    return name, detail


def reason_in_words(name: str, details: Sequence[str]) -> str:
    """The reason of a doubt in words, without what to do; details: of the answers that it concerns."""
    shown = (f"{int(detail):,}" if name == PROMPTS_CUT else f"'{detail}'" for detail in details)
    return WORDS[name].reason.replace("{}", ", ".join(shown))


def doubt_in_words(value: str) -> str:
    """A doubt in words, with what to do; another reason as it is."""
    name, detail = parts_of(value)
    return ": ".join(filter(None, [reason_in_words(name, [detail]), WORDS[name].remedy])) if name in WORDS else value
