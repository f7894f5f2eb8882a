"""Which model it is, exactly: what a response belongs to."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from litm.errors import UserError
from litm.hashing import file_sha256 as file_sha256

if TYPE_CHECKING:
    from transformers import PretrainedConfig

WEIGHTS = ("*.safetensors", "*.bin")
#: Files of a model folder that can change its answers; a model card cannot.
PARTS = (*WEIGHTS, "*.json", "*.model", "*.txt", "*.jinja", "*.py")
#: Files that a model folder has one of if it has a tokenizer.
TOKENIZERS = ("tokenizer*", "spiece.model", "vocab.*")
#: Names that architectures give to the length of their context, most usual first; those with two lengths say whose.
CONTEXT_WINDOW_NAMES = ("max_position_embeddings", "max_seq_len", "n_positions", "seq_length")
ENCODER_WINDOW_NAMES = (*CONTEXT_WINDOW_NAMES, "max_encoder_position_embeddings")
DECODER_WINDOW_NAMES = (*CONTEXT_WINDOW_NAMES, "max_decoder_position_embeddings")
#: What the configurations of T5's family have: a position counts from where it is looked at, so there is no last one.
RELATIVE_POSITIONS = "relative_attention_num_buckets"


def model_files(folder: Path) -> list[Path]:
    """The files of a model folder that can change its answers, sorted by name."""
    return sorted({path for pattern in PARTS for path in folder.glob(pattern) if path.is_file()})


def tokenizer_files(folder: Path) -> list[Path]:
    """Those of `model_files` that are not weights."""
    return [path for path in model_files(folder) if not any(path.match(pattern) for pattern in WEIGHTS)]


def folder_identity(folder: Path) -> dict:
    """The sha256 of every file of a model folder that can change its answers."""
    check_model_folder(folder)
    return {"files": {path.name: file_sha256(path) for path in model_files(folder)}}


def check_model_folder(folder: Path) -> None:
    """Raise `UserError` for something that is not a folder, or has no config.json or no weights."""
    if not folder.is_dir():
        raise UserError(f"model folder {folder} is not a folder: set the model's 'path' to one, or use 'hub'")
    if not (folder / "config.json").exists():
        raise UserError(f"model folder {folder} has no config.json: it is not a Hugging Face model folder")
    if not any(path for pattern in WEIGHTS for path in folder.glob(pattern)):
        raise UserError(f"model folder {folder} has no weights ({' or '.join(WEIGHTS)})")


def load_config(location: str, revision: str | None, changes: Mapping[str, Any] | None = None) -> "PretrainedConfig":
    """The configuration of a model in a folder or on the hub, with its architecture's defaults filled in.

    changes: values that replace its own. Raises `UserError` if it cannot be read, or has no key of such a name.
    """
    from huggingface_hub.errors import StrictDataclassError
    from transformers import AutoConfig

    try:
        config, unknown = AutoConfig.from_pretrained(
            location, revision=revision, return_unused_kwargs=True, **(changes or {})
        )
    except (OSError, ValueError, StrictDataclassError) as error:
        raise UserError(f"configuration of {location}: {str(error).strip().splitlines()[0]}") from error
    if unknown:
        (name, *_) = unknown
        raise UserError(f"configuration of {location}: it has no '{name}': mend the model's 'config'")
    return config


def context_window_of(config: "PretrainedConfig") -> int | None:
    """Most tokens that a model's configuration allows of prompt and answer together, or, for an encoder-decoder, of the
    prompt alone; None if it sets no limit.

    The `n_positions` of models with relative positions is none: it is the length that they were trained on.
    """
    if not config.is_encoder_decoder:
        return _longest(config.get_text_config(), CONTEXT_WINDOW_NAMES)
    return _longest(getattr(config, "encoder", config).get_text_config(), ENCODER_WINDOW_NAMES)


def answer_window_of(config: "PretrainedConfig") -> int | None:
    """Most tokens of an answer by an encoder-decoder, whose decoder has a context of its own; None for no limit."""
    return _longest(config.get_text_config(decoder=True), DECODER_WINDOW_NAMES)


def _longest(config: "PretrainedConfig", names: Iterable[str]) -> int | None:
    if hasattr(config, RELATIVE_POSITIONS):
        return None
    return next((length for name in names if isinstance(length := getattr(config, name, None), int)), None)


def has_tokenizer(folder: Path) -> bool:
    """Whether a model folder has a tokenizer."""
    return any(path for pattern in TOKENIZERS for path in folder.glob(pattern))


def check_has_tokenizer(folder: Path) -> None:
    """Raise `UserError` for a model folder without a tokenizer."""
    if not has_tokenizer(folder):
        raise UserError(f"model folder {folder} has no tokenizer: copy it there, or set the model's 'tokenizer'")


def hub_identity(hub: str, revision: str | None) -> dict:
    """The commit that a hub model's branch, tag or commit stands for now, asked from the hub or its local cache.

    Raises `UserError` if neither knows the model.
    """
    from huggingface_hub import HfApi, try_to_load_from_cache
    from huggingface_hub.errors import GatedRepoError, HTTPError, RepositoryNotFoundError, RevisionNotFoundError

    wanted = f"model {hub} (revision {revision or 'main'})"
    try:
        commit = HfApi().model_info(hub, revision=revision).sha
    except (RepositoryNotFoundError, RevisionNotFoundError, GatedRepoError) as error:
        raise UserError(f"{wanted}: {str(error).strip().splitlines()[-1]}") from error
    except (OSError, HTTPError) as error:
        cached = try_to_load_from_cache(hub, "config.json", revision=revision)
        if not isinstance(cached, str):
            raise UserError(
                f"{wanted}: the hub cannot be reached ({type(error).__name__}) and the model is not in the local "
                f"cache; download it where there is a network, or set 'path' to a folder"
            ) from error
        commit = Path(cached).parent.name
    return {"hub": hub, "commit": commit}


def api_identity(api_model: str, base_url: str | None, revision: str | None) -> dict:
    """What is known of a model that a server runs: its name there, and whose name that is.

    revision: the user's word for what the server has under that name, with which its address may change; otherwise
    another address (None: the engine's provider) is another model.
    """
    return {"api_model": api_model, **({"revision": revision} if revision else {"base_url": base_url})}


def sweep_identity(source: dict, model: dict, template: str | None, decoding: dict) -> dict:
    """All that defines an answer beside the prompt itself.

    source: `folder_identity`, `hub_identity` or `api_identity`; model: the settings that change answers (dtype,
    attention, ...); template: the text of the prompt template, if the model has one; decoding: limit of new tokens,
    stop rule.
    """
    return {"source": source, "model": model, "template": template, "decoding": decoding}
