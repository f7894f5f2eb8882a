"""Hugging Face transformers: causal language models, greedy, in length-sorted batches."""

import logging
from collections.abc import Iterator, Sequence
from importlib.metadata import version
from typing import Any, cast

import torch
import transformers
from safetensors import SafetensorError
from transformers import (
    AutoModelForCausalLM,
    BitsAndBytesConfig,
    GenerationConfig,
    PretrainedConfig,
    PreTrainedModel,
    PreTrainedTokenizerBase,
    StoppingCriteriaList,
)
from transformers.utils import logging as transformers_logging

from litm.batching import length_sorted_batches
from litm.devices import choose_device, device_name
from litm.engines import FIRST_LINE, INT8, NF4, NO_QUANTIZATION, EngineSettings
from litm.errors import UserError
from litm.identity import load_config
from litm.journal import Response
from litm.line_end import LineEnd, StopAtLineEnd, cut_answer
from litm.prompt_format import Content, encode_prompts, load_tokenizer

transformers_logging.disable_progress_bar()
# It says at every product that int8 computes in float16, which the schema of models says once.
logging.getLogger("bitsandbytes").setLevel(logging.ERROR)


class Engine:
    """A causal language model run by `generate`."""

    def __init__(self, settings: EngineSettings) -> None:
        self.settings = settings
        self.config = load_config(settings.location, settings.revision)
        if self.config.is_encoder_decoder:
            raise UserError(f"model {settings.location} is an encoder-decoder: this engine runs causal models only")
        self.tokenizer = load_tokenizer(settings.tokenizer or settings.location, settings.revision)

    def encode(self, prompts: Sequence[Content]) -> list[list[int]]:
        """Token ids of each prompt in the model's template, never truncated."""
        return encode_prompts(self.tokenizer, self.settings.prompt_template, self.settings.template, prompts)

    def generate(self, prompts: Sequence[list[int]]) -> Iterator[list[tuple[int, Response]]]:
        """Answer all prompts, the longest first; yields each batch as soon as it is done."""
        if not prompts:
            return
        device = choose_device(self.settings.device)
        model = self._load_model(device)
        made_with = f"{self._software()}, {device_name(device)}"
        end_tokens = end_token_ids(model, self.tokenizer)
        model.generation_config = greedy_decoding(self.settings.max_new_tokens, end_tokens, self._pad_token(end_tokens))
        line_end = self._line_end() if self.settings.stop == FIRST_LINE else None
        lengths = [len(prompt) for prompt in prompts]
        new_tokens, budget = self.settings.max_new_tokens, self.settings.batch_tokens
        for batch in length_sorted_batches(lengths, new_tokens, budget):
            try:
                outputs = self._generate_batch(model, [prompts[index] for index in batch], line_end)
            except torch.OutOfMemoryError as error:
                raise UserError(
                    f"out of memory on {device} with a batch of {len(batch)} prompts: set the model's 'batch_tokens' "
                    f"below {budget} and run again; what was answered is kept"
                ) from error
            answers = [cut_answer(output, end_tokens, line_end) for output in outputs]
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

    def _line_end(self) -> LineEnd:
        vocabulary = max(len(self.tokenizer), self.config.get_text_config().vocab_size)
        return LineEnd(self.tokenizer.batch_decode([[id] for id in range(vocabulary)], skip_special_tokens=True))

    def _software(self) -> str:
        parts = {"transformers": transformers.__version__, "torch": torch.__version__}
        if self.settings.quantization != NO_QUANTIZATION:
            parts["bitsandbytes"] = version("bitsandbytes")
        return ", ".join(f"{name} {number}" for name, number in parts.items())

    def _load_model(self, device: torch.device) -> PreTrainedModel:
        settings = self.settings
        dtype = settings.dtype if settings.dtype == "auto" else getattr(torch, settings.dtype)
        try:
            # A cast, because the checker does not see that the loading report makes it a pair.
            model, loading = cast(Any, AutoModelForCausalLM).from_pretrained(
                settings.location,
                revision=settings.revision,
                dtype=dtype,
                attn_implementation=settings.attention,
                quantization_config=quantization_config(settings.quantization, dtype, self.config),
                # Quantised weights are made on the device and cannot be moved.
                device_map={"": device},
                output_loading_info=True,
                # Not to accept them, but to hear of them below instead of in a traceback.
                ignore_mismatched_sizes=True,
            )
        except (OSError, ValueError, ImportError, RuntimeError, SafetensorError) as error:
            raise UserError(f"model {settings.location}: {str(error).strip().splitlines()[0]}") from error
        # What is not in the files would be random.
        absent = sorted([*loading["missing_keys"], *(key for key, *_ in loading["mismatched_keys"])])
        if absent:
            raise UserError(
                f"model {settings.location}: its files lack {len(absent)} weights of {type(model).__name__} or have "
                f"them in another shape ({absent[0]}, ...); get the model again"
            )
        return model.eval()

    @torch.inference_mode()
    def _generate_batch(
        self, model: PreTrainedModel, prompts: Sequence[list[int]], line_end: LineEnd | None
    ) -> list[list[int]]:
        """New token ids of each prompt, up to the length of the longest answer of the batch."""
        pad = model.generation_config.pad_token_id
        width = max(len(prompt) for prompt in prompts)
        padding = [width - len(prompt) for prompt in prompts]
        ids = [[pad] * n + prompt for n, prompt in zip(padding, prompts, strict=True)]
        mask = [[0] * n + [1] * (width - n) for n in padding]
        output = model.generate(  # type: ignore[operator]  # taken for a Tensor by the checker
            input_ids=torch.tensor(ids, device=model.device),
            attention_mask=torch.tensor(mask, device=model.device),
            stopping_criteria=StoppingCriteriaList([StopAtLineEnd(line_end)] if line_end else []),
        )
        return output[:, width:].tolist()


def quantization_config(
    quantization: str, dtype: torch.dtype | str, config: PretrainedConfig
) -> BitsAndBytesConfig | None:
    """What bitsandbytes is asked for (NF4: Dettmers et al. 2023); computes in `dtype`, 'auto' being the stored one."""
    if quantization == NO_QUANTIZATION:
        return None
    if getattr(config, "quantization_config", None):
        raise UserError("its weights are quantised already: set the model's 'quantization' to none")
    if quantization == INT8:
        return BitsAndBytesConfig(load_in_8bit=True)
    computed_in = (config.dtype or torch.float32) if isinstance(dtype, str) else dtype
    return BitsAndBytesConfig(
        load_in_4bit=True,
        bnb_4bit_quant_type=NF4,
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=computed_in,
    )


def end_token_ids(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> list[int]:
    """All ids that end an answer: the model's own list and the tokenizer's end of text."""
    own = model.generation_config.eos_token_id
    ids = set(own if isinstance(own, list) else [own]) | {tokenizer.eos_token_id}
    return sorted(id for id in ids if id is not None)


def greedy_decoding(max_new_tokens: int, end_tokens: list[int], pad_token: int) -> GenerationConfig:
    """Greedy decoding and nothing else: a model's own configuration may set penalties or sampling."""
    return GenerationConfig(
        max_new_tokens=max_new_tokens, do_sample=False, eos_token_id=end_tokens or None, pad_token_id=pad_token
    )
