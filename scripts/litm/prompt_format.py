"""From a prompt to the token ids a model reads: tokenizer and prompt template, without any weights."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

import jinja2

from litm.batches import in_batches
from litm.domain.example import Content as Content
from litm.errors import UserError
from litm.reasoning import OFF, STRIP, SWITCH, Reasoning, check_tags

if TYPE_CHECKING:
    from transformers import BatchEncoding, PreTrainedTokenizerBase


#: The two prompt formats that are not a named template of resources/prompt_templates.
RAW, CHAT = "raw", "chat"
PROMPT_FIELD = "{prompt}"
#: The day that chat templates are told which write today's date: the same prompt must be the same tomorrow.
FIXED_DAY = datetime(2024, 7, 26)
#: Prompts given to the tokenizer at a time: what it returns takes three times the memory of the ids alone.
CHUNK = 64


def model_tokenizer(
    location: str, revision: str | None, prompt_template: str, reasoning: Reasoning
) -> "PreTrainedTokenizerBase":
    """The tokenizer as a model is asked with it; location, revision and errors as in `load_tokenizer`.

    Raises `UserError` too for a reasoning policy that the prompts or the tokenizer do not allow.
    """
    tokenizer = load_tokenizer(location, revision)
    if reasoning.policy == OFF:
        switch_thinking_off(tokenizer, prompt_template)
    if reasoning.is_separate:
        check_tags(tokenizer, reasoning.tags)
    return tokenizer


def load_tokenizer(location: str, revision: str | None = None) -> "PreTrainedTokenizerBase":
    """The tokenizer in a model folder, in a tokenizer.json file, or of a hub model.

    Raises `UserError` if there is none.
    """
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    if Path(location).is_file():
        try:
            return PreTrainedTokenizerFast(tokenizer_file=location, padding_side="left")
        except Exception as error:  # the tokenizers library raises nothing more special
            raise UserError(f"{location}: not a tokenizer.json file ({error})") from error
    try:
        return AutoTokenizer.from_pretrained(location, revision=revision, padding_side="left")
    except (OSError, ValueError, KeyError) as error:
        reason = str(error).strip().splitlines()[0]
        raise UserError(f"tokenizer of {location}: {reason}") from error


def read_prompt_template(path: str | Path) -> str:
    """A named template's text without its final line end; it must have {prompt} exactly once."""
    template = Path(path).read_text(encoding="utf-8").removesuffix("\n")
    if template.count(PROMPT_FIELD) != 1:
        raise UserError(f"{path}: a prompt template must contain {PROMPT_FIELD} exactly once")
    return template


def encode_prompts(
    tokenizer: "PreTrainedTokenizerBase", prompt_template: str, template: str | None, prompts: Iterable[Content]
) -> list[list[int]]:
    """Token ids of each prompt as the model is given it, with the special tokens of its tokenizer once.

    Never truncates. Arguments and errors as in `render_prompts`.
    """
    ids: list[list[int]] = []
    for some in in_batches(prompts, CHUNK):
        texts = render_prompts(tokenizer, prompt_template, template, some)
        ids += cast(list[list[int]], tokenize(tokenizer, prompt_template, texts)["input_ids"])
    return ids


def render_prompts(
    tokenizer: "PreTrainedTokenizerBase", prompt_template: str, template: str | None, prompts: Sequence[Content]
) -> list[str]:
    """The text of each prompt that the tokenizer is given.

    prompt_template: 'raw', 'chat' (the tokenizer's own chat template; a text is one user message), or the name of a
    template whose text is `template`. Messages are for 'chat' alone, see `prompt_content`. Raises `UserError` where
    there is no chat template, or it refuses the messages.
    """
    if prompt_template == CHAT:
        chats = [as_messages(prompt) for prompt in prompts]
        check_shows_all(tokenizer, chats)
        return render_chats(tokenizer, chats)
    texts = cast(Sequence[str], prompts)
    return list(texts) if template is None else [template.replace(PROMPT_FIELD, text) for text in texts]


def opens_reasoning(
    tokenizer: "PreTrainedTokenizerBase", prompt_template: str, template: str | None, opening: str
) -> bool:
    """Whether prompts end with the tag that opens the reasoning; arguments and errors as in `render_prompts`."""
    return render_prompts(tokenizer, prompt_template, template, ["x"])[0].rstrip().endswith(opening)


def as_messages(content: Content) -> list[dict[str, str]]:
    """The messages of a chat: a text is one message of the user's."""
    return [{"role": "user", "content": content}] if isinstance(content, str) else content


