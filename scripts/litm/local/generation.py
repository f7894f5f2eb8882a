"""Generation by a model of Hugging Face: loading it, answering batches greedily, and several batches at once."""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import nullcontext
from copy import deepcopy
from inspect import signature
from itertools import chain
from typing import Any, TypeVar, cast

import numpy as np
import torch
from transformers import (
    AutoModelForCausalLM,
    AutoModelForSeq2SeqLM,
    BitsAndBytesConfig,
    GenerationConfig,
    LogitsProcessor,
    LogitsProcessorList,
    PretrainedConfig,
    PreTrainedModel,
    StoppingCriteria,
    StoppingCriteriaList,
)
from transformers.utils import logging as transformers_logging

from litm.base.loading import first_line, loading
from litm.base.messages import UserError, note
from litm.engines.interface import EAGER, INT8, NF4, NO_QUANTIZATION, Prepared
from litm.engines.local_models import LoadedSettings
from litm.engines.stopping import Ending, Followed
from litm.local.joined_attention import uses_amx
from litm.local.prefix_sharing import KeptCache, follows_longest, reading_order
from litm.models.devices import halved_budget, longest_first, next_batch
from litm.models.locations import ADAPTER_REMEDY, check_generation_config
from litm.prompting.prefix_tree import tree_order

T = TypeVar("T")
#: Rows of a weight matrix that bitsandbytes' fast product on a processor takes at a time.
FAST_PRODUCT_ROWS = 32
#: Tokens of a step that count as few (`LinearOfFew`): with 32, nothing is gained, and with more, rounding differs.
FEW_ROWS = 16


transformers_logging.disable_progress_bar()


# bitsandbytes warns at every product that int8 computes in float16; the schema of models says it once.
logging.getLogger("bitsandbytes").setLevel(logging.ERROR)


def load_model(settings: LoadedSettings, config: PretrainedConfig, device: torch.device) -> PreTrainedModel:
    """The model on a device, ready to generate: an encoder-decoder or a causal model, by its configuration.

    Raises `UserError` if it cannot be loaded, or if its files lack some of its weights.
    """
    kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
    keys = settings.keys
    dtype = keys.dtype if keys.dtype == "auto" else getattr(torch, keys.dtype)
    with loading(f"model {settings.location}", loading_problem):
        # A cast, because the checker does not see that the loading report makes it a pair.
        model, report = cast(Any, kind).from_pretrained(
            settings.location,
            config=config,
            revision=settings.revision,
            trust_remote_code=keys.trust_remote_code,
            use_safetensors=True,
            dtype=dtype,
            attn_implementation=keys.attention,
            quantization_config=quantization_config(keys.quantization, dtype, config),
            # Quantised weights are created on the device and cannot be moved.
            device_map="auto" if settings.gpus > 1 else {"": device},
            output_loading_info=True,
            # Mismatches are reported below, instead of in a traceback.
            ignore_mismatched_sizes=True,
        )
    if getattr(model, "_hf_peft_config_loaded", False):
        raise UserError(f"model {settings.location} {ADAPTER_REMEDY}")
    # For a hub model, the file exists only now.
    check_generation_config(settings.location, settings.revision)
    # Weights that the files lack would be random.
    absent = sorted([*report["missing_keys"], *(key for key, *_ in report["mismatched_keys"])])
    if absent:
        raise UserError(
            f"model {settings.location}: its files lack {len(absent)} weights of {type(model).__name__} or have "
            f"them in another shape ({absent[0]}, ...); get the model again"
        )
    if device.type == "cpu" and keys.quantization == NF4:
        # Imported here: it takes a second.
        from bitsandbytes.nn import Linear4bit

        # bitsandbytes' fast product for processors with AVX-512 fails but for rows of whole blocks, `FAST_PRODUCT_ROWS`
        # at a time; only small models have other shapes.
        for module in model.modules():
            if isinstance(module, Linear4bit):
                block = cast(Any, module.weight).quant_state.blocksize
                if module.in_features % block or module.out_features % FAST_PRODUCT_ROWS:
                    module.support_avx512bf16_for_cpu = False
    if device.type == "cpu":
        for module in model.modules():
            # Not its subclasses, which multiply in their own way.
            if type(module) is torch.nn.Linear:
                module.__class__ = LinearOfFew
    return model.eval()


