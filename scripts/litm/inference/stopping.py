"""Stopping: where an answer of a model that runs here ends, by its first line or after its reasoning."""

from collections.abc import Sequence

import torch
from transformers import (
    LogitsProcessor,
    LogitsProcessorList,
    PretrainedConfig,
    PreTrainedTokenizerBase,
    StoppingCriteria,
    StoppingCriteriaList,
)

from litm.base.messages import UserError
from litm.inference.engine import FIRST_LINE, EngineSettings
from litm.prompting.reasoning import BUDGET
from litm.records import LENGTH, STOP


class LineEnd:
    """Finds the end of the first non-blank line in token ids.

    Bool tensors of (vocabulary,): has_text (the token has something other than white space), has_end (a line end),
    closes (a line end after its own text). Special tokens count as no text.
    """

    def __init__(self, pieces: Sequence[str]) -> None:
        self.has_text = torch.tensor([bool(piece.strip()) for piece in pieces])
        self.has_end = torch.tensor(["\n" in piece for piece in pieces])
        self.closes = torch.tensor(["\n" in piece.lstrip() for piece in pieces])

    def find(self, ids: Sequence[int]) -> int | None:
        """Number of ids up to the end of the first non-blank line; None if it does not end."""
        seen_text = False
        for count, id in enumerate(ids, start=1):
            if self.closes[id] or (seen_text and self.has_end[id]):
                return count
            seen_text = seen_text or bool(self.has_text[id])
        return None


class StopAtLineEnd(StoppingCriteria):
    """Stops each sequence of a batch at the end of its first non-blank line."""

    def __init__(self, line_end: LineEnd) -> None:
        self.line_end = line_end
        self.seen_text: torch.Tensor | None = None

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor | None, **kwargs) -> torch.Tensor:
        last = input_ids[:, -1].to("cpu")
        if self.seen_text is None:
            self.seen_text = torch.zeros(len(last), dtype=torch.bool)
        done = self.line_end.closes[last] | (self.seen_text & self.line_end.has_end[last])
        self.seen_text |= self.line_end.has_text[last]
        return done.to(input_ids.device)


def cut_answer(output: Sequence[int], end_tokens: Sequence[int], line_end: LineEnd | None) -> tuple[list[int], str]:
    """The answer in a row that ran until its whole batch was done, and its finish reason.

    End tokens are not part of the answer. The reason is 'stop', or 'length' at the limit of new tokens.
    """
    ends = [index for index, id in enumerate(output) if id in end_tokens][:1]
    answer = list(output[: ends[0]] if ends else output)
    line = line_end.find(answer) if line_end else None
    if line is not None:
        return answer[:line], STOP
    return answer, STOP if ends else LENGTH


#: Tokens at the end of a prompt that are searched for a tag.
TAG_TOKENS = 32


