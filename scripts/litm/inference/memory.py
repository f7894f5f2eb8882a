"""The memory that a sweep takes: of weights, caches of keys and values, a layer's numbers, and scores of attention.

`benchmarks/memory.py` compares it with measured peaks.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from litm.inference.engine import INT8, NF4

#: Bytes of a number.
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
#: Bytes of a weight with what stays unquantised, embeddings above all: what Llama-2-7B takes. Smaller models take more.
QUANTIZED_BYTES = {NF4: 0.6, INT8: 1.1}
#: Bytes of a process apart from its model and prompts: Python, torch and transformers.
PROCESS_BYTES = 450e6
#: Bytes of a prompt's token in the process: its text, its id in a list, and as bytes to sort.
PROMPT_BYTES = 50
#: The implementation of attention that has the scores of all pairs of tokens in memory at once.
EAGER = "eager"
#: Tokens of a prompt computed at a time where attention compares each with all before it in memory.
PIECE = 1024
#: Bytes of a score at the softmax, in any number format: the score, in float32 if it is not, the output, and the one of
#: the layer before, which MPT keeps.
SCORE_BYTES = 12


@dataclass(frozen=True)
class ModelSize:
    """What a model takes. weight_bytes: of its files; stored_bytes: of one weight in them, None where they are
    quantised already; kv_numbers: numbers that its cache holds for each token, 2 x layers x KV heads x dimension;
    heads: of a layer's attention; layer_numbers: numbers that a layer holds for each token while it is computed. These
    three are 0 where its configuration is not known. in_pieces: whether a prompt can be read `PIECE` tokens at a time;
    not by encoder-decoders, nor where a layer attends to a window.
    """

    weight_bytes: float
    stored_bytes: int | None
    kv_numbers: int = 0
    heads: int = 0
    layer_numbers: int = 0
    in_pieces: bool = True


@dataclass(frozen=True)
class Numbers:
    """How a model's entry wants its weights and its computation, see `EngineSettings`."""

    dtype: str
    quantization: str
    attention: str = "sdpa"


@dataclass(frozen=True)
class Shape:
    """The sizes of a decoder's layers: their number, width, inner width, heads of attention, heads of keys, and numbers
    in a head, which follow from the others where they are None or 0; in_pieces: see `ModelSize`.
    """

    layers: int
    width: int
    inner_width: int
    heads: int
    kv_heads: int | None = None
    head_size: int | None = None
    in_pieces: bool = True

    def size(self, weight_bytes: float, stored_bytes: int | None) -> ModelSize:
        """What a model of this shape takes; arguments as in `ModelSize`.

        A layer holds for each token the numbers of a gated feed-forward network (gate, its activation, up, their
        product), and input, residual, queries, keys, values and output.
        """
        head_size = self.head_size or (self.width // self.heads if self.heads else 0)
        kv_numbers = 2 * self.layers * (self.kv_heads or self.heads) * head_size
        layer_numbers = 4 * self.inner_width + 6 * self.width
        return ModelSize(weight_bytes, stored_bytes, kv_numbers, self.heads, layer_numbers, self.in_pieces)


def is_read_in_pieces(config: Mapping[str, Any]) -> bool:
    """Whether a model's configuration has neither an encoder nor layers that attend to a window, see `ModelSize`."""
    windows = config.get("sliding_window") and config.get("use_sliding_window", True)
    return not (config.get("is_encoder_decoder") or windows)


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
    return size.kv_numbers * _computed_bytes(size, numbers)


def tokens_at_a_time(size: ModelSize, numbers: Numbers, tokens: int) -> int:
    """The tokens of a prompt that a layer computes at a time: `PIECE` with eager attention, if the model's cache can be
    kept, else all.
    """
    return min(tokens, PIECE) if numbers.attention == EAGER and size.in_pieces else tokens


def score_bytes(size: ModelSize, numbers: Numbers, tokens: int) -> int:
    """The memory that the scores of eager attention take in a layer while a prompt is read; 0 for other attention."""
    if numbers.attention != EAGER:
        return 0
    return SCORE_BYTES * size.heads * tokens * tokens_at_a_time(size, numbers, tokens)


def cached_tokens(longest: int, batch_tokens: int) -> int:
    """Tokens that caches hold at once: those of a batch, and of the last prompt, which is kept for the next; a batch of
    one prompt has no cache of its own. longest: tokens of a prompt with its answer.
    """
    count = batch_tokens // longest if longest else 0
    return longest if count < 2 else (count + 1) * longest


def layer_bytes(size: ModelSize, numbers: Numbers, longest: int) -> int:
    """The memory of a layer, apart from its scores, while a prompt is read."""
    return size.layer_numbers * _computed_bytes(size, numbers) * tokens_at_a_time(size, numbers, longest)


def sweep_bytes(size: ModelSize, numbers: Numbers, longest: int, batch_tokens: int) -> float:
    """The largest memory of a sweep, apart from `PROCESS_BYTES`; longest: tokens of a prompt with its answer."""
    caches = cache_bytes(size, numbers) * cached_tokens(longest, batch_tokens)
    while_reading = layer_bytes(size, numbers, longest) + score_bytes(size, numbers, longest)
    return loaded_bytes(size, numbers) + caches + while_reading


def _computed_bytes(size: ModelSize, numbers: Numbers) -> int:
    return BYTES.get(numbers.dtype, size.stored_bytes or 2)
