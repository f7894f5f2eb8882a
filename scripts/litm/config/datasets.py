"""Datasets of the configuration: single files, local or remote."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from litm.base.messages import UserError
from litm.base.schema import FILLED_IN, Entry, choose
from litm.config.values import NoPassword, check_names, locate


class Dataset(Entry):
    """One file, either local, or remote and then downloaded and checked."""

    path: str | None = None
    """A local file. null means that you must supply it: until then, experiments that need it are left out."""
    url: Annotated[str, Field(pattern="^(https?|ftp|file)://.*[^/]$"), NoPassword] | None = None
    """Address of the file. It is downloaded unless data_mirror has a file with its base name."""
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None
    """The sha256 of the remote file."""
    git_blob: Annotated[str, Field(pattern="^[0-9a-f]{40}$")] | None = None
    """The id of the remote file in its git repository (git ls-tree), if the sha256 is unknown. Ignored if there is a
    sha256.
    """
    labels: Literal["ambignq", "situatedqa", "jsonl", "txt"] | None = None
    """Format of a file that selects questions: ambignq (AmbigNQ's annotations; unambiguous questions are kept),
    situatedqa (SituatedQA's labels; questions that do not depend on time are kept), jsonl (lines with question and
    keep), or txt (one question to keep per line).
    """
    version: Literal["v1", "v2", "released"] | None = None
    """Version of the authors' data in the file, for comparison with published values: contexts before (v1) or since
    (v2) January 2024, or a file with one version (released). Left out for other data.
    """
    other_versions: dict[Literal["v1", "v2"], str] | None = None
    """Datasets with other versions of the file, by version, as in {v1: nq_open_20_documents_v1}. Experiments use one
    instead of this file if the config's data_version selects it.
    """
    file: Annotated[str, Field(pattern="^[^/{}]+$")] = FILLED_IN
    """Base name of the remote file, here and in data_mirror; if left out, the URL's."""

    @property
    def is_to_supply(self) -> bool:
        """Whether it is a file that the user has not supplied yet."""
        return "path" in self.model_fields_set and self.path is None and self.url is None

    @model_validator(mode="after")
    def _check(self) -> "Dataset":
        if (self.path is None) == (self.url is None) and not self.is_to_supply:
            raise ValueError("give either 'path' or 'url' (with 'sha256')")
        if self.url and not self.checksum:
            raise ValueError("a remote file needs its 'sha256' or its 'git_blob'")
        return self

    @property
    def checksum(self) -> str:
        """Checksum of a remote file: a sha256 or a git blob id; "" for a local file."""
        return self.sha256 or self.git_blob or ""

    def located(self, root: Path) -> "Dataset":
        """The entry with the local file's path or the remote file's base name; `UserError` if there is no file."""
        if self.path is None:
            file = self.file or (self.url or "").rsplit("/", 1)[-1]
            check_names([file], f"{self.where}.url")
            return self.changed(file=file)
        path = locate(self.path, root, f"{self.where}.path")
        if not Path(path).is_file():
            raise UserError(f"{self.where}.path: {path} is not a file")
        return self.changed(path=path, sha256=None, git_blob=None, file="")


def check_file_names(datasets: Mapping[str, Dataset]) -> None:
    """Raise `UserError` for two remote files with one base name, which would be confused."""
    by_file: dict[str, Dataset] = {}
    for dataset in datasets.values():
        other = by_file.setdefault(dataset.file, dataset) if dataset.url else dataset
        if other.checksum != dataset.checksum:
            raise UserError(
                f"datasets.{dataset.name}: {other.name} is another file with the same base name {dataset.file}; "
                f"give one of them a 'file' of its own"
            )


def of_version(name: str, version: str | None, datasets: Mapping[str, Dataset]) -> str:
    """The name of the dataset that replaces `name` in the wanted version.

    version: None for `name` itself. Raises `UserError` if `other_versions` names a dataset of another version.
    """
    dataset = datasets.get(name)
    if dataset is None or version is None or version not in (dataset.other_versions or {}):
        return name
    other = (dataset.other_versions or {})[version]
    where = f"datasets.{name}.other_versions.{version}"
    choose([other], datasets, where)
    if datasets[other].version != version:
        raise UserError(f"{where}: {other} has 'version: {datasets[other].version}'; it must be {version}")
    return other


def check_one_namespace(**kinds: Iterable[str]) -> None:
    """Raise `UserError` for a name in two kinds of entries: `dataset` of an experiment may name any of these kinds."""
    owner: dict[str, str] = {}
    for kind, names in kinds.items():
        for name in names:
            if name in owner:
                raise UserError(f"{kind}.{name}: {owner[name]} has an entry of that name too; rename one")
            owner[name] = kind
