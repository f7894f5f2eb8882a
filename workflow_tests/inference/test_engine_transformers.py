"""The transformers engine with the reference model: batches change no answer, and answers end in the right place."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from tokenizers.decoders import Fuse
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedModel, PreTrainedTokenizerFast

from litm.base.messages import UserError
from litm.examples.examples import make_example, read_template
from litm.examples.task import ExampleSettings
from litm.examples.tasks.key_values import kv_retrieval
from litm.inference.engine import FIRST_LINE, EngineSettings, load_engine, token_ids
from litm.inference.generation import load_model
from litm.inference.stopping import Ending
from litm.models.configuration import load_config
from litm.scoring.metrics import first_line

SETTINGS = EngineSettings(
    location=str(ROOT / "resources" / "reference_model"),
    revision=None,
    dtype="float32",
    quantization="none",
    attention="sdpa",
    tokenizer=None,
    prompt_template="raw",
    template=None,
    max_new_tokens=50,
    stop="end_token",
    device="cpu",
    batch_tokens=4096,
)


def kv_prompts(size: int, count: int) -> list[tuple[str, str]]:
    """(prompt, value) of generated key-value questions."""
    template = read_template(ROOT / "resources" / "prompts" / "kv_retrieval.txt")
    questions = kv_retrieval.questions(size, ExampleSettings(count, 1, "ranked"), None)
    examples = [
        make_example(question, size, f"gold_at_{n % size}", template, kv_retrieval)
        for n, question in enumerate(questions)
    ]
    return [(example.prompt, example.targets[0].answers[0]) for example in examples]


def encoded(engine, *contents) -> list:
    """The token ids of prompts, as the model reads them."""
    return token_ids(engine.prepare(contents))


def test_device_number_format_and_batch_are_said_when_the_model_is_loaded(capsys):
    answers(SETTINGS, ["a prompt"])
    assert "llama model loaded: cpu, float32, joined attention, at most 4,096 tokens a batch" in capsys.readouterr().err


def answers(settings: EngineSettings, prompts: list[str]) -> list:
    engine = load_engine("transformers", settings)
    found = dict(pair for batch in engine.generate(engine.prepare(prompts)) for pair in batch)
    return [found[index] for index in range(len(prompts))]


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


def test_the_reference_model_reads_its_context():
    pairs = kv_prompts(size=10, count=20)
    responses = answers(SETTINGS, [prompt for prompt, _ in pairs])
    right = sum(value in response.text for (_, value), response in zip(pairs, responses, strict=True))
    assert right >= 16
    assert {response.finish_reason for response in responses} == {"stop"}


def test_batches_of_mixed_lengths_give_the_answers_of_one_at_a_time():
    prompts = [prompt for size in (3, 8, 15) for prompt, _ in kv_prompts(size, 6)]
    assert answers(SETTINGS, prompts) == answers(replace(SETTINGS, batch_tokens=1), prompts)


PIECES = [" ", "\n", " \n", "a", " b", "c\n", "\nd", "e\nf", "\n\n"]


@pytest.fixture(scope="module")
def babbler(tmp_path_factory) -> str:
    """A model folder with random weights whose vocabulary, `PIECES`, is rich in line ends."""
    folder = tmp_path_factory.mktemp("babbler")
    words = Tokenizer(WordLevel({piece: id for id, piece in enumerate(PIECES)}, unk_token="a"))
    words.pre_tokenizer, words.decoder = Split("|", "removed"), Fuse()
    PreTrainedTokenizerFast(tokenizer_object=words, pad_token=" ").save_pretrained(folder)
    torch.manual_seed(0)
    shape = LlamaConfig(
        vocab_size=len(PIECES), hidden_size=16, intermediate_size=16, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=256, initializer_range=1.0, bos_token_id=None, eos_token_id=None, pad_token_id=0,
    )  # fmt: skip
    LlamaForCausalLM(shape).save_pretrained(folder)
    return str(folder)


def babble(count: int) -> list[str]:
    """Prompts of different lengths in the words of `PIECES`."""
    return ["|".join(PIECES[(n * k) % len(PIECES)] for k in range(1, 4 + n % 5)) for n in range(1, count)]


def test_padding_is_not_read(babbler):
    # The trained model ignores padding even where it is not masked; random weights do not.
    settings = replace(SETTINGS, location=babbler, max_new_tokens=20, batch_tokens=400)
    assert answers(settings, babble(30)) == answers(replace(settings, batch_tokens=1), babble(30))


def test_stopping_at_the_line_end_gives_the_beginning_of_the_same_answer(babbler):
    prompts = babble(40)
    settings = replace(SETTINGS, location=babbler, max_new_tokens=30, batch_tokens=400)
    full = answers(settings, prompts)
    short = answers(replace(settings, stop=FIRST_LINE), prompts)
    stopped = [whole.text != cut.text for whole, cut in zip(full, short, strict=True)]
    assert sum(stopped) >= 10
    for whole, cut in zip(full, short, strict=True):
        assert whole.text.startswith(cut.text)
        assert first_line(cut.text) == first_line(whole.text)
        assert cut.text == whole.text or "\n" in cut.text.lstrip()
        assert cut.response_tokens <= whole.response_tokens


def test_an_answer_at_the_limit_of_new_tokens_is_marked_as_cut():
    (response,) = answers(replace(SETTINGS, max_new_tokens=3), [kv_prompts(5, 1)[0][0]])
    assert (response.finish_reason, response.response_tokens) == ("length", 3)


def test_prompts_are_encoded_whole_and_in_their_template():
    prompt = kv_prompts(300, 1)[0][0]
    engine = load_engine("transformers", replace(SETTINGS, prompt_template="named", template="Say: {prompt}\nNow:"))
    (ids,) = encoded(engine, prompt)
    assert len(ids) > engine.config.max_position_embeddings
    assert engine.tokenizer.decode(ids) == f"Say: {prompt}\nNow:"


def test_a_chat_prompt_without_a_chat_template_is_refused():
    engine = load_engine("transformers", replace(SETTINGS, prompt_template="chat"))
    with pytest.raises(UserError, match="the model's tokenizer has no chat template"):
        engine.prepare(["hello"])


def test_a_chat_prompt_is_one_user_message_in_the_tokenizers_template():
    engine = load_engine("transformers", replace(SETTINGS, prompt_template="chat"))
    engine.tokenizer.chat_template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>"
    assert engine.tokenizer.decode(*encoded(engine, "hello")) == "<user>hello<assistant>"


def test_a_chat_template_that_writes_the_date_writes_the_same_one_every_day():
    engine = load_engine("transformers", replace(SETTINGS, prompt_template="chat"))
    template = " {{ strftime_now('%d %b %Y') }}, {{ strftime_now('%Y-%m-%d') }} {{ messages[0].content }}"
    engine.tokenizer.chat_template = "\n\n" + template
    assert engine.tokenizer.decode(*encoded(engine, "hello")) == "\n\n 26 Jul 2024, 2024-07-26 hello"


def test_a_chat_template_that_refuses_is_named():
    engine = load_engine("transformers", replace(SETTINGS, prompt_template="chat"))
    engine.tokenizer.chat_template = "{{ raise_exception('needs a system message') }}"
    with pytest.raises(UserError, match=r"chat template cannot be used \(needs a system message\)"):
        engine.prepare(["hello"])
    engine.tokenizer.chat_template = "{{ messages[0].content + 1 }}"
    with pytest.raises(UserError, match="chat template cannot be used"):
        engine.prepare(["hello"])


def test_a_chat_template_that_leaves_messages_out_is_refused():
    engine = load_engine("transformers", replace(SETTINGS, prompt_template="chat"))
    engine.tokenizer.chat_template = "{{ messages[-1].content }}"
    chat = [{"role": role, "content": f"{role} {n}"} for n, role in enumerate(("user", "assistant", "user"))]
    with pytest.raises(UserError, match="leaves out 2 of the 3 messages of a conversation"):
        engine.prepare([chat])
    engine.tokenizer.chat_template = "{% for m in messages %}{{ m.content | upper }}{% endfor %}"
    assert engine.tokenizer.decode(*encoded(engine, chat)) == "USER 0ASSISTANT 1USER 2"


def test_the_messages_of_a_conversation_are_turns_in_the_tokenizers_template():
    engine = load_engine("transformers", replace(SETTINGS, prompt_template="chat"))
    engine.tokenizer.chat_template = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}<assistant>"
    turns = [{"role": role, "content": text} for role, text in (("user", "a"), ("assistant", "b"), ("user", "c"))]
    assert [engine.tokenizer.decode(ids) for ids in encoded(engine, turns, "d")] == [
        "<user>a<assistant>b<user>c<assistant>",
        "<user>d<assistant>",
    ]


@pytest.fixture
def model_folder(tmp_path) -> Path:
    """A copy of the reference model, to spoil."""
    return Path(shutil.copytree(ROOT / "resources" / "reference_model", tmp_path / "model"))


def test_weights_that_are_missing_are_refused_and_not_made_up(model_folder):
    weights = load_file(model_folder / "model.safetensors")
    del weights["model.layers.0.self_attn.q_proj.weight"]
    save_file(weights, model_folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(UserError, match=r"lack 1 weights of LlamaForCausalLM .*layers\.0\.self_attn\.q_proj"):
        answers(replace(SETTINGS, location=str(model_folder)), ["hello"])


def test_weights_of_another_shape_are_refused(model_folder):
    config = json.loads((model_folder / "config.json").read_text())
    (model_folder / "config.json").write_text(json.dumps({**config, "vocab_size": 3000}))
    with pytest.raises(UserError, match=r"LlamaForCausalLM or have them in another shape"):
        answers(replace(SETTINGS, location=str(model_folder)), ["hello"])


def test_weights_that_are_pickles_are_refused_with_the_command_that_converts_them(model_folder):
    (model_folder / "model.safetensors").unlink()
    (model_folder / "pytorch_model.bin").write_bytes(b"a pickle")
    with pytest.raises(
        UserError, match=rf"pickles .* scripts/models/convert_weights.py --model {model_folder} --output"
    ):
        answers(replace(SETTINGS, location=str(model_folder)), ["hello"])


def test_a_weights_file_that_is_none_is_named(model_folder):
    (model_folder / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(UserError, match=f"model {model_folder}: "):
        answers(replace(SETTINGS, location=str(model_folder)), ["hello"])


def test_a_tokenizer_file_that_is_none_is_named(tmp_path):
    (tmp_path / "notes.json").write_text("no tokenizer")
    with pytest.raises(UserError, match=r"notes\.json: not a tokenizer\.json file"):
        load_engine("transformers", replace(SETTINGS, tokenizer=str(tmp_path / "notes.json")))


def test_a_padding_token_without_an_embedding_does_no_harm():
    prompts = [prompt for size in (3, 6) for prompt, _ in kv_prompts(size, 3)]
    engine = load_engine("transformers", SETTINGS)
    engine.tokenizer.add_special_tokens({"pad_token": "<|new|>"})
    assert engine.tokenizer.pad_token_id >= engine.config.vocab_size
    found = dict(pair for batch in engine.generate(engine.prepare(prompts)) for pair in batch)
    assert [found[index] for index in range(len(prompts))] == answers(SETTINGS, prompts)


def test_a_cuda_device_that_is_not_there_is_named():
    with pytest.raises(UserError, match=r"device cuda:99 is not there: torch sees \d+ CUDA device"):
        answers(replace(SETTINGS, device="cuda:99"), ["hello"])


def test_a_model_that_is_not_there_is_named():
    with pytest.raises(UserError, match="configuration of no/such:"):
        load_engine("transformers", replace(SETTINGS, location="no/such"))


@given(st.lists(st.integers(0, len(PIECES) - 1), max_size=12))
def test_the_line_end_is_found_as_in_the_text(ids):
    kept, reason = Ending(PIECES, first_line=True).cut(ids, [], ())
    assert kept == ids[: len(kept)] and (reason == "stop" or kept == ids)
    assert ("\n" in "".join(PIECES[id] for id in kept).lstrip()) == (reason == "stop")
    assert "\n" not in "".join(PIECES[id] for id in kept[:-1]).lstrip()


def test_what_follows_an_end_token_is_no_part_of_an_answer():
    assert Ending().cut([4, 5, 0, 4, 4], [0], ()) == ([4, 5], "stop")
    assert Ending().cut([4, 5, 4], [0], ()) == ([4, 5, 4], "length")
    assert Ending(PIECES, first_line=True).cut([4, 6, 4], [0], ()) == ([4, 6], "stop")


# --- Quantised weights ---


def loaded(settings: EngineSettings) -> PreTrainedModel:
    """The model of these settings, loaded on the processor."""
    return load_model(settings, load_config(settings.location, settings.revision), torch.device("cpu"))


@pytest.mark.parametrize(("quantization", "layer"), [("nf4", "Linear4bit"), ("int8", "Linear8bitLt")])
def test_quantised_weights_still_read_the_context_and_are_named(quantization, layer):
    pairs = kv_prompts(size=5, count=8)
    model = loaded(replace(SETTINGS, quantization=quantization))
    kinds = {type(module).__name__ for name, module in model.named_modules() if name.endswith("q_proj")}
    assert kinds == {layer}
    found = answers(replace(SETTINGS, quantization=quantization), [prompt for prompt, _ in pairs])
    assert sum(value in answer.text for answer, (_, value) in zip(found, pairs, strict=True)) >= 6
    assert "bitsandbytes" in found[0].made_with


def test_weights_that_are_quantised_already_are_not_quantised_again(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(ROOT / "resources" / "reference_model", folder)
    config = json.loads((folder / "config.json").read_text())
    config["quantization_config"] = {"quant_method": "gptq", "bits": 4}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(UserError, match="quantised already: set the model's 'quantization' to none"):
        loaded(replace(SETTINGS, location=str(folder), quantization="nf4"))


def test_four_bits_are_nf4_twice_quantised_computed_in_the_dtype():
    config = loaded(replace(SETTINGS, quantization="nf4", dtype="bfloat16")).config.quantization_config
    assert (config.bnb_4bit_quant_type, config.bnb_4bit_use_double_quant) == ("nf4", True)
    assert config.bnb_4bit_compute_dtype == torch.bfloat16
