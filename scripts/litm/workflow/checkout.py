"""Where the project's files are: around the rules, or, where another workflow imports them from a Git host, unpacked
beside the results.

rules/common.smk includes this file before the library can be imported, so it imports nothing of it.
"""

import tarfile
import tempfile
from pathlib import Path
from typing import Any


def project_root(rules: Any) -> Path:
    """The project's folder. `rules` is the folder of the rules as Snakemake knows it (`workflow.current_basedir`).

    Snakemake caches single files of a workflow on a Git host, but programs import other files, so the whole commit is
    unpacked into .snakemake/.
    """
    if rules.is_local:
        return Path(rules.get_path_or_uri(secret_free=False)).parent
    clone = rules.hosted_repo.repo
    commit = clone.commit(rules.ref).hexsha
    folder = Path(".snakemake", "lost_in_the_middle", commit)
    if not folder.exists():
        unpack_commit(clone, commit, folder)
    return folder.resolve()


def unpack_commit(clone: Any, commit: str, folder: Path) -> None:
    """Write the files of a commit of a `git.Repo` into a folder: all or none, also where several processes do it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as parts:
        archive = Path(parts, "files.tar")
        with archive.open("wb") as file:
            clone.archive(file, treeish=commit)
        files = Path(parts, "files")
        with tarfile.open(archive) as tar:
            # Python has these filters since 3.11.4.
            safely: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            tar.extractall(files, **safely)
        try:
            files.rename(folder)
        except OSError:
            if not folder.exists():
                raise
