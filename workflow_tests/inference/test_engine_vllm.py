"""The vLLM engine, over a transformers model, and with vLLM if it is installed."""

import importlib.machinery
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import ModuleType, SimpleNamespace

import pytest
import torch
from engine_settings import changed_settings
from families import save_model
from local_engines import SETTINGS, answered, answers, babble, kv_prompts, measured, nats
from programs import refused
from transformers import AutoModelForCausalLM

from litm.config.catalogue import read_catalogue_entry
from litm.engines.interface import FIRST_LINE
from litm.engines.modules import vllm as engine_module
from litm.engines.registry import load_engine


@dataclass
class Sampling:
    """What the engine asks for."""

    temperature: float
    max_tokens: int
    detokenize: bool
    stop_token_ids: Sequence[int] = ()
    ignore_eos: bool = False
    prompt_logprobs: int | None = None


class Model:
    """Answers greedily and stops at stop tokens, which it returns; the first 16 tokens of a prompt are cached."""

    def __init__(self, model: str, max_model_len: int, **more) -> None:
        assert more["enable_prefix_caching"] and more["generation_config"] == "vllm"
        self.cache_bytes, self.options = more["kv_cache_memory_bytes"], more
        self.model = AutoModelForCausalLM.from_pretrained(model, dtype=getattr(torch, more["dtype"]))
        self.longest = max_model_len
        self.asked: list[list[int]] = []
        Model.last = self
        self.llm_engine = SimpleNamespace(vllm_config=SimpleNamespace(device_config=SimpleNamespace(device_type="cpu")))

    @torch.inference_mode()
    def generate(self, prompts, sampling, use_tqdm):
        assert not use_tqdm
        outputs = []
        each = sampling if isinstance(sampling, list) else [sampling] * len(prompts)
        for prompt, wanted in zip(prompts, each, strict=True):
            assert wanted.temperature == 0.0 and wanted.max_tokens > 0
            ids = prompt["prompt_token_ids"]
            assert len(ids) + wanted.max_tokens <= self.longest
            self.asked.append(ids)
            said: list[int] = []
            while len(said) < wanted.max_tokens and (not said or said[-1] not in wanted.stop_token_ids):
                said.append(int(self.model(torch.tensor([[*ids, *said]])).logits[0, -1].argmax()))
            outputs.append(SimpleNamespace(num_cached_tokens=16, outputs=[SimpleNamespace(token_ids=said)]))
            if wanted.prompt_logprobs is not None:
                nats = torch.log_softmax(self.model(torch.tensor([ids])).logits[0], dim=-1)
                own = [{token: SimpleNamespace(logprob=float(nats[n, token]))} for n, token in enumerate(ids[1:])]
                outputs[-1].prompt_logprobs, outputs[-1].num_cached_tokens = [None, *own], 0
        return outputs


@pytest.fixture
def interface(monkeypatch):
    """A package with what the engine uses of vLLM."""
    package, inputs = ModuleType("vllm"), ModuleType("vllm.inputs")
    package.__spec__ = importlib.machinery.ModuleSpec("vllm", None)
    package.LLM, package.SamplingParams = lambda **more: Model(**more), Sampling
    inputs.TokensPrompt = dict
    monkeypatch.setitem(sys.modules, "vllm", package)
    monkeypatch.setitem(sys.modules, "vllm.inputs", inputs)
    platforms = ModuleType("vllm.platforms")
    platforms.current_platform = SimpleNamespace(is_cpu=lambda: True)
    monkeypatch.setitem(sys.modules, "vllm.platforms", platforms)
    monkeypatch.delenv("VLLM_CPU_KVCACHE_SPACE", raising=False)
    monkeypatch.setattr(engine_module, "software", lambda: "vllm 0")


def compare(settings, prompts) -> None:
    """The answers of this engine are those of transformers."""
    engine = load_engine("vllm", changed_settings(settings, "vllm"))
    said = [replace(one, made_with="") for one in answered(engine, engine.prepare(prompts))]
    assert said == [replace(answer, made_with="") for answer in answers(settings, prompts)]
    assert engine.computed_tokens == sum(max(0, answer.prompt_tokens - 16) for answer in said)


@pytest.mark.usefixtures("interface")
def test_answers_are_those_of_transformers():
    compare(SETTINGS, [prompt for size in (2, 4) for prompt, _ in kv_prompts(size, 3)])


