"""Prompt formats: text or messages, with special tokens once."""

from hashlib import sha256

import pytest
from conftest import ROOT
from programs import refused
from tokenizers import Tokenizer
from tokenizers.decoders import Fuse
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

from litm.base.messages import UserError
from litm.examples.examples import read_template
from litm.prompting import prompt_format as render
from litm.prompting.prompt_format import CHAT, RAW, PromptFormat, read_prompt_template

TURNS = [{"role": "user", "content": "ab"}, {"role": "assistant", "content": "c"}, {"role": "user", "content": "d"}]
TURN_TAKING = (
    "^{% for m in messages %}"
    "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}"
    "[{{ m.role[0] }}]{{ m.content }}{% endfor %}"
)


@pytest.fixture
def tokenizer() -> PreTrainedTokenizerFast:
    """A token a character, and `^` as the beginning of a text."""
    letters = {letter: number for number, letter in enumerate("^?[]uabcdefg:")}
    tokens = Tokenizer(WordLevel(letters, unk_token="?"))
    tokens.pre_tokenizer, tokens.decoder = Split("", "isolated"), Fuse()
    tokens.post_processor = TemplateProcessing("^ $A", None, [("^", letters["^"])])
    return PreTrainedTokenizerFast(tokenizer_object=tokens, bos_token="^", chat_template=TURN_TAKING)


@pytest.mark.parametrize(
    ("prompt_template", "template", "prompt", "expected"),
    [
        (RAW, None, "abc", "^abc"),
        ("named", "d{prompt}e", "abc", "^dabce"),
        (CHAT, None, "abc", "^[u]abc"),
        (CHAT, None, TURNS, "^[u]ab[a]c[u]d"),
    ],
)
def test_every_format_has_the_special_tokens_once(tokenizer, prompt_template, template, prompt, expected):
    (ids,) = PromptFormat(tokenizer, prompt_template, template).encode([prompt])
    assert tokenizer.decode(ids) == expected


def beginning_with(tokenizer, *, named: bool, added: bool) -> PreTrainedTokenizerFast:
    """The tokenizer, which says or not that `^` begins a text, and adds it or not."""
    tokens = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
    if not added:
        tokens.post_processor = TemplateProcessing("$A", None, [])
    bos = {"bos_token": "^"} if named else {}
    return PreTrainedTokenizerFast(tokenizer_object=tokens, chat_template=tokenizer.chat_template, **bos)


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(
    ("prompt_template", "template", "prompt"), [("named", "^d{prompt}e", "abc"), (RAW, None, "^abc")]
)
def test_a_beginning_that_is_written_and_added_too_is_refused(tokenizer, named, prompt_template, template, prompt):
    adds = beginning_with(tokenizer, named=named, added=True)
    assert refused(PromptFormat(adds, prompt_template, template).encode, ["ab", prompt]) == (
        f"prompt_template {prompt_template}: a prompt begins with '^' twice; the tokenizer adds it by itself: remove "
        "it from the file of the prompt template or of the prompt"
    )
    adds_none = beginning_with(tokenizer, named=named, added=False)
    (ids,) = PromptFormat(adds_none, prompt_template, template).encode([prompt])
    assert tokenizer.decode(ids).count("^") == 1


def test_a_chat_template_that_writes_the_beginning_twice_is_refused(tokenizer):
    tokenizer.chat_template = "^^" + TURN_TAKING[1:]
    with pytest.raises(UserError, match=r"^prompt_template chat: a prompt begins with '\^' twice; the chat template"):
        PromptFormat(tokenizer, CHAT).encode(["abc"])


def test_what_is_said_twice_but_begins_no_text_is_nothing(tokenizer):
    plain = beginning_with(tokenizer, named=False, added=False)
    for some in (tokenizer, plain):
        PromptFormat(some, RAW).encode(["aab", "a", ""])
    (ids,) = PromptFormat(plain, RAW).encode(["^^ab"])
    assert len(ids) == 4


#: SHA-256 of the prompt that each makes of "Hi!", as published by FastChat, Llama 2's code and paper, Anthropic and
#: MosaicML.
TEMPLATES = {
    "vicuna_v1_1": "c492243a9b68c23c",
    "llama_2_chat": "7201c0922905c426",
    "llama_2_chat_paper": "8e5203499602806e",
    "claude_human_assistant": "cec016a5b5b5bf93",
    "mpt_instruct": "f36b0574df53d783",
}


def test_named_templates_are_exact_to_the_last_character(tokenizer):
    paths = sorted((ROOT / "resources" / "prompt_templates").iterdir())
    made = [PromptFormat(tokenizer, one.stem, read_prompt_template(one)).render(["Hi!"]) for one in paths]
    digests = [sha256(text.encode()).hexdigest()[:16] for (text,) in made]
    assert dict(zip((path.stem for path in paths), digests, strict=True)) == TEMPLATES


def test_any_number_of_prompts_is_encoded_in_its_order(tokenizer, monkeypatch):
    monkeypatch.setattr(render, "CHUNK", 3)
    prompts = ["abcdefg"[: number % 8] for number in range(20)]
    for count in (0, 1, 3, 20):
        ids = PromptFormat(tokenizer, RAW).encode(prompts[:count])
        assert [tokenizer.decode(one) for one in ids] == ["^" + prompt for prompt in prompts[:count]]


@pytest.mark.parametrize("read", [read_prompt_template, read_template])
def test_a_file_that_is_not_utf_8_or_shows_the_prompt_twice_is_refused(read, tmp_path):
    (tmp_path / "latin.txt").write_bytes("Frédéric: {prompt} {context} {question}".encode("latin-1"))
    with pytest.raises(UserError, match=r"latin.txt: not UTF-8 text .*; save the file as UTF-8"):
        read(tmp_path / "latin.txt")
    (tmp_path / "t.txt").write_text("{prompt} {prompt}\n")
    with pytest.raises(UserError, match=r"must contain \{prompt\} exactly once"):
        read_prompt_template(tmp_path / "t.txt")


@pytest.mark.parametrize(("name", "template"), [(RAW, None), ("mine", "USER: {prompt} ASSISTANT:"), (CHAT, None)])
def test_the_frame_in_the_report_and_the_prompt_are_the_text_that_the_tokenizer_is_given(tokenizer, name, template):
    tokenizer.chat_template = "{{ bos_token }}<|user|>{{ messages[0]['content'] | trim }}<|assistant|>"
    form, prompt = PromptFormat(tokenizer, name, template), "Question: why?\nAnswer:"
    frame = form.frame()
    assert [frame["before"] + prompt + frame["after"]] == form.render([prompt])
    assert frame["strips"] == (name == CHAT) and frame["special"] == ("" if name == CHAT else "^")
