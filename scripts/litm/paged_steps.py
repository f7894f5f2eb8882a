"""Continuous batching of transformers, one step at a time: paged attention, pages of equal beginnings shared.

The library's own loop runs in a thread, where it depends on the moment which prompts share a step, and where errors
end in its log. Here steps are taken by the caller: the same prompts give the same steps, and an error is raised.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from transformers import ContinuousBatchingConfig, GenerationConfig, PreTrainedModel
from transformers.generation.continuous_batching.cache import PagedAttentionCache
from transformers.generation.continuous_batching.requests import FutureRequestState
from transformers.utils import logging as transformers_logging

from litm.errors import UserError

#: Prompt and new tokens that are computed in one step, without and with a GPU: attention by mask computes every token
#: of a step with every page that the step reads, so that large steps cost more than they save.
STEP_TOKENS_CPU, STEP_TOKENS_GPU = 512, 4096
#: Part of the pages that the library keeps free for answers; idle pages are forgotten when fewer are free.
SPARE = 0.15
#: Part of the idle pages that is forgotten then: few, for a prompt that waits for its turn may want the others.
FORGOTTEN = 0.1

# The library takes notes of every model it is given; what is a user's to know is raised below.
transformers_logging.get_logger("ContinuousBatchingLogger").setLevel(transformers_logging.ERROR)


@dataclass(frozen=True)
class Said:
    """What has been answered to a request up to now; ended at an end token, which is included, or at the limit."""

    index: int
    ids: Sequence[int]
    ended: bool


@dataclass(frozen=True)
class Step:
    """What one step did: prompt tokens that it computed, and what was said to each request that it gave a token."""

    prompt_tokens: int
    said: Sequence[Said]


class PagedSteps:
    """Requests to a model that has room for so many tokens at a time; made anew after an error.

    room: tokens of prompts and answers in flight; the cache has as many again for pages to be shared, if
    they may. Raises `UserError` for a model that cannot be run so.
    """

    def __init__(self, model: PreTrainedModel, decoding: GenerationConfig, room: int, page: int, share: bool) -> None:
        on_cpu = model.device.type == "cpu"
        config = ContinuousBatchingConfig(
            page_size=page,
            num_blocks=math.ceil(2 * room / page / (1 - SPARE)),
            max_batch_tokens=min(room, STEP_TOKENS_CPU if on_cpu else STEP_TOKENS_GPU),
            safety_margin=SPARE,
            allow_block_sharing=share,
            # What the memory is, is for the user to say by the number of tokens.
            max_memory_percent=1.0,
            # Another implementation of attention may give another answer.
            auto_switch_to_flash=False,
            # The steps would overlap, and an answer be known one step late.
            use_async_batching=False,
        )
        try:
            self._manager = model.init_continuous_batching(  # type: ignore[operator]  # taken for a Tensor
                generation_config=decoding, continuous_batching_config=config
            )
            self._manager.warmup()
        except (ValueError, NotImplementedError) as error:
            raise UserError(
                f"{type(model).__name__} cannot be run by paged attention ({str(error).strip().splitlines()[0]}): "
                "set the model's 'engine' to transformers"
            ) from error
        self._processor = self._manager.batch_processor
        self._processor.cache.evict_cached_blocks = partial(forget_oldest, self._processor.cache)

    @property
    def shares(self) -> bool:
        """Whether pages are shared: never where a layer forgets what is behind its sliding window."""
        return self._processor.cache.use_prefix_sharing

    def add(self, index: int, prompt: Sequence[int]) -> None:
        """Ask a prompt in one of the next steps."""
        self._manager.add_request(list(prompt), request_id=str(index), streaming=True)

    def cancel(self, index: int) -> None:
        """Go on with a request no longer."""
        self._manager.cancel_request(str(index))

    @torch.inference_mode()
    def take(self) -> Step:
        """Compute one step. Raises what the model raises."""
        if not self._processor.prepare_next_batch():
            raise RuntimeError("the library has no step to take for the prompts that it was given")
        tokens = sum(map(prompt_tokens, self._processor.inputs_and_outputs.requests_in_batch))
        self._processor._generation_step(self._manager.model)
        self._processor.update_batch()
        queue = self._manager.output_router.output_queue
        outputs = [queue.get_nowait() for _ in range(queue.qsize())]
        for output in outputs:
            if output.error is not None:
                raise RuntimeError(output.error)
        return Step(tokens, [Said(int(o.request_id), o.generated_tokens, o.is_finished()) for o in outputs])


def prompt_tokens(scheduled: FutureRequestState) -> int:
    """Tokens of its prompt among those that a request has in a step that is about to be computed."""
    end = scheduled.state.position_offset
    return max(0, min(end, len(scheduled.state.initial_tokens)) - (end - scheduled.query_length))


def forget_oldest(cache: PagedAttentionCache) -> bool:
    """Give back some of the idle pages, those that have not been used for longest; whether there was any.

    In the place of the library's own way to make room, which forgets all of them: those that are wanted next too.
    """
    forgot = False
    for allocator in cache.cache_allocators.values():
        ledger = allocator.ledger
        oldest = list(ledger.cached_blocks)[: math.ceil(FORGOTTEN * len(ledger.cached_blocks))]
        for block in oldest:
            del ledger.cached_blocks[block]
            del ledger.hash_to_block[ledger.block_to_hash.pop(block)]
        cache.pool.free_blocks(allocator.index, oldest)
        forgot = forgot or bool(oldest)
    return forgot
