"""Datasets of the configuration: single files, the user's own or remote."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from litm.base.errors import UserError
from litm.base.schema import FILLED_IN, Entry, choose
from litm.config.values import NoPassword, check_names, locate


class Dataset(Entry):
    """One file, either a local one or a remote one that is downloaded and checked."""

    path: str | None = Field(
        None,
        description="A local file. null is one that is yours to supply: an experiment that needs it is left out.",
    )
    url: Annotated[str, Field(pattern="^(https?|ftp|file)://.*[^/]$"), NoPassword] | None = Field(
        None, description="Where the file is downloaded from, unless data_mirror has one of its base name."
    )
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = Field(
        None, description="The sha256 that a remote file must have."
    )
    git_blob: Annotated[str, Field(pattern="^[0-9a-f]{40}$")] | None = Field(
        None,
        description="Instead of the sha256, where that is not known: the id of a remote file in its git repository "
        "(git ls-tree). Not looked at where there is a sha256.",
    )
    labels: Literal["ambignq", "situatedqa", "jsonl", "txt"] | None = Field(
        None,
        description="The file says which questions to keep, in this format: ambignq (AmbigNQ's annotations, keeps the "
        "unambiguous), situatedqa (SituatedQA's labels, keeps what does not depend on time), jsonl (lines of question "
        "and keep), or txt (a question to keep on each line).",
    )
    version: Literal["v1", "v2", "released"] | None = Field(
        None,
        description="Which data of the paper's authors the file has, for comparison with published values: contexts "
        "before (v1) and since (v2) January 2024, or a file with one version (released). Left out for other data.",
    )
    other_versions: dict[Literal["v1", "v2"], str] | None = Field(
        None,
        description="The datasets with other versions of the file, by version, as in {v1: nq_open_20_documents_v1}: "
        "what experiments take instead of this one where the config's data_version says so.",
    )
    file: Annotated[str, Field(pattern="^[^/{}]+$")] = Field(
        FILLED_IN,
        description="The base name that the remote file gets here and has in data_mirror; the URL's own if left out.",
    )

    @property
    def is_to_supply(self) -> bool:
        """Whether it is a file of the user's that the config does not name yet."""
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
        """What a remote file must have: a sha256 or a git blob id; "" for a local file."""
        return self.sha256 or self.git_blob or ""

    def located(self, root: Path) -> "Dataset":
        """With the place of the local file, or the base name of the remote one; `UserError` if there is no file."""
        if self.path is None:
            file = self.file or (self.url or "").rsplit("/", 1)[-1]
            check_names([file], f"{self.where}.url")
            return self.changed(file=file)
        path = locate(self.path, root, f"{self.where}.path")
        if not Path(path).is_file():
            raise UserError(f"{self.where}.path: {path} is not a file")
        return self.changed(path=path, sha256=None, git_blob=None, file="")


def check_file_names(datasets: Mapping[str, Dataset]) -> None:
    """Raise `UserError` for two remote files of one base name, which would be served for one another."""
    by_file: dict[str, Dataset] = {}
    for dataset in datasets.values():
        other = by_file.setdefault(dataset.file, dataset) if dataset.url else dataset
        if other.checksum != dataset.checksum:
            raise UserError(
                f"datasets.{dataset.name}: {other.name} is another file with the same base name {dataset.file}; "
                f"give one of them a 'file' of its own"
            )


def of_version(name: str, version: str | None, datasets: Mapping[str, Dataset]) -> str:
    """The name of the dataset that an experiment takes where it names `name`: that of the version that is wanted.

    version: None for what is named. Raises `UserError` where `other_versions` names no dataset of that version.
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
    """Raise `UserError` for a name of two kinds of entries: experiments name all of them as `dataset`."""
    owner: dict[str, str] = {}
    for kind, names in kinds.items():
        for name in names:
            if name in owner:
                raise UserError(f"{kind}.{name}: {owner[name]} has an entry of that name too; rename one")
            owner[name] = kind
