"""Files of models and of recorded responses: whether they are whole and fit their entry, and what they say before
anything is loaded."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from litm.base.json_files import read_json
from litm.base.messages import UserError
from litm.base.schema import check_names, is_file
from litm.engines.interface import NO_QUANTIZATION
from litm.engines.registry import engines_with
from litm.models.configuration import CONTEXT_WINDOW_NAMES
from litm.models.gguf import read_gguf
from litm.models.locations import (
    check_model_folder,
    has_chat_template,
    has_tokenizer,
    is_gguf,
    model_files,
    tokenizer_files,
)
from litm.prompting.prompt_format import CHAT, RAW, most_tokens

#: Part of the names of models that follow instructions: Qwen2.5-0.5B-Instruct, Llama-2-7b-chat-hf, gemma-3-1b-it.
_FOLLOWS = re.compile(r"(?<![a-z])(instruct|chat|it)(?![a-z])", re.IGNORECASE)


def check_model_files(entry: Mapping[str, Any], path: Path, where: str) -> None:
    """Raise `UserError` for a model folder or GGUF file that is not whole, or contradicts the entry's other keys.

    `identify_model` checks later, before anything is asked, whether transformers can read a GGUF file's architecture.
    """
    if is_gguf(path):
        _check_gguf(entry, path, where)
        return
    check_model_folder(path)
    check_names(model_files(path), f"{where}.path")
    if entry["tokenizer"] is not None:
        return
    if not has_tokenizer(path):
        raise UserError(f"model folder {path} has no tokenizer: copy it there, or set the model's 'tokenizer'")
    # A tokenizer with code of its own may have its chat template in the code.
    if entry["prompt_template"] == CHAT and not entry["trust_remote_code"] and not has_chat_template(path):
        raise UserError(
            f"{where}.prompt_template: the tokenizer of {path} has no chat template: use '{RAW}' or the name of a file "
            "in resources/prompt_templates"
        )


def _check_gguf(entry: Mapping[str, Any], path: Path, where: str) -> None:
    header = read_gguf(path)
    # Engines that read such files find them in packages too.
    if entry["engine"] not in (reading := engines_with("package")):
        raise UserError(f"{where}: {path} is a GGUF file, which needs 'engine: {' or '.join(reading)}'")
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


def check_encoder(path: str, where: str) -> None:
    """Raise `UserError` for a folder without the files of an encoder or cross-encoder."""
    check_model_folder(Path(path))
    check_names(model_files(Path(path)), where)
    if not has_tokenizer(Path(path)):
        raise UserError(f"{where}: {path} has no tokenizer: copy the model's there")


def check_tokenizer(path: str, where: str) -> None:
    """Raise `UserError` for files of a tokenizer with names that Snakemake would not read."""
    check_names(tokenizer_files(Path(path)), where)


def check_tokenizer_file(path: str, where: str) -> None:
    """Raise `UserError` unless the path is a file."""
    is_file(path, where, " (a tokenizer.json is wanted)")


def left_out_prompt_template(place: str, is_here: bool, where: str) -> str:
    """The prompt template of a model whose entry leaves it out.

    raw without a chat template, else chat for a model whose name marks it as following instructions.

    place: its folder or GGUF file, or, if that is not here, its repository. Raises `UserError` if the names do not
    tell: a chat model that is asked raw answers far worse, and base models often have a chat template too.
    """
    names, known = [place], "its tokenizer is not read before a run"
    if is_here:
        header = read_gguf(Path(place)) if is_gguf(place) else None
        names, known = [Path(place).name, header.name if header else ""], "its tokenizer has a chat template"
        if not (header.has_chat_template if header else has_chat_template(Path(place))):
            return RAW
    if any(_FOLLOWS.search(name) for name in names):
        return CHAT
    raise UserError(
        f"{where}.prompt_template is left out, {known}, and the model's name does not tell whether it follows "
        f"instructions: set it to {CHAT} if it does, or to {RAW} for a base model"
    )


def why_taken(prompt_template: str) -> str:
    """A sentence on the chosen prompt template and the reason."""
    why = "its tokenizer's chat template" if prompt_template == CHAT else "its tokenizer has no chat template"
    return f"prompt_template is left out, so it is {prompt_template} ({why})"


def known_window(path: str) -> int | None:
    """The limit of tokens of prompt and answer of a model in a GGUF file or a folder; None if unknown."""
    if is_gguf(path):
        return read_gguf(Path(path)).window
    file = Path(path) / "config.json"
    values = read_json(file) if file.is_file() else {}
    return next((values[name] for name in CONTEXT_WINDOW_NAMES if isinstance(values.get(name), int)), None)


def count_tokens(path: str | None, texts: Sequence[str], of_most: float = 1.0) -> list[int]:
    """Tokens of each text by a tokenizer.json file, or the one in a folder; without one, this share of `most_tokens`.

    Raises `UserError` for another file of this kind.
    """
    file = Path(path or "") if str(path).endswith(".json") else Path(path or "", "tokenizer.json")
    if path is None or not file.is_file():
        return [round(of_most * most_tokens(text)) for text in texts]
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises nothing more special
        raise UserError(f"{file}: not a tokenizer.json file ({error})") from error
    return [len(encoding.ids) for encoding in tokenizer.encode_batch(list(texts))]
