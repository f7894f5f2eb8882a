"""The prompts of a sweep, and which of them fit."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from litm.base.messages import UserError
from litm.engines.interface import FAIL, LEAVE_OUT
from litm.prompting.prompt_format import CHAT
from litm.records.examples import Content, Example
from litm.records.responses import Asked, measured_content, response_key


@dataclass(frozen=True)
class Prompt:
    """One prompt of a sweep and the key of its response."""

    id: str
    """The question's id."""
    size: int
    """The size of its context."""
    placement: str
    """Where the gold items stand, as gold_at_4."""
    content: Content
    """The text, or the messages of a chat."""
    key: str
    """The key of its response, see `response_key`."""
    sha256: str
    """See `Example.prompt_sha256`."""
    answers: tuple[str, ...] | None = None
    """The accepted answers, if these are measured."""

    @property
    def asked(self) -> Asked:
        """What its key is of, with the identity."""
        return self.content if self.answers is None else measured_content(self.content, self.answers)


def sweep_prompts(
    examples: Iterable[Example], identity: str, prompt_template: str, is_measured: bool = False
) -> list[Prompt]:
    """The prompts of all examples, in their order, with their keys under an identity digest.

    prompt_template: the model's, which decides between a list of messages and a text; is_measured: whether the answers
    are measured.
    """
    prompts = []
    for example in examples:
        content = example.content(prompt_template == CHAT)
        answers = example.targets[0].answers if is_measured else None
        prompt = Prompt(example.id, example.size, example.placement, content, "", example.prompt_sha256, answers)
        prompts.append(replace(prompt, key=response_key(identity, prompt.asked)))
    return prompts


@dataclass(frozen=True)
class Fit:
    """The limits of a model."""

    context_window: int | None
    """The most tokens of prompt and answer together, None without a known limit."""
    max_new_tokens: int
    """The most tokens of an answer."""
    on_overflow: str = LEAVE_OUT
    """`LEAVE_OUT` or `FAIL`, for prompts that do not fit."""
    is_shared: bool = True
    """False for an encoder-decoder, whose `context_window` limits the prompt alone."""
    answer_window: int | None = None
    """The most tokens of an answer of an encoder-decoder, None without a limit."""

    @property
    def room(self) -> int:
        """Tokens of the context window that are kept for an answer of full length."""
        return self.max_new_tokens if self.is_shared else 0

    def holds(self, prompt_tokens: int | None, answer_tokens: int = 0) -> bool:
        """Whether a prompt fits, with room for its answer; the server judges prompts of unknown length.

        answer_tokens: of the longest answer that is measured.
        """
        if self.context_window is None or prompt_tokens is None:
            return True
        return prompt_tokens + self.room + (answer_tokens if self.is_shared else 0) <= self.context_window

    def check_answer(self, what: str) -> None:
        """Raise `UserError` if a full-length answer cannot fit; what: the model and the experiment."""
        if self.context_window is not None and self.room >= self.context_window:
            raise UserError(
                f"{what}: answers may have {self.room:,} tokens, which leaves no room for a prompt in the context "
                f"window of {self.context_window:,}: lower max_new_tokens, or the limit in the model's 'request'"
            )
        if self.answer_window is not None and self.max_new_tokens > self.answer_window:
            raise UserError(
                f"{what}: answers may have {self.max_new_tokens} tokens, but the model's decoder holds "
                f"{self.answer_window}: lower the experiment's max_new_tokens"
            )


def check_fits(
    prompts: Iterable[Prompt], overflow: Mapping[str, int], fit: Fit, what: str, after: str = "nothing was asked"
) -> None:
    """Raise `UserError`, naming the cell of the longest prompt, if prompts do not fit and `fit` forbids overflow.

    overflow: tokens of each prompt that does not fit, by key; what: the model and the experiment; after: what was done.
    """
    if not overflow or fit.on_overflow != FAIL:
        return
    cells: dict[tuple[int, str], list[int]] = {}
    for prompt in prompts:
        if prompt.key in overflow:
            cells.setdefault((prompt.size, prompt.placement), []).append(overflow[prompt.key])
    (size, placement), tokens = max(cells.items(), key=lambda cell: max(cell[1]))
    others = sum(map(len, cells.values())) - len(tokens)
    elsewhere = f" (and {others} in other cells)" if others else ""
    room = f"of {fit.context_window} must hold {fit.room} of the answer too" if fit.room else f"is {fit.context_window}"
    raise UserError(
        f"{what}: {len(tokens)} prompts of size {size}, {placement}{elsewhere} do not fit: the "
        f"longest has {max(tokens)} tokens, and the context window {room}; {after}. Choose smaller sizes, or "
        f"set the experiment's on_overflow to {LEAVE_OUT}"
    )