class LinearOfFew(torch.nn.Linear):
    """A linear layer that multiplies the weights by a few tokens, not these by the weights, in bfloat16 with AMX.

    For AMX, PyTorch arranges the second factor anew at each product. In a step of decoding the weights are thousands of
    rows, and the tokens a few. The result has the same bits; benchmarks/README.md has what this gains.
    """

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        rows = input.numel() // self.in_features
        if not 1 < rows <= FEW_ROWS or self.bias is not None or not uses_amx(input):
            return super().forward(input)
        output = self.weight @ input.reshape(rows, self.in_features).t()
        return output.t().contiguous().view(*input.shape[:-1], self.out_features)


def loading_problem(error: Exception) -> str:
    """One line on why a model could not be loaded, with the remedy where it is a setting."""
    text = str(error).strip()
    if "does not support an attention" in text or "does not support Flash Attention" in text:
        return "its architecture has no such implementation of attention: set the model's 'attention' to eager"
    return first_line(error)


def quantization_config(
    quantization: str, dtype: torch.dtype | str, config: PretrainedConfig
) -> BitsAndBytesConfig | None:
    """The settings for bitsandbytes (NF4: Dettmers et al. 2023); computes in `dtype`, 'auto' being the stored one."""
    if quantization == NO_QUANTIZATION:
        return None
    if getattr(config, "quantization_config", None):
        raise UserError("its weights are quantised already: set the model's 'quantization' to none")
    if quantization == INT8:
        return BitsAndBytesConfig(load_in_8bit=True)
    computed_in = (config.dtype or torch.float32) if isinstance(dtype, str) else dtype
    return BitsAndBytesConfig(
        load_in_4bit=True, bnb_4bit_quant_type=NF4, bnb_4bit_use_double_quant=True, bnb_4bit_compute_dtype=computed_in
    )


#: Out-of-memory messages that do not come as `torch.OutOfMemoryError`: the CPU allocator's and the CUDA libraries'.
OUT_OF_MEMORY = (
    "DefaultCPUAllocator: can't allocate memory",
    "CUDA error: out of memory",
    "CUBLAS_STATUS_ALLOC_FAILED",
)


class StopFollowed(StoppingCriteria):
    """Stops each sequence of a batch where its rules end it."""

    def __init__(self, responses: Sequence[Followed]) -> None:
        self.responses = responses

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor | None, **kwargs) -> torch.Tensor:
        for response, id in zip(self.responses, input_ids[:, -1].tolist(), strict=True):
            response.add(id)
        return torch.tensor([response.ended is not None for response in self.responses], device=input_ids.device)


class CloseReasoning(LogitsProcessor):
    """Forces the closing tag in each sequence of a batch that has used up its tokens for reasoning."""

    def __init__(self, responses: Sequence[Followed]) -> None:
        self.responses = responses

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        for row, response in enumerate(self.responses):
            if response.forced is not None:
                scores[row] = -torch.inf
                scores[row, response.forced] = 0
        return scores


def batches_answered(
    model: PreTrainedModel,
    prompts: Sequence[Prepared],
    ending: Ending,
    kept: KeptCache | None,
    token_budget: int,
    count: Callable[[int], None],
) -> Iterator[tuple[Sequence[int], list[list[int]]]]:
    """Batches of prompts: their indices, and the new token ids of each. Arguments as in `batches_in_memory`."""
    ids = [prompt.ids or [] for prompt in prompts]

    def outputs(batch: Sequence[int]) -> list[list[int]]:
        return generate_batch(model, [ids[index] for index in batch], ending, kept)

    return batches_in_memory(model, ids, model.generation_config.max_new_tokens, kept, token_budget, count, outputs)


