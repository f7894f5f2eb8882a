"""Reasoning models: treatment of the text between two tags that comes before the answer.

The response may begin with the opening tag, or the prompt may end with it. In both cases the reasoning ends with the
closing tag, and the answer follows.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from litm.base.messages import UserError
from litm.records.responses import LENGTH, REFUSED, SweepResponse

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

#: Policies. OFF: the chat template tells the model not to reason. STRIP: only the answer is scored. BUDGET: as STRIP,
#: and the reasoning has a token limit of its own.
OFF, STRIP, BUDGET = "off", "strip", "budget"
TAGS = ("<think>", "</think>")
#: Name of the switch in chat templates.
SWITCH = "enable_thinking"


@dataclass(frozen=True)
class Reasoning:
    """The treatment of a model's reasoning."""

    policy: str | None = None
    """Policy: `OFF`, `STRIP`, `BUDGET`, or None to neither instruct the model nor remove text."""
    tokens: int = 0
    """Limit of the reasoning, including the closing tag (`BUDGET`)."""
    tags: tuple[str, str] = TAGS
    """Opening and closing tag."""

    @classmethod
    def from_settings(cls, settings: Mapping) -> "Reasoning":
        """The reasoning settings of a model, from the output of `settings`."""
        fields = settings.get("reasoning")
        return cls(**fields | {"tags": tuple(fields["tags"])}) if fields else cls()

    def settings(self) -> dict:
        """The model settings for this treatment; empty for none, as in earlier versions."""
        return {"reasoning": asdict(self)} if self.policy else {}

    @property
    def is_separate(self) -> bool:
        """Whether only the answer is scored."""
        return self.policy in (STRIP, BUDGET)


def generation_settings(settings: Mapping, stops_early: bool) -> dict:
    """The settings of a model that change responses, for its identity.

    stops_early: whether a rule ends answers before their end token; `STRIP` then suspends the rule during reasoning.
    Without such a rule `STRIP` changes only what is scored.
    """
    keeps = stops_early or Reasoning.from_settings(settings).policy != STRIP
    return {key: value for key, value in settings.items() if keeps or key != "reasoning"}


def final_answer(text: str, tags: tuple[str, str], opened: bool = False) -> str | None:
    """The text after the reasoning, the whole text if there is none; None if the reasoning never ended.

    opened: whether the prompt opened the reasoning.
    """
    opening, closing = tags
    if not opened and opening not in text and closing not in text:
        return text
    _, ended, answer = text.partition(closing)
    return answer if ended else None


def scored_reasoning(responses: Iterable[SweepResponse], reasoning: Reasoning) -> dict[str, int]:
    """How many responses contain a tag of reasoning that is scored with the answer, and how many have a text, as a
    manifest has it; {} if none contains one.
    """
    texts = [response.text for response in responses if response.text is not None and not reasoning.is_separate]
    tagged = sum(final_answer(text, reasoning.tags) != text for text in texts)
    return {"with_reasoning": tagged, "with_text": len(texts)} if tagged else {}


def opened_by_prompt(texts: Iterable[str], tags: tuple[str, str]) -> bool:
    """Whether responses show that their unknown prompts opened the reasoning: at least half of them close it without
    opening it.

    A single response is no evidence: a stray closing tag must not empty all other answers.
    """
    opening, closing = tags
    shown = [closing in text and opening not in text.partition(closing)[0] for text in texts]
    return any(shown) and 2 * sum(shown) >= len(shown)


def with_answers(
    responses: Iterable[SweepResponse], reasoning: "Reasoning", opened: bool | None = None
) -> Iterator[SweepResponse]:
    """The responses, each with its `answer` after the reasoning, which is not scored.

    opened: whether the prompts opened the reasoning; None for unknown prompts, to be inferred from the responses. Then
    a cut response without a tag counts as unfinished reasoning, which it may be.
    """
    if not reasoning.is_separate:
        yield from responses
        return
    responses = list(responses)
    whole = (response.text or "" for response in responses if response.finish_reason != LENGTH)
    shown = opened_by_prompt(whole, reasoning.tags) if opened is None else opened
    for response in responses:
        is_open = shown or (opened is None and response.finish_reason == LENGTH)
        yield with_answer(response, reasoning.tags, is_open)


def with_answer(response: SweepResponse, tags: tuple[str, str], opened: bool) -> SweepResponse:
    """The response with its `answer`, the text that is scored.

    If the reasoning never ended, the answer is empty and the response counts as cut (or withheld by a filter).
    """
    if response.text is None:
        return replace(response, answer=None, has_answer=True)
    answer = final_answer(response.text, tags, opened)
    if answer is not None:
        return replace(response, answer=answer, has_answer=True)
    reason = REFUSED if response.finish_reason == REFUSED else LENGTH
    return replace(response, answer="", has_answer=True, finish_reason=reason)


def check_tags(tokenizer: "PreTrainedTokenizerBase", tags: tuple[str, str]) -> None:
    """Raise `UserError` for tags that the tokenizer drops when decoding, so that they could not be found."""
    for tag in tags:
        ids = tokenizer(tag, add_special_tokens=False)["input_ids"]
        if tag not in tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False):
            raise UserError(
                f"reasoning: the tokenizer leaves {tag} out of its texts, as a special token, so the reasoning cannot "
                f"be told from the answer: set 'reasoning_tags' to the model's, or 'reasoning' to {OFF}"
            )
