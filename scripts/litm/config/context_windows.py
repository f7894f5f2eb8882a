"""The context windows of models, and tokens of texts, as far as they are known before anything is loaded or fetched."""

from collections.abc import Sequence
from pathlib import Path

from litm.base.json_files import read_json
from litm.base.schema import Entry
from litm.config.api_models import ApiModel
from litm.config.models import Model
from litm.models.context_window import CONTEXT_WINDOW_NAMES
from litm.models.gguf import is_gguf, read_gguf

#: Characters of a token where the tokenizer cannot be asked: fewer than English has, as many as code has.
CHARACTERS_OF_TOKEN = 3


def known_window(model: Entry, root: Path) -> int | None:
    """Most tokens of prompt and answer of a model: by its entry, or by its GGUF file or folder; None if not said."""
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
    """Tokens of texts by the tokenizer.json in a model's folder; estimated by their length where there is none."""
    path = model.stored_at(root) if isinstance(model, Model) else None
    file = Path(path, "tokenizer.json") if path is not None else None
    if file is None or not file.is_file():
        return sum(map(len, texts)) // CHARACTERS_OF_TOKEN
    from tokenizers import Tokenizer

    return sum(len(one.ids) for one in Tokenizer.from_file(str(file)).encode_batch(list(texts)))