def batches_in_memory(
    model: PreTrainedModel,
    prompts: Sequence[Sequence[int]],
    new_tokens: int,
    kept: KeptCache | None,
    token_budget: int,
    count: Callable[[int], None],
    compute: Callable[[Sequence[int]], T],
    most: int | None = None,
) -> Iterator[tuple[Sequence[int], T]]:
    """Batches of at most `most` prompts (tokens,) within a budget of tokens: their indices, and what is computed.

    A batch that does not fit the memory is halved, and so are all later ones. A single prompt that does not fit is left
    out; a message tells of the first one. kept: the model's caches with the last prompts; None to share nothing: then
    `count` is called with the tokens that were computed.
    """
    lengths = [len(prompt) for prompt in prompts]
    order = reading_order(prompts, kept.short) if kept else longest_first(lengths)
    done, is_told = 0, False
    while done < len(order):
        batch = next_batch(order, done, lengths, new_tokens, token_budget)[:most]
        outputs = None
        try:
            if kept is None and follows_longest(model):
                # A single token resets what an earlier, longer prompt has left.
                with torch.inference_mode():
                    model(input_ids=torch.zeros((1, 1), dtype=torch.long, device=model.device))
            outputs = compute(batch)
        except RuntimeError as error:
            if not (isinstance(error, torch.OutOfMemoryError) or any(text in str(error) for text in OUT_OF_MEMORY)):
                raise
        if outputs is not None:
            done += len(batch)
            if kept is None:
                count(sum(lengths[index] for index in batch))
            yield batch, outputs
            continue
        if kept:
            kept.forget()
        # Only here, since the error holds the tensors of the failed batch. Without CUDA this does nothing.
        torch.cuda.empty_cache()
        if len(batch) > 1:
            token_budget = halved_budget(batch, lengths, new_tokens)
            note(
                f"out of memory on {model.device} with {len(batch)} prompts at a time: on with {token_budget} "
                "batch_tokens"
            )
            continue
        done += 1
        if not is_told:
            note(
                f"out of memory on {model.device} with a single prompt of {lengths[batch[0]]} tokens, which no smaller "
                "'batch_tokens' helps: it gets no answer, nor does any later one that does not fit. Free memory there, "
                "use another device or fewer bits ('dtype', 'quantization'), or leave such prompts out by the model's "
                "'context_window', and run again"
            )
        is_told = True


@torch.inference_mode()
def generate_batch(
    model: PreTrainedModel, prompts: Sequence[Sequence[int]], ending: Ending, kept: KeptCache | None = None
) -> list[list[int]]:
    """New token ids of each prompt, up to the length of the longest answer of the batch.

    A causal model continues the prompt, so padding is on the left and repeats the prompt. An encoder-decoder reads the
    prompt from position 0, so padding is on the right, and its output begins with the start token. kept: the model's
    caches with part of the prompt.
    """
    on_the_right = model.config.is_encoder_decoder
    ids, mask = padded(model, prompts, on_the_right)
    followed = [ending.follow(prompt) for prompt in prompts]
    with kept.of_prompts(prompts) if kept else nullcontext() as cache:
        output = model.generate(  # type: ignore[operator]  # taken for a Tensor by the checker
            input_ids=ids,
            attention_mask=mask,
            **({kept.cache_argument: cache} if kept else {}),
            stopping_criteria=StoppingCriteriaList([StopFollowed(followed)] if ending.pieces else []),
            logits_processor=LogitsProcessorList([CloseReasoning(followed)] if ending.closing_ids else []),
        )
    return output[:, 1 if on_the_right else ids.shape[1] :].tolist()


