"""Chats rendered here for a server: the chat template is part of the identity."""

from pathlib import Path

import pytest
from conftest import ROOT
from programs import refused
from transformers import AutoTokenizer

from litm.base.store import canonical_json
from litm.config.catalogue import read_catalogue_entry
from litm.engines.interface import CHAT_ENDPOINT, COMPLETIONS_ENDPOINT
from litm.inference.asked_sweep import AskedSweep as Sweep
from litm.prompting.prompt_format import CHAT, RAW

SERVED = {"location": "m", "revision": None, "context_window": None, "base_url": "u", "identity": {"api_model": "m"}}
DECODING = {"max_new_tokens": 9, "stop": "end_token"}
TEMPLATE = "{% for m in messages %}{{ m.content }}{{ eos_token }}{% endfor %}"


def folder_of(folder: Path, template: str | None = TEMPLATE, adds_beginning: bool = False, **tokens: str) -> str:
    """A folder with the reference model's tokenizer, with a chat template."""
    tokenizer = AutoTokenizer.from_pretrained(ROOT / "resources" / "reference_model", **tokens)
    tokenizer.chat_template = template
    tokenizer.add_bos_token = adds_beginning
    tokenizer.save_pretrained(folder)
    return str(folder)


def sweep(tokenizer: str | None = None, endpoint: str = COMPLETIONS_ENDPOINT, template: str = CHAT, **more) -> Sweep:
    settings = {"engine": "openai", "endpoint": endpoint, "prompt_template": template, "request": {}}
    return Sweep(SERVED, settings, None, DECODING, tokenizer=tokenizer, model="m", **more)


def test_every_change_of_a_chats_text_changes_the_identity(tmp_path):
    begins = {"bos_token": "<|endoftext|>"}
    tokenizers = [
        folder_of(tmp_path / "one"),
        folder_of(tmp_path / "template", TEMPLATE + "Answer in French:"),
        folder_of(tmp_path / "special token", eos_token="<|pad|>"),
        folder_of(tmp_path / "beginning", adds_beginning=True, **begins),
    ]
    identities = [canonical_json(sweep(tokenizer).identity) for tokenizer in tokenizers]
    assert len(set(identities)) == 4
    # Neither the place of a tokenizer nor a token that the template does not name is part of it.
    for same in (folder_of(tmp_path / "other place"), folder_of(tmp_path / "pad", pad_token="<|endoftext|>")):
        assert canonical_json(sweep(same).identity) == identities[0]


@pytest.mark.parametrize(
    ("endpoint", "prompt_template"), [(COMPLETIONS_ENDPOINT, RAW), (CHAT_ENDPOINT, CHAT), (CHAT_ENDPOINT, RAW)]
)
def test_a_tokenizer_that_only_counts_is_no_part_of_the_identity(endpoint, prompt_template, tmp_path):
    model = {"engine": "openai", "endpoint": endpoint, "prompt_template": prompt_template, "request": {}}
    for tokenizer in (folder_of(tmp_path), str(tmp_path / "not there"), None):
        identity = sweep(tokenizer, endpoint, prompt_template).identity
        assert identity == {"source": SERVED["identity"], "model": model, "template": None, "decoding": DECODING}


def test_a_tokenizer_that_is_replaced_while_it_makes_chats_is_refused(tmp_path):
    tokenizer = folder_of(tmp_path / "tokenizer")
    check = sweep(tokenizer, digests=str(tmp_path / "digests")).files.check
    check()
    folder_of(tmp_path / "tokenizer")
    check()
    folder_of(tmp_path / "tokenizer", "B " + TEMPLATE)
    assert refused(check).startswith(f"model m: its tokenizer {tokenizer} has changed since this job began")
    # One that only counts tokens may.
    sweep(tokenizer, CHAT_ENDPOINT).files.check()


def test_a_tokenizer_that_can_render_no_chat_is_named_before_anything_is_asked(tmp_path):
    assert "has no chat template: use 'raw' or" in refused(lambda: sweep(folder_of(tmp_path, None)).identity)
    assert "set the model's 'tokenizer'" in refused(lambda: sweep().identity)


def test_the_template_is_part_of_the_identity_for_chats_rendered_here(tmp_path):
    keys = {"engine": "openai", "api_model": "m", "endpoint": "completions", "prompt_template": "chat"}
    model = read_catalogue_entry("models", "m", {**keys, "tokenizer": folder_of(tmp_path)}).located(
        ROOT, {"prompt_templates": {"chat": None}}
    )
    assert Sweep(SERVED, model.answer_settings(), None, DECODING).sends_rendered_chats
