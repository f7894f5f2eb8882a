"""Hub models: download of all files that a machine without a network needs."""

from collections.abc import Iterable
from pathlib import PurePosixPath

from litm.base.messages import UserError
from litm.models.files import PARTS, WEIGHTS


def wanted_files(names: Iterable[str]) -> list[str]:
    """The files of a hub model that transformers reads, sorted: one kind of weights, no subfolders."""
    parts = [name for name in names if "/" not in name and _matches(name, PARTS)]
    kinds = [kind for kind in WEIGHTS if any(_matches(name, [kind]) for name in parts)]
    return sorted(name for name in parts if not _matches(name, kinds[1:]))


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(PurePosixPath(name).match(pattern) for pattern in patterns)


def download(hub: str, commit: str) -> tuple[str, int]:
    """Download missing files of a hub model's commit into the local cache; returns (folder, number of files).

    Raises `UserError` if the hub does not deliver them.
    """
    from huggingface_hub import HfApi, constants, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HTTPError

    if constants.HF_HUB_OFFLINE:
        raise UserError(
            f"model {hub}: HF_HUB_OFFLINE is set; run the target `fetch` without it, where there is a network"
        )
    try:
        files = wanted_files(HfApi().list_repo_files(hub, revision=commit))
        folder = snapshot_download(hub, revision=commit, allow_patterns=files)
    except (HfHubHTTPError, HTTPError, OSError) as error:
        reason = str(error).strip().splitlines()[-1]
        raise UserError(f"model {hub} (commit {commit}): {reason}; run the target `fetch` again to continue") from error
    return str(folder), len(files)
