"""The prompt format in the report equals the format of the model's prompts."""

import pytest
from conftest import ROOT

from litm.prompting.prompt_format import load_tokenizer, prompt_frame, render_prompts

CHAT = "{{ bos_token }}<|system|>be brief<|user|>{{ messages[0]['content'] | trim }}<|assistant|>"
PROMPT = "Question: why?\nAnswer:"


@pytest.mark.parametrize(
    ("template_name", "template"), [("raw", None), ("mine", "USER: {prompt} ASSISTANT:"), ("chat", None)]
)
def test_the_frame_and_the_prompt_are_the_text_that_the_tokenizer_is_given(template_name, template):
    tokenizer = load_tokenizer(str(ROOT / "resources" / "reference_model"))
    tokenizer.chat_template = CHAT
    frame = prompt_frame(tokenizer, template_name, template)
    (text,) = render_prompts(tokenizer, template_name, template, [PROMPT])
    assert frame["before"] + PROMPT + frame["after"] == text
    assert frame["strips"] == (template_name == "chat")
