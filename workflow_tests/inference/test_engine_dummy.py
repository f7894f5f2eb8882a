"""The engine without a model: its answers, its imports, and its config."""

from dataclasses import replace

import pytest
from engine_settings import changed_settings, engine_settings
from programs import loaded_by, program_file

from litm.config.catalogue import read_catalogue_entry
from litm.engines.modules import dummy
from litm.engines.registry import load_engine
from litm.records.responses import Response

SETTINGS = engine_settings("dummy", "dummy", max_new_tokens=30)
PROMPTS = [f"Key {number} is one of many words, and the answer is a few of them." for number in range(200)]


def ask(prompts: list, **changes) -> list[Response]:
    engine = load_engine("dummy", changed_settings(SETTINGS, **changes))
    return [answer for batch in engine.generate(engine.prepare(prompts)) for _, answer in batch]


def test_an_answer_is_some_successive_words_of_the_prompt_whatever_the_other_prompts():
    found = ask(PROMPTS)
    for prompt, answer in zip(PROMPTS, found, strict=True):
        assert answer.text and f" {answer.text} " in f" {prompt} "
        assert (answer.prompt_tokens, answer.response_tokens) == (len(prompt.split()), len(answer.text.split()))
    assert len({answer.text for answer in found}) > 30
    assert ask(PROMPTS[::-1])[::-1] == found and ask(PROMPTS[7:8]) == found[7:8]


def test_a_lower_limit_cuts_the_same_answers():
    cut = ask(PROMPTS, max_new_tokens=2)
    for short, whole in zip(cut, ask(PROMPTS), strict=True):
        assert short.text == " ".join(whole.text.split()[:2])
        assert short.finish_reason == ("stop" if short.text == whole.text else "length")
    assert {answer.finish_reason for answer in cut} == {"stop", "length"}


TURNS = [{"role": "user", "content": "a b"}, {"role": "assistant", "content": "c"}]


@pytest.mark.parametrize(
    ("content", "prompt_template", "template", "words"),
    [
        pytest.param("a b", "named", "Question: {prompt} Answer:", 4, id="the template's count"),
        pytest.param(TURNS, "chat", None, 3, id="those of all messages count"),
        pytest.param(" \n", "raw", None, 0, id="none has an empty answer"),
    ],
)
def test_tokens_are_the_words_of_the_whole_prompt(content, prompt_template, template, words):
    (answer,) = ask([content], prompt_template=prompt_template, template=template)
    assert answer.prompt_tokens == words and (bool(answer.text), answer.finish_reason) == (words > 0, "stop")


def test_what_asks_it_imports_neither_torch_nor_transformers():
    code = "import runpy; [runpy.run_path(program) for program in sys.argv[1:]]; import litm.engines.modules.dummy"
    loaded = loaded_by(code, program_file("generate"), program_file("identify_model"))
    assert not {"torch", "transformers", "pandas"} & loaded


def test_another_version_of_the_engine_is_another_model(monkeypatch):
    model = read_catalogue_entry("models", "m", {"engine": "dummy"})
    before = model.location()
    monkeypatch.setattr(dummy, "ENGINE", replace(dummy.ENGINE, version=2))
    assert model.location() != before