def padded(
    model: PreTrainedModel, rows: Sequence[Sequence[int]], on_the_right: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids (rows, longest) on the model's device, and the mask that is 0 for padding."""
    width = max(map(len, rows))
    ids = torch.full((len(rows), width), model.generation_config.pad_token_id)
    mask = torch.zeros((len(rows), width), dtype=torch.long)
    for number, row in enumerate(rows):
        columns = slice(len(row)) if on_the_right else slice(width - len(row), width)
        ids[number, columns] = torch.tensor(row)
        mask[number, columns] = 1
    return ids.to(model.device), mask.to(model.device)


#: Numbers in the logits of a batch of answers that are measured: half a gigabyte in float32.
MOST_LOGITS = 1 << 27


def batches_measured(
    model: PreTrainedModel,
    prompts: Sequence[Prepared],
    kept: KeptCache | None,
    token_budget: int,
    count: Callable[[int], None],
) -> Iterator[tuple[Sequence[int], list[list[float]]]]:
    """Prompts whose answers are all measured: their indices, and the log-probability of each answer of each.

    A prompt is read with each of its answers, and what they have in common once if there is a cache. Arguments as in
    `batches_in_memory`. A prompt with an answer that does not fit the memory is left out.
    """
    sums = [dict.fromkeys([row for row, ids in enumerate(prompt.answers) if not ids], 0.0) for prompt in prompts]
    pairs = [(index, row) for index, prompt in enumerate(prompts) for row, ids in enumerate(prompt.answers) if ids]
    rows = [[*(prompts[index].ids or []), *prompts[index].answers[row][:-1]] for index, row in pairs]
    longest = max((prompt.answer_tokens for prompt in prompts), default=0)
    most = max(1, MOST_LOGITS // max(1, longest * model.config.get_text_config().vocab_size))

    def measured(batch: Sequence[int]) -> list[float]:
        answers = [prompts[index].answers[row] for index, row in (pairs[number] for number in batch)]
        return measure_batch(model, [rows[number] for number in batch], answers, kept)

    for batch, numbers in batches_in_memory(model, rows, 0, kept, token_budget, count, measured, most):
        for number, nats in zip(batch, numbers, strict=True):
            index, row = pairs[number]
            sums[index][row] = nats
        touched = dict.fromkeys(pairs[number][0] for number in batch)
        whole = [index for index in touched if len(sums[index]) == len(prompts[index].answers)]
        if whole:
            yield whole, [[sums[index][row] for row in range(len(prompts[index].answers))] for index in whole]


@torch.inference_mode()
def measure_batch(
    model: PreTrainedModel, rows: Sequence[Sequence[int]], answers: Sequence[Sequence[int]], kept: KeptCache | None
) -> list[float]:
    """The log-probability of each answer (tokens,), in nats, summed over its tokens.

    rows: each a prompt with its answer but for its last token, whose output is not needed. The softmax is in float32,
    over the positions of the answers alone. kept: as in `generate_batch`.
    """
    needed = [len(answer) for answer in answers]
    width = max(needed)
    if model.config.is_encoder_decoder:
        # The prompt is the encoder's, and the answer follows the decoder's start token.
        start = model.generation_config.decoder_start_token_id
        prompts = [row[: len(row) - count + 1] for row, count in zip(rows, needed, strict=True)]
        ids, mask = padded(model, prompts, on_the_right=True)
        said, _ = padded(model, [[start, *answer[:-1]] for answer in answers], on_the_right=True)
        logits = model(input_ids=ids, attention_mask=mask, decoder_input_ids=said, use_cache=False).logits
        spans = [slice(count) for count in needed]
    else:
        ids, mask = padded(model, rows, on_the_right=False)
        with kept.of_prompts(rows, needed) if kept else nullcontext() as cache:
            read = cache.get_seq_length() if cache else 0
            # As `generate` counts positions.
            places = (mask.cumsum(-1) - 1).clamp(min=0)[:, read:]
            takes = signature(model.forward).parameters
            more = {"position_ids": places, "logits_to_keep": width}
            logits = model(
                input_ids=ids[:, read:],
                attention_mask=mask,
                use_cache=cache is not None,
                **({kept.cache_argument: cache} if kept else {}),
                **{name: value for name, value in more.items() if name in takes},
            ).logits[:, -width:]
        spans = [slice(width - count, width) for count in needed]
    sums = []
    for row, (answer, place) in enumerate(zip(answers, spans, strict=True)):
        nats = torch.log_softmax(logits[row, place].float(), dim=-1)
        said = torch.tensor(answer, device=nats.device)[:, None]
        sums.append(nats.gather(-1, said).double().sum())
    return torch.stack(sums).tolist()


#: Settings of a model's own generation that change its most likely answer, so a line tells that they are left out.
NOT_GREEDY = (
    "repetition_penalty", "encoder_repetition_penalty", "no_repeat_ngram_size", "num_beams", "min_length",
    "min_new_tokens", "bad_words_ids", "sequence_bias", "suppress_tokens", "begin_suppress_tokens",
    "forced_bos_token_id", "forced_eos_token_id",
)  # fmt: skip


def greedy_decoding(
    model: PreTrainedModel, max_new_tokens: int, end_tokens: list[int], pad_token: int
) -> GenerationConfig:
    """Greedy decoding only: a model's own configuration may set penalties or sampling.

    Raises `UserError` if the configuration of an encoder-decoder has no id that starts its output.
    """
    config, start = model.generation_config, None
    settings = config.to_diff_dict()
    if left_out := [f"{name} {settings[name]}" for name in NOT_GREEDY if name in settings]:
        note(f"settings of its generation_config.json are left out, as answers are greedy: {', '.join(left_out)}")
    if model.config.is_encoder_decoder:
        start = config.bos_token_id if config.decoder_start_token_id is None else config.decoder_start_token_id
        if start is None:
            raise UserError(f"{type(model).__name__} has no decoder_start_token_id: set it in generation_config.json")
    return GenerationConfig(
        max_new_tokens=max_new_tokens,
        do_sample=False,
        eos_token_id=end_tokens or None,
        pad_token_id=pad_token,
        decoder_start_token_id=start,
    )


#: Bytes of weights from which on one product keeps several cores busy, and caches for each core would take much memory.
LARGE = 2e9
#: Tokens of an answer, for parts of about the same work, and the share of all work by which they may differ.
ANSWER, UNEVEN = 50, 0.03


class StoppedError(Exception):
    """Another worker has failed, or the sweep is to end."""


def worker_count(model: PreTrainedModel, quantization: str) -> int:
    """The number of workers: torch's threads for a small model on a processor, else 1.

    Quantised weights are prepared by the first product, so they cannot be shared. The scores of eager
    attention would take their memory for each worker.
    """
    small = model.device.type == "cpu" and sum(weight.nbytes for weight in model.parameters()) < LARGE
    is_eager = model.config._attn_implementation == EAGER
    return torch.get_num_threads() if small and quantization == NO_QUANTIZATION and not is_eager else 1


def copies(model: PreTrainedModel, count: int) -> list[PreTrainedModel]:
    """The model and `count` - 1 copies, which have the same weights in memory but settings and caches of their own."""
    shared = {id(tensor): tensor for tensor in chain(model.parameters(), model.buffers())}
    return [model, *(deepcopy(model, dict(shared)) for _ in range(count - 1))]


def parts_of(prompts: Sequence[Sequence[int]], count: int) -> list[list[int]]:
    """Indices of prompts, (tokens,) ids each, in at most `count` parts of about the same work, by their ids.

    A part begins where the least is shared with the prompt before, within `UNEVEN` of the whole work.
    """
    order, shared = tree_order(dict(enumerate(prompts)))
    work = np.cumsum([len(prompts[index]) - same + ANSWER for index, same in zip(order, shared, strict=True)])
    ends = set()
    for number in range(1, min(count, len(order))):
        # Of the parts before each prompt but the first.
        away = np.abs(work[:-1] / work[-1] - number / count)
        near = np.flatnonzero(away <= max(UNEVEN, away.min())) + 1
        ends.add(int(near[np.argmin(np.array(shared)[near])]))
    begins = sorted({0, *ends})
    return [order[begin:end] for begin, end in zip(begins, [*begins[1:], len(order)], strict=True)]


def at_once(models: Sequence[PreTrainedModel], streams: Sequence[Iterator[T]]) -> Iterator[T]:
    """What the streams yield, as it comes, each computed in a thread with its model on one core.

    A stream begins its next item when its last one is yielded, so that an end loses at most one item of each and the
    one that the consumer has. When one raises an error, or the consumer stops, the others end with their model's next
    step; after an error, what they have finished is yielded before it is raised.
    """
    if len(streams) == 1:
        yield from streams[0]
        return
    stop = threading.Event()

    def check(*_: object) -> None:
        if stop.is_set():
            raise StoppedError

    threads, hooks = torch.get_num_threads(), [model.register_forward_pre_hook(check) for model in models]
    # One thread for the products of each worker, as OpenMP counts threads for each.
    pool = ThreadPoolExecutor(len(streams), initializer=torch.set_num_threads, initargs=(1,))
    working = {pool.submit(next, stream, None): stream for stream in streams}
    try:
        while working:
            for future in wait(working, return_when=FIRST_COMPLETED).done:
                stream = working.pop(future)
                if (item := future.result()) is not None:
                    working[pool.submit(next, stream, None)] = stream
                    yield item
    except (Exception, KeyboardInterrupt, SystemExit):
        stop.set()
        for future in wait(working).done:
            if future.exception() is None and (item := future.result()) is not None:
                yield item
        raise
    finally:
        stop.set()
        pool.shutdown()
        for hook in hooks:
            hook.remove()
        torch.set_num_threads(threads)
