"""Prompt formats: tokenizers and templates, from a prompt or a conversation to text and tokens."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

from litm.base.files import read_text
from litm.base.groups import in_batches
from litm.base.json_files import read_json
from litm.base.loading import first_line, loading, show_torch
from litm.base.messages import UserError, note
from litm.models.locations import is_gguf
from litm.prompting.reasoning import OFF, STRIP, SWITCH, Reasoning, check_tags
from litm.prompting.tool_messages import as_texts
from litm.records.examples import Content

if TYPE_CHECKING:
    from transformers import BatchEncoding, PreTrainedTokenizerBase

#: The two prompt formats that are not a named template of resources/prompt_templates.
RAW, CHAT = "raw", "chat"
#: The place of the prompt in a named template, and a word that no template has.
PROMPT_FIELD, PROBE = "{prompt}", "qz0zq"


def named_template(prompt_format: str) -> str | None:
    """The name of the template's file; None for a raw prompt or a chat template."""
    return None if prompt_format in (RAW, CHAT) else prompt_format


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


def begins_twice(ids: Sequence[int], beginnings: set[int]) -> bool:
    """Whether the token that begins a text stands first and second."""
    return len(ids) > 1 and ids[0] == ids[1] and ids[0] in beginnings


def begun_twice(tokenizer: "PreTrainedTokenizerBase", text: str) -> str:
    """The special token at the beginning of a text that the tokenizer would add once more; "" for none."""
    ids = tokenizer(text, verbose=False)["input_ids"]
    return cast(str, tokenizer.decode([ids[0]])) if begins_twice(ids, beginning_tokens(tokenizer)) else ""


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


#: Date given to chat templates that write today's date: the same prompt must be the same tomorrow.
FIXED_DAY = datetime(2024, 7, 26)


def as_messages(content: Content) -> list[dict[str, str]]:
    """The messages of a chat; a text becomes one user message."""
    return [{"role": "user", "content": content}] if isinstance(content, str) else content


