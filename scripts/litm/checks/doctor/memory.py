"""Checks of devices and memory: the device of a model's entry, and whether the model fits."""

from collections.abc import Sequence
from dataclasses import dataclass

from litm.checks.doctor.check import Check, in_bytes, missing, ok, warning
from litm.inference.costs import ModelSize, Numbers, cache_bytes, cached_tokens, layer_bytes, loaded_bytes, score_bytes

#: Share of the free memory that may be taken before there is a warning: predictions are within a quarter.
COMFORTABLE = 0.9
#: Bytes of weights from which on a model is slow without a GPU.
LARGE = 2e9


@dataclass(frozen=True)
class Gpu:
    """A CUDA device, its memory in bytes."""

    name: str
    free: int
    total: int


@dataclass(frozen=True)
class Longest:
    """The longest prompt of a model with its answer, in tokens; is_counted: or estimated by its items."""

    tokens: int
    is_counted: bool


@dataclass(frozen=True)
class Free:
    """Free memory: its owner (machine or GPUs), and bytes."""

    where: str
    bytes: int


def device_check(model: str, device: str, wanted: int, gpus: Sequence[Gpu], weight_bytes: int | None) -> Check:
    """Whether the device of a model's entry exists, and enough GPUs if it is one.

    weight_bytes: of the model's files, None if unknown.
    """
    what = f"{model}: device"
    if device == "cpu":
        return ok(what, "cpu")
    if device == "auto" and not gpus:
        slow = weight_bytes is not None and weight_bytes >= LARGE
        return (warning if slow else ok)(what, "auto: no GPU here, so the CPU" + (", which is slow" if slow else ""))
    first = int(device.partition(":")[2] or 0)
    if first + wanted > len(gpus):
        return missing(
            what,
            f"{device}, {wanted} GPU(s): torch sees {len(gpus)} here; set the model's 'device' or 'gpus', or use "
            "another machine",
        )
    return ok(what, ", ".join(gpu.name for gpu in gpus[first : first + wanted]))


def memory_of(device: str, wanted: int, gpus: Sequence[Gpu]) -> Free:
    """The total memory of the GPUs that a model would use."""
    first = int(device.partition(":")[2] or 0)
    used = gpus[first : first + wanted]
    return Free(", ".join(gpu.name for gpu in used), sum(gpu.free for gpu in used))


def memory_check(
    model: str,
    size: ModelSize,
    numbers: Numbers,
    free: Free,
    longest: Longest | None,
    gpus: int = 1,
    batch_tokens: int = 0,
) -> Check:
    """Whether a model's weights, the cache of its longest prompt, a layer that reads it and the scores of its attention
    fit the memory that is free, and the caches of a batch of `batch_tokens`. gpus: that share the weights and the
    caches; each has the scores of its own layers.
    """
    what = f"{model}: memory"
    tokens = longest.tokens if longest else 0
    weights, per_token = loaded_bytes(size, numbers), cache_bytes(size, numbers)
    cache, scores = per_token * tokens, score_bytes(size, numbers, tokens)
    batch = per_token * (cached_tokens(tokens, batch_tokens) - tokens)
    takes = f"weights take {in_bytes(weights)}"
    if longest is not None:
        about = "" if longest.is_counted else "about "
        takes += f", the cache of the longest prompt ({about}{tokens} tokens) {in_bytes(cache)}"
        if batch:
            takes += f", those of a batch ('batch_tokens: {batch_tokens}') {in_bytes(batch)}"
        if scores:
            takes += f", the scores of eager attention {in_bytes(scores)}" + (" on each GPU" if gpus > 1 else "")
    takes += f"; {in_bytes(free.bytes)} free on {free.where}"
    needed = weights + cache + layer_bytes(size, numbers, tokens) + gpus * scores
    if needed > free.bytes and scores * gpus > free.bytes / 2:
        return missing(
            what, f"{takes}: choose smaller sizes (`only`), or another 'attention' or engine; more GPUs do not help"
        )
    if needed > free.bytes:
        return missing(what, f"{takes}: use a larger device, 'gpus', or fewer bits ('quantization: nf4', 'dtype')")
    if needed + batch > free.bytes:
        return warning(what, f"{takes}: that is too much for a batch; lower 'batch_tokens'")
    if needed + batch > COMFORTABLE * free.bytes:
        return warning(what, f"{takes}: that is close; free memory there or use fewer bits ('quantization', 'dtype')")
    if longest is None and per_token:
        takes += f", enough to cache about {(free.bytes - weights) / per_token:.0f} tokens"
    return ok(what, takes)
