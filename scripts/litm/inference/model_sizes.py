"""What a model in a file or folder takes, by its header or configuration: at every start, so without transformers."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from litm.base.records import read_json
from litm.inference.memory import BYTES, ModelSize, Shape, is_read_in_pieces
from litm.models.gguf import is_gguf, read_gguf
from litm.models.weights import weight_bytes

#: Names in config.json and in GGUF: layers, width, inner width, heads, heads of keys, size of a head.
LAYERS = ("num_hidden_layers", "block_count")
WIDTH = ("hidden_size", "embedding_length")
INNER_WIDTH = ("intermediate_size", "feed_forward_length")
HEADS = ("num_attention_heads", "attention.head_count")
KV_HEADS = ("num_key_value_heads", "attention.head_count_kv")
HEAD_SIZE = ("head_dim", "attention.key_length")


def size_of(path: Path) -> ModelSize | None:
    """What a model takes; None where its configuration does not name all sizes, or is not there."""
    if is_gguf(path):
        header = read_gguf(path)
        return _size(header.sizes, 4 * header.weights, 4)
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
    return _size(config, bytes_of_weights(folder), stored)


@cache
def bytes_of_weights(folder: str) -> int:
    """Bytes of the weights in a folder, see `weight_bytes`. Cached as above."""
    return weight_bytes(Path(folder))


def _size(sizes: Mapping[str, Any], of_weights: int, stored_bytes: int) -> ModelSize | None:
    layers, width, inner, heads = (_integer(sizes, names) for names in (LAYERS, WIDTH, INNER_WIDTH, HEADS))
    if not (layers and width and inner and heads):
        return None
    kv_heads, head_size = (_integer(sizes, names) for names in (KV_HEADS, HEAD_SIZE))
    shape = Shape(layers, width, inner, heads, kv_heads, head_size, is_read_in_pieces(sizes))
    return shape.size(of_weights, stored_bytes)


def _integer(sizes: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    value = next((sizes[name] for name in names if name in sizes), None)
    return value if type(value) is int else None
