"""Plan of data: locations of question files and other data, and the files to fetch."""

from pathlib import Path

from litm.base.download import check_fetched
from litm.config.study import Study
from litm.workflow.wildcards import Wildcards


class DataPlan:
    """The files that catalogue entries name."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._remote = {dataset.file: dataset for dataset in study.datasets.values() if dataset.url}

    def file(self, name: str) -> str:
        """The file of a dataset (own or fetched), or of questions or candidates made here."""
        if name in self._study.questions:
            return f"results/questions/{name}.jsonl.gz"
        if name in self._study.candidates:
            return f"results/candidates/{name}.jsonl.gz"
        dataset = self._study.datasets[name]
        return dataset.path or _fetched(dataset.file)

    def check_fetched(self) -> None:
        """Raise `UserError` for a fetched file that has changed since its checksum was verified."""
        for file, dataset in self._remote.items():
            check_fetched(Path(_fetched(file)), dataset.checksum, f"datasets.{dataset.name}")

    def questions(self, wildcards: Wildcards) -> str:
        """The file of the dataset or question set {questions}."""
        return self.file(wildcards.questions)

    def dataset(self, wildcards: Wildcards) -> str:
        """The file of the dataset or candidates {dataset}."""
        return self.file(wildcards.dataset)

    @property
    def remote_files(self) -> list[str]:
        """The base names of all files that are fetched."""
        return list(self._remote)

    @property
    def mirror(self) -> str:
        """A folder with remote files under their base names, "" for none."""
        return self._study.data_mirror or ""

    def url(self, wildcards: Wildcards) -> str:
        """The URL of the remote file {file}."""
        return str(self._remote[wildcards.file].url)

    def checksum(self, wildcards: Wildcards) -> str:
        """The required checksum of the remote file {file}: a sha256 or a git blob id."""
        return self._remote[wildcards.file].checksum


def _fetched(file: str) -> str:
    return f"results/data/{file}"
