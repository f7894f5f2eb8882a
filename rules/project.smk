"""Where the project's files are: around these rules, or, where another workflow imports them from a Git host, unpacked
beside the results.
"""

import os
import tarfile
import tempfile
from pathlib import Path


def project_root(rules):
    """The project's folder. `rules` is the folder of this file, as Snakemake knows it.

    Of a workflow on a Git host Snakemake caches one file at a time, as it needs them; programs need what they import.
    """
    if rules.is_local:
        return Path(rules.get_path_or_uri(secret_free=False)).parent
    clone = rules.hosted_repo.repo
    commit = clone.commit(rules.ref).hexsha
    folder = Path(".snakemake", "lost_in_the_middle", commit)
    if not folder.exists():
        unpack_commit(clone, commit, folder)
    return folder.resolve()


def unpack_commit(clone, commit, folder):
    """The files of a commit; whole or not at all, whoever else is doing the same."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as parts:
        archive = Path(parts, "files.tar")
        with archive.open("wb") as file:
            clone.archive(file, treeish=commit)
        files = Path(parts, "files")
        with tarfile.open(archive) as tar:
            # Python has these filters since 3.11.4.
            safely = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            tar.extractall(files, **safely)
        try:
            files.rename(folder)
        except OSError:
            if not folder.exists():
                raise


ROOT = project_root(workflow.current_basedir)
