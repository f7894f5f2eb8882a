"""Workers: threads that answer parts of a sweep at once on a processor, each on one core; they share the weights.

A small model's products are too small for several cores, and its next tokens are computed one step after the other.
"""

import threading
from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import chain
from queue import SimpleQueue
from typing import TypeVar

import numpy as np
import torch
from transformers import PreTrainedModel

from litm.inference.engine import NO_QUANTIZATION
from litm.inference.prefix_tree import tree_order

T = TypeVar("T")
#: Bytes of weights from which on one product keeps several cores busy, and caches for each core would take much memory.
LARGE = 2e9
#: Tokens of an answer, for parts of about the same work, and the share of all work by which they may differ.
ANSWER, UNEVEN = 50, 0.03


class StoppedError(Exception):
    """Another worker has failed, or the sweep is to end."""


def worker_count(model: PreTrainedModel, quantization: str) -> int:
    """The number of workers: torch's threads for a small model on a processor, else 1.

    Quantised weights are prepared by the first product, so they cannot be shared.
    """
    small = model.device.type == "cpu" and sum(weight.nbytes for weight in model.parameters()) < LARGE
    return torch.get_num_threads() if small and quantization == NO_QUANTIZATION else 1


def copies(model: PreTrainedModel, count: int) -> list[PreTrainedModel]:
    """The model and `count` - 1 copies, which have the same weights in memory but settings and caches of their own."""
    shared = {id(tensor): tensor for tensor in chain(model.parameters(), model.buffers())}
    return [model, *(deepcopy(model, dict(shared)) for _ in range(count - 1))]


def parts(prompts: Sequence[Sequence[int]], count: int) -> list[list[int]]:
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

    When one raises an error, or the consumer stops, the others end with their model's next step.
    """
    if len(streams) == 1:
        yield from streams[0]
        return
    items: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()
    stop = threading.Event()

    def check(*_: object) -> None:
        if stop.is_set():
            raise StoppedError

    def compute(stream: Iterator[T]) -> None:
        # For this thread's products, as OpenMP counts threads for each.
        torch.set_num_threads(1)
        try:
            for item in stream:
                items.put((item, None))
            items.put((None, None))
        except BaseException as error:
            items.put((None, error))

    threads, hooks = torch.get_num_threads(), [model.register_forward_pre_hook(check) for model in models]
    workers = [threading.Thread(target=compute, args=[stream]) for stream in streams]
    try:
        for worker in workers:
            worker.start()
        left = len(workers)
        while left:
            item, error = items.get()
            if error is not None:
                raise error
            if item is None:
                left -= 1
            else:
                yield item
    finally:
        stop.set()
        for worker in workers:
            worker.join()
        for hook in hooks:
            hook.remove()
        torch.set_num_threads(threads)
