"""Context windows of models and token counts of texts, as known before anything is loaded or downloaded."""

from collections.abc import Sequence
from pathlib import Path

from litm.base.records import read_json
from litm.base.schema import Entry
from litm.config.api_models import ApiModel
from litm.config.models import Model
from litm.models.context_window import CONTEXT_WINDOW_NAMES
from litm.models.gguf import is_gguf, read_gguf

#: Characters per token, assumed where no tokenizer is available: fewer than in English text, about as in code.
CHARACTERS_OF_TOKEN = 3


def known_window(model: Entry, root: Path) -> int | None:
    """A model's limit of tokens of prompt and answer, from its entry, GGUF file or folder; None if unknown."""
    if isinstance(model, ApiModel | Model) and model.context_window is not None:
        return model.context_window
    path = model.stored_at(root) if isinstance(model, Model) else None
    if path is None:
        return None
    if is_gguf(path):
        return read_gguf(Path(path)).window
    file = Path(path) / "config.json"
    values = read_json(file) if file.is_file() else {}
    return next((values[name] for name in CONTEXT_WINDOW_NAMES if isinstance(values.get(name), int)), None)


def count_tokens(model: Entry, texts: Sequence[str], root: Path) -> int:
    """Tokens of texts, counted by the tokenizer.json in a model's folder; without one, estimated from their length."""
    path = model.stored_at(root) if isinstance(model, Model) else None
    file = Path(path, "tokenizer.json") if path is not None else None
    if file is None or not file.is_file():
        return sum(map(len, texts)) // CHARACTERS_OF_TOKEN
    from tokenizers import Tokenizer

    return sum(len(one.ids) for one in Tokenizer.from_file(str(file)).encode_batch(list(texts)))
