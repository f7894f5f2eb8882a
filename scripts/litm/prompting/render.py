"""Rendering of prompts: templates applied, then tokens."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from litm.base.files import read_text
from litm.base.messages import UserError
from litm.base.records import in_batches
from litm.prompting.chat import as_messages, check_shows_all, own_chat_template, render_chats
from litm.prompting.formats import CHAT, PROMPT_FIELD
from litm.prompting.tokenizer import added_beginning, begun_twice, tokenize
from litm.records import Content

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


#: Prompts tokenized at a time: the tokenizer's output takes three times the memory of the ids.
CHUNK = 64


def read_prompt_template(path: str | Path) -> str:
    """The text of a named template, without its final line end.

    Raises `UserError` unless it is UTF-8 and contains {prompt} exactly once.
    """
    template = read_text(path).removesuffix("\n")
    if template.count(PROMPT_FIELD) != 1:
        raise UserError(f"{path}: a prompt template must contain {PROMPT_FIELD} exactly once")
    return template


def encode_prompts(
    tokenizer: "PreTrainedTokenizerBase", prompt_template: str, template: str | None, prompts: Iterable[Content]
) -> list[list[int]]:
    """The token ids of each prompt as the model reads it, with the tokenizer's special tokens once.

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
    """The text of each prompt for the tokenizer.

    prompt_template: 'raw', 'chat' (the tokenizer's own chat template; a text becomes one user message), or the name of
    a template whose text is `template`. Only 'chat' takes messages, see `Example.content`. Raises `UserError` if the
    chat template is missing or refuses the messages.
    """
    if prompt_template == CHAT:
        chats = [as_messages(prompt) for prompt in prompts]
        check_shows_all(tokenizer, chats)
        return render_chats(tokenizer, chats)
    texts = cast(Sequence[str], prompts)
    return list(texts) if template is None else [template.replace(PROMPT_FIELD, text) for text in texts]


def text_of_chat(tokenizer: "PreTrainedTokenizerBase", content: Content) -> str:
    """A chat as text for a server that completes texts; errors as in `render_prompts`.

    The begin token is left out if the server's tokenizer, the same one, adds it.
    """
    (text,) = render_prompts(tokenizer, CHAT, None, [content])
    return text.removeprefix(begun_twice(tokenizer, text))


def chat_identity(tokenizer: "PreTrainedTokenizerBase") -> dict:
    """Everything that determines the text of `text_of_chat`; `UserError` if there is no chat template.

    Among the special tokens only those that the template refers to change the text.
    """
    template = own_chat_template(tokenizer)
    return {
        "chat_template": template,
        "special_tokens": {name: token for name, token in tokenizer.special_tokens_map.items() if name in template},
        "added_beginning": added_beginning(tokenizer),
    }


def opens_reasoning(
    tokenizer: "PreTrainedTokenizerBase", prompt_template: str, template: str | None, opening: str
) -> bool:
    """Whether prompts end with the tag that opens reasoning; arguments and errors as in `render_prompts`."""
    return render_prompts(tokenizer, prompt_template, template, ["x"])[0].rstrip().endswith(opening)
