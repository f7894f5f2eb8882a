"""Tokenizers: loaded, applied, and checked for one begin token."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from litm.base.loading import loading, show_torch
from litm.base.messages import UserError
from litm.models.gguf import is_gguf
from litm.prompting.chat import switch_thinking_off
from litm.prompting.formats import CHAT
from litm.prompting.reasoning import OFF, Reasoning, check_tags

if TYPE_CHECKING:
    from transformers import BatchEncoding, PreTrainedTokenizerBase


def model_tokenizer(
    location: str, revision: str | None, prompt_template: str, reasoning: Reasoning, own_code: bool = False
) -> "PreTrainedTokenizerBase":
    """The tokenizer for the prompts of a model; location, revision, own_code and errors as in `load_tokenizer`.

    Also raises `UserError` for a reasoning policy that the prompts or the tokenizer do not support.
    """
    tokenizer = load_tokenizer(location, revision, own_code)
    if reasoning.policy == OFF:
        switch_thinking_off(tokenizer, prompt_template)
    if reasoning.is_separate:
        check_tags(tokenizer, reasoning.tags)
    return tokenizer


def load_tokenizer(location: str, revision: str | None = None, own_code: bool = False) -> "PreTrainedTokenizerBase":
    """The tokenizer in a model folder, a tokenizer.json file or a GGUF file, or of a hub model.

    own_code: whether code that comes with it may run. Raises `UserError` if it cannot be loaded.
    """
    path = Path(location)
    if own_code or is_gguf(path):
        # That code, and transformers' reader of GGUF files, import it.
        show_torch()
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    if is_gguf(path):
        with loading(f"tokenizer of {location}"):
            return AutoTokenizer.from_pretrained(
                path.parent, gguf_file=path.name, trust_remote_code=False, padding_side="left"
            )
    if path.is_file():
        try:
            return PreTrainedTokenizerFast(tokenizer_file=location, padding_side="left")
        except Exception as error:  # the tokenizers library raises nothing more special
            raise UserError(f"{location}: not a tokenizer.json file ({error})") from error
    with loading(f"tokenizer of {location}"):
        # Never None: transformers would ask on standard input whether to run the model's code.
        return AutoTokenizer.from_pretrained(
            location, revision=revision, trust_remote_code=own_code, padding_side="left"
        )


def tokenize(tokenizer: "PreTrainedTokenizerBase", prompt_template: str, texts: list[str]) -> "BatchEncoding":
    """The encoding of texts from `render_prompts`; a chat template writes special tokens itself.

    Raises `UserError` as `check_begins_once` does.
    """
    special = prompt_template != CHAT
    encoded = tokenizer(texts, add_special_tokens=special, return_attention_mask=False, verbose=False)
    check_begins_once(tokenizer, prompt_template, cast(list[list[int]], encoded["input_ids"]))
    return encoded


def check_begins_once(
    tokenizer: "PreTrainedTokenizerBase", prompt_template: str, prompts: Iterable[Sequence[int]]
) -> None:
    """Raise `UserError` if a prompt begins with two begin tokens, which no model was trained on.

    The token ids are checked, because each tokenizer writes that token in its own way, and many write none. The token
    is not removed: the template file would then differ from the model's input.
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


def begun_twice(tokenizer: "PreTrainedTokenizerBase", text: str) -> str:
    """The special token at the beginning of a text that the tokenizer would add once more; "" for none."""
    ids = tokenizer(text, verbose=False)["input_ids"][:2]
    twice = len(ids) == 2 and ids[0] == ids[1] and ids[0] in beginning_tokens(tokenizer)
    return cast(str, tokenizer.decode([ids[0]])) if twice else ""


def beginning_tokens(tokenizer: "PreTrainedTokenizerBase") -> set[int]:
    """The ids that begin a text: the tokenizer's named begin token, and the token that it adds to a text, which also
    covers tokenizers from a tokenizer.json alone, whose special tokens have no names.
    """
    named = {tokenizer.bos_token_id} - {None}
    added = added_beginning(tokenizer)
    return named if added is None else named | {added}


def added_beginning(tokenizer: "PreTrainedTokenizerBase") -> int | None:
    """The id that the tokenizer adds at the beginning of a text; None if it adds none."""
    plain = tokenizer("x", add_special_tokens=False)["input_ids"]
    added = tokenizer("x")["input_ids"]
    return added[0] if added[:1] != plain[:1] else None
