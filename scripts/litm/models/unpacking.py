"""Unpacking of GGUF files: the same model as a Hugging Face folder, kept in the store.

transformers loads a GGUF file by dequantising its weights, in half a minute instead of the second that a folder takes.
So a file is unpacked once, and all later stages see folders only.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any, cast

from litm.base.loading import first_line, show_torch
from litm.base.messages import UserError, note
from litm.base.store import stored
from litm.models.gguf import Gguf
from litm.models.identity import folder_identity

if TYPE_CHECKING:
    from transformers import PretrainedConfig

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
        about = _unpack(path, header, dtype, partial)
        if sha256(path) != fields["gguf"]:
            raise UserError(f"{path}: it was replaced while it was read; run the same command again")
        return {**about, "files": _written(partial)}

    def is_whole(folder: Path, facts: dict) -> bool:
        # Entries of earlier versions do not list their files.
        if facts.get("files") == folder_identity(folder, sha256)["files"]:
            return True
        note(f"{folder} is not, or is not known to be, what was made of {path.name}: it is made again")
        return False

    folder, facts = stored(store, fields, build, is_whole)
    return folder, facts["files"]


def _written(folder: Path) -> dict[str, str]:
    """The sha256 of each file of a model folder written just now, synced to disk."""
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        with file.open("rb") as raw:
            os.fsync(raw.fileno())
    return folder_identity(folder)["files"]


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
    import gguf
    from transformers import modeling_gguf_pytorch_utils as reader

    originals = {name: getattr(gguf, name) for name in ("GGUFReader", "get_tensor_name_map")}
    bar = reader.tqdm
    try:
        for name, original in originals.items():
            setattr(gguf, name, cache(original))
        # Its progress bar has no switch, and writes no whole lines.
        reader.tqdm = lambda tensors, **_: tensors
        yield
    finally:
        reader.tqdm = bar
        for name, original in originals.items():
            setattr(gguf, name, original)


def _unpack(path: Path, header: Gguf, dtype: str, folder: Path) -> dict:
    note(f"{path.name}: de-quantising it into {folder.parent}, once; half a minute for a small model")
    show_torch()
    with _read_once():
        return _unpacked(path, header, dtype, folder)


def _unpacked(path: Path, header: Gguf, dtype: str, folder: Path) -> dict:
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