def render_chats(tokenizer: "PreTrainedTokenizerBase", chats: list[list[dict[str, str]]]) -> list[str]:
    """Each chat in the tokenizer's chat template, up to where the answer begins; errors as in `render_prompts`."""
    if not tokenizer.chat_template:
        raise UserError(
            "prompt_template is 'chat', but the model's tokenizer has no chat template: "
            "use 'raw' or the name of a file in resources/prompt_templates"
        )
    try:
        texts = tokenizer.apply_chat_template(
            chats,
            chat_template=fixed_day_macro() + tokenizer.get_chat_template(),
            tokenize=False,
            add_generation_prompt=True,
        )
    except (ValueError, TypeError, LookupError, AttributeError, jinja2.TemplateError) as error:
        raise UserError(
            f"the tokenizer's chat template cannot be used ({str(error).splitlines()[0]}): "
            f"use 'raw' or the name of a file in resources/prompt_templates"
        ) from error
    return cast(list[str], texts)


def switch_thinking_off(tokenizer: "PreTrainedTokenizerBase", prompt_template: str) -> None:
    """Have the tokenizer's chat template write from now on what it writes for models that are not to reason.

    Raises `UserError` if it has no such switch, or is not what the prompt is put into.
    """
    remedy = f"set the model's 'reasoning' to {STRIP}, or leave it out"
    if prompt_template != CHAT:
        raise UserError(f"reasoning: {OFF} is for prompt_template {CHAT}, and it is {prompt_template}: {remedy}")
    if not tokenizer.chat_template or SWITCH not in tokenizer.get_chat_template():
        raise UserError(f"reasoning: {OFF}, but the tokenizer's chat template has no '{SWITCH}' to switch: {remedy}")
    # The line end at its end is dropped by the way transformers renders templates.
    tokenizer.chat_template = f"{{%- set {SWITCH} = false %}}\n" + tokenizer.get_chat_template()


def check_shows_all(tokenizer: "PreTrainedTokenizerBase", chats: Iterable[list[dict[str, str]]]) -> None:
    """Raise `UserError` if the chat template leaves out messages: what a model is not shown it cannot remember.

    Looked for with other words in the place of the messages, once for each pattern of roles, as a template may change
    what it is given.
    """
    for roles in dict.fromkeys(tuple(message["role"] for message in chat) for chat in chats):
        marks = [f"qz{index}zq" for index in range(len(roles))]
        chat = [{"role": role, "content": mark} for role, mark in zip(roles, marks, strict=True)]
        try:
            (text,) = render_chats(tokenizer, [chat])
        except UserError:
            # It depends on what the messages say.
            continue
        absent = sum(mark not in text.lower() for mark in marks)
        if absent:
            raise UserError(
                f"the tokenizer's chat template leaves out {absent} of the {len(roles)} messages of a conversation: "
                f"use 'raw' or the name of a file in resources/prompt_templates"
            )


def tokenize(tokenizer: "PreTrainedTokenizerBase", prompt_template: str, texts: list[str]) -> "BatchEncoding":
    """Texts that `render_prompts` made as the tokenizer encodes them; a chat template writes special tokens itself.

    Raises `UserError` as `check_begins_once` does.
    """
    special = prompt_template != CHAT
    encoded = tokenizer(texts, add_special_tokens=special, return_attention_mask=False, verbose=False)
    check_begins_once(tokenizer, prompt_template, cast(list[list[int]], encoded["input_ids"]))
    return encoded


def check_begins_once(
    tokenizer: "PreTrainedTokenizerBase", prompt_template: str, prompts: Iterable[Sequence[int]]
) -> None:
    """Raise `UserError` if the token ids of a prompt have the beginning of a text twice, which no model was trained on.

    Looked for in what the model is given, because each tokenizer has its own way to write that token, and many write
    none. Taken out it is not: a template's file is then no longer what the model was given.
    """
    beginnings = beginning_tokens(tokenizer)
    for ids in prompts:
        if len(ids) > 1 and ids[0] == ids[1] and ids[0] in beginnings:
            token = tokenizer.decode([ids[0]])
            remedy = (
                "the chat template, or the message, writes it twice: use another prompt_template"
                if prompt_template == CHAT
                else "the tokenizer adds it by itself: remove it from the file of the prompt template or of the prompt"
            )
            raise UserError(f"prompt_template {prompt_template}: a prompt begins with {token!r} twice; {remedy}")


def beginning_tokens(tokenizer: "PreTrainedTokenizerBase") -> set[int]:
    """The ids that begin a text: what the tokenizer calls so, and what it puts before a text, which tells of those too
    that were read from a tokenizer.json alone and have no names for their special tokens.
    """
    plain = tokenizer("x", add_special_tokens=False)["input_ids"]
    added = tokenizer("x")["input_ids"]
    named = {tokenizer.bos_token_id} - {None}
    return named | ({added[0]} if added[:1] != plain[:1] else set())


def fixed_day_macro() -> str:
    """A chat template's beginning that replaces `strftime_now` by the same function of `FIXED_DAY`.

    The line end at its end is dropped by the way transformers renders templates, so that the template itself
    still begins at the beginning of a line.
    """
    filters = "".join(f"|replace('%{code}', '{FIXED_DAY.strftime('%' + code)}')" for code in "YymdBbAaHMSIpj")
    return "{%- macro strftime_now(format) -%}{{ format" + filters + " }}{%- endmacro %}\n"
