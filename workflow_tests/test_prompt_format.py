"""What a model is given of an example: a text or messages, in its format, with the special tokens once."""

import pytest
from tokenizers import Tokenizer
from tokenizers.decoders import Fuse
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

from litm import prompt_format
from litm.errors import UserError
from litm.prompt_format import CHAT, RAW, encode_prompts, prompt_content, read_prompt_template

TURNS = [
    {"role": "user", "content": "ab"},
    {"role": "assistant", "content": "c"},
    {"role": "user", "content": "d"},
]
EXAMPLE = {"prompt": "User: ab\nAssistant: c\nUser: d\nAssistant:", "messages": TURNS}
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
    (ids,) = encode_prompts(tokenizer, prompt_template, template, [prompt])
    assert tokenizer.decode(ids) == expected


def test_only_a_chat_format_takes_messages_and_only_where_there_are_some():
    assert prompt_content(EXAMPLE, CHAT) == TURNS
    assert prompt_content(EXAMPLE, RAW) == prompt_content(EXAMPLE, "named") == EXAMPLE["prompt"]
    assert prompt_content({"prompt": "p"}, CHAT) == "p"


def test_roles_that_a_chat_template_refuses_are_one_line(tokenizer):
    with pytest.raises(
        UserError, match=r"chat template cannot be used \(roles must alternate\): use 'raw' or"
    ) as error:
        encode_prompts(tokenizer, CHAT, None, [TURNS, TURNS[:1] * 2])
    assert "\n" not in str(error.value)


def test_any_number_of_prompts_is_encoded_in_its_order(tokenizer, monkeypatch):
    monkeypatch.setattr(prompt_format, "CHUNK", 3)
    prompts = ["abcdefg"[: number % 8] for number in range(20)]
    for count in (0, 1, 3, 20):
        ids = encode_prompts(tokenizer, RAW, None, prompts[:count])
        assert [tokenizer.decode(one) for one in ids] == ["^" + prompt for prompt in prompts[:count]]


def test_a_template_that_shows_the_prompt_twice_is_refused(tmp_path):
    (tmp_path / "t.txt").write_text("{prompt} {prompt}\n")
    with pytest.raises(UserError, match=r"must contain \{prompt\} exactly once"):
        read_prompt_template(tmp_path / "t.txt")
