"""Plan of retrieval: indexes, vectors and searches of a corpus, and candidates made from hits."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from litm.base.store import canonical_json
from litm.config.corpora import FOUND_GOLD
from litm.config.experiments import Experiment
from litm.config.rerankers import Reranker
from litm.config.retrieval import Candidates, Recorded, Retriever
from litm.config.study import Study
from litm.domain.placement import AS_RETRIEVED
from litm.models.files import model_files
from litm.retrieval.method import EXACT
from litm.workflow.data import DataPlan
from litm.workflow.project_files import ProjectFiles
from litm.workflow.wildcards import Wildcards

#: Threads of one BM25 index, at most.
BM25_THREADS = 8


class RetrievalPlan:
    """Inputs, params and resources of the rules that search {corpus} with {retriever}."""

    def __init__(self, study: Study, project: ProjectFiles, data: DataPlan) -> None:
        self._data = data
        self._corpora = study.corpora
        self._retrievers = study.retrievers
        self._project = project

    def _retriever(self, wildcards: Wildcards) -> Retriever:
        return self._retrievers[wildcards.retriever]

    # Encoders

    def encoder_folder(self, wildcards: Wildcards) -> list[str]:
        """The files of an encoder in a folder; none for a hub encoder."""
        path = self._retriever(wildcards).location["path"]
        return [str(file) for file in model_files(Path(path))] if path else []

    def encoder_location(self, wildcards: Wildcards) -> str:
        """The encoder's location: JSON with path, hub and revision."""
        return canonical_json(dict(self._retriever(wildcards).location))

    def encoder(self, wildcards: Wildcards) -> list[str]:
        """The file with the encoder's identity; none for BM25."""
        retriever = self._retriever(wildcards)
        return [f"results/retrievers/{retriever.name}.json"] if retriever.method == "dense" else []

    def encoding(self, wildcards: Wildcards) -> str:
        """The settings that change a vector, apart from the encoder: JSON."""
        return canonical_json(self._retriever(wildcards).encoding)

    # Indexes

    def indexes(self, wildcards: Wildcards) -> list[str]:
        """The indexes to search: Lucene's, or one per shard for approximate search; none for exact search."""
        retriever = self._retriever(wildcards)
        if retriever.method == "bm25":
            return [f"results/indexes/{wildcards.corpus}/bm25.json"]
        if isinstance(retriever, Recorded):
            return [f"results/indexes/{wildcards.corpus}/{retriever.name}/run.json"]
        return [] if retriever.index["kind"] == EXACT else self._shards("indexes", wildcards)

    def run_file(self, wildcards: Wildcards) -> str:
        """The recorded hits of {retriever}."""
        return self._recorded(wildcards).path

    def run_questions(self, wildcards: Wildcards) -> str:
        """The questions of these hits."""
        return self._data.file(self._recorded(wildcards).questions)

    def _recorded(self, wildcards: Wildcards) -> Recorded:
        retriever = self._retriever(wildcards)
        if not isinstance(retriever, Recorded):
            raise LookupError(f"{retriever.name} is not recorded")
        return retriever

    def vectors(self, wildcards: Wildcards) -> list[str]:
        """The vectors to search, one file per shard; none for BM25."""
        return self._shards("vectors", wildcards) if self._retriever(wildcards).method == "dense" else []

    def _shards(self, folder: str, wildcards: Wildcards) -> list[str]:
        shards = self._corpora[wildcards.corpus].shards
        return [f"results/{folder}/{wildcards.corpus}/{wildcards.retriever}/{shard}.json" for shard in range(shards)]

    def index_settings(self, wildcards: Wildcards) -> str:
        """The settings that change an approximate index: JSON."""
        return canonical_json(self._retriever(wildcards).index)

    def index_memory(self, wildcards: Wildcards) -> int:
        """MB of memory to index one shard: three times the vectors, as measured with 768 dimensions."""
        return 500 + self._corpora[wildcards.corpus].passages_per_shard // 110

    # Searches

    def code(self, wildcards: Wildcards) -> list[str]:
        """retrieve.py and the method's module."""
        return self._project.code("retrieve.py", f"litm.retrieval.methods.{self.method(wildcards)}")

    def method(self, wildcards: Wildcards) -> str:
        """`bm25` or `dense`."""
        return self._retriever(wildcards).method

    def search_settings(self, wildcards: Wildcards) -> str:
        """The settings that change hits, apart from encoding and index: JSON."""
        return canonical_json(self._retriever(wildcards).search)

    # Settings that change no result. A small corpus should not wait for many cores.

    def threads(self, wildcards: Wildcards) -> int:
        """The number of threads to encode one shard."""
        return self._retriever(wildcards).threads

    def search_threads(self, wildcards: Wildcards) -> int:
        """The number of threads of a search, at most one per shard."""
        return min(self.threads(wildcards), self._corpora[wildcards.corpus].shards)

    def bm25_threads(self, wildcards: Wildcards) -> int:
        """The number of threads to build a BM25 index, at most one per shard."""
        return min(BM25_THREADS, self._corpora[wildcards.corpus].shards)

    def device(self, wildcards: Wildcards) -> str:
        """The encoder's device: auto, cpu, cuda, ..."""
        return self._retriever(wildcards).device

    def gpu(self, wildcards: Wildcards) -> int:
        """The number of GPUs of a job."""
        retriever = self._retriever(wildcards)
        return 1 if retriever.method == "dense" and retriever.device != "cpu" else 0

    def batch_tokens(self, wildcards: Wildcards) -> int:
        """Tokens per batch; 0 for the program's default."""
        return self._retriever(wildcards).batch_tokens or 0


