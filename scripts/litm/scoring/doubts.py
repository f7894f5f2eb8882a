"""Doubts: technical reasons why an answer is neither right nor wrong, such as a prompt that the server cut.

A number is in doubt if more than half of its answers are (docs/numbers.md). Where a right answer shows that the reason
does not hold, there is no doubt.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from litm.base.formats import grouped
from litm.base.messages import single_spaced
from litm.placements import NO_GOLD
from litm.records import FAILED, NOT_RECORDED, REFUSED, Example, SweepResponse
from litm.scoring.metrics import FIRST_LINE, METRICS, Metric, first_line

if TYPE_CHECKING:
    import pandas as pd

PROMPTS_CUT, PROMPT_REPEATED, WITHHELD, ERROR, NOT_IN_GOLD, SAME_ANSWER, EMPTY, REPETITION = (
    "prompts_cut", "prompt_repeated", "refused", "error", "not_in_gold", "same_answer", "empty", "repetition",
)  # fmt: skip
#: The doubts in words, in the order in which they are looked for. A value of the column `doubt` is one of these, with a
#: detail after a colon where the words have one.
WORDS = {
    PROMPTS_CUT: "the server cut the prompts to {} tokens: raise its context length (num_ctx in Ollama) or use fewer "
    "or shorter items",
    PROMPT_REPEATED: "most answers repeat their prompt: check the endpoint, its `echo` and prompt_template",
    WITHHELD: "most answers were refused or withheld by the provider: use another prompt or another model",
    ERROR: "most answers are a server's or a program's error messages: ask these again",
    NOT_IN_GOLD: "the metric finds none of the accepted answers in the gold documents of most questions, and hardly "
    "any answer is right: check the answers (tables/answer_checks.csv) or use another metric",
    SAME_ANSWER: "all answers are the same, and right for no question: {}",
    EMPTY: "most answers are empty: check prompt_template, max_new_tokens and the server's log",
    REPETITION: "most answers repeat one piece of text and hardly any is right: check prompt_template and the model's "
    "files",
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
#: Characters of the longest piece, and how often a text has it at least, of a text that repeats itself.
PIECE, TIMES = 50, 8
#: Characters of a text in a value.
MOST_TEXT = 60
#: Metrics that search a text for an answer, so that they find it in a gold document too.
SEARCHING = ("best_subspan_em",)
#: How error messages of servers and programs begin.
_ERROR = re.compile(
    r"\W*(?:<!doctype html|<html|traceback \(most recent|(?:\w+\.)*\w*(?:error|exception)\W*(?::|code|\d{3}\b)"
    r"|error(?:\]|\W*$|[\"']?\s*[:=])|an (?:\w+ )?error (?:has )?occurred"
    r"|(?:http\S*\s+)?[45]\d\d\s+(?:bad|unauthorized|forbidden|not found|too many|internal|service|gateway)"
    r"|bad gateway|internal server error|service (?:temporarily )?unavailable|gateway time-?out|too many requests"
    r"|rate limit|(?:request|connection|read) (?:timed out|timeout|error|reset))",
    re.IGNORECASE,
)
#: What a chat format writes before a prompt.
_ROLES = re.compile(r"(?:<[^<>]{1,40}>|\[/?INST\]|\b(?:user|human|system|assistant|prompt)\b|[\s:#])*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer to one target, as far as doubts need it.

    text: None without one. length: characters of the prompt; tokens: as the server counts it, None if unknown. correct:
    from 0 to 1. is_counted: whether it counts in an accuracy. has_context: whether its prompt has one. signs: of
    the answer and its own prompt, values of `WORDS`.
    """

    id: str
    size: int
    text: str | None
    length: int
    tokens: int | None
    correct: float
    is_counted: bool
    has_context: bool
    accepted: Sequence[str]
    signs: frozenset[str]


def read_answer(
    metric: str, example: Example, response: SweepResponse, target: int, correct: float | None, is_excluded: bool
) -> Answer:
    """The answer to one of the example's targets; correct: None if it is not scored."""
    asked, text, reason = example.targets[target], response.scored_text, response.finish_reason
    gold = asked.text_in(example.prompt) if asked.span else ""
    return Answer(
        example.id,
        example.size,
        None if text is None else text.strip(),
        len(example.prompt),
        response.prompt_tokens,
        float(correct or 0),
        not is_excluded and reason not in (FAILED, NOT_RECORDED),
        example.placement != NO_GOLD,
        asked.answers,
        frozenset(
            _signs(METRICS[metric], metric in SEARCHING, example.prompt, gold, asked.answers, text or "", reason)
        ),
    )


