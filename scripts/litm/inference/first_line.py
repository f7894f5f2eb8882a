"""Where an answer of a server ends that is to end with its first line; its tokens are not known."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from litm.domain.finish_reason import LENGTH, STOP
from litm.domain.response import SweepResponse
from litm.prompting.reasoning import Reasoning


def line_end(text: str, reasoning: Reasoning) -> int | None:
    """How many characters it takes to the end of the answer's first line that is not blank; None if it does not end.

    The rule of `line_end.LineEnd`, for a response of which the tokens are not known. Where the model is run here, what
    else the token of the line end says (another line end, mostly) is recorded too, which nothing reads. An answer
    begins behind the reasoning, where the two are separate.
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
    """The responses, each up to the end of its first line as `line_end` finds it; what has one ended there.

    A response that was cut so before stays as it is, and so does one that was cut before its reasoning ended.
    """
    for response in responses:
        text = response.text or ""
        was_cut = reasoning.is_separate and response.finish_reason == LENGTH
        end = None if was_cut and reasoning.tags[1] not in text else line_end(text, reasoning)
        yield response if end is None else replace(response, text=text[:end], finish_reason=STOP)
