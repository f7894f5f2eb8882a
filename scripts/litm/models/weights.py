"""Weights of a model: their size, and their kind: only safetensors are loaded; pickles (.bin) are programs."""

from pathlib import Path

from litm.base.messages import UserError
from litm.models.files import WEIGHTS, weight_files
from litm.models.gguf import is_gguf
from litm.models.hub_cache import cached_file

#: Pattern, among `WEIGHTS`, of pickled files.
PICKLED = "*.bin"


def check_safe_weights(location: str, revision: str | None) -> None:
    """Raise `UserError`, with the command to convert them, for a model that has only pickled weights.

    location, revision: a folder or a hub model; the hub is asked only if the weights are not in the cache.
    """
    found = _kinds(Path(location)) if Path(location).is_dir() else _kinds_on_hub(location, revision)
    if found == {PICKLED}:
        at = f" --revision {revision}" if revision and not Path(location).is_dir() else ""
        raise UserError(
            f"model {location}: its weights are pickles ({PICKLED}), which can run code, and are not loaded: run "
            f"`PYTHONPATH=scripts python scripts/models/convert_weights.py --model {location}{at} --output FOLDER` and "
            "set 'path' to that folder"
        )


def weight_bytes(location: Path) -> int:
    """Bytes of a GGUF file, or of the weights in a folder that transformers loads: safetensors if there are any."""
    if is_gguf(location):
        return location.stat().st_size
    by_kind = (weight_files(location, kind) for kind in WEIGHTS)
    return sum(file.stat().st_size for file in next(filter(None, by_kind), []))


def _kinds(folder: Path) -> set[str]:
    return {kind for kind in WEIGHTS if weight_files(folder, kind)}


def _kinds_on_hub(hub: str, revision: str | None) -> set[str]:
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HFValidationError, HTTPError

    try:
        cached = cached_file(hub, "config.json", revision)
        if cached and (found := _kinds(cached.parent)):
            return found
        names = HfApi().list_repo_files(hub, revision=revision)
    except (OSError, HTTPError, HFValidationError):
        # Loading reports the reason.
        return set()
    return {kind for kind in WEIGHTS if any("/" not in name and Path(name).match(kind) for name in names)}
