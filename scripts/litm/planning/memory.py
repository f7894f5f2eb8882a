"""The memory of a sweep: of its model, its caches and its prompts, and what its job requests.

Requests are generous. A job that requests too much waits longer in the queue; a job that requests too little is killed,
submitted again with more, and resumes from its answers.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from litm.base.json_files import read_json
from litm.config.sweeps import AskableModel
from litm.engines.interface import EAGER, INT8, NF4, PIECE
from litm.engines.local_models import LocalModel
from litm.models.devices import format_here
from litm.models.gguf import read_gguf
from litm.models.locations import is_gguf, weight_bytes
from litm.planning.tokens import Work

#: Billions of parameters of a model whose entry and name do not give them.
USUAL_BILLIONS = 7.0
#: Pattern of the number in a hub or folder name: `7b` in Llama-2-7b-hf, `0.5B` in Qwen2.5-0.5B-Instruct.
_IN_NAME = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)b(?![A-Za-z0-9])", re.IGNORECASE)

#: MB for Python, torch, CUDA's libraries and the prompts; MB of a job that asks a server; factor from the size of the
#: weights to the memory for loading them.
BASE_MB, SERVED_MB, LOADING = 6_000, 4_000, 1.25
#: Factor from the predicted peak of a sweep on a CPU to what its job requests: peaks are predicted within a quarter.
SPARE = 1.25
#: Bytes of a number.
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
#: Bytes of a weight with what stays unquantised, embeddings above all: what Llama-2-7B takes. Smaller models take more.
QUANTIZED_BYTES = {NF4: 0.6, INT8: 1.1}
#: Bytes of a process apart from its model and prompts: Python, torch and transformers.
PROCESS_BYTES = 450e6
#: Bytes of a prompt's token in the process: its text, its id in a list, and as bytes to sort.
PROMPT_BYTES = 50
#: Bytes of a score at the softmax, in any number format: the score, in float32 if it is not, the output, and the one of
#: the layer before, which MPT keeps.
SCORE_BYTES = 12


@dataclass(frozen=True)
class ModelSize:
    """What a model takes. `kv_numbers`, `heads` and `layer_numbers` are 0 where its configuration is not known."""

    weight_bytes: float
    """Bytes of its files."""
    stored_bytes: int | None
    """Bytes of one weight in them, None where they are quantised already."""
    kv_numbers: int = 0
    """Numbers that its cache holds for each token, 2 x layers x KV heads x dimension."""
    heads: int = 0
    """Heads of a layer's attention."""
    layer_numbers: int = 0
    """Numbers that a layer holds for each token while it is computed."""
    in_pieces: bool = True
    """Whether a prompt can be read `PIECE` tokens at a time; not by encoder-decoders, nor where a layer attends to a
    window.
    """


@dataclass(frozen=True)
class Numbers:
    """How a model's entry wants its weights and its computation."""

    dtype: str
    quantization: str
    attention: str = "sdpa"


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


#: Names of a decoder's sizes in config.json, transformers and GGUF: layers, width, inner width, heads of attention,
#: heads of keys, numbers in a head.
SIZES = (
    ("num_decoder_layers", "num_hidden_layers", "block_count"),
    ("hidden_size", "embedding_length"),
    ("intermediate_size", "ffn_dim", "d_ff", "n_inner", "feed_forward_length"),
    ("num_attention_heads", "attention.head_count"),
    ("num_key_value_heads", "attention.head_count_kv"),
    ("head_dim", "attention.key_length"),
)


def size_of(path: Path) -> ModelSize | None:
    """What a model takes; None where its configuration does not name all sizes, or is not there."""
    if is_gguf(path):
        header = read_gguf(path)
        return sized(header.sizes, 4 * header.weights, 4)
    if not (path / "config.json").is_file():
        return None
    return _of_folder(str(path))


@cache
def _of_folder(folder: str) -> ModelSize | None:
    """Cached for all sweeps of a model: its folder may be on a slow disk."""
    config = read_json(Path(folder) / "config.json")
    stored = BYTES.get(config.get("dtype") or config.get("torch_dtype") or "")
    if stored is None or "quantization_config" in config:
        return None
    return sized(config, bytes_of_weights(Path(folder)), stored)


#: Cached as above.
bytes_of_weights = cache(weight_bytes)


def sized(sizes: Mapping[str, Any], of_weights: float, stored_bytes: int | None) -> ModelSize | None:
    """What a model takes whose configuration has these sizes, by the names in `SIZES`; None if it lacks layers, width
    or heads. of_weights, stored_bytes: see `ModelSize`.

    The inner width is usually 4 times the width where it has no name. A layer holds for each token the numbers of a
    gated feed-forward network (gate, its activation, up, their product), and input, residual, queries, keys, values and
    output.
    """
    layers, width, inner_width, heads, kv_heads, head_size = (
        next((value for name in names if type(value := sizes.get(name)) is int), 0) for names in SIZES
    )
    if not (layers and width and heads):
        return None
    kv_numbers = 2 * layers * (kv_heads or heads) * (head_size or width // heads)
    layer_numbers = 4 * (inner_width or 4 * width) + 6 * width
    return ModelSize(of_weights, stored_bytes, kv_numbers, heads, layer_numbers, is_read_in_pieces(sizes))


def billions_of(model: LocalModel) -> float:
    """The parameters of a model in 10⁹: as its entry says, by its weights in a folder, by its name, or as usual."""
    if stated := model.parameters or (model.about and model.about.parameters):
        return stated
    if not model.has_weights:
        return 0.0
    if model.path and is_gguf(model.path):
        return read_gguf(Path(model.path)).weights / 1e9
    if model.path:
        return bytes_of_weights(Path(model.path)) / 2e9
    return billions_in(model.hub or "") or USUAL_BILLIONS


def billions_in(name: str) -> float | None:
    """The parameters in 10⁹ that a name says; None if it says none."""
    match = _IN_NAME.search(name)
    return float(match[1]) if match else None


def memory_mb(model: AskableModel, attempt: int, work: Work | None = None) -> int:
    """MB of memory for a sweep's job, apart from its GPUs; more at every attempt. work: the sweep's size.

    On a CPU it is the predicted peak, if the model's sizes are known here.
    """
    if model.is_served:
        return SERVED_MB * attempt
    if model.mem_mb:
        return model.mem_mb * attempt
    size = size_of(Path(model.path)) if model.device == "cpu" and model.path and work else None
    if size and work:
        numbers = Numbers(format_here(model.dtype, "cpu").name, model.quantization, model.attention)
        peak = PROCESS_BYTES + sweep_bytes(size, numbers, work.longest, model.batch_tokens)
        return int((SPARE * peak + PROMPT_BYTES * work.tokens) / 1e6) * attempt
    return int(BASE_MB + LOADING * bytes_of_parameters(billions_of(model), model.dtype) / 1e6) * attempt
