"""GGUF files: a model's weights, configuration, tokenizer and chat template in one file, as llama.cpp has them.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. Only the header is read here, in milliseconds, as
it is looked at whenever a workflow starts; the reader of the package `gguf` takes seconds for the words of a tokenizer.
"""

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from math import prod
from pathlib import Path
from typing import Any

from litm.base.errors import UserError

SUFFIX = ".gguf"
#: Versions of the format; the first had other widths.
VERSIONS = (2, 3)
#: Bytes that the data and each tensor are aligned to, unless the file says otherwise.
ALIGNMENT = 32
#: Kinds of numbers that less than this share of the weights has, such as the norms' float32, are not named.
NAMED_SHARE = 0.01
#: Types of metadata by their number in the file, as `struct` writes them; 8 is a text and 9 an array.
_TYPES = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _ARRAY = 8, 9


@dataclass(frozen=True)
class Gguf:
    """What the header of a GGUF file says.

    architecture: as llama.cpp calls it; name: the model's own, "" for none; kinds: how many weights have each kind of
    number (Q4_1, F32, ...); window: tokens of the longest context that it was trained for, None where it is not said;
    parts: of how many files it is one.
    """

    architecture: str
    name: str
    kinds: Mapping[str, int]
    window: int | None
    has_tokenizer: bool
    has_chat_template: bool
    parts: int

    @property
    def weights(self) -> int:
        """The number of weights."""
        return sum(self.kinds.values())

    @property
    def kind(self) -> str:
        """The kinds of numbers that its weights have, most first: 'Q4_1 and Q8_0'."""
        named = sorted(self.kinds, key=lambda kind: -self.kinds[kind])
        return " and ".join(kind for kind in named if self.kinds[kind] >= NAMED_SHARE * self.weights)


def is_gguf(location: str | Path) -> bool:
    """Whether the place of a model is a GGUF file, by its name."""
    return str(location).lower().endswith(SUFFIX)


def read_gguf(path: Path) -> Gguf:
    """The header of a GGUF file; `UserError` for one that is none, is cut short, or is in a format not known here.

    Raises `UserError` too where the package `gguf` is not installed, without which transformers reads none.
    """
    if find_spec("gguf") is None:
        raise UserError(f"{path}: GGUF files are read with the package gguf: pip install gguf")
    return _read(str(path), path.stat().st_size, path.stat().st_mtime_ns)


@cache
def _read(path: str, size: int, _time: int) -> Gguf:
    if size < struct.calcsize("<4sIQQ"):
        raise UserError(f"{path}: not a GGUF file: it has {size} bytes; get it again")
    with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        header = _Header(path, data)
        try:
            return header.read()
        except (struct.error, IndexError, OverflowError) as error:
            raise UserError(f"{path}: the file is cut short, in its header: get it again") from error
        except UnicodeDecodeError as error:
            raise UserError(f"{path}: not a GGUF file that can be read ({error}): get it again") from error
        except RecursionError as error:
            raise UserError(f"{path}: its metadata are nested too deeply: get it again") from error


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
        )

    def _whole(self, metadata: Mapping[str, Any], name: str) -> int | None:
        """A whole number of 1 or more of the metadata; None for one that is not there or 0."""
        value = metadata.get(name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 0):
            raise UserError(f"{self._path}: its {name} is {value!r:.60}, which is no whole number: get it again")
        return value or None

    def _tensors(self, count: int, alignment: int) -> tuple[dict[str, int], int]:
        """How many weights have each kind of number, and where the last tensor ends in the file."""
        kinds: dict[str, int] = {}
        ends = [0]
        for _ in range(count):
            self._text()
            shape = [self._number("Q") for _ in range(self._number("I"))]
            kind, offset = self._number("I"), self._number("Q")
            name, block, size = _kind_of_number(kind)
            kinds[name] = kinds.get(name, 0) + prod(shape)
            ends.append(offset + prod(shape) // block * size)
        begin = -(-self._at // alignment) * alignment
        return kinds, begin + max(ends)

    def _bytes(self, count: int) -> bytes:
        if self._at + count > len(self._data):
            raise IndexError
        self._at += count
        return self._data[self._at - count : self._at]

    def _number(self, kind: str) -> int:
        (value,) = struct.unpack_from(f"<{kind}", self._data, self._at)
        self._at += struct.calcsize(f"<{kind}")
        return value

    def _text(self) -> str:
        return self._bytes(self._number("Q")).decode("utf-8")

    def _value(self, kind: int) -> str | int | None:
        """A value of the metadata; None for an array, whose values are passed over."""
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


def _kind_of_number(number: int) -> tuple[str, int, int]:
    """The name of a kind of numbers, the weights in a block of it, and the bytes of a block."""
    from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType

    try:
        kind = GGMLQuantizationType(number)
    except ValueError:
        # A kind from after this version: nothing is known of its size.
        return f"kind {number}", 1, 0
    return (kind.name, *GGML_QUANT_SIZES[kind])
