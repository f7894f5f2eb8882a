"""The prompt format of a model whose entry leaves it out."""

import re
from collections.abc import Iterable

from litm.base.messages import UserError
from litm.prompting.formats import CHAT, RAW

#: Part of the names of models that follow instructions: Qwen2.5-0.5B-Instruct, Llama-2-7b-chat-hf, gemma-3-1b-it.
_FOLLOWS = re.compile(r"(?<![a-z])(instruct|chat|it)(?![a-z])", re.IGNORECASE)


def left_out_prompt_template(names: Iterable[str], has_chat_template: bool | None, where: str) -> str:
    """The prompt template of a model whose entry leaves it out.

    raw without a chat template, else chat for a model whose name marks it as following instructions.

    names: of its folder, file or repository, and its own name for itself; has_chat_template: None if unknown so far.
    Raises `UserError` if the names do not tell: a chat model that is asked raw answers far worse, and base models often
    have a chat template too.
    """
    if has_chat_template is False:
        return RAW
    if any(_FOLLOWS.search(name) for name in names):
        return CHAT
    known = "its tokenizer has a chat template" if has_chat_template else "its tokenizer is not read before a run"
    raise UserError(
        f"{where}.prompt_template is left out, {known}, and the model's name does not tell whether it follows "
        f"instructions: set it to {CHAT} if it does, or to {RAW} for a base model"
    )


def why_taken(prompt_template: str) -> str:
    """A sentence on the chosen prompt template and the reason."""
    why = "its tokenizer's chat template" if prompt_template == CHAT else "its tokenizer has no chat template"
    return f"prompt_template is left out, so it is {prompt_template} ({why})"
