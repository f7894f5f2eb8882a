"""Which model it is: digests of its files, a hub's commit, or a server's name for it."""

from pathlib import Path

from litm.base.errors import UserError
from litm.base.hashing import file_sha256
from litm.models.files import check_model_folder, model_files


def folder_identity(folder: Path) -> dict:
    """The sha256 of every file of a model folder that can change its answers, by its path from there."""
    check_model_folder(folder)
    return {"files": {path.relative_to(folder).as_posix(): file_sha256(path) for path in model_files(folder)}}


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
