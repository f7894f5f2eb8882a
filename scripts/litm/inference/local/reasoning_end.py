"""Where responses of a model that reasons end: the rules of an answer count only once the reasoning is over."""

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

from litm.base.errors import UserError
from litm.domain.finish_reason import LENGTH, STOP
from litm.inference.engine import FIRST_LINE, EngineSettings
from litm.inference.local.line_end import LineEnd, StopAtLineEnd, cut_answer
from litm.prompting.reasoning import BUDGET

#: Tokens at the end of a prompt that a tag is looked for in.
TAG_TOKENS = 32


class ReasonedEnd:
    """Tells from token ids where reasoning ends, and then the answer.

    pieces: the text of each token of the vocabulary; line_end: ends answers after their first line, None if only end
    tokens do; answer_tokens: most tokens of an answer, None where only reasoning and answer together have a limit.
    closing_ids: what is put in where the reasoning would have more than `reasoning_tokens` with them, None for never.
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
        """A response to a prompt, of which nothing has come yet."""
        end_of_prompt = "".join(self.pieces[id] for id in prompt[-TAG_TOKENS:])
        return Followed(self, opened=end_of_prompt.rstrip().endswith(self.tags[0]))

    def cut(self, output: Sequence[int], end_tokens: Sequence[int], prompt: Sequence[int]) -> tuple[list[int], str]:
        """What belongs to the response to a prompt, and why it ended, as `line_end.cut_answer` does."""
        response = self.follow(prompt)
        for id in output:
            if id in end_tokens:
                return response.ids, STOP
            response.add(id)
            if response.ended is not None:
                return response.ids, response.ended
        return response.ids, LENGTH


class Followed:
    """A response that comes token by token.

    begin: how many of its `ids` are before the answer, None while that is open; ended: why it ended, None while it
    goes on, for the rules of `ReasonedEnd` alone.
    """

    def __init__(self, rules: ReasonedEnd, opened: bool) -> None:
        self.rules = rules
        self.ids: list[int] = []
        self.begin: int | None = None
        self.ended: str | None = None
        self.is_reasoning = opened
        self._text = ""

    def add(self, id: int) -> None:
        """One token more; none is added to a response that has ended."""
        if self.ended is not None:
            return
        self.ids.append(id)
        if self.begin is None:
            self._look_for_answer(self.rules.pieces[id])
        if self.begin is not None:
            self._look_for_end(self.ids[self.begin :])

    @property
    def forced(self) -> int | None:
        """The token that must come next, None if that is the model's to say."""
        start = self.rules.closed_from
        if start is None or not self.is_reasoning:
            return None
        # None, too, behind an end token, where a batch goes on without this response.
        return dict(enumerate(self.rules.closing_ids, start)).get(len(self.ids))

    def _look_for_answer(self, piece: str) -> None:
        opening, closing = self.rules.tags
        self._text += piece
        if not self.is_reasoning:
            text = self._text.lstrip()
            self.is_reasoning = text.startswith(opening)
            # Neither a tag nor the beginning of one: all of it is the answer.
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
    """Puts in the closing tag of each sequence of a batch that has spent its tokens for reasoning."""

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
    """What ends responses, beside end tokens and the limit of new tokens; None for nothing.

    Raises `UserError` if the tokens for reasoning have no room for its closing tag.
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
    """What `generate` is given for responses to prompts to end as they should."""
    if isinstance(ending, ReasonedEnd):
        responses = [ending.follow(prompt) for prompt in prompts]
        return {
            "logits_processor": LogitsProcessorList([CloseReasoning(responses)]),
            "stopping_criteria": StoppingCriteriaList([StopFollowed(responses)]),
        }
    return {"stopping_criteria": StoppingCriteriaList([StopAtLineEnd(ending)] if ending else [])}


def has_ended(response: Sequence[int], ending: Ending, prompt: Sequence[int]) -> bool:
    """Whether a response without an end token is over."""
    if isinstance(ending, ReasonedEnd):
        followed = ending.follow(prompt)
        for id in response:
            followed.add(id)
        return followed.ended is not None
    return ending is not None and ending.find(response) is not None


def cut_response(
    output: Sequence[int], end_tokens: Sequence[int], ending: Ending, prompt: Sequence[int]
) -> tuple[list[int], str]:
    """What belongs to the response of a row that went on until its whole batch was done, and why it ended."""
    if isinstance(ending, ReasonedEnd):
        return ending.cut(output, end_tokens, prompt)
    return cut_answer(output, end_tokens, ending)
