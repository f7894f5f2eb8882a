"""Checks of models in GGUF files: the file, and its agreement with the entry's other keys."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from litm.base.messages import UserError
from litm.inference.engine import NO_QUANTIZATION
from litm.inference.engines import engine_facts, engine_names
from litm.models.gguf import read_gguf
from litm.prompting.formats import CHAT, RAW


def check_gguf_entry(entry: Mapping[str, Any], path: Path, where: str) -> None:
    """Raise `UserError` for an incomplete GGUF file, or one that contradicts the other keys of the entry.

    `identify_model` checks later, before anything is asked, whether transformers can read the architecture.
    """
    header = read_gguf(path)
    if not engine_facts(entry["engine"]).reads_gguf:
        reading = " or ".join(engine_names(lambda facts: facts.reads_gguf))
        raise UserError(f"{where}: {path} is a GGUF file, which needs 'engine: {reading}'")
    if entry["quantization"] != NO_QUANTIZATION:
        raise UserError(
            f"{where}.quantization: {entry['quantization']} is for weights that are not quantised yet, and {path} is: "
            f"set it to {NO_QUANTIZATION}"
        )
    if header.parts > 1:
        raise UserError(
            f"{where}: {path} is one of {header.parts} files of a model: join them with `llama-gguf-split --merge`"
        )
    if not header.has_tokenizer and entry["tokenizer"] is None:
        raise UserError(f"{where}: {path} has no tokenizer: set the model's 'tokenizer'")
    if not header.has_chat_template and entry["prompt_template"] == CHAT:
        raise UserError(
            f"{where}.prompt_template: {path} has no chat template: use '{RAW}' or the name of a file in "
            "resources/prompt_templates"
        )
    if header.window and (entry["context_window"] or 0) > header.window and not entry["config"]:
        raise UserError(
            f"{where}.context_window: {entry['context_window']} tokens, but the weights of {path} were trained for "
            f"{header.window}: lower it, or set the scaling of positions in 'config'"
        )
