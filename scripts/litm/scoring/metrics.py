"""Metrics: does a response contain the answer, or how much of it?

A metric is a pure function of a text and the accepted answers, and says which part of the response it reads.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from litm.answer_words import WHOLE_WORDS, has_answer
from litm.answers import (
    contains_code,
    contains_no_other_code,
    contains_normalized,
    normalize_answer,
    read_integer,
    read_last_integer,
)
from litm.base.extensions import Registry, declared
from litm.base.messages import UserError

FIRST_LINE = "first_line"
FULL = "full"
#: The metric whose verdicts a model gives, see `litm.scoring.judging`.
JUDGED = "judged"
#: The metric of verdicts from elsewhere.
RECORDED = "recorded"
#: Graded verdicts are multiples of 1 over this number, a power of 2: their sums are exact in any order.
GRADES = 1024


@dataclass(frozen=True)
class Metric:
    """How a response is judged."""

    judge: Callable[[str, Sequence[str]], float]
    """Whether a text contains one of the answers; of a graded metric, a number from 0 to 1."""
    reads: str
    """The part of the response that counts, `first_line` or `full`."""
    right_if: str
    """The rule in the report: the end of the sentence `An answer is right if ...`, or of a graded metric `The score of
    an answer is ...`.
    """
    strict: Callable[[str, Sequence[str]], float] | None = None
    """A stricter rule, reported in a column of its own, None without one; it reads the whole response."""
    lenient: Callable[[str, Sequence[str]], float] | None = None
    """A more lenient rule, likewise."""
    is_graded: bool = False
    """Whether verdicts are numbers from 0 to 1."""
    label: str = "Accuracy"
    """What figures call the mean."""

    def verdict(self, rule: Callable[..., float], text: str, answers: Sequence[str], also: Sequence[str] = ()) -> float:
        """A rule's verdict; a graded one is rounded to `GRADES`. also: see `verdicts`.

        Raises `UserError` for anything but True or False, or a number from 0 to 1 of a graded metric.
        """
        verdict = only_code(text, answers, also) if rule is only_code else rule(text, answers)
        kinds = (bool, int, float) if self.is_graded else (bool,)
        if not isinstance(verdict, kinds) or not 0 <= verdict <= 1:
            wanted = "a number from 0 to 1" if self.is_graded else "True or False"
            raise UserError(f"the metric's function {rule.__name__} must give {wanted}, and gives {verdict!r}")
        return round(verdict * GRADES) / GRADES if self.is_graded else verdict

    def verdicts(self, response: str, answers: Sequence[str], also: Sequence[str] = ()) -> dict[str, float | None]:
        """Of the metric on the first line, on the full text and (`correct`) on the part it reads; of its strict and its
        lenient rule, None where it has none.

        also: the answers to all items that the prompt asks for, which are no other codes.
        """
        in_first_line = self.verdict(self.judge, first_line(response), answers, also)
        in_full = self.verdict(self.judge, response, answers, also)
        return {
            "correct": in_full if self.reads == FULL else in_first_line,
            "correct_first_line": in_first_line,
            "correct_full": in_full,
            "correct_strict": self.strict and self.verdict(self.strict, response, answers, also),
            "correct_lenient": self.lenient and self.verdict(self.lenient, response, answers, also),
        }


def first_line(response: str) -> str:
    """The first line of a response that is not blank, without surrounding spaces; "" if all lines are blank.

    The paper scores the text before the first line end, so that a model cannot score by copying its context.
    Here leading blank lines are skipped first: they are an artefact of chat formats, not an answer.
    """
    return response.strip().split("\n", 1)[0].strip()


def best_subspan_em(text: str, answers: Sequence[str]) -> bool:
    """Whether any gold answer is a substring of the text, both normalised (paper, section 2.1)."""
    return contains_normalized(text, answers)


def best_subspan_em_strict(response: str, answers: Sequence[str]) -> bool:
    """`best_subspan_em` of the response up to its first line end, even if that part is empty.

    The paper (section 2.1) defines it this way, and the authors scored the responses of MPT and LongChat so; their
    script for Llama 2 removed leading blank lines first.
    """
    return best_subspan_em(response.split("\n", 1)[0], answers)


def whole_words(text: str, answers: Sequence[str]) -> bool:
    """Whether an accepted answer is in the text as whole words, see `has_answer`."""
    return has_answer(text, answers)


def whole_words_strict(response: str, answers: Sequence[str]) -> bool:
    """`whole_words` of the response up to its first line end, even if that part is empty."""
    return has_answer(response.split("\n", 1)[0], answers)


def value_in_answer(text: str, answers: Sequence[str]) -> bool:
    """Whether any accepted value is a substring of the text, ignoring case (paper, section 3.1)."""
    lowered = text.lower()
    return any(answer.lower() in lowered for answer in answers)


def exact_code(text: str, answers: Sequence[str]) -> bool:
    """Whether any accepted code is in the text as a token of its own, see `contains_code`.

    Where a prompt asks for several codes, each is judged alone, in any order: codes are random, so a model cannot
    write one that it has not read. Judging by order would count all later codes as wrong when an earlier one is left
    out, so the metric itself would produce an effect of position.
    """
    return any(contains_code(text, answer) for answer in answers)


def only_code(text: str, answers: Sequence[str], also: Sequence[str] = ()) -> bool:
    """Whether an accepted code is in the text, see `exact_code`, and no code that the prompt does not ask for."""
    return exact_code(text, answers) and contains_no_other_code(text, [*answers, *also])


def exact_integer(text: str, answers: Sequence[str]) -> bool:
    """Whether the integer that the text gives as its answer, see `read_integer`, is accepted."""
    return read_integer(text) in {int(answer) for answer in answers}


def last_integer(text: str, answers: Sequence[str]) -> bool:
    """Whether the integer that the whole text ends with, see `read_last_integer`, is accepted."""
    return read_last_integer(text) in {int(answer) for answer in answers}


def not_by_rule(text: str, answers: Sequence[str]) -> bool:
    """Raise `UserError`: whether an answer is right says a judge, or a table, alone."""
    raise UserError("this metric has no rule: its verdicts are those of the experiment's judge, or of a table")


def token_f1(text: str, answers: Sequence[str]) -> float:
    """The largest F1 of the text's tokens with those of an accepted answer (Rajpurkar et al. 2016, SQuAD).

    Both are normalised as there. F1 = 2·c/(t + a) with c common tokens of t and a; 1 if neither has any (SQuAD 2.0).
    """
    words = Counter(normalize_answer(text).split())
    return max((_f1(words, Counter(normalize_answer(answer).split())) for answer in answers), default=0.0)


def _f1(words: Counter[str], answer: Counter[str]) -> float:
    tokens = words.total() + answer.total()
    return 2 * (words & answer).total() / tokens if tokens else 1.0


_BUILT_IN = {
    "best_subspan_em": Metric(
        best_subspan_em, FIRST_LINE,
        "any gold answer is a substring of the text, both normalised (paper, section 2.1).",
        strict=best_subspan_em_strict,
    ),
    # The lenient reading also finds answers inside other words: inflected and compound ones.
    WHOLE_WORDS: Metric(
        whole_words, FIRST_LINE, "an accepted answer is in the text as whole words.",
        strict=whole_words_strict, lenient=best_subspan_em,
    ),
    "value_in_answer": Metric(
        value_in_answer, FULL, "any accepted value is a substring of the text, ignoring case (paper, section 3.1)."
    ),
    # Models may list three codes on three lines.
    "exact_code": Metric(exact_code, FULL, "any accepted code is in the text as a token of its own.", strict=only_code),
    "only_code": Metric(
        only_code, FULL, "an accepted code is in the text and no code that the prompt does not ask for.",
        lenient=exact_code,
    ),
    # A text may have several numbers: after its answer, a base model continues with other questions and numbers.
    "gives_code": Metric(
        exact_code, FULL, "it gives the code as a token of its own (of several codes that conflict, none is right).",
        label="Answers with this code",
    ),
    "exact_integer": Metric(exact_integer, FIRST_LINE, "the integer that the text gives as its answer is accepted."),
    # A calculation may take several lines.
    "last_integer": Metric(last_integer, FULL, "the integer that the whole text ends with is accepted."),
    # What the strict rule finds needs no judge.
    JUDGED: Metric(not_by_rule, FULL, "the judge calls it right.", strict=whole_words),
    RECORDED: Metric(not_by_rule, FULL, "the table of verdicts calls it right."),
    "token_f1": Metric(
        token_f1, FIRST_LINE,
        "the largest F1 of the text's tokens with those of an accepted answer (Rajpurkar et al. 2016, SQuAD).",
        is_graded=True, label="Token F1",
    ),
}  # fmt: skip
#: Metrics by name, those of extensions among them.
METRICS = Registry("metrics", declared("METRICS", Metric), _BUILT_IN)


def metrics_reference() -> str:
    """The metrics as a table in Markdown."""
    rows = [
        (f"`{name}`", metric.reads.replace("_", " ").replace("full", "whole answer"), metric.right_if.rstrip("."))
        for name, metric in METRICS.items()
    ]
    table = [("metric", "reads", "an answer is right if (its score, if graded, is)"), ("---",) * 3, *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in table)


def own_label(metric: str) -> str:
    """The label of a metric's mean if it is not the usual one, else ''."""
    return METRICS[metric].label if METRICS[metric].label != Metric.label else ""


def mean_word(metric: str) -> str:
    """`accuracy`; for a metric with a label of its own, whose answers need not be right, `share`; `mean` if graded."""
    if not own_label(metric):
        return "accuracy"
    return "mean" if METRICS[metric].is_graded else "share"