def _signs(
    metric: Metric, is_searching: bool, prompt: str, gold: str, answers: Sequence[str], text: str, reason: str
) -> Iterable[str]:
    whole = text.strip()
    read = first_line(text) if metric.reads == FIRST_LINE else whole
    if repeats_prompt(whole, prompt, gold):
        yield PROMPT_REPEATED
    if reason == REFUSED:
        yield WITHHELD
    if _ERROR.match(whole):
        yield ERROR
    if is_searching and gold and not metric.judge(gold, answers):
        yield NOT_IN_GOLD
    if not whole:
        yield EMPTY
    if repeats_itself(read):
        yield REPETITION


def repeats_prompt(text: str, prompt: str, gold: str) -> bool:
    """Whether an answer begins as its prompt does, has all of it, or begins with a long stretch of it outside the gold
    item, which an answer may quote.
    """
    roles = _ROLES.match(text)
    words, asked = text[roles.end() if roles else 0 :].split(), single_spaced(prompt)
    answer, begun = " ".join(words), " ".join(words[:STRETCH])
    if len(begun) < BEGINNING:
        return False
    is_stretch = len(words) >= STRETCH and begun in asked and begun not in single_spaced(gold)
    is_all = answer.startswith(asked) or (asked in answer and asked.count(" ") >= STRETCH)
    return asked.startswith(begun) or is_stretch or is_all


def repeats_itself(text: str) -> bool:
    """Whether the last four fifths of a text are `TIMES` or more repetitions of a piece."""
    end = text[len(text) // 5 :]
    return any(end[size:] == end[:-size] for size in range(1, min(PIECE, len(end) // TIMES) + 1))


def doubts_on(answers: Sequence[Answer], limit: int | None) -> list[str | None]:
    """The doubt on each answer of a sweep, None without one.

    limit: tokens to which a server cut prompts, None if it did not.
    """
    counted = [one for one in answers if one.is_counted]
    right: defaultdict[tuple[int, str], list[float]] = defaultdict(list)
    for one in counted:
        for sign in one.signs:
            right[one.size, sign].append(one.correct)
    refuted = {of for of, found in right.items() if of[1] not in REGARDLESS and sum(found) > FEW * len(found)}
    same = {size: _same_text(own) for size, own in grouped(counted, lambda one: one.size).items()}

    def doubt(one: Answer) -> str | None:
        found = {sign: "" for sign in one.signs if (one.size, sign) not in refuted}
        if limit and one.tokens and one.tokens >= limit:
            found[PROMPTS_CUT] = f": {limit}"
        if one.text and one.has_context and one.text == same[one.size]:
            found[SAME_ANSWER] = f": {single_spaced(one.text)[:MOST_TEXT]}"
        return next((f"{sign}{found[sign]}" for sign in WORDS if sign in found), None)

    return [doubt(one) if one.is_counted else None for one in answers]


def _same_text(answers: Iterable[Answer]) -> str | None:
    """The text of nearly all answers of a size to prompts with a context, if several questions with other accepted
    answers have it and it is right for none; else None.

    Nearly all: a model may honestly say that it does not know, at many positions, or without a context.
    """
    asked = [one for one in answers if one.has_context]
    if not asked:
        return None
    text = Counter(one.text for one in asked).most_common(1)[0][0]
    own = [one for one in asked if one.text == text]
    is_of_all = len(own) >= (1 - FEW) * len(asked) and len({one.id for one in own}) >= FEWEST_QUESTIONS
    is_wrong = not any(one.correct for one in own) and len({tuple(one.accepted) for one in own}) > 1
    return text if is_of_all and is_wrong else None


# --- Numbers ---------------------------------------------------------------------------------------------------


def doubt_of(scores: "pd.DataFrame") -> str | None:
    """The doubt on a number from these score rows: the most frequent if more than half of the counted are in doubt."""
    if "doubt" not in scores:
        return None
    counted = scores[~scores["excluded"] & ~scores["finish_reason"].isin([FAILED, NOT_RECORDED])]
    values = counted["doubt"].dropna()
    return str(values.mode().iloc[0]) if 2 * len(values) > len(counted) else None


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
    return (value or "").partition(": ")[0] in WORDS


def doubt_in_words(value: str) -> str:
    """A doubt in words; another reason as it is."""
    kind, _, detail = value.partition(": ")
    detail = f"{int(detail):,}" if kind == PROMPTS_CUT else f"'{detail}'"
    return WORDS[kind].replace("{}", detail) if kind in WORDS else value
