"""Reasoning models: what they write before their answer, between two tags, and what is done about it.

A model may begin its response with the opening tag, or its prompt may end with it. Either way the response's reasoning
ends with the closing tag, and the answer is what comes after.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from litm.base.errors import UserError
from litm.domain.finish_reason import LENGTH, REFUSED
from litm.domain.response import SweepResponse

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

#: Whether the chat template tells the model not to reason; the answer alone is scored; and beside that, reasoning has
#: tokens of its own.
OFF, STRIP, BUDGET = "off", "strip", "budget"
TAGS = ("<think>", "</think>")
#: What chat templates call their switch.
SWITCH = "enable_thinking"


@dataclass(frozen=True)
class Reasoning:
    """What is done about a model's reasoning.

    policy: `OFF`, `STRIP`, `BUDGET`, or None: nothing is said to the model, and nothing removed; tokens: most tokens of
    reasoning, the closing tag included (`BUDGET`); tags: the opening and the closing one.
    """

    policy: str | None = None
    tokens: int = 0
    tags: tuple[str, str] = TAGS

    @classmethod
    def of(cls, settings: Mapping) -> "Reasoning":
        """That of a model's settings, as `settings` made them."""
        given = settings.get("reasoning")
        return cls(given["policy"], given["tokens"], (given["tags"][0], given["tags"][1])) if given else cls()

    def settings(self) -> dict:
        """The settings of a model that say this, none where nothing is done, as before there was anything to do."""
        return {"reasoning": asdict(self)} if self.policy else {}

    @property
    def is_separate(self) -> bool:
        """Whether the answer alone is scored."""
        return self.policy in (STRIP, BUDGET)


def generation_settings(settings: Mapping, stops_early: bool) -> dict:
    """The settings of a model without what changes no response, for its identity.

    stops_early: whether a rule ends answers before their end token, which `STRIP` then holds back while the model
    reasons. Else `STRIP` only changes what is scored of the same response.
    """
    keeps = stops_early or Reasoning.of(settings).policy != STRIP
    return {key: value for key, value in settings.items() if keeps or key != "reasoning"}


def final_answer(text: str, tags: tuple[str, str], opened: bool = False) -> str | None:
    """What a response says after its reasoning, all of it if there is none; None if the reasoning never ended.

    opened: whether the prompt opened it.
    """
    opening, closing = tags
    if not opened and opening not in text and closing not in text:
        return text
    _, ended, answer = text.partition(closing)
    return answer if ended else None


def opened_by_prompt(texts: Iterable[str], tags: tuple[str, str]) -> bool:
    """Whether whole responses to prompts that nobody knows show that the prompts opened the reasoning: at least half of
    them end it without having begun it.

    One of them alone would be no evidence: a stray closing tag must not empty the answers of all others.
    """
    opening, closing = tags
    shown = [closing in text and opening not in text.partition(closing)[0] for text in texts]
    return any(shown) and 2 * sum(shown) >= len(shown)


def with_answers(
    responses: Iterable[SweepResponse], reasoning: "Reasoning", opened: bool | None = None
) -> Iterator[SweepResponse]:
    """The responses, each with its `answer`, where the reasoning before it is not scored.

    opened: whether the prompts opened the reasoning; None if nobody knows the prompts, so that the responses must show
    it. Then a response that was cut and has no tag counts as reasoning that never ended: it may be no more than that.
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
    """The response with its `answer`: what is scored.

    Where the reasoning never ended, that is nothing, and the response was cut (or withheld by a provider's filter).
    """
    if response.text is None:
        return replace(response, answer=None, has_answer=True)
    answer = final_answer(response.text, tags, opened)
    if answer is not None:
        return replace(response, answer=answer, has_answer=True)
    reason = REFUSED if response.finish_reason == REFUSED else LENGTH
    return replace(response, answer="", has_answer=True, finish_reason=reason)


def check_tags(tokenizer: "PreTrainedTokenizerBase", tags: tuple[str, str]) -> None:
    """Raise `UserError` for tags that the tokenizer leaves out of its texts, where nobody could find them."""
    for tag in tags:
        ids = tokenizer(tag, add_special_tokens=False)["input_ids"]
        if tag not in tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False):
            raise UserError(
                f"reasoning: the tokenizer leaves {tag} out of its texts, as a special token, so the reasoning cannot "
                f"be told from the answer: set 'reasoning_tags' to the model's, or 'reasoning' to {OFF}"
            )
