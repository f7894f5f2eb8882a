"""Hugging Face transformers: causal language models and encoder-decoders, greedy, in length-sorted batches."""

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from importlib.metadata import version

import torch
import transformers
from transformers import GenerationConfig, PreTrainedModel, PreTrainedTokenizerBase

from litm.batching import halved_budget, longest_first, next_batch
from litm.devices import choose_device, device_name
from litm.engines import NO_QUANTIZATION, EngineSettings, Prepared, prepare_prompts, token_ids
from litm.errors import UserError
from litm.identity import load_config
from litm.journal import Response
from litm.kept_cache import KeptCache, can_keep, reading_order
from litm.messages import note
from litm.model_loading import load_model
from litm.prompt_format import Content, model_tokenizer
from litm.reasoning_end import Ending, cut_response, response_ending, stopping_rules

#: What the errors say that are no `torch.OutOfMemoryError`: of the processor's memory, and of CUDA's libraries.
OUT_OF_MEMORY = (
    "DefaultCPUAllocator: can't allocate memory",
    "CUDA error: out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
)


class Engine:
    """A causal language model or an encoder-decoder, as its configuration says, run by `generate`."""

    def __init__(self, settings: EngineSettings) -> None:
        self.settings = settings
        self.config = load_config(settings.location, settings.revision, settings.config)
        self.tokenizer = model_tokenizer(
            settings.tokenizer or settings.location, settings.revision, settings.prompt_template, settings.reasoning
        )
        self.computed_tokens = 0

    def prepare(self, contents: Sequence[Content]) -> list[Prepared]:
        """Each prompt in the model's template, as token ids."""
        return prepare_prompts(self.tokenizer, self.settings, contents)

    def generate(self, prompts: Sequence[Prepared]) -> Iterator[list[tuple[int, Response]]]:
        """Answer all prompts, batch by batch; yields each batch as soon as it is done.

        Prompts with a common beginning follow one another, where the model's caches can be kept from one to the next.

        A batch that does not fit the memory is halved, and so are those after it. Raises `UserError` for a single
        prompt that does not.
        """
        if not prompts:
            return
        device = choose_device(self.settings.device, max(1, self.settings.gpus))
        model = load_model(self.settings, self.config, device)
        made_with = f"{self._software()}, {device_name(device)}"
        end_tokens = end_token_ids(model, self.tokenizer)
        new_tokens = self.settings.max_new_tokens + self.settings.reasoning.tokens
        model.generation_config = greedy_decoding(
            new_tokens, end_tokens, self._pad_token(end_tokens), decoder_start_id(model)
        )
        ending = response_ending(self.settings, self.tokenizer, self.config)
        prompt_ids = token_ids(prompts)
        lengths = [len(ids) for ids in prompt_ids]
        budget = self.settings.batch_tokens
        may_keep = self.settings.share_prefixes and can_keep(model)
        kept = KeptCache(model, max(lengths), new_tokens) if may_keep else None
        order = reading_order(prompt_ids, kept.short) if kept else longest_first(lengths)
        done = 0
        while done < len(order):
            batch = next_batch(order, done, lengths, new_tokens, budget)
            outputs = generate_if_it_fits(model, [prompt_ids[index] for index in batch], ending, kept)
            if outputs is None:
                if len(batch) == 1:
                    raise UserError(out_of_memory(device, lengths[batch[0]]))
                budget = halved_budget(batch, lengths, new_tokens)
                note(f"out of memory on {device} with {len(batch)} prompts at a time: on with {budget} batch_tokens")
                continue
            done += len(batch)
            self.computed_tokens += kept.computed if kept else sum(lengths[index] for index in batch)
            answers = [
                cut_response(output, end_tokens, ending, prompt_ids[index])
                for index, output in zip(batch, outputs, strict=True)
            ]
            texts = self.tokenizer.batch_decode(
                [ids for ids, _ in answers], skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
            yield [
                (index, Response(text, finish_reason, lengths[index], len(ids), made_with))
                for index, text, (ids, finish_reason) in zip(batch, texts, answers, strict=True)
            ]

    def _pad_token(self, end_tokens: list[int]) -> int:
        # Padding is masked, so any token does; one that was added to the tokenizer only has no embedding.
        own = self.tokenizer.pad_token_id
        has_embedding = own is not None and own < self.config.get_text_config().vocab_size
        return own if has_embedding else (end_tokens or [0])[0]

    def _software(self) -> str:
        parts = {"transformers": transformers.__version__, "torch": torch.__version__}
        if self.settings.quantization != NO_QUANTIZATION:
            parts["bitsandbytes"] = version("bitsandbytes")
        return ", ".join(f"{name} {number}" for name, number in parts.items())


def generate_if_it_fits(
    model: PreTrainedModel, prompts: Sequence[Sequence[int]], ending: Ending, kept: KeptCache | None = None
) -> list[list[int]] | None:
    """What `generate_batch` returns, or None if there is not enough memory for it."""
    try:
        return generate_batch(model, prompts, ending, kept)
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
    if kept:
        kept.forget()
    # Only here, since the error holds the tensors of the failed batch. Does nothing where CUDA is not in use.
    torch.cuda.empty_cache()
    return None


def is_out_of_memory(error: RuntimeError) -> bool:
    """Whether an error means that fewer prompts at a time might do."""
    return isinstance(error, torch.OutOfMemoryError) or any(text in str(error) for text in OUT_OF_MEMORY)


def out_of_memory(device: torch.device, prompt_tokens: int) -> str:
    """What to do about a single prompt that does not fit the memory; no batch is smaller."""
    return (
        f"out of memory on {device} with a single prompt of {prompt_tokens} tokens, which no smaller 'batch_tokens' "
        "helps: free memory there, use another device or fewer bits ('dtype', 'quantization'), or leave such prompts "
        "out by the model's 'context_window', and run again; what was answered is kept"
    )


@torch.inference_mode()
def generate_batch(
    model: PreTrainedModel, prompts: Sequence[Sequence[int]], ending: Ending, kept: KeptCache | None = None
) -> list[list[int]]:
    """New token ids of each prompt, up to the length of the longest answer of the batch.

    A causal model goes on where the prompt ends, so padding is on the left, and repeats the prompt. An encoder-decoder
    reads the prompt from position 0, so padding is on the right, and begins with its start token. kept: the caches of
    the model, with what is known of the prompt.
    """
    pad = model.generation_config.pad_token_id
    on_the_right = model.config.is_encoder_decoder
    width = max(len(prompt) for prompt in prompts)
    ids = torch.full((len(prompts), width), pad)
    mask = torch.zeros((len(prompts), width), dtype=torch.long)
    for row, prompt in enumerate(prompts):
        own = slice(len(prompt)) if on_the_right else slice(width - len(prompt), width)
        ids[row, own] = torch.tensor(prompt)
        mask[row, own] = 1
    with kept.of_prompts(prompts) if kept else nullcontext() as cache:
        output = model.generate(  # type: ignore[operator]  # taken for a Tensor by the checker
            input_ids=ids.to(model.device),
            attention_mask=mask.to(model.device),
            past_key_values=cache,
            **stopping_rules(ending, prompts),
        )
    return output[:, 1 if on_the_right else width :].tolist()


def end_token_ids(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """All ids that end an answer: the model's own list and the tokenizer's end of text."""
    own = model.generation_config.eos_token_id
    ids = set(own if isinstance(own, list) else [own]) | {tokenizer.eos_token_id}
    return sorted(id for id in ids if id is not None)


def decoder_start_id(model: PreTrainedModel) -> int | None:
    """The id that an encoder-decoder's answers begin with, which is not part of them; None for a causal model.

    Raises `UserError` where its configuration has none.
    """
    if not model.config.is_encoder_decoder:
        return None
    own = model.generation_config
    start = own.bos_token_id if own.decoder_start_token_id is None else own.decoder_start_token_id
    if start is None:
        raise UserError(f"{type(model).__name__} has no decoder_start_token_id: set it in generation_config.json")
    return start


def greedy_decoding(
    max_new_tokens: int, end_tokens: list[int], pad_token: int, decoder_start: int | None
) -> GenerationConfig:
    """Greedy decoding and nothing else: a model's own configuration may set penalties or sampling."""
    return GenerationConfig(
        max_new_tokens=max_new_tokens,
        do_sample=False,
        eos_token_id=end_tokens or None,
        pad_token_id=pad_token,
        decoder_start_token_id=decoder_start,
    )
