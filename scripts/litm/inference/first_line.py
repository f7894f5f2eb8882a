"""First-line stop rule for answers of servers, whose tokens are unknown."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from litm.domain.finish_reason import LENGTH, STOP
from litm.domain.response import SweepResponse
from litm.prompting.reasoning import Reasoning


def line_end(text: str, reasoning: Reasoning) -> int | None:
    """Characters up to the end of the answer's first non-blank line; None if that line does not end.

    The rule of `line_end.LineEnd`, applied to text. (A model that runs here also records the rest of the token with the
    line end, usually another line end, which nothing reads.) If reasoning and answer are separate, the answer begins
    after the reasoning.
    """
    begin = 0
    if reasoning.is_separate:
        opening, closing = reasoning.tags
        begin = text.find(closing) + len(closing) if closing in text else 0
        if not begin and text.lstrip().startswith(opening):
            return None
    start = len(text) - len(text[begin:].lstrip())
    end = text.find("\n", start) + 1
    return end or None


def cut_at_line_end(responses: Iterable[SweepResponse], reasoning: Reasoning) -> Iterator[SweepResponse]:
    """The responses, each cut at the end of its first line by `line_end`, with finish reason `stop` if cut.

    Responses that were already cut so, and responses cut before their reasoning ended, stay as they are.
    """
    for response in responses:
        text = response.text or ""
        was_cut = reasoning.is_separate and response.finish_reason == LENGTH
        end = None if was_cut and reasoning.tags[1] not in text else line_end(text, reasoning)
        yield response if end is None else replace(response, text=text[:end], finish_reason=STOP)
