"""The transformers engine with the reference model: batches change no answer, and answers end in the right place."""

import re
from pathlib import Path

import pytest
import torch
from engine_settings import changed_settings
from local_engines import PIECES, SETTINGS, answered, answers, babble, kv_prompts
from model_folders import change
from programs import refused
from safetensors.torch import load_file, save_file
from transformers import PreTrainedModel

from litm.base.messages import UserError
from litm.engines.interface import FIRST_LINE, EngineSettings
from litm.engines.registry import load_engine
from litm.engines.stopping import Ending
from litm.local.generation import LinearOfFew, load_model
from litm.models.configuration import load_config
from litm.scoring.metrics import first_line


def encoded(engine, *contents) -> list:
    """The token ids of prompts, as the model reads them."""
    return [prompt.ids for prompt in engine.prepare(contents)]


def test_device_number_format_and_batch_are_said_when_the_model_is_loaded(capsys):
    answers(SETTINGS, ["a prompt"])
    assert "llama model loaded: cpu, float32, joined attention, at most 4,096 tokens a batch" in capsys.readouterr().err


def test_batches_at_once_give_the_answers_of_one_after_the_other(capsys):
    prompts = [prompt for prompt, _ in kv_prompts(size=10, count=12)]
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        expected = answers(SETTINGS, prompts)
        torch.set_num_threads(3)
        assert answers(SETTINGS, prompts) == expected
    finally:
        torch.set_num_threads(before)
    assert "at most 1,365 tokens a batch, 3 batches at once" in capsys.readouterr().err


def test_stopping_at_the_line_end_gives_the_beginning_of_the_same_answer(babbler):
    prompts = babble(40)
    settings = changed_settings(SETTINGS, location=babbler, max_new_tokens=30, batch_tokens=400)
    full = answers(settings, prompts)
    short = answers(changed_settings(settings, stop=FIRST_LINE), prompts)
    stopped = [whole.text != cut.text for whole, cut in zip(full, short, strict=True)]
    assert sum(stopped) >= 10
    for whole, cut in zip(full, short, strict=True):
        assert whole.text.startswith(cut.text) and first_line(cut.text) == first_line(whole.text)
        assert cut.text == whole.text or "\n" in cut.text.lstrip()
        assert cut.response_tokens <= whole.response_tokens


def test_prompts_are_encoded_whole_and_in_their_template():
    prompt = kv_prompts(300, 1)[0][0]
    settings = changed_settings(SETTINGS, prompt_template="named", template="Say: {prompt}\nNow:")
    engine = load_engine("transformers", settings)
    (ids,) = encoded(engine, prompt)
    assert len(ids) > engine.config.max_position_embeddings
    assert engine.tokenizer.decode(ids) == f"Say: {prompt}\nNow:"


TURNS = [{"role": role, "content": text} for role, text in (("user", "a"), ("assistant", "b"), ("user", "c"))]
MARKED = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>"
DATED = "{{ strftime_now('%d %b %Y') }}, {{ strftime_now('%Y-%m-%d') }} {{ messages[0].content }}"


UPPER = "{% for m in messages %}{{ m.content | upper }}{% endfor %}"
#: Chat templates, what is asked, and the prompt or the refusal.
CHATS = {
    "a text is one message of the user": (MARKED, "hello", "<user>hello<assistant>"),
    "messages are turns": (MARKED, TURNS, "<user>a<assistant>b<user>c<assistant>"),
    "the same date every day": ("\n\n " + DATED, "x", "\n\n 26 Jul 2024, 2024-07-26 x"),
    "changed contents": (UPPER, TURNS, "ABC"),
    "none": (None, "x", UserError("the model's tokenizer has no chat template")),
    "refusal": ("{{ raise_exception('needs more') }}", "x", UserError("chat template cannot be used (needs more)")),
    "failure": ("{{ messages[0].content + 1 }}", "x", UserError("chat template cannot be used")),
    "messages left out": ("{{ messages[-1].content }}", TURNS, UserError("leaves out 2 of the 3 messages of a conv")),
}


@pytest.mark.parametrize("what", CHATS)
def test_a_chat_is_in_the_tokenizers_template_or_the_template_is_refused(what):
    template, content, expected = CHATS[what]
    engine = load_engine("transformers", changed_settings(SETTINGS, prompt_template="chat"))
    engine.tokenizer.chat_template = template
    if isinstance(expected, UserError):
        assert str(expected) in refused(engine.prepare, [content])
    else:
        found = [engine.tokenizer.decode(ids) for ids in encoded(engine, content, "d")]
        assert found[0] == expected and len(found) == 2


def without_a_weight(weights: Path) -> None:
    tensors = load_file(weights)
    del tensors["model.layers.0.self_attn.q_proj.weight"]
    save_file(tensors, weights, metadata={"format": "pt"})


#: What may become of the file of a model's weights, and what is said of it.
SPOILED = {
    "missing": (without_a_weight, r"lack 1 weights of LlamaForCausalLM .*0\.self_attn\.q_proj"),
    "another shape": (
        lambda weights: change(weights.with_name("config.json"), vocab_size=3000),
        "LlamaForCausalLM or have them in another shape",
    ),
    "pickles": (
        lambda weights: weights.rename(weights.with_name("pytorch_model.bin")),
        r"pickles .* scripts/models/convert_weights.py --model FOLDER --output",
    ),
    "no weights": (lambda weights: weights.write_text("version https://git-lfs.github.com/spec/v1"), "model FOLDER: "),
}