@pytest.mark.usefixtures("interface")
def test_a_line_end_before_any_text_ends_no_answer(babbler):
    settings = changed_settings(SETTINGS, location=babbler, max_new_tokens=15, stop=FIRST_LINE)
    compare(settings, babble(40))
    # Some were resumed after such a line end.
    assert len(Model.last.asked) > 39


@pytest.mark.usefixtures("interface")
def test_prompts_are_asked_in_the_order_of_their_tokens():
    engine = load_engine("vllm", changed_settings(SETTINGS, "vllm", max_new_tokens=1))
    list(engine.generate(engine.prepare([prompt for prompt, _ in kv_prompts(2, 6)])))
    assert Model.last.asked == sorted(Model.last.asked)


@pytest.mark.usefixtures("interface")
def test_options_of_the_model_are_arguments_of_vllm():
    compare(changed_settings(SETTINGS, "vllm", engine_options={"enforce_eager": True}), [kv_prompts(2, 1)[0][0]])
    assert Model.last.options["enforce_eager"] is True


@pytest.mark.usefixtures("interface")
def test_the_engine_allows_no_option_that_it_sets_itself():
    compare(SETTINGS, [kv_prompts(2, 1)[0][0]])
    assert Model.last.options.keys() <= engine_module.OWN_OPTIONS.keys()


def compare_measured(count: int) -> None:
    """The log-probabilities of this engine are those of transformers."""
    prompts = [prompt for prompt, _ in kv_prompts(4, count)]
    accepted = [[value, value[:9], "another"] for _, value in kv_prompts(4, count)]
    engines = [load_engine(name, changed_settings(SETTINGS, name)) for name in ("vllm", "transformers")]
    ours, theirs = (nats(measured(engine, engine.prepare(prompts, accepted))) for engine in engines)
    assert ours == [pytest.approx(one, rel=5e-5, abs=1e-3) for one in theirs]


@pytest.mark.usefixtures("interface")
def test_log_probabilities_are_those_of_transformers():
    compare_measured(3)


@pytest.mark.usefixtures("interface")
def test_the_cache_on_a_cpu_takes_half_of_the_free_memory_unless_the_environment_says_how_much(monkeypatch):
    monkeypatch.setattr(engine_module, "free_memory", lambda: 3000)
    compare(SETTINGS, [kv_prompts(2, 1)[0][0]])
    assert Model.last.cache_bytes == 1500
    monkeypatch.setenv("VLLM_CPU_KVCACHE_SPACE", "4")
    compare(SETTINGS, [kv_prompts(2, 1)[0][0]])
    assert Model.last.cache_bytes is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"quantization": "nf4"}, "'quantization' is not for 'engine: vllm', only for 'engine: transformers'"),
        ({"attention": "eager"}, "'attention' is not for 'engine: vllm', only for 'engine: transformers'"),
        ({"config": {"a": 1}}, "'config' is not for 'engine: vllm', only for 'engine: transformers'"),
        ({"device": "cuda:1"}, "'cuda:1' is not allowed; it is: auto (a GPU if there is one), cpu or cuda"),
    ],
)
def test_settings_that_vllm_has_otherwise_are_refused(change, message):
    assert message in refused(read_catalogue_entry, "models", "m", {"engine": "vllm", "hub": "a/b", **change})


@pytest.mark.usefixtures("interface")
def test_an_encoder_decoder_is_refused(tmp_path):
    save_model("t5", tmp_path)
    said = "t5 is an encoder-decoder: set the model's 'engine' to transformers"
    assert said in refused(load_engine, "vllm", changed_settings(SETTINGS, "vllm", location=str(tmp_path)))


@pytest.mark.skipif(engine_module.find_spec("vllm") is not None, reason="vLLM is installed")
def test_without_vllm_the_message_says_how_to_install_it():
    settings = changed_settings(SETTINGS, "vllm")
    assert refused(load_engine, "vllm", settings).startswith("vLLM is not installed: 'pip install vllm'")


@pytest.mark.skipif(engine_module.find_spec("vllm") is None, reason="vLLM is not installed")
def test_the_reference_model_answers_in_vllm_itself():
    prompts = [prompt for prompt, _ in kv_prompts(10, 20)]
    pairs = zip(answers(SETTINGS, prompts, "vllm"), answers(SETTINGS, prompts), strict=True)
    assert sum(one.text == other.text for one, other in pairs) >= 19


@pytest.mark.skipif(engine_module.find_spec("vllm") is None, reason="vLLM is not installed")
def test_the_reference_model_is_measured_in_vllm_itself():
    compare_measured(20)
