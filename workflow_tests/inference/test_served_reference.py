"""`transformers serve` with the reference model gives the local engine's answers."""

import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import ROOT
from engine_settings import changed_settings
from local_engines import SETTINGS, answers, kv_prompts
from local_server import served
from transformers import AutoTokenizer

from litm.engines.interface import CHAT_ENDPOINT, COMPLETIONS_ENDPOINT
from litm.prompting.prompt_format import CHAT, RAW

pytestmark = pytest.mark.long

TEMPLATE = "{% for m in messages %}{{ m.content }}{% if not loop.last %}\n{% endif %}{% endfor %}"


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    """The reference model with a chat template, which it has none of."""
    folder = tmp_path_factory.mktemp("model") / "reference"
    shutil.copytree(ROOT / "resources" / "reference_model", folder)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def url(tmp_path_factory) -> Iterator[str]:
    """The address of a server, once it answers."""
    with served(tmp_path_factory.mktemp("server") / "log") as address:
        yield address


def check_the_same(url: str, model: Path, contents: list, endpoint: str, prompt_template: str) -> list:
    """Both engines' answers, checked to be equal, except for their counts of answer tokens, bills and `made_with`."""
    rules = {"prompt_template": prompt_template, "max_new_tokens": 30}
    settings = changed_settings(SETTINGS, location=str(model), tokenizer=str(model), **rules)
    served = changed_settings(settings, "openai", base_url=url, endpoint=endpoint, concurrency=4)
    asked = answers(served, contents, "openai")
    for one, other in zip(asked, answers(settings, contents), strict=True):
        assert one == replace(other, response_tokens=one.response_tokens, made_with=one.made_with, billed=one.billed)
    return asked


def test_completions_are_those_of_the_local_engine(url, model):
    pairs = [pair for size in (2, 3, 5) for pair in kv_prompts(size, 10)]
    prompts = [prompt for prompt, _ in pairs]
    served = check_the_same(url, model, prompts, endpoint=COMPLETIONS_ENDPOINT, prompt_template=RAW)
    assert len(set(prompts)) == 30
    assert sum(value in one.text for (_, value), one in zip(pairs, served, strict=True)) >= 27
    assert served[0].made_with.startswith("openai ") and f", {url}, " in served[0].made_with


@pytest.mark.slow
def test_chats_are_those_of_the_local_engine(url, model):
    prompts = [prompt for prompt, _ in kv_prompts(4, 10)]
    before = [{"role": "user", "content": "Extract the value."}, {"role": "assistant", "content": "Yes."}]
    conversations = [[*before, {"role": "user", "content": prompt}] for prompt in prompts]
    check_the_same(url, model, [*prompts, *conversations], endpoint=CHAT_ENDPOINT, prompt_template=CHAT)
