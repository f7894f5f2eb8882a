"""The memory that a model takes: of its weights, its cache of keys and values, and the scores of eager attention."""

from dataclasses import dataclass

from litm.inference.engine import INT8, NF4

#: Bytes of a number.
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
#: Bytes of a weight with what stays unquantised, embeddings above all: what Llama-2-7B takes. Smaller models take more.
QUANTIZED_BYTES = {NF4: 0.6, INT8: 1.1}
#: The implementation of attention that has the scores of all pairs of tokens in memory at once.
EAGER = "eager"
#: Bytes of a score on top of the one in the model's format: the softmax has its input and output in float32.
SOFTMAX_BYTES = 8


@dataclass(frozen=True)
class ModelSize:
    """What a model takes. weight_bytes: of its files; stored_bytes: of one weight in them, None where they are
    quantised already; kv_numbers: numbers that its cache holds for each token, 2 x layers x KV heads x dimension;
    heads: of a layer's attention. The last two are 0 where its configuration is not known.
    """

    weight_bytes: float
    stored_bytes: int | None
    kv_numbers: int = 0
    heads: int = 0


@dataclass(frozen=True)
class Numbers:
    """How a model's entry wants its weights and its computation, see `EngineSettings`."""

    dtype: str
    quantization: str
    attention: str = "sdpa"


def bytes_of_parameters(billions: float, dtype: str) -> float:
    """The memory of unquantised weights, by their number in 10⁹."""
    return 1e9 * billions * BYTES.get(dtype, 2)


def loaded_bytes(size: ModelSize, numbers: Numbers) -> float:
    """The memory that the weights take once they are loaded, by the size of their files."""
    if size.stored_bytes is None:
        return size.weight_bytes
    per_weight = QUANTIZED_BYTES.get(numbers.quantization, BYTES.get(numbers.dtype, size.stored_bytes))
    return size.weight_bytes / size.stored_bytes * per_weight


def cache_bytes(size: ModelSize, numbers: Numbers) -> int:
    """The memory that the cache of keys and values takes for each token of one prompt and its answer."""
    return size.kv_numbers * BYTES.get(numbers.dtype, size.stored_bytes or 2)


def score_bytes(size: ModelSize, numbers: Numbers, tokens: int) -> int:
    """The memory that the scores of one layer take while a whole prompt is read: heads x tokens², of eager attention
    alone.
    """
    if numbers.attention != EAGER:
        return 0
    return size.heads * tokens**2 * (BYTES.get(numbers.dtype, size.stored_bytes or 2) + SOFTMAX_BYTES)