class RerankPlan:
    """Inputs, params and resources of the rule that reorders the documents of {dataset} with {reranker}."""

    def __init__(self, study: Study, data: DataPlan) -> None:
        self._rerankers = study.rerankers
        self._data = data

    def _reranker(self, wildcards: Wildcards) -> Reranker:
        return self._rerankers[wildcards.reranker]

    def model_folder(self, wildcards: Wildcards) -> list[str]:
        """The files of a cross-encoder in a folder; none for a hub model."""
        path = self._reranker(wildcards).location["path"]
        return [str(file) for file in model_files(Path(path))] if path else []

    def model_location(self, wildcards: Wildcards) -> str:
        """The cross-encoder's location: JSON with path, hub and revision."""
        return canonical_json(dict(self._reranker(wildcards).location))

    def model(self, wildcards: Wildcards) -> list[str]:
        """The file with the cross-encoder's identity; none for a fusion of rankings."""
        reranker = self._reranker(wildcards)
        return [f"results/rerankers/{reranker.name}.json"] if reranker.method == "cross_encoder" else []

    def fused_with(self, wildcards: Wildcards) -> list[str]:
        """The files of the other rankings to fuse, in order."""
        return [self._data.file(name) for name in self._reranker(wildcards).fused_with]

    def settings(self, wildcards: Wildcards) -> str:
        """The settings that change the order: JSON."""
        return canonical_json(self._reranker(wildcards).settings)

    def device(self, wildcards: Wildcards) -> str:
        """The cross-encoder's device: auto, cpu, cuda, ..."""
        return self._reranker(wildcards).device

    def gpu(self, wildcards: Wildcards) -> int:
        """The number of GPUs of a job."""
        return 0 if self._reranker(wildcards).device == "cpu" else 1

    def batch_tokens(self, wildcards: Wildcards) -> int:
        """Tokens per batch; 0 for the program's default."""
        return self._reranker(wildcards).batch_tokens or 0


class CandidatePlan:
    """Inputs and params of the rule that makes {candidates}, and the retrieval results that a study uses."""

    def __init__(self, study: Study, data: DataPlan) -> None:
        self._study = study
        self._data = data
        #: Candidates of selected experiments, in the order of the experiments.
        self.used = self.of(study.experiments.values())

    def of(self, experiments: Iterable[Experiment]) -> list[Candidates]:
        """The candidates that experiments use as dataset, each once, in the order of the experiments."""
        names = dict.fromkeys(name for experiment in experiments for name in experiment.datasets.values())
        return [self._study.candidates[name] for name in names if name in self._study.candidates]

    def open_domain(self, experiments: Iterable[Experiment]) -> list[Candidates]:
        """The as-retrieved candidates, whose recall limits accuracy; that of reranked ones is unknown."""
        as_retrieved = self.of(one for one in experiments if one.rerank is None)
        return [one for one in as_retrieved if one.settings.kind == AS_RETRIEVED]

    def questions(self, wildcards: Wildcards) -> str:
        """The file of the questions."""
        return self._data.file(self._study.candidates[wildcards.candidates].questions)

    def retrieved(self, wildcards: Wildcards) -> list[str]:
        """The hits for the questions; none if distractors are drawn at random."""
        candidates = self._study.candidates[wildcards.candidates]
        return [_beside(candidates, "retrieved", "jsonl.gz")] if candidates.retriever else []

    def passages(self, wildcards: Wildcards) -> str:
        """The manifest of the corpus."""
        return f"results/passages/{self._study.candidates[wildcards.candidates].corpus}/manifest.json"

    def shards(self, wildcards: Wildcards) -> str:
        """The folder of its shards."""
        return f"results/passages/{self._study.candidates[wildcards.candidates].corpus}/shards"

    def settings(self, wildcards: Wildcards) -> str:
        """The settings that change the candidates, apart from the inputs: JSON of `CandidateSettings`."""
        return canonical_json(asdict(self._study.candidates[wildcards.candidates].settings))

    @property
    def tables(self) -> list[str]:
        """The table of each of the used candidates."""
        return [f"results/candidates/{one.name}.csv" for one in self.used]

    @property
    def gold_tables(self) -> list[str]:
        """The tables on searched gold passages of questions that experiments ask, directly or through candidates."""
        named = [name for one in self._study.experiments.values() for name in one.datasets.values()]
        asked = dict.fromkeys([*named, *(one.questions for one in self.used)])
        return [
            f"results/gold_passages/{name}.csv"
            for name in asked
            if name in self._study.questions and self._study.questions[name].source == FOUND_GOLD
        ]

    @property
    def recall_tables(self) -> list[str]:
        """The recall of each search for the used candidates."""
        return list(dict.fromkeys(recall_file(one) for one in self.used if one.retriever))


def recall_file(candidates: Candidates) -> str:
    """The recall of the search for candidates."""
    return _beside(candidates, "recall", "csv")


def _beside(candidates: Candidates, folder: str, ending: str) -> str:
    return f"results/{folder}/{candidates.corpus}/{candidates.retriever}/{candidates.questions}.{ending}"
