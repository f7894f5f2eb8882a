"""The files of a model's folder."""

from pathlib import Path

from litm.base.errors import UserError

WEIGHTS = ("*.safetensors", "*.bin")

#: Files of a model folder that can change its answers; a model card cannot.
PARTS = (*WEIGHTS, "*.json", "*.model", "*.txt", "*.jinja", "*.py")

#: Files that a model folder has one of if it has a tokenizer.
TOKENIZERS = ("tokenizer*", "spiece.model", "vocab.*")


def model_files(folder: Path) -> list[Path]:
    """The files of a model folder that can change its answers, sorted by name."""
    return sorted({path for pattern in PARTS for path in folder.glob(pattern) if path.is_file()})


def tokenizer_files(folder: Path) -> list[Path]:
    """Those of `model_files` that are not weights."""
    return [path for path in model_files(folder) if not any(path.match(pattern) for pattern in WEIGHTS)]


def check_model_folder(folder: Path) -> None:
    """Raise `UserError` for something that is not a folder, or has no config.json or no weights."""
    if not folder.is_dir():
        raise UserError(f"model folder {folder} is not a folder: set the model's 'path' to one, or use 'hub'")
    if not (folder / "config.json").exists():
        raise UserError(f"model folder {folder} has no config.json: it is not a Hugging Face model folder")
    if not any(path for pattern in WEIGHTS for path in folder.glob(pattern)):
        raise UserError(f"model folder {folder} has no weights ({' or '.join(WEIGHTS)})")


def has_tokenizer(folder: Path) -> bool:
    """Whether a model folder has a tokenizer."""
    return any(path for pattern in TOKENIZERS for path in folder.glob(pattern))


def check_has_tokenizer(folder: Path) -> None:
    """Raise `UserError` for a model folder without a tokenizer."""
    if not has_tokenizer(folder):
        raise UserError(f"model folder {folder} has no tokenizer: copy it there, or set the model's 'tokenizer'")
