"""Long answers of NaturalQuestions pages: the one that most annotators agree on.

The 5 annotators of a question may differ. The long answer counts that most annotators with a short answer of NQ-Open's
length chose, among equals the first; the paper does not say how it chose.
"""

from collections.abc import Iterable, Iterator, Sequence

from litm.base.messages import UserError
from litm.base.records import typed_field

Span = tuple[int, int]
SHORT_ANSWER_TOKENS = 5


def agreed_long_answer(annotations: Iterable[tuple[Span, Sequence[Span]]]) -> tuple[Span, list[Span]] | None:
    """The long answer that most annotators chose, and all their short answers in it; among equals the first.

    Only annotators with a short answer of at most `SHORT_ANSWER_TOKENS` tokens count, as in NQ-Open; None if there is
    none.
    """
    votes: dict[Span, list[Sequence[Span]]] = {}
    for long_answer, short_answers in annotations:
        if brief := [span for span in short_answers if span[1] - span[0] <= SHORT_ANSWER_TOKENS]:
            votes.setdefault(long_answer, []).append(brief)
    if not votes:
        return None
    agreed = max(votes, key=lambda long_answer: len(votes[long_answer]))
    return agreed, sorted({span for spans in votes[agreed] for span in spans})


def is_paragraph(first_token: str) -> bool:
    """Whether a long answer that begins with this token is a paragraph; others begin with <Table>, <Ul>, <Li>, ..."""
    return first_token.lower() == "<p>"


def annotation_spans(record: dict, n_tokens: int, where: str) -> Iterator[tuple[Span, list[Span]]]:
    """Yield (long answer, short answers) of each annotation with a long answer, as spans of a page's `n_tokens` tokens.

    Raises `UserError` for a missing field and for offsets outside the page.
    """
    for index, annotation in enumerate(typed_field(record, "annotations", list, where)):
        here = f"{where}, annotations[{index}]"
        if not isinstance(annotation, dict):
            raise UserError(f"{here}: expected an object with 'long_answer' and 'short_answers'")
        long_answer = _span(typed_field(annotation, "long_answer", dict, here), n_tokens, f"{here}, long_answer")
        short_answers = typed_field(annotation, "short_answers", list, here)
        spans = [_span(one, n_tokens, f"{here}, short_answers[{n}]") for n, one in enumerate(short_answers)]
        if long_answer is not None:
            yield long_answer, [span for span in spans if span is not None]


def _span(value: object, n_tokens: int, where: str) -> Span | None:
    if not isinstance(value, dict):
        raise UserError(f"{where}: expected an object with 'start_token' and 'end_token'")
    start, end = typed_field(value, "start_token", int, where), typed_field(value, "end_token", int, where)
    if (start, end) == (-1, -1):
        return None
    if not 0 <= start < end <= n_tokens:
        raise UserError(f"{where}: tokens {start} to {end} are outside the document, which has {n_tokens}")
    return start, end
