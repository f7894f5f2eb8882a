"""Identity of a model: digests of its files, a hub commit, or a server's name for it."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from litm.base.messages import UserError
from litm.base.store import existing, file_sha256
from litm.models.files import check_model_folder, model_files, tokenizer_files
from litm.models.gguf import is_gguf
from litm.models.hub_cache import cached_file, check_cached


def folder_identity(location: Path, sha256: Callable[[Path], str] = file_sha256, own_code: bool = False) -> dict:
    """The sha256 of every file that can change a model's answers, in a folder or a GGUF file.

    Keys are paths within the folder, or the name of the GGUF file, so the identity does not depend on the location.
    own_code: whether code that comes with the model runs.
    """
    folder = location
    if is_gguf(location):
        folder = location.parent
        if not location.is_file():
            raise UserError(f"model file {location} is gone: set the model's 'path' to where it is")
    else:
        check_model_folder(location)
    files = model_files(location, own_code)
    return {"files": {path.relative_to(folder).as_posix(): sha256(path) for path in files}}


def check_identified(
    model: str,
    source: Mapping[str, Any],
    tokenizer: str | None,
    sha256: Callable[[Path], str] = file_sha256,
    identified_by: str = "identify_model",
) -> None:
    """Raise `UserError` if a model's files differ from those that it was identified by.

    source: the output of identify_model.py, from the rule `identified_by`; tokenizer: a separate tokenizer. Cached
    files of a hub model are compared with its commit; for a server's model there are no files to check.
    """
    identity = source["identity"]
    if identity.get("commit"):
        check_cached(identity["hub"], identity["commit"], sha256)
    known = identity.get("files", {})
    own_code = source.get("trust_remote_code", False)
    location = Path(source.get("gguf") or source["location"])
    now = folder_identity(location, sha256, own_code)["files"] if known else {}
    unpacked: set[str] = set()
    if "unpacked" in source:
        existing(source["location"], "identify_model")
        made, found = source["unpacked"], folder_identity(Path(source["location"]), sha256)["files"]
        known, now, unpacked = {**known, **made}, {**now, **found}, {*made, *found}
    if tokenizer and "tokenizer" in identity:
        known = {**known, tokenizer: identity["tokenizer"]}
        now = {**now, tokenizer: sha256(Path(tokenizer))}
    for name in sorted({*known, *now}):
        if known.get(name) != now.get(name):
            change = "is gone" if name not in now else "is new" if name not in known else "has changed"
            remedy = ", which unpacks the GGUF file again" if name in unpacked else ""
            raise UserError(
                f"model {model} ({source['location']}): {name} {change} since the model was identified, so its answers "
                f"would be kept as those of another; run again with `--forcerun {identified_by}`{remedy}"
            )


def loaded_files(source: Mapping[str, Any], tokenizer: str | None) -> list[Path]:
    """The folder or GGUF file of a model, and all files that it is loaded from; none for a hub's or a server's model.

    source: the output of identify_model.py; tokenizer: a separate tokenizer.
    """
    if not source["identity"].get("files"):
        return []
    location = Path(source["location"])
    own = model_files(location, source.get("trust_remote_code", False))
    return [location, *own, *map(Path, filter(None, [source.get("gguf"), tokenizer]))]


def tokenizer_identity(path: Path, sha256: Callable[[Path], str] = file_sha256) -> dict[str, str]:
    """The sha256 of a tokenizer's file, or of each file in its folder except weights, by name."""
    files = tokenizer_files(path) if path.is_dir() else [path]
    return {file.name: sha256(file) for file in files}


def hub_identity(hub: str, revision: str | None) -> dict:
    """The commit that a hub model's branch, tag or commit refers to now, from the hub or its local cache.

    Raises `UserError` if neither knows the model.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import GatedRepoError, HTTPError, RepositoryNotFoundError, RevisionNotFoundError

    wanted = f"model {hub} (revision {revision or 'main'})"
    try:
        commit = HfApi().model_info(hub, revision=revision).sha
    except (RepositoryNotFoundError, RevisionNotFoundError, GatedRepoError) as error:
        reason = str(error).strip().splitlines()[-1].rstrip(".")
        raise UserError(
            f"{wanted}: {reason}; look at its name, or accept its terms at https://huggingface.co/{hub} and set "
            "HF_TOKEN to a token of yours, then run the target `fetch`"
        ) from error
    except (OSError, HTTPError) as error:
        cached = cached_file(hub, "config.json", revision)
        if cached is None:
            raise UserError(
                f"{wanted}: the hub cannot be reached ({type(error).__name__}) and the model is not in the local "
                f"cache; run the target `fetch` where there is a network, or set 'path' to a folder"
            ) from error
        commit = cached.parent.name
    return {"hub": hub, "commit": commit}


def api_identity(api_model: str, base_url: str | None, revision: str | None) -> dict:
    """The identity of a server's model: its name there, and the server or revision.

    revision: the user's label for the model of that name; with it the address may change. Without it another
    address (None: the engine's provider) is another model.
    """
    return {"api_model": api_model, **({"revision": revision} if revision else {"base_url": base_url})}
