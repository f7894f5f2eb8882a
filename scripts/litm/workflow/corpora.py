"""Plan of corpora: from source files to shards of passages."""

from dataclasses import asdict

from litm.base.store import canonical_json
from litm.config.corpora import Corpus
from litm.config.study import Study
from litm.workflow.data import DataPlan
from litm.workflow.project_files import ProjectFiles
from litm.workflow.wildcards import Wildcards


class CorpusPlan:
    """Inputs and params of the rule that makes the passages of {corpus}."""

    def __init__(self, study: Study, project: ProjectFiles, data: DataPlan) -> None:
        self._corpora = study.corpora
        self._project = project
        self._data = data

    def _corpus(self, wildcards: Wildcards) -> Corpus:
        return self._corpora[wildcards.corpus]

    def files(self, wildcards: Wildcards) -> list[str]:
        """The corpus's source files; none if its text is generated."""
        corpus = self._corpus(wildcards)
        return [self._data.file(corpus.dataset)] if corpus.dataset else list(corpus.files)

    def location(self, wildcards: Wildcards) -> str:
        """The corpus's source file or folder; "" if its text is generated."""
        corpus = self._corpus(wildcards)
        return self._data.file(corpus.dataset) if corpus.dataset else corpus.path or ""

    def code(self, wildcards: Wildcards) -> list[str]:
        """make_passages.py and the source's module."""
        return self._project.code("make_passages.py", f"litm.corpora.sources.{self.source(wildcards)}")

    def source(self, wildcards: Wildcards) -> str:
        """The name of the source's module."""
        return self._corpus(wildcards).source

    def settings(self, wildcards: Wildcards) -> str:
        """The settings that change the passages: JSON of `CorpusSettings`."""
        return canonical_json(asdict(self._corpus(wildcards).settings))

    def passages_per_shard(self, wildcards: Wildcards) -> int:
        """Passages per shard; the last shard may have fewer."""
        return self._corpus(wildcards).passages_per_shard

    def shards(self, wildcards: Wildcards) -> int:
        """The number of shards."""
        return self._corpus(wildcards).shards
