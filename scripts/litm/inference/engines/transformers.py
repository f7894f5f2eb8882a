"""The engine transformers: Hugging Face causal models and encoder-decoders, greedy, in length-sorted batches."""

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from threading import Lock

from litm.base.messages import note
from litm.inference.engine import NO_QUANTIZATION, EngineFacts, EngineSettings, Prepared, token_ids
from litm.inference.local_engine import LocalEngine
from litm.models.devices import choose_device, device_name
from litm.records import Response

ENGINE = EngineFacts(
    about="Hugging Face transformers: causal language models and encoder-decoders, on a CPU or GPUs",
    packages=("torch", "transformers", "accelerate"),
    shares_prefixes=True,
    budgets_reasoning=True,
    reads_gguf=True,
)


class Engine(LocalEngine):
    """A causal language model or an encoder-decoder, decided by its configuration, run by `generate`."""

    def __init__(self, settings: EngineSettings) -> None:
        super().__init__(settings)
        self._counting = Lock()

    def generate(self, prompts: Sequence[Prepared]) -> Iterator[list[tuple[int, Response]]]:
        """Answer all prompts, batch by batch; yields each batch as soon as it is done.

        Prompts with a common prefix are adjacent if the model's caches can be kept from one prompt to the next.
        A prompt that does not fit the memory by itself has no answer.
        """
        if not prompts:
            return
        from litm.inference import generation as workers
        from litm.inference.generation import batch_outputs, decoder_start_id, greedy_decoding, load_model
        from litm.inference.prefix_sharing import KeptCache, can_keep
        from litm.inference.stopping import response_ending

        device = choose_device(self.settings.device, max(1, self.settings.gpus))
        model = load_model(self.settings, self.config, device)
        self.is_loading = False
        made_with = f"{self._software()}, {device_name(device)}"
        end_tokens = self.end_tokens(model.generation_config.eos_token_id)
        new_tokens = self.settings.max_new_tokens + self.settings.reasoning.tokens
        model.generation_config = greedy_decoding(
            new_tokens, end_tokens, self._pad_token(end_tokens), decoder_start_id(model)
        )
        ending = response_ending(self.settings, self.tokenizer, self.config)
        ids = token_ids(prompts)
        may_keep = self.settings.share_prefixes and can_keep(model)
        parts = workers.parts(ids, workers.worker_count(model, self.settings.quantization))
        models = workers.copies(model, len(parts))
        budget = self.settings.batch_tokens // len(parts)
        caches = [
            KeptCache(one, max(len(ids[index]) for index in part), new_tokens, self._count) if may_keep else None
            for one, part in zip(models, parts, strict=True)
        ]
        note(
            f"{self.config.model_type} model loaded: {device_name(device)}, {str(model.dtype).removeprefix('torch.')}, "
            f"{model.config._attn_implementation} attention, at most {budget:,} tokens a batch"
            + (f", {len(parts)} batches at once" if len(parts) > 1 else "")
        )

        def outputs_of(number: int) -> Iterator[tuple[list[int], list[list[int]]]]:
            part, kept = parts[number], caches[number]
            for batch, outputs in batch_outputs(models[number], [ids[i] for i in part], ending, kept, budget):
                own = [part[index] for index in batch]
                if kept is None:
                    self._count(sum(len(ids[index]) for index in own))
                yield own, outputs

        for batch, outputs in workers.at_once(models, [outputs_of(number) for number in range(len(parts))]):
            yield self.responses(ids, batch, outputs, end_tokens, ending, made_with)

    def _count(self, tokens: int) -> None:
        with self._counting:
            self.computed_tokens += tokens

    def _pad_token(self, end_tokens: list[int]) -> int:
        # Padding is masked, so any token works; a token that was only added to the tokenizer has no embedding.
        own = self.tokenizer.pad_token_id
        has_embedding = own is not None and own < self.config.get_text_config().vocab_size
        return own if has_embedding else (end_tokens or [0])[0]

    def _software(self) -> str:
        import torch
        import transformers

        parts = {"transformers": transformers.__version__, "torch": torch.__version__}
        if self.settings.quantization != NO_QUANTIZATION:
            parts["bitsandbytes"] = version("bitsandbytes")
        return ", ".join(f"{name} {number}" for name, number in parts.items())
