"""Where files of questions and other data are, and which of them are fetched."""

from pathlib import Path

from litm.base.fetched import check_fetched
from litm.config.study import Study
from litm.workflow.wildcards import Wildcards


class DataPlan:
    """The files that entries of the catalogues name."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._remote = {dataset.file: dataset for dataset in study.datasets.values() if dataset.url}

    def file(self, name: str) -> str:
        """The file of a dataset (the user's own, or the fetched one), or of questions or candidates made here."""
        if name in self._study.questions:
            return f"results/questions/{name}.jsonl.gz"
        if name in self._study.candidates:
            return f"results/candidates/{name}.jsonl.gz"
        dataset = self._study.datasets[name]
        return dataset.path or _fetched(dataset.file)

    def check_fetched(self) -> None:
        """Raise `UserError` for a fetched file that is another than the one that was checked when it came."""
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
        """A folder that has remote files under their base names, "" for none."""
        return self._study.data_mirror or ""

    def url(self, wildcards: Wildcards) -> str:
        """Where the remote file {file} comes from."""
        return str(self._remote[wildcards.file].url)

    def checksum(self, wildcards: Wildcards) -> str:
        """What the remote file {file} must hash to: a sha256 or a git blob id."""
        return self._remote[wildcards.file].checksum


def _fetched(file: str) -> str:
    return f"results/data/{file}"
