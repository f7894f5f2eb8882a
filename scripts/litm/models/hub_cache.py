"""Files of hub models in the local cache, where each is a link to a file that is named by the hash of its content.

The layout: https://huggingface.co/docs/huggingface_hub/guides/manage-cache.
"""

import re
from collections.abc import Callable
from pathlib import Path

from litm.base.errors import UserError
from litm.base.hashing import file_sha256, git_blob_id
from litm.models.files import model_files

#: What a file is named by: a sha256 for large ones, a git blob id for the others.
SHA256, BLOB_ID = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{40}")


def check_cached(hub: str, commit: str, sha256: Callable[[Path], str] = file_sha256) -> None:
    """Raise `UserError` if a cached file of a hub model is not the file of its commit: somebody has edited it.

    Files that are not in the cache yet are checked when they are downloaded. Where the system has no links nothing can
    be said, as no file has the name of its content.
    """
    from huggingface_hub import try_to_load_from_cache

    config = try_to_load_from_cache(hub, "config.json", revision=commit)
    if not isinstance(config, str):
        return
    files = model_files(Path(config).parent)
    has_links = any(file.is_symlink() for file in files)
    for file in files:
        if has_links and not _is_as_named(file, sha256):
            raise UserError(
                f"model {hub}: {file} is not the file of commit {commit}: it was edited in the local cache, and "
                "answers would be kept as those of the commit; delete it (it is downloaded again), or copy the folder "
                "and set 'path' to the copy"
            )


def _is_as_named(file: Path, sha256: Callable[[Path], str]) -> bool:
    """Whether a file has the content that its link names; not where an editor has put another file in its place."""
    if not file.is_symlink():
        return False
    name = file.readlink().name
    if SHA256.fullmatch(name):
        return sha256(file) == name
    return not BLOB_ID.fullmatch(name) or git_blob_id(file) == name
