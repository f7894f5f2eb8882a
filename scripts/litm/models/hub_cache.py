"""Hub cache: files of hub models, and checks that they are unchanged; each is a link to a file named by its hash.

The layout: https://huggingface.co/docs/huggingface_hub/guides/manage-cache.
"""

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from litm.base.messages import UserError, note
from litm.base.store import file_sha256, git_blob_id
from litm.models.files import model_files

#: Names of cached files: a sha256 for large files, a git blob id for others.
SHA256, BLOB_ID = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{40}")


def cached_file(hub: str, name: str, revision: str | None) -> Path | None:
    """A file of a hub model in the local cache, for a branch, tag or commit; None if it is not there."""
    from huggingface_hub import try_to_load_from_cache

    cached = try_to_load_from_cache(hub, name, revision=revision)
    return Path(cached) if isinstance(cached, str) else None


def check_cached(hub: str, commit: str, sha256: Callable[[Path], str] = file_sha256) -> None:
    """Raise `UserError` if a cached file of a hub model differs from the file of its commit: somebody has edited it.

    Missing files are checked when they are downloaded. In a cache without links (on some systems, or copied by
    `cp -L`) nothing can be checked, because files there are not named by their content; a line reports it.
    """
    config = cached_file(hub, "config.json", commit)
    if config is None:
        return
    files = model_files(config.parent)
    has_links = any(file.is_symlink() for file in files)
    if not has_links:
        _say_unchecked(hub, commit)
    for file in files:
        if has_links and not _is_as_named(file, sha256):
            raise UserError(
                f"model {hub}: {file} is not the file of commit {commit}: it was edited in the local cache, and "
                "answers would be kept as those of the commit; delete it (it is downloaded again), or copy the folder "
                "and set 'path' to the copy"
            )


@cache
def _say_unchecked(hub: str, commit: str) -> None:
    # Cached: once is enough for a job, which checks at each batch.
    note(f"model {hub}: its files in the local cache are not links, so nobody checks that they are of commit {commit}")


def _is_as_named(file: Path, sha256: Callable[[Path], str]) -> bool:
    """Whether a file has the content that its link names; False if an editor has replaced the link by a file."""
    if not file.is_symlink():
        return False
    name = file.readlink().name
    if SHA256.fullmatch(name):
        return sha256(file) == name
    return not BLOB_ID.fullmatch(name) or git_blob_id(file) == name
