"""Costs of a sweep before it runs: memory of a model, the tokens to compute, and how many of them per second.

The prefix tree of prompts has a node for each token after one particular prefix, so the number of nodes is the number
of tokens to compute if no prefix is computed twice.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litm.base.formats import read_json, read_named_columns
from litm.inference.engine import INT8, NF4
from litm.models.devices import EMULATED_SLOWDOWN, FLOAT32
from litm.models.gguf import read_gguf
from litm.models.locations import is_gguf, weight_bytes
from litm.prompting.prompt_format import as_messages
from litm.records import Content

if TYPE_CHECKING:
    import numpy as np

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
#: Texts that count as one token, shorter than those of usual tokenizers; tokens of a template for each message.
_OF_A_TOKEN, TEMPLATE_TOKENS = re.compile(r"[^\W\d_]{1,3}|[^ ]"), 8


def most_tokens(content: Content) -> int:
    """The tokens of a prompt, usually too many: one for three letters of a word, for each digit and sign, and for each
    byte that UTF-8 has beyond the characters. Words, code, UUIDs and most alphabets have fewer, random letters more.
    """
    texts = [message["content"] for message in as_messages(content)]
    beyond = sum(len(text.encode(errors="replace")) - len(text) for text in texts)
    return beyond + sum(len(_OF_A_TOKEN.findall(text)) + TEMPLATE_TOKENS for text in texts)


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


#: Operations per second, padding and answers included: of a GPU, a sixth of an A100's peak, never measured.
GPU_FLOPS = 5e13
#: Of a processor core, in float32 and in half precision with instructions for it: somewhat less than SmolLM2-135M
#: reaches with short prompts on a core of an EPYC, with its answers (benchmarks/memory.py has longer prompts).
CORE_FLOPS = {FLOAT32: 5e10}
HALF_CORE_FLOPS = 1e11
#: A shorter job measures the loading of its model as much as its speed, and is used only where nothing is predicted.
LEAST_SECONDS = 600.0


@dataclass(frozen=True)
class Rate:
    """Prompt tokens computed per second, and the origin of this number."""

    tokens_per_second: float
    source: str


def predicted_rate(billions: float, dtype: str, gpu: bool, threads: int, is_emulated: bool = False) -> Rate:
    """The rate by a rule of thumb: two operations per parameter and token.

    billions: parameters in 10⁹; is_emulated: whether the processor lacks instructions for the number format.
    """
    of_core = CORE_FLOPS[FLOAT32] / EMULATED_SLOWDOWN if is_emulated else CORE_FLOPS.get(dtype, HALF_CORE_FLOPS)
    flops = GPU_FLOPS if gpu else threads * of_core
    device = "a GPU" if gpu else f"{threads} processor core{'s' if threads > 1 else ''}"
    doubt = "which may be wrong by a factor of three or more: a job of ten minutes measures it"
    return Rate(flops / (2e9 * billions), f"a rule of thumb for {device}, {doubt}")


def choose_rate(stated: float | None, runs: Sequence[tuple[Mapping, float]], predicted: Rate | None) -> Rate | None:
    """The rate of a model: stated in its entry, else measured on its largest sweep of `LEAST_SECONDS`, else predicted.

    runs: manifests of its sweeps, each with the seconds of its job.
    """
    if stated is not None:
        return Rate(stated, "tokens_per_second of its entry")
    measuring = [run for run in runs if measured_rate(*run) and (run[1] >= LEAST_SECONDS or predicted is None)]
    largest = max(measuring, key=lambda run: asked_tokens(run[0]), default=None)
    return measured_rate(*largest) if largest else predicted


def measured_rate(manifest: Mapping, seconds: float) -> Rate | None:
    """The rate of the last run of a sweep, from its manifest and the seconds of its job; None if it asked nothing.

    The time includes loading the model and writing answers, so a larger sweep is faster, if anything.
    """
    tokens = asked_tokens(manifest)
    if not tokens or seconds <= 0:
        return None
    made_with = "; ".join(manifest["made_with"])
    return Rate(tokens / seconds, f"measured on {manifest['experiment']} ({made_with})")


def asked_tokens(manifest: Mapping) -> int:
    """Prompt tokens that the last run of a sweep computed, or sent if unknown; 0 if it asked nothing."""
    work = manifest.get("work") or {}
    return work.get("computed_tokens") or work.get("prompt_tokens") or 0


def measured_runs(results: Path, model: str) -> list[tuple[dict, float]]:
    """The manifest of the last run of each of a model's sweeps and shards, with the seconds of its job."""
    runs = []
    benchmarks = results / "benchmarks" / "generate"
    for benchmark in sorted((benchmarks / model).rglob("*.tsv")):
        name = benchmark.relative_to(benchmarks).with_suffix(".manifest.json")
        manifest = results / ("responses" if len(name.parts) == 2 else "parts") / name
        if manifest.exists():
            runs.append((read_json(manifest), _seconds(benchmark)))
    return runs


def _seconds(benchmark: Path) -> float:
    """The seconds of the last run in a file of Snakemake's `benchmark`; 0 if it has none."""
    rows = [row for _, row in read_named_columns(benchmark)]
    return float(rows[-1]["s"]) if rows else 0.0


#: A type of numpy for token ids: big-endian, so that bytes sort as the ids do.
ID_TYPE = ">u4"


def tree_tokens(prompts: Sequence[Sequence[int]]) -> int:
    """Nodes of the prefix tree of prompts, each (tokens,) ids: the fewest tokens that must be computed."""
    return sum(map(len, prompts)) - sum(shared_with_previous(sorted(map(as_bytes, prompts))))


def as_array(prompt: Sequence[int]) -> "np.ndarray":
    """Token ids (tokens,) as `ID_TYPE`."""
    import numpy as np

    return np.asarray(prompt, ID_TYPE)


def as_bytes(prompt: Sequence[int]) -> bytes:
    """Token ids as bytes that sort as the ids do."""
    return as_array(prompt).tobytes()


def shared_with_previous(ordered: Sequence[bytes]) -> list[int]:
    """For each prompt, the number of leading tokens that it shares with the previous one; 0 for the first.

    In sorted order no earlier prompt shares more.
    """
    import numpy as np

    prompts = [np.frombuffer(prompt, ID_TYPE) for prompt in ordered]
    return [0, *(common_tokens(*pair) for pair in pairwise(prompts))] if prompts else []


def common_tokens(one: "np.ndarray", other: "np.ndarray") -> int:
    """Length of the longest common prefix of two prompts, in tokens."""
    length = min(len(one), len(other))
    differ = one[:length] != other[:length]
    return int(differ.argmax()) if differ.any() else length


def tree_order(prompts: Mapping[int, Sequence[int]]) -> tuple[list[int], list[int]]:
    """Prompt numbers in the order of their token ids, and the tokens that each shares with the previous prompt."""
    keys = {name: as_bytes(prompt) for name, prompt in prompts.items()}
    order = sorted(keys, key=keys.__getitem__)
    return order, shared_with_previous([keys[name] for name in order])
