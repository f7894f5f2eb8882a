"""Checks of devices and memory: the device of a model's entry, and whether the model fits."""

from collections.abc import Sequence
from dataclasses import dataclass

from litm.checks.doctor.check import Check, in_bytes, missing, ok, warning
from litm.inference.engine import INT8, NF4

#: Bytes per number.
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
#: Bytes per weight, including unquantised parts such as embeddings, measured on Llama-2-7B. Smaller models need more.
QUANTIZED_BYTES = {NF4: 0.6, INT8: 1.1}
#: Share of the free memory for weights and cache above which a warning is given: activations need the rest.
COMFORTABLE = 0.9
#: Bytes of weights from which on a model is slow without a GPU.
LARGE = 2e9


@dataclass(frozen=True)
class ModelSize:
    """The size of a model. weight_bytes: of its files; stored_bytes: per weight in them, None if they are already
    quantised; kv_numbers: numbers in its cache per token, 2 x layers x KV heads x dimension.
    """

    weight_bytes: int
    stored_bytes: int | None
    kv_numbers: int


@dataclass(frozen=True)
class Gpu:
    """A CUDA device, its memory in bytes."""

    name: str
    free: int
    total: int


@dataclass(frozen=True)
class Numbers:
    """The number formats of weights and computation in a model's entry, see `EngineSettings`."""

    dtype: str
    quantization: str


@dataclass(frozen=True)
class Free:
    """Free memory: its owner (machine or GPUs), and bytes."""

    where: str
    bytes: int


def loaded_bytes(size: ModelSize, numbers: Numbers) -> float:
    """Bytes of the loaded weights, from the size of their files."""
    if size.stored_bytes is None:
        return size.weight_bytes
    per_weight = QUANTIZED_BYTES.get(numbers.quantization, BYTES.get(numbers.dtype, size.stored_bytes))
    return size.weight_bytes / size.stored_bytes * per_weight


def cache_bytes(size: ModelSize, numbers: Numbers) -> int:
    """Bytes of the cache of keys and values per token of a prompt and its answer."""
    return size.kv_numbers * BYTES.get(numbers.dtype, size.stored_bytes or 2)


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


def memory_check(model: str, size: ModelSize, numbers: Numbers, free: Free, longest: int | None) -> Check:
    """Whether a model's weights and the cache of its longest prompt fit the free memory.

    longest: tokens of the longest prompt and its answer, None if not counted yet.
    """
    what = f"{model}: memory"
    weights, per_token = loaded_bytes(size, numbers), cache_bytes(size, numbers)
    cache = per_token * (longest or 0)
    takes = f"weights take {in_bytes(weights)}"
    if longest is not None:
        takes += f", the cache of the longest prompt ({longest} tokens) {in_bytes(cache)}"
    takes += f"; {in_bytes(free.bytes)} free on {free.where}"
    if weights + cache > free.bytes:
        return missing(what, f"{takes}: use a larger device, 'gpus', or fewer bits ('quantization: nf4', 'dtype')")
    if weights + cache > COMFORTABLE * free.bytes:
        return warning(what, f"{takes}: that is close; free memory there or use fewer bits ('quantization', 'dtype')")
    if longest is None and per_token:
        takes += f", enough to cache about {(free.bytes - weights) / per_token:.0f} tokens"
    return ok(what, takes)
