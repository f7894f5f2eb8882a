"""GGUF files: a model's weights, configuration, tokenizer and chat template in one file, as llama.cpp has them.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. Only the header is read here, in milliseconds,
because every start of a workflow reads it; the package `gguf` needs seconds for a tokenizer's vocabulary.
"""

import mmap
import os
import struct
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from math import prod
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any, cast

from litm.base.loading import first_line, show_torch
from litm.base.messages import UserError, note
from litm.base.store import stored
from litm.models.identity import folder_identity

if TYPE_CHECKING:
    from transformers import PretrainedConfig

#: Supported versions of the format; version 1 had other widths.
VERSIONS = (2, 3)
#: Bytes: alignment of the data and of each tensor, unless the file sets another.
ALIGNMENT = 32
#: Fraction of the weights below which a number format is not named (float32 norms, say).
NAMED_SHARE = 0.01
#: `struct` codes of metadata types by number; 8 is a text and 9 an array.
_TYPES = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _ARRAY = 8, 9
#: Number formats of weights by number: name, weights in a block, bytes of a block; as in the package `gguf`, which
#: Snakemake does not bring.
KINDS = {
    0: ("F32", 1, 4), 1: ("F16", 1, 2), 2: ("Q4_0", 32, 18), 3: ("Q4_1", 32, 20), 6: ("Q5_0", 32, 22),
    7: ("Q5_1", 32, 24), 8: ("Q8_0", 32, 34), 9: ("Q8_1", 32, 40), 10: ("Q2_K", 256, 84), 11: ("Q3_K", 256, 110),
    12: ("Q4_K", 256, 144), 13: ("Q5_K", 256, 176), 14: ("Q6_K", 256, 210), 15: ("Q8_K", 256, 292),
    16: ("IQ2_XXS", 256, 66), 17: ("IQ2_XS", 256, 74), 18: ("IQ3_XXS", 256, 98), 19: ("IQ1_S", 256, 50),
    20: ("IQ4_NL", 32, 18), 21: ("IQ3_S", 256, 110), 22: ("IQ2_S", 256, 82), 23: ("IQ4_XS", 256, 136),
    24: ("I8", 1, 1), 25: ("I16", 1, 2), 26: ("I32", 1, 4), 27: ("I64", 1, 8), 28: ("F64", 1, 8),
    29: ("IQ1_M", 256, 56), 30: ("BF16", 1, 2), 34: ("TQ1_0", 256, 54), 35: ("TQ2_0", 256, 66), 39: ("MXFP4", 32, 17),
    40: ("NVFP4", 64, 36), 41: ("Q1_0", 128, 18),
}  # fmt: skip


@dataclass(frozen=True)
class Gguf:
    """The header of a GGUF file."""

    architecture: str
    """Architecture, by llama.cpp's name."""
    name: str
    """Name that the model has for itself; "" for none."""
    kinds: Mapping[str, int]
    """Numbers of weights by number format (Q4_1, F32, ...)."""
    window: int | None
    """Tokens of the longest context in training; None if missing."""
    has_tokenizer: bool
    """Whether the file has a tokenizer."""
    has_chat_template: bool
    """Whether the file has a chat template."""
    parts: int
    """Number of files that the model is split into."""
    sizes: Mapping[str, int]
    """Integers of the architecture by name, such as `block_count`."""

    @property
    def weights(self) -> int:
        """The number of weights."""
        return sum(self.kinds.values())

    @property
    def kind(self) -> str:
        """The number formats of the weights, most frequent first: 'Q4_1 and Q8_0'."""
        named = sorted(self.kinds, key=lambda kind: -self.kinds[kind])
        return " and ".join(kind for kind in named if self.kinds[kind] >= NAMED_SHARE * self.weights)


def read_gguf(path: Path) -> Gguf:
    """The header of a GGUF file; `UserError` if the file is malformed, truncated, or in an unknown format."""
    return _read(str(path), path.stat().st_size, path.stat().st_mtime_ns)


@cache
def _read(path: str, _size: int, _time: int) -> Gguf:
    try:
        with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _Header(path, data).read()
    # A file that is empty or ends early, or with texts and numbers that are none.
    except (ValueError, IndexError, OverflowError, RecursionError, struct.error) as error:
        raise UserError(f"{path}: cut short, or not a GGUF file that can be read ({error}): get it again") from error


