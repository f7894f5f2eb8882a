"""Location of the project's files: around the rules, or, if another workflow imports them from a Git host, unpacked
next to the results.

rules/common.smk includes this file before the library can be imported, so it imports nothing of it.
"""

import tarfile
import tempfile
from pathlib import Path
from typing import Any


def project_root(rules: Any) -> Path:
    """The project's folder. `rules`: Snakemake's folder of the rules (`workflow.current_basedir`).

    From a Git host Snakemake caches single files, but programs import other files, so the whole commit is unpacked into
    .snakemake/.
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
    """Write the files of a commit of a `git.Repo` into a folder, atomically, safe for parallel processes."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as parts:
        archive = Path(parts, "files.tar")
        with archive.open("wb") as file:
            clone.archive(file, treeish=commit)
        files = Path(parts, "files")
        with tarfile.open(archive) as tar:
            # Python has these filters from 3.11.4 on.
            safely: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            tar.extractall(files, **safely)
        try:
            files.rename(folder)
        except OSError:
            if not folder.exists():
                raise
