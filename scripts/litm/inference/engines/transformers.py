"""The engine transformers: Hugging Face causal models and encoder-decoders, greedy, in length-sorted batches."""

from collections.abc import Iterator, Sequence
from importlib.metadata import version
from threading import Lock

from litm.base.messages import note
from litm.inference.engine import NO_QUANTIZATION, EngineFacts, LocalEngine, Prepared
from litm.models.devices import choose_device, device_name
from litm.records import Response

ENGINE = EngineFacts(
    about="Hugging Face transformers: causal language models and encoder-decoders, on a CPU or GPUs",
    packages=("torch", "transformers", "accelerate"),
    shares_prefixes=True,
    budgets_reasoning=True,
    reads_gguf=True,
    keeps_stored_dtype=True,
)


class Engine(LocalEngine):
    """A causal language model or an encoder-decoder, decided by its configuration, run by `generate`."""

    def generate(self, prompts: Sequence[Prepared]) -> Iterator[list[tuple[int, Response]]]:
        """Answer all prompts, batch by batch; yields each batch as soon as it is done.

        Prompts with a common prefix are adjacent if the model's caches can be kept from one prompt to the next.
        A prompt that does not fit the memory by itself has no answer.
        """
        if not prompts:
            return
        import torch
        import transformers

        from litm.inference.generation import (
            at_once,
            batch_outputs,
            copies,
            greedy_decoding,
            load_model,
            parts_of,
            worker_count,
        )
        from litm.inference.prefix_sharing import KeptCache, can_keep

        settings, config = self.settings, self.config
        device = choose_device(settings.device, max(1, settings.gpus))
        model = load_model(settings, config, device)
        software = {"transformers": transformers.__version__, "torch": torch.__version__}
        if settings.quantization != NO_QUANTIZATION:
            software["bitsandbytes"] = version("bitsandbytes")
        made_with = f"{', '.join(f'{name} {number}' for name, number in software.items())}, {device_name(device)}"
        self.loaded(model.generation_config.eos_token_id, made_with)
        new_tokens = settings.max_new_tokens + settings.reasoning.tokens
        # Padding is masked, so any token works; a token that was only added to the tokenizer has no embedding.
        pad = self.tokenizer.pad_token_id
        if pad is None or pad >= config.get_text_config().vocab_size:
            pad = (self.ends or [0])[0]
        model.generation_config = greedy_decoding(model, new_tokens, self.ends, pad)
        ids = [prompt.ids or [] for prompt in prompts]
        may_keep = settings.share_prefixes and can_keep(model)
        parts = parts_of(ids, worker_count(model, settings.quantization))
        models = copies(model, len(parts))
        budget = settings.batch_tokens // len(parts)
        counting = Lock()

        def count(tokens: int) -> None:
            with counting:
                self.computed_tokens += tokens

        caches = [
            KeptCache(one, max(len(ids[index]) for index in part), new_tokens, count) if may_keep else None
            for one, part in zip(models, parts, strict=True)
        ]
        note(
            f"{config.model_type} model loaded: {device_name(device)}, {str(model.dtype).removeprefix('torch.')}, "
            f"{model.config._attn_implementation} attention, at most {budget:,} tokens a batch"
            + (f", {len(parts)} batches at once" if len(parts) > 1 else "")
        )

        def outputs_of(number: int) -> Iterator[tuple[list[int], list[list[int]]]]:
            part, kept = parts[number], caches[number]
            for batch, outputs in batch_outputs(models[number], [ids[i] for i in part], self.ending, kept, budget):
                own = [part[index] for index in batch]
                if kept is None:
                    count(sum(len(ids[index]) for index in own))
                yield own, outputs

        for batch, outputs in at_once(models, [outputs_of(number) for number in range(len(parts))]):
            yield self.responses(ids, batch, outputs)