class _Header:
    """The header of a mapped GGUF file, read from its beginning on."""

    def __init__(self, path: str, data: mmap.mmap) -> None:
        self._path, self._data, self._at = path, data, 0

    def read(self) -> Gguf:
        magic = self._bytes(4)
        if magic != b"GGUF":
            raise UserError(f"{self._path}: not a GGUF file: it begins with {magic!r}")
        version = self._number("I")
        if version not in VERSIONS:
            raise UserError(f"{self._path}: version {version} of GGUF is not known here; get the model in version 3")
        tensors, keys = self._number("Q"), self._number("Q")
        metadata: dict[str, Any] = {self._text(): self._value(self._number("I")) for _ in range(keys)}
        kinds, end = self._tensors(tensors, self._whole(metadata, "general.alignment") or ALIGNMENT)
        if end > len(self._data):
            raise UserError(
                f"{self._path}: the file is cut short: it has {len(self._data):,} bytes and its weights end at "
                f"{end:,}; get it again"
            )
        architecture = metadata.get("general.architecture")
        if not isinstance(architecture, str):
            raise UserError(f"{self._path}: it has no general.architecture, so it is no language model: get another")
        return Gguf(
            architecture=architecture,
            name=str(metadata.get("general.name", "")),
            kinds=kinds,
            window=self._whole(metadata, f"{architecture}.context_length"),
            has_tokenizer="tokenizer.ggml.tokens" in metadata,
            has_chat_template="tokenizer.chat_template" in metadata,
            parts=self._whole(metadata, "split.count") or 1,
            sizes={
                name.removeprefix(f"{architecture}."): value
                for name, value in metadata.items()
                if name.startswith(f"{architecture}.") and type(value) is int
            },
        )

    def _whole(self, metadata: Mapping[str, Any], name: str) -> int | None:
        """A positive integer of the metadata; None if missing or 0."""
        value = metadata.get(name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
            raise UserError(f"{self._path}: its {name} is {value!r:.60}, which is no whole number: get it again")
        return value or None

    def _tensors(self, count: int, alignment: int) -> tuple[dict[str, int], int]:
        """The number of weights by number format, and the offset at which the last tensor ends."""
        kinds: dict[str, int] = {}
        ends = [0]
        for _ in range(count):
            self._text()
            shape = [self._number("Q") for _ in range(self._number("I"))]
            kind, offset = self._number("I"), self._number("Q")
            # A format newer than this code: its size is unknown.
            name, block, size = KINDS.get(kind, (f"kind {kind}", 1, 0))
            kinds[name] = kinds.get(name, 0) + prod(shape)
            ends.append(offset + prod(shape) // block * size)
        begin = -(-self._at // alignment) * alignment
        return kinds, begin + max(ends)

    def _bytes(self, count: int) -> bytes:
        if self._at + count > len(self._data):
            raise IndexError("its header ends early")
        self._at += count
        return self._data[self._at - count : self._at]

    def _number(self, kind: str) -> int:
        (value,) = struct.unpack_from(f"<{kind}", self._data, self._at)
        self._at += struct.calcsize(f"<{kind}")
        return value

    def _text(self) -> str:
        return self._bytes(self._number("Q")).decode("utf-8")

    def _value(self, kind: int) -> str | int | None:
        """A value of the metadata; None for an array, which is skipped."""
        if kind == _TEXT:
            return self._text()
        if kind in _TYPES:
            return self._number(_TYPES[kind])
        if kind != _ARRAY:
            raise UserError(f"{self._path}: its metadata have type {kind}, which GGUF does not have; get it again")
        element, count = self._number("I"), self._number("Q")
        if element in _TYPES:
            self._bytes(struct.calcsize(f"<{_TYPES[element]}") * count)
            return None
        for _ in range(count):
            if element == _TEXT:
                self._bytes(self._number("Q"))
            else:
                self._value(element)
        return None


#: Version: raise it if the unpacked files change for the same GGUF file.
RECIPE = 1
#: torch dtypes by GGUF's names of floats; other formats are unpacked to the first.
DTYPES = {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}


def number_format(header: Gguf, dtype: str) -> str:
    """The dtype of the unpacked weights; for 'auto' the stored one, or float32 if that is no float."""
    return DTYPES.get(header.kind, "float32") if dtype == "auto" else dtype


def unpacked(
    path: Path, header: Gguf, dtype: str, store: str | Path, sha256: Callable[[Path], str]
) -> tuple[Path, dict[str, str]]:
    """The folder in the store with the model of a GGUF file, and the sha256 of each file in it when it was made.

    transformers loads a GGUF file by dequantising its weights, in half a minute instead of the second that a folder
    takes. So a file is unpacked once, and all later stages see folders only.

    The folder is made if it is missing, and again if its files have changed. dtype: of the unpacked weights, a torch
    name. Raises `UserError` if transformers cannot read the file, or if the file changes meanwhile.
    """
    fields = {
        "recipe": RECIPE,
        "gguf": sha256(path),
        "dtype": dtype,
        "transformers": version("transformers"),
        "reader": version("gguf"),
    }

    def build(partial: Path) -> dict:
        note(f"{path.name}: de-quantising it into {partial.parent}, once; half a minute for a small model")
        show_torch()
        with _read_once():
            about = _unpack(path, header, dtype, partial)
        if sha256(path) != fields["gguf"]:
            raise UserError(f"{path}: it was replaced while it was read; run the same command again")
        for file in sorted(entry for entry in partial.rglob("*") if entry.is_file()):
            with file.open("rb") as raw:
                os.fsync(raw.fileno())
        return {**about, "files": folder_identity(partial)["files"]}

    def is_whole(folder: Path, facts: dict) -> bool:
        if facts.get("files") == folder_identity(folder, sha256)["files"]:
            return True
        note(f"{folder} is not what was made of {path.name}: it is made again")
        return False

    folder, facts = stored(store, fields, build, is_whole)
    return folder, facts["files"]


def read_config(path: Path) -> "PretrainedConfig":
    """The configuration in a GGUF file; `UserError` if transformers does not support its architecture."""
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(**_place(path), trust_remote_code=False)
    except Exception as error:  # of whatever kind: its readers take a file for what it says of itself
        raise UserError(_not_read(path, error)) from error


def _place(path: Path) -> dict[str, Any]:
    """Arguments of transformers that locate a GGUF file."""
    return {"pretrained_model_name_or_path": str(path.parent), "gguf_file": path.name}


def _not_read(path: Path, error: Exception) -> str:
    return (
        f"{path}: transformers {version('transformers')} does not read this GGUF file ({first_line(error)}): use the "
        "model from the hub, or let a server run it (engine: openai)"
    )


@contextmanager
def _read_once() -> Iterator[None]:
    """Within the context, transformers reads a file's header once, not for configuration, tokenizer and weights each,
    and makes the table of tensor names once, not for each layer: half of the time.
    """
    from unittest.mock import patch

    import gguf
    from transformers import modeling_gguf_pytorch_utils as reader

    with (
        patch.object(gguf, "GGUFReader", cache(gguf.GGUFReader)),
        patch.object(gguf, "get_tensor_name_map", cache(gguf.get_tensor_name_map)),
        # Its progress bar has no switch, and writes no whole lines.
        patch.object(reader, "tqdm", lambda tensors, **_: tensors),
    ):
        yield


def _unpack(path: Path, header: Gguf, dtype: str, folder: Path) -> dict:
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer, GgufConfig, PreTrainedModel
    from transformers.utils import logging

    logging.disable_progress_bar()
    rmtree(folder, ignore_errors=True)
    config, place = read_config(path), _place(path)
    try:
        kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
        tokenizer = AutoTokenizer.from_pretrained(**place, trust_remote_code=False) if header.has_tokenizer else None
        # A cast, because the checker does not see that the loading report makes it a pair.
        model, loading = cast(
            tuple[PreTrainedModel, dict],
            cast(Any, kind).from_pretrained(
                **place,
                config=config,
                trust_remote_code=False,
                dtype=getattr(torch, dtype),
                # Without it transformers computes some architectures with kernels downloaded from the hub.
                quantization_config=GgufConfig(dequantize=True),
                device_map={"": torch.device("cpu")},
                output_loading_info=True,
            ),
        )
    except Exception as error:  # as above
        raise UserError(_not_read(path, error)) from error
    if absent := sorted(loading["missing_keys"]):
        raise UserError(
            f"{path}: it lacks {len(absent)} weights of {type(model).__name__} ({absent[0]}, ...); get another file"
        )
    model.save_pretrained(folder)
    if tokenizer is not None:
        tokenizer.save_pretrained(folder)
    return {"architecture": type(model).__name__}