class ReasonedEnd:
    """Finds in token ids the end of the reasoning, and then of the answer.

    pieces: the text of each token of the vocabulary; line_end: ends answers after their first line, None if only end
    tokens do; answer_tokens: most tokens of an answer, None if only reasoning and answer together have a limit.
    closing_ids: forced when the reasoning, including them, reaches `reasoning_tokens`; None for never.
    """

    def __init__(
        self,
        pieces: Sequence[str],
        tags: tuple[str, str],
        line_end: LineEnd | None,
        answer_tokens: int | None = None,
        reasoning_tokens: int = 0,
        closing_ids: Sequence[int] | None = None,
    ) -> None:
        self.pieces = pieces
        self.tags = tags
        self.line_end = line_end
        self.answer_tokens = answer_tokens
        self.closing_ids = closing_ids or []
        self.closed_from = reasoning_tokens - len(self.closing_ids) if closing_ids else None

    def follow(self, prompt: Sequence[int]) -> "Followed":
        """An empty response to a prompt."""
        end_of_prompt = "".join(self.pieces[id] for id in prompt[-TAG_TOKENS:])
        return Followed(self, opened=end_of_prompt.rstrip().endswith(self.tags[0]))

    def cut(self, output: Sequence[int], end_tokens: Sequence[int], prompt: Sequence[int]) -> tuple[list[int], str]:
        """The part of an output that belongs to the response, and its finish reason, as in `line_end.cut_answer`."""
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

    begin: number of `ids` before the answer, None while unknown; ended: its finish reason by the rules of
    `ReasonedEnd` alone, None while it continues.
    """

    def __init__(self, rules: ReasonedEnd, opened: bool) -> None:
        self.rules = rules
        self.ids: list[int] = []
        self.begin: int | None = None
        self.ended: str | None = None
        self.is_reasoning = opened
        self._text = ""

    def add(self, id: int) -> None:
        """Add a token; a response that has ended takes none."""
        if self.ended is not None:
            return
        self.ids.append(id)
        if self.begin is None:
            self._look_for_answer(self.rules.pieces[id])
        if self.begin is not None:
            self._look_for_end(self.ids[self.begin :])

    @property
    def forced(self) -> int | None:
        """The token that must come next, None if the model decides."""
        start = self.rules.closed_from
        if start is None or not self.is_reasoning:
            return None
        # None after an end token too, where a batch continues without this response.
        return dict(enumerate(self.rules.closing_ids, start)).get(len(self.ids))

    def _look_for_answer(self, piece: str) -> None:
        opening, closing = self.rules.tags
        self._text += piece
        if not self.is_reasoning:
            text = self._text.lstrip()
            self.is_reasoning = text.startswith(opening)
            # Neither a tag nor its beginning: the whole response is the answer.
            if not self.is_reasoning and not opening.startswith(text):
                self.begin = 0
        if self.is_reasoning and closing in self._text[-len(piece) - len(closing) :]:
            self.begin, self.is_reasoning = len(self.ids), False

    def _look_for_end(self, answer: Sequence[int]) -> None:
        if self.rules.line_end and self.rules.line_end.find(answer) is not None:
            self.ended = STOP
        elif len(answer) == self.rules.answer_tokens:
            self.ended = LENGTH


class StopFollowed(StoppingCriteria):
    """Stops each sequence of a batch where its rules end it."""

    def __init__(self, responses: Sequence[Followed]) -> None:
        self.responses = responses

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor | None, **kwargs) -> torch.Tensor:
        for response, id in zip(self.responses, input_ids[:, -1].tolist(), strict=True):
            response.add(id)
        return torch.tensor([response.ended is not None for response in self.responses], device=input_ids.device)


class CloseReasoning(LogitsProcessor):
    """Forces the closing tag in each sequence of a batch that has used up its tokens for reasoning."""

    def __init__(self, responses: Sequence[Followed]) -> None:
        self.responses = responses

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        for row, response in enumerate(self.responses):
            if response.forced is not None:
                scores[row] = -torch.inf
                scores[row, response.forced] = 0
        return scores


Ending = LineEnd | ReasonedEnd | None


def response_ending(settings: EngineSettings, tokenizer: PreTrainedTokenizerBase, config: PretrainedConfig) -> Ending:
    """The rules that end responses, apart from end tokens and the limit of new tokens; None for no rule.

    Raises `UserError` if the tokens for reasoning leave no room for the closing tag.
    """
    reasoning, first_line = settings.reasoning, settings.stop == FIRST_LINE
    if not first_line and reasoning.policy != BUDGET:
        return None
    vocabulary = max(len(tokenizer), config.get_text_config().vocab_size)
    pieces = tokenizer.batch_decode([[id] for id in range(vocabulary)], skip_special_tokens=True)
    line_end = LineEnd(pieces) if first_line else None
    if not reasoning.is_separate:
        return line_end
    if reasoning.policy != BUDGET:
        return ReasonedEnd(pieces, reasoning.tags, line_end)
    closing = reasoning.tags[1]
    closing_ids = tokenizer(closing, add_special_tokens=False)["input_ids"]
    if len(closing_ids) >= reasoning.tokens:
        raise UserError(f"reasoning_tokens: {reasoning.tokens} is too few, {closing} alone has {len(closing_ids)}")
    return ReasonedEnd(pieces, reasoning.tags, line_end, settings.max_new_tokens, reasoning.tokens, closing_ids)


def stopping_rules(ending: Ending, prompts: Sequence[Sequence[int]]) -> dict:
    """Arguments of `generate` that end responses by the rules."""
    if isinstance(ending, ReasonedEnd):
        responses = [ending.follow(prompt) for prompt in prompts]
        return {
            "logits_processor": LogitsProcessorList([CloseReasoning(responses)]),
            "stopping_criteria": StoppingCriteriaList([StopFollowed(responses)]),
        }
    return {"stopping_criteria": StoppingCriteriaList([StopAtLineEnd(ending)] if ending else [])}


def cut_response(
    output: Sequence[int], end_tokens: Sequence[int], ending: Ending, prompt: Sequence[int]
) -> tuple[list[int], str]:
    """The response in a row that ran until its whole batch was done, and its finish reason."""
    if isinstance(ending, ReasonedEnd):
        return ending.cut(output, end_tokens, prompt)
    return cut_answer(output, end_tokens, ending)
