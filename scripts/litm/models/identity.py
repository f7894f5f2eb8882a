"""Identity of a model: digests of its files, a hub commit, or a server's name for it, and whether it is unchanged."""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from litm.base.json_files import read_json, write_json
from litm.base.messages import UserError, note
from litm.base.store import digest, existing, file_sha256, file_state, git_blob_id, text_sha256
from litm.models.locations import PARTS, WEIGHTS, cached_file, check_model_folder, is_gguf, model_files, tokenizer_files

#: Folder of the digests, relative to the working directory.
DIGESTS = "results/store/file_digests"
#: Bytes: smaller files are hashed faster than looked up.
KEPT_FROM = 1048576


class FileDigests:
    """Hashes a file again only if its state has changed.

    store: a folder that keeps the digests for other processes, None to keep them in this one only. Digests are no
    results: they depend on paths and times of one machine. location: the folder of the files; each has its own file of
    digests. kept_from: bytes from which on a file's digest is kept.
    """

    def __init__(self, store: str | Path | None = None, location: str = "", kept_from: int = 0) -> None:
        self._kept = Path(store) / f"{text_sha256(location)[:32]}.json" if store else None
        self._kept_from = kept_from
        self._known = read_json(self._kept) if self._kept and self._kept.exists() else {}

    def sha256(self, path: Path, before: Callable[[Path], None] = lambda path: None) -> str:
        """The current sha256 of a file, 64 hex digits. before: called with the file before it is read."""
        # Taken before hashing: a write during hashing then changes the state.
        state = file_state(path)
        record = self._known.get(str(path))
        if record is None or record["state"] != state:
            before(path)
            record = {"state": state, "sha256": file_sha256(path)}
            self._known[str(path)] = record
            large = {path: entry for path, entry in self._known.items() if entry["state"][1] >= self._kept_from}
            if self._kept and str(path) in large:
                # In a read-only folder (a dry run in somebody else's, say), files are hashed again.
                with suppress(OSError):
                    self._kept.parent.mkdir(parents=True, exist_ok=True)
                    write_json(self._kept, large)
        return record["sha256"]


def content_digest(paths: Iterable[Path], sha256: Callable[[Path], str] = file_sha256) -> str:
    """The digest of files' names with their sha256, which changes if a file is replaced, whatever its time or folder.

    A missing file has no sha256.
    """
    return digest([(path.name, sha256(path) if path.exists() else None) for path in paths])


#: Names of cached files: a sha256 for large files, a git blob id for others.
SHA256, BLOB_ID = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{40}")


def check_cached(hub: str, commit: str, sha256: Callable[[Path], str] = file_sha256) -> None:
    """Raise `UserError` if a cached file of a hub model differs from the file of its commit: somebody has edited it.

    Cached files are links to files named by their hash
    (https://huggingface.co/docs/huggingface_hub/guides/manage-cache).
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
    before = identity.get("files", {})
    own_code = source.get("trust_remote_code", False)
    location = Path(source.get("gguf") or source["location"])
    now = folder_identity(location, sha256, own_code)["files"] if before else {}
    unpacked: set[str] = set()
    if "unpacked" in source:
        existing(source["location"], "identify_model")
        unpacked_before, unpacked_now = source["unpacked"], folder_identity(Path(source["location"]), sha256)["files"]
        before, now = {**before, **unpacked_before}, {**now, **unpacked_now}
        unpacked = {*unpacked_before, *unpacked_now}
    if tokenizer and "tokenizer" in identity:
        before = {**before, tokenizer: identity["tokenizer"]}
        now = {**now, tokenizer: sha256(Path(tokenizer))}
    for name in sorted({*before, *now}):
        if before.get(name) != now.get(name):
            change = "is gone" if name not in now else "is new" if name not in before else "has changed"
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
    files = model_files(location, source.get("trust_remote_code", False))
    return [location, *files, *map(Path, filter(None, [source.get("gguf"), tokenizer]))]


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
