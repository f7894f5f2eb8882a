"""From a prompt to the token ids a model reads: tokenizer and prompt template, without any weights."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

import jinja2

from litm.errors import UserError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

#: The two prompt formats that are not a named template of resources/prompt_templates.
RAW, CHAT = "raw", "chat"
PROMPT_FIELD = "{prompt}"
#: The day that chat templates are told which write today's date: the same prompt must be the same tomorrow.
FIXED_DAY = datetime(2024, 7, 26)


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
    tokenizer: "PreTrainedTokenizerBase", prompt_template: str, template: str | None, prompts: Sequence[str]
) -> list[list[int]]:
    """Token ids of each prompt as the model is given it, with the special tokens of its tokenizer once.

    prompt_template: 'raw', 'chat' (the tokenizer's own chat template, one user message), or the name of a
    template whose text is `template`. Never truncates. Raises `UserError` where there is no chat template.
    """
    if not prompts:
        return []
    if prompt_template == CHAT:
        if not tokenizer.chat_template:
            raise UserError(
                "prompt_template is 'chat', but the model's tokenizer has no chat template: "
                "use 'raw' or the name of a file in resources/prompt_templates"
            )
        chats = [[{"role": "user", "content": prompt}] for prompt in prompts]
        try:
            texts = tokenizer.apply_chat_template(
                chats,
                chat_template=fixed_day_macro() + tokenizer.get_chat_template(),
                tokenize=False,
                add_generation_prompt=True,
            )
        except (ValueError, jinja2.TemplateError) as error:
            raise UserError(
                f"the tokenizer's chat template cannot be used ({str(error).splitlines()[0]}): "
                f"use 'raw' or the name of a file in resources/prompt_templates"
            ) from error
        # A chat template writes the special tokens itself.
        return _encode(tokenizer, cast(list[str], texts), add_special_tokens=False)
    if template is not None:
        prompts = [template.replace(PROMPT_FIELD, prompt) for prompt in prompts]
    return _encode(tokenizer, list(prompts), add_special_tokens=True)


def fixed_day_macro() -> str:
    """A chat template's beginning that replaces `strftime_now` by the same function of `FIXED_DAY`.

    The line end at its end is dropped by the way transformers renders templates, so that the template itself
    still begins at the beginning of a line.
    """
    filters = "".join(f"|replace('%{code}', '{FIXED_DAY.strftime('%' + code)}')" for code in "YymdBbAaHMSIpj")
    return "{%- macro strftime_now(format) -%}{{ format" + filters + " }}{%- endmacro %}\n"


def _encode(tokenizer: "PreTrainedTokenizerBase", texts: list[str], add_special_tokens: bool) -> list[list[int]]:
    encoded = tokenizer(texts, add_special_tokens=add_special_tokens, return_attention_mask=False, verbose=False)
    return cast(list[list[int]], encoded["input_ids"])
