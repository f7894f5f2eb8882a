"""Chat templates: from messages to text."""

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, cast

from litm.base.loading import first_line
from litm.base.messages import UserError
from litm.prompting.formats import CHAT
from litm.prompting.reasoning import OFF, STRIP, SWITCH
from litm.records import Content

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


#: Date given to chat templates that write today's date: the same prompt must be the same tomorrow.
FIXED_DAY = datetime(2024, 7, 26)


def as_messages(content: Content) -> list[dict[str, str]]:
    """The messages of a chat; a text becomes one user message."""
    return [{"role": "user", "content": content}] if isinstance(content, str) else content


def render_chats(tokenizer: "PreTrainedTokenizerBase", chats: list[list[dict[str, str]]]) -> list[str]:
    """Each chat in the tokenizer's chat template, up to the beginning of the answer; errors as in `render_prompts`."""
    template = own_chat_template(tokenizer)
    try:
        texts = tokenizer.apply_chat_template(
            chats,
            chat_template=fixed_day_macro() + template,
            tokenize=False,
            add_generation_prompt=True,
        )
    except Exception as error:  # a template is a program: it can fail in any way
        raise UserError(cannot_be_used(error)) from error
    return cast(list[str], texts)


def own_chat_template(tokenizer: "PreTrainedTokenizerBase") -> str:
    """The tokenizer's chat template; `UserError` if there is none, or several without a default."""
    if not tokenizer.chat_template:
        raise UserError(
            "prompt_template is 'chat', but the model's tokenizer has no chat template: "
            "use 'raw' or the name of a file in resources/prompt_templates"
        )
    try:
        return tokenizer.get_chat_template()
    except ValueError as error:
        raise UserError(cannot_be_used(error)) from error


def cannot_be_used(error: Exception) -> str:
    """The message on an unusable chat template, with the remedy."""
    return (
        f"the tokenizer's chat template cannot be used ({first_line(error)}): "
        f"use 'raw' or the name of a file in resources/prompt_templates"
    )


def switch_thinking_off(tokenizer: "PreTrainedTokenizerBase", prompt_template: str) -> None:
    """Make the tokenizer's chat template write prompts without reasoning from now on.

    Raises `UserError` if the template has no such switch, or the prompt does not use it.
    """
    remedy = f"set the model's 'reasoning' to {STRIP}, or leave it out"
    if prompt_template != CHAT:
        raise UserError(f"reasoning: {OFF} is for prompt_template {CHAT}, and it is {prompt_template}: {remedy}")
    if not tokenizer.chat_template or SWITCH not in tokenizer.get_chat_template():
        raise UserError(f"reasoning: {OFF}, but the tokenizer's chat template has no '{SWITCH}' to switch: {remedy}")
    # transformers renders templates so that this line end is dropped.
    tokenizer.chat_template = f"{{%- set {SWITCH} = false %}}\n" + tokenizer.get_chat_template()


def check_shows_all(tokenizer: "PreTrainedTokenizerBase", chats: Iterable[list[dict[str, str]]]) -> None:
    """Raise `UserError` if the chat template drops messages: a model cannot remember what it is not shown.

    Checked with placeholder texts, once per pattern of roles, because a template may change the contents.
    """
    for roles in dict.fromkeys(tuple(message["role"] for message in chat) for chat in chats):
        marks = [f"qz{index}zq" for index in range(len(roles))]
        chat = [{"role": role, "content": mark} for role, mark in zip(roles, marks, strict=True)]
        try:
            (text,) = render_chats(tokenizer, [chat])
        except UserError:
            # The template depends on the contents.
            continue
        absent = sum(mark not in text.lower() for mark in marks)
        if absent:
            raise UserError(
                f"the tokenizer's chat template leaves out {absent} of the {len(roles)} messages of a conversation: "
                f"use 'raw' or the name of a file in resources/prompt_templates"
            )


def fixed_day_macro() -> str:
    """A template prefix that replaces `strftime_now` by the same function of `FIXED_DAY`.

    transformers drops the line end at its end, so that the template itself still begins at the start of a line.
    """
    filters = "".join(f"|replace('%{code}', '{FIXED_DAY.strftime('%' + code)}')" for code in "YymdBbAaHMSIpj")
    return "{%- macro strftime_now(format) -%}{{ format" + filters + " }}{%- endmacro %}\n"