def render_chats(tokenizer: "PreTrainedTokenizerBase", chats: list[list[dict[str, str]]]) -> list[str]:
    """Each chat in the tokenizer's chat template, up to the beginning of the answer; errors as in `PromptFormat`."""
    template = own_chat_template(tokenizer)
    try:
        texts = tokenizer.apply_chat_template(
            chats, chat_template=fixed_day_macro() + template, tokenize=False, add_generation_prompt=True
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


@dataclass(frozen=True)
class PromptFormat:
    """A tokenizer, and how prompts are written for it; its methods raise `UserError` if they cannot be."""

    tokenizer: "PreTrainedTokenizerBase"
    """Tokenizer of the model."""
    name: str
    """Name of the format: 'raw', 'chat' (the tokenizer's own chat template; a text becomes one user message), or that
    of a template. Only 'chat' takes messages, see `Example.content`.
    """
    template: str | None = None
    """Text of the named template."""

    def render(self, prompts: Sequence[Content]) -> list[str]:
        """The text of each prompt for the tokenizer."""
        if self.name == CHAT:
            chats = [as_texts(as_messages(prompt)) for prompt in prompts]
            check_shows_all(self.tokenizer, chats)
            return render_chats(self.tokenizer, chats)
        texts = cast(Sequence[str], prompts)
        return list(texts) if self.template is None else [self.template.replace(PROMPT_FIELD, text) for text in texts]

    def tokenize(self, texts: list[str]) -> "BatchEncoding":
        """The encoding of rendered prompts; a chat template writes special tokens itself.

        Raises `UserError` if a prompt begins with two begin tokens, which no model was trained on. The token ids are
        checked, because each tokenizer writes that token in its own way, and many write none. The token is not removed:
        the template file would then differ from the model's input.
        """
        special = self.name != CHAT
        encoded = self.tokenizer(texts, add_special_tokens=special, return_attention_mask=False, verbose=False)
        beginnings = beginning_tokens(self.tokenizer)
        for ids in cast(list[list[int]], encoded["input_ids"]):
            if begins_twice(ids, beginnings):
                token = self.tokenizer.decode([ids[0]])
                remedy = (
                    "the tokenizer adds it by itself: remove it from the file of the prompt template or of the prompt"
                    if special
                    else "the chat template, or the message, writes it twice: use another prompt_template"
                )
                raise UserError(f"prompt_template {self.name}: a prompt begins with {token!r} twice; {remedy}")
        return encoded

    def encode(self, prompts: Iterable[Content]) -> list[list[int]]:
        """The token ids of each prompt as the model reads it, with the tokenizer's special tokens once; never
        truncated.
        """
        ids: list[list[int]] = []
        for batch in in_batches(prompts, CHUNK):
            ids += cast(list[list[int]], self.tokenize(self.render(batch))["input_ids"])
        return ids

    def encode_answers(
        self, prompts: Iterable[tuple[Content, Sequence[int]]], answers: Iterable[Sequence[str]], apart: bool = False
    ) -> list[list[list[int]]]:
        """The token ids of each accepted answer of each prompt, as the model reads them after the prompt.

        A space stands between a prompt and its answer, unless the rendered prompt ends in white space. An answer has
        the ids that prompt and answer have as one text, after those of the prompt. Where these are not the beginning,
        because the tokenizer joins the prompt's end with the answer, it has the ids of its own text (with the space)
        alone. No special token is added.

        prompts: content and token ids of each; apart: whether an answer is a text of its own, as for an
        encoder-decoder.
        """
        encoded: list[list[list[int]]] = []
        for batch in in_batches(zip(prompts, answers, strict=True), CHUNK):
            texts = [""] * len(batch) if apart else self.render([content for (content, _), _ in batch])
            answered = zip(texts, batch, strict=True)
            pairs = [(text, _after(text, answer)) for text, (_, accepted) in answered for answer in accepted]
            whole = [] if apart else self.tokenize(["".join(pair) for pair in pairs])["input_ids"]
            together = iter(cast(list[list[int]], whole))
            afters = (text for _, text in pairs)
            for (_, ids), accepted in batch:
                ends = []
                for _ in accepted:
                    after, both = next(afters), next(together, [])
                    is_beginning = both[: len(ids)] == [*ids]
                    alone = self.tokenizer(after, add_special_tokens=False, verbose=False)
                    ends.append(both[len(ids) :] if is_beginning else cast(list[int], alone["input_ids"]))
                encoded.append(ends)
        return encoded

    def opens_reasoning(self, opening: str) -> bool:
        """Whether prompts end with the tag that opens reasoning."""
        return self.render(["x"])[0].rstrip().endswith(opening)

    def frame(self) -> dict:
        """{prompt_template, before, after, strips, special} of a single prompt.

        before, after: the text around the prompt; strips: whether spaces and line ends around it are dropped; special:
        the token that the tokenizer itself puts before the text, '' for none.
        """
        text, spaced = (self.render([prompt])[0] for prompt in (PROBE, f"\n {PROBE} \n"))
        before, _, after = text.partition(PROBE)
        first = self.encode([PROBE])[0][0]
        beginning = cast(str, self.tokenizer.decode([first])) if first == added_beginning(self.tokenizer) else ""
        return {
            "prompt_template": self.name,
            "before": before,
            "after": after,
            "strips": f"\n {PROBE} \n" not in spaced,
            "special": "" if text.startswith(beginning) else beginning,
        }


def _after(prompt: str, answer: str) -> str:
    return f" {answer}" if prompt and not prompt[-1].isspace() else answer


def text_of_chat(tokenizer: "PreTrainedTokenizerBase", content: Content) -> str:
    """A chat as text for a server that completes texts; errors as in `PromptFormat.render`.

    The begin token is left out if the server's tokenizer, the same one, adds it.
    """
    (text,) = PromptFormat(tokenizer, CHAT).render([content])
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


#: A chat template that adds nothing.
TEXTS_ALONE = "{% for message in messages %}{{ message['content'] }}{% endfor %}"


@dataclass(frozen=True)
class FormatOptions:
    """Options that name a tokenizer and the format of prompts.

    prompt_template: raw, chat, or the name of a template
    tokenizer: a tokenizer file or a model folder
    source: output of identify_model.py; instead of --tokenizer
    reasoning: JSON: how the tokenizer is used
    template: the file of a named template
    """

    prompt_template: str
    tokenizer: str | None = None
    source: str | None = None
    reasoning: dict | None = None
    template: str | None = None

    def read(self) -> PromptFormat:
        """The format; errors as in `model_tokenizer` and `read_prompt_template`."""
        source = read_json(self.source) if self.source else {"location": self.tokenizer, "revision": None}
        settings = self.reasoning or {}
        own_code, place = settings.get("trust_remote_code", False), (str(source["location"]), source["revision"])
        tokenizer = model_tokenizer(*place, self.prompt_template, Reasoning.from_settings(settings), own_code)
        if self.prompt_template == CHAT and not (self.source or tokenizer.chat_template):
            # Of a server, whose template is its own: an entry of a model that runs here would have been refused.
            note(f"{self.tokenizer} has no chat template: tokens are those of the messages' texts alone")
            tokenizer.chat_template = TEXTS_ALONE
        template = read_prompt_template(self.template) if self.template else None
        return PromptFormat(tokenizer, self.prompt_template, template)


#: Texts that count as one token, shorter than those of usual tokenizers; tokens of a template for each message.
_OF_A_TOKEN, TEMPLATE_TOKENS = re.compile(r"[^\W\d_]{1,3}|[^ ]"), 8


def most_tokens(content: Content) -> int:
    """The tokens of a prompt, usually too many: one for three letters of a word, for each digit and sign, and for each
    byte that UTF-8 has beyond the characters. Words, code, UUIDs and most alphabets have fewer, random letters more.
    """
    texts = [message["content"] for message in as_messages(content)]
    beyond = sum(len(text.encode(errors="replace")) - len(text) for text in texts)
    return beyond + sum(len(_OF_A_TOKEN.findall(text)) + TEMPLATE_TOKENS for text in texts)
