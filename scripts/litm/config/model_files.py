"""Files of models: whether they are whole and fit their entry, and the prompt format that an entry leaves out."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from litm.base.messages import UserError
from litm.config.schema import check_names, locate
from litm.inference.engine import NO_QUANTIZATION, engine_facts, engine_names
from litm.models.files import check_model_folder, has_tokenizer, model_files
from litm.models.gguf import read_gguf
from litm.prompting.prompt_format import CHAT, RAW


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


def located_folder(path: str, root: Path, where: str, what: str) -> str:
    """The path of a model's folder; `UserError` if files are missing in it.

    where: the key of the entry; what: the kind of model, for messages.
    """
    located = locate(path, root, where)
    check_model_folder(Path(located))
    check_names(model_files(Path(located)), where)
    if not has_tokenizer(Path(located)):
        raise UserError(f"{where}: {located} has no tokenizer: copy the {what}'s there")
    return located


#: Part of the names of models that follow instructions: Qwen2.5-0.5B-Instruct, Llama-2-7b-chat-hf, gemma-3-1b-it.
_FOLLOWS = re.compile(r"(?<![a-z])(instruct|chat|it)(?![a-z])", re.IGNORECASE)


def left_out_prompt_template(names: Iterable[str], has_chat_template: bool | None, where: str) -> str:
    """The prompt template of a model whose entry leaves it out.

    raw without a chat template, else chat for a model whose name marks it as following instructions.

    names: of its folder, file or repository, and its own name for itself; has_chat_template: None if unknown so far.
    Raises `UserError` if the names do not tell: a chat model that is asked raw answers far worse, and base models often
    have a chat template too.
    """
    if has_chat_template is False:
        return RAW
    if any(_FOLLOWS.search(name) for name in names):
        return CHAT
    known = "its tokenizer has a chat template" if has_chat_template else "its tokenizer is not read before a run"
    raise UserError(
        f"{where}.prompt_template is left out, {known}, and the model's name does not tell whether it follows "
        f"instructions: set it to {CHAT} if it does, or to {RAW} for a base model"
    )


def why_taken(prompt_template: str) -> str:
    """A sentence on the chosen prompt template and the reason."""
    why = "its tokenizer's chat template" if prompt_template == CHAT else "its tokenizer has no chat template"
    return f"prompt_template is left out, so it is {prompt_template} ({why})"