@pytest.mark.parametrize("what", SPOILED)
def test_weights_that_cannot_be_loaded_whole_are_refused_and_never_made_up(model_folder, what):
    spoil, said = SPOILED[what]
    spoil(model_folder / "model.safetensors")
    found = refused(answers, changed_settings(SETTINGS, location=str(model_folder)), ["hello"])
    assert re.search(said.replace("FOLDER", str(model_folder)), found)


def test_a_padding_token_without_an_embedding_does_no_harm():
    prompts = [prompt for size in (3, 6) for prompt, _ in kv_prompts(size, 3)]
    engine = load_engine("transformers", SETTINGS)
    engine.tokenizer.add_special_tokens({"pad_token": "<|new|>"})
    assert engine.tokenizer.pad_token_id >= engine.config.vocab_size
    assert answered(engine, engine.prepare(prompts)) == answers(SETTINGS, prompts)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"device": "cuda:99"}, r"device cuda:99 is not there: torch sees \d+ CUDA device"),
        ({"location": "no/such"}, "configuration of no/such:"),
        ({"tokenizer": __file__}, r"test_engine_transformers\.py: not a tokenizer\.json file"),
    ],
)
def test_a_device_a_model_or_a_tokenizer_that_is_not_there_is_named(changes, said):
    assert re.search(said, refused(answers, changed_settings(SETTINGS, **changes), ["hello"]))


def test_what_follows_an_end_token_is_no_part_of_an_answer():
    assert Ending().cut([4, 5, 0, 4, 4], [0], ()) == ([4, 5], "stop")
    assert Ending().cut([4, 5, 4], [0], ()) == ([4, 5, 4], "length")
    assert Ending(PIECES, first_line=True).cut([4, 6, 4], [0], ()) == ([4, 6], "stop")


def loaded(settings: EngineSettings) -> PreTrainedModel:
    """The model of these settings, loaded on the processor."""
    return load_model(settings, load_config(settings.location, settings.revision), torch.device("cpu"))


@pytest.mark.parametrize(("quantization", "layer"), [("nf4", "Linear4bit"), ("int8", "Linear8bitLt")])
def test_quantised_weights_still_read_the_context_and_are_named(quantization, layer):
    pairs = kv_prompts(size=5, count=8)
    model = loaded(changed_settings(SETTINGS, quantization=quantization))
    kinds = {type(module).__name__ for name, module in model.named_modules() if name.endswith("q_proj")}
    assert kinds == {layer}
    found = answers(changed_settings(SETTINGS, quantization=quantization), [prompt for prompt, _ in pairs])
    assert sum(value in answer.text for answer, (_, value) in zip(found, pairs, strict=True)) >= 6
    assert "bitsandbytes" in found[0].made_with


def test_weights_that_are_quantised_already_are_not_quantised_again(model_folder):
    change(model_folder / "config.json", quantization_config={"quant_method": "gptq", "bits": 4})
    with pytest.raises(UserError, match="quantised already: set the model's 'quantization' to none"):
        loaded(changed_settings(SETTINGS, location=str(model_folder), quantization="nf4"))


def test_four_bits_are_nf4_twice_quantised_computed_in_the_dtype():
    config = loaded(changed_settings(SETTINGS, quantization="nf4", dtype="bfloat16")).config.quantization_config
    assert (config.bnb_4bit_quant_type, config.bnb_4bit_use_double_quant) == ("nf4", True)
    assert config.bnb_4bit_compute_dtype == torch.bfloat16


@pytest.mark.parametrize(
    "rows, dtype, bias, amx, few",
    [
        (2, torch.bfloat16, False, True, True),
        (16, torch.bfloat16, False, True, True),
        (1, torch.bfloat16, False, True, False),
        (17, torch.bfloat16, False, True, False),
        (2, torch.float32, False, True, False),
        (2, torch.bfloat16, True, True, False),
        (2, torch.bfloat16, False, False, False),
    ],
)
def test_a_step_for_few_prompts_multiplies_by_them_where_amx_gains_and_has_the_same_bits(
    monkeypatch, rows, dtype, bias, amx, few
):
    layer = torch.nn.Linear(48, 40, bias=bias).to(dtype)
    tokens = torch.randn(rows, 1, 48).to(dtype)
    expected = layer(tokens)
    layer.__class__ = LinearOfFew
    usual = []
    linear = torch.nn.functional.linear
    monkeypatch.setattr(torch.nn.functional, "linear", lambda *args: usual.append(args) or linear(*args))
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"amx_bf16": amx})
    assert torch.equal(layer(tokens), expected) and bool(usual) != few


def test_linear_layers_of_a_model_on_a_processor_are_of_few():
    linear = [module for module in loaded(SETTINGS).modules() if isinstance(module, torch.nn.Linear)]
    assert {*map(type, linear)} == {LinearOfFew}
