"""Stopping: where an answer ends, by its first line, after its reasoning, or by its number of tokens.

Responses of models that run here are followed token by token, those of servers are cut as texts.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from litm.prompting.reasoning import Reasoning
from litm.records.responses import LENGTH, STOP, SweepResponse

#: Tokens at the end of a prompt that are searched for a tag.
TAG_TOKENS = 32


@dataclass(frozen=True)
class Ending:
    """The rules that end responses, apart from end tokens and the limit of new tokens. By default there are none."""

    pieces: Sequence[str] = ()
    """The text of each token of the vocabulary, "" for special ones, needed by all rules."""
    first_line: bool = False
    """Whether an answer ends with its first non-blank line."""
    tags: tuple[str, str] | None = None
    """The tags around the reasoning, None if a response is all answer."""
    answer_tokens: int | None = None
    """The most tokens of an answer, None if only reasoning and answer together have a limit."""
    reasoning_tokens: int = 0
    """The most tokens of the reasoning, including `closing_ids`."""
    closing_ids: Sequence[int] = ()
    """The tokens that are forced when the reasoning reaches its limit. None are never forced."""

    def follow(self, prompt: Sequence[int] = ()) -> "Followed":
        """An empty response to a prompt."""
        if not self.tags:
            return Followed(self)
        end_of_prompt = "".join(self.pieces[id] for id in prompt[-TAG_TOKENS:])
        return Followed(self, end_of_prompt.rstrip().endswith(self.tags[0]))

    def cut(self, output: Sequence[int], end_tokens: Sequence[int], prompt: Sequence[int]) -> tuple[list[int], str]:
        """The response in an output that ran until its whole batch was done, and its finish reason: 'stop' at an end
        token, which is not part of it, or by a rule, 'length' at the limit of tokens.
        """
        response = self.follow(prompt)
        for id in output:
            if id in end_tokens:
                return response.ids, STOP
            response.add(id)
            if response.ended is not None:
                return response.ids, response.ended
        return response.ids, LENGTH


class Followed:
    """A response that grows token by token.

    begin: number of `ids` before the answer, None while unknown; ended: its finish reason by the rules alone, None
    while it continues.
    """

    def __init__(self, rules: Ending, is_reasoning: bool = False) -> None:
        self.rules = rules
        self.ids: list[int] = []
        self.begin = None if rules.tags else 0
        self.ended: str | None = None
        self.is_reasoning = is_reasoning
        self._text = ""
        self._answer_has_text = False

    def add(self, id: int) -> None:
        """Add a token; a response that has ended takes none."""
        if self.ended is not None:
            return
        before = len(self.ids) if self.begin is not None else None
        self.ids.append(id)
        if self.begin is None:
            self._look_for_answer(self.rules.pieces[id])
        if self.begin is None:
            return
        for new in self.ids[self.begin if before is None else before :] if self.rules.first_line else ():
            piece = self.rules.pieces[new]
            if "\n" in (piece if self._answer_has_text else piece.lstrip()):
                self.ended = STOP
            self._answer_has_text |= bool(piece.strip())
        if self.ended is None and len(self.ids) - self.begin == self.rules.answer_tokens:
            self.ended = LENGTH

    @property
    def forced(self) -> int | None:
        """The token that must come next, None if the model decides."""
        closing, place = self.rules.closing_ids, len(self.ids) - self.rules.reasoning_tokens
        # None after an end token too, where a batch continues without this response.
        return closing[place] if closing and self.is_reasoning and -len(closing) <= place < 0 else None

    def _look_for_answer(self, piece: str) -> None:
        opening, closing = self.rules.tags or ("", "")
        self._text += piece
        if not self.is_reasoning:
            text = self._text.lstrip()
            self.is_reasoning = text.startswith(opening)
            # Neither a tag nor its beginning: the whole response is the answer.
            if not self.is_reasoning and not opening.startswith(text):
                self.begin = 0
        if self.is_reasoning and closing in self._text[-len(piece) - len(closing) :]:
            self.begin, self.is_reasoning = len(self.ids), False


def line_end(text: str, reasoning: Reasoning) -> int | None:
    """Characters up to the end of the answer's first non-blank line; None if that line does not end.

    The rule of `Ending`, applied to text. (A model that runs here also records the rest of the token with the line end,
    usually another line end, which nothing reads.) If reasoning and answer are separate, the answer begins after the
    reasoning.
    """
    begin = 0
    if reasoning.is_separate:
        opening, closing = reasoning.tags
        begin = text.find(closing) + len(closing) if closing in text else 0
        if not begin and text.lstrip().startswith(opening):
            return None
    start = len(text) - len(text[begin:].lstrip())
    return text.find("\n", start) + 1 or None


def cut_at_line_end(responses: Iterable[SweepResponse], reasoning: Reasoning) -> Iterator[SweepResponse]:
    """The responses, each cut at the end of its first line by `line_end`, with finish reason `stop` if cut.

    Responses that were already cut so, and responses cut before their reasoning ended, stay as they are.
    """
    for response in responses:
        text = response.text or ""
        was_cut = reasoning.is_separate and response.finish_reason == LENGTH
        end = None if was_cut and reasoning.tags[1] not in text else line_end(text, reasoning)
        yield response if end is None else replace(response, text=text[:end], finish_reason=STOP)
