"""What a study needs before its first job, and inputs and settings of the rules for data: fetched files, corpora,
questions, retrieval and candidates.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from litm.base.download import check_fetched
from litm.config.data import FOUND_GOLD, Corpus, Dataset
from litm.config.experiments import Experiment
from litm.config.needs import needs_of
from litm.config.retrieval import Candidates, Reranker, Retriever
from litm.config.study import Study
from litm.corpora.passages import is_generator
from litm.models.locations import model_files
from litm.placements import AS_RETRIEVED
from litm.retrieval.search import EXACT, KS
from litm.workflow.rules_help import Wildcards

#: Folder of fetched files.
FETCHED = "results/data"
#: Threads of one BM25 index, at most.
BM25_THREADS = 8


def stored_files(model: object) -> list[str]:
    """The files of a model, an encoder or a cross-encoder in a folder, or its GGUF file; none elsewhere."""
    path = getattr(model, "path", None)
    return [str(file) for file in model_files(Path(path), getattr(model, "trust_remote_code", False))] if path else []


def identity_file(entry: Retriever | Reranker) -> list[str]:
    """The file with the identity of an encoder or a cross-encoder; none for a method without a model."""
    folder = {"dense": "retrievers", "cross_encoder": "rerankers"}.get(entry.method)
    return [f"results/{folder}/{entry.name}.json"] if folder else []


def batch_tokens(entry: Retriever | Reranker) -> int:
    """Tokens per batch of an encoder or a cross-encoder; 0 for the program's default."""
    return entry.batch_tokens or 0


def gpus(entry: Retriever | Reranker) -> int:
    """The number of GPUs that a retriever or a reranker takes."""
    return int(entry.method in ("dense", "cross_encoder") and entry.device != "cpu")


class Search(NamedTuple):
    """A search for the documents of questions. Of one made elsewhere, all are the name of the dataset."""

    questions: str
    corpus: str
    retriever: str


class DataInputs:
    """The files that catalogue entries name, and those that the workflow makes of them."""

    def __init__(self, study: Study) -> None:
        self._study = study
        #: Files to fetch, by their base names.
        self.remote = {dataset.file: dataset for dataset in study.datasets.values() if dataset.url}
        #: Candidates of selected experiments, in the order of the experiments.
        self.used = self._candidates_of(study.experiments.values())

    # Files

    def file(self, name: str) -> str:
        """The file of a dataset (own or fetched), or of questions or candidates made here."""
        for kind in ("questions", "candidates"):
            if name in getattr(self._study, kind):
                return f"results/{kind}/{name}.jsonl.gz"
        dataset = self._study.datasets[name]
        return dataset.path or _fetched(dataset)

    def files(self, names: Callable[[Wildcards], str | Iterable[str] | None]) -> Callable[[Wildcards], list[str]]:
        """The files of the names that a function of wildcards gives: one, several or none."""

        def paths(wildcards: Wildcards) -> list[str]:
            wanted = names(wildcards)
            return [self.file(name) for name in ([wanted] if isinstance(wanted, str) else wanted or ())]

        return paths

    def origin(self, name: str) -> str:
        """Where a file is from, without paths of this machine."""
        dataset = self._study.datasets.get(name)
        return (dataset.url or "a file of the user's own") if dataset else "made by this workflow"

    def version(self, name: str) -> str | None:
        """Which of the versions that were released a file has, None for what has none."""
        return getattr(self._study.datasets.get(name), "version", None)

    def check_fetched(self) -> None:
        """Raise `UserError` for a fetched file that has changed since its checksum was verified."""
        for dataset in self.remote.values():
            check_fetched(Path(_fetched(dataset)), dataset.checksum, f"datasets.{dataset.name}")

    @property
    def needed(self) -> list[str]:
        """The remote files that the selection needs."""
        return [_fetched(dataset) for dataset in needs_of(self._study).remote_files]

    # Corpora and questions

    def corpus_files(self, corpus: Corpus) -> list[str]:
        """A corpus's source files; none if its text is generated."""
        return [self.file(corpus.dataset)] if corpus.dataset else list(corpus.files)

    def corpus_location(self, corpus: Corpus) -> str:
        """A corpus's source file or folder; "" if its text is generated."""
        return self.file(corpus.dataset) if corpus.dataset else corpus.path or ""

    def generator(self, wildcards: Wildcards) -> Corpus:
        """The corpus that the questions {generated} come with."""
        return self._study.corpora[str(self._study.questions[wildcards.generated].corpus)]

    @property
    def generated(self) -> list[str]:
        """The names of the question sets that come with a generated corpus."""
        return [name for name, questions in self._study.questions.items() if is_generator(questions.source)]

    def made_by(self, *sources: str) -> list[str]:
        """The names of the question sets with one of these sources."""
        return [name for name, questions in self._study.questions.items() if questions.source in sources]

    # Searches of {corpus} with {retriever}. A small corpus should not wait for many cores.

    def _search(self, wildcards: Wildcards) -> tuple[Corpus, Retriever]:
        return self._study.corpora[wildcards.corpus], self._study.retrievers[wildcards.retriever]

    def indexes(self, wildcards: Wildcards) -> list[str]:
        """The indexes to search: one of words, or one per shard for approximate search; none for exact search."""
        corpus, retriever = self._search(wildcards)
        if retriever.method == "bm25":
            return [f"results/indexes/{corpus.name}/bm25.json"]
        if file := {"bm25s": "bm25s", "recorded": "run"}.get(retriever.method):
            return [f"results/indexes/{corpus.name}/{retriever.name}/{file}.json"]
        return [] if retriever.index["kind"] == EXACT else _shards("indexes", corpus, retriever)

    def vectors(self, wildcards: Wildcards) -> list[str]:
        """The vectors to search, one file per shard; none without an encoder."""
        corpus, retriever = self._search(wildcards)
        return _shards("vectors", corpus, retriever) if retriever.method == "dense" else []

    def search_threads(self, wildcards: Wildcards) -> int:
        """The number of threads of a search, at most one per shard."""
        corpus, retriever = self._search(wildcards)
        return min(retriever.threads, corpus.shards)

    # Results of retrieval that a study uses

    def _candidates_of(self, experiments: Iterable[Experiment]) -> list[Candidates]:
        """The candidates that experiments use as dataset, each once, in the order of the experiments."""
        names = dict.fromkeys(name for experiment in experiments for name in experiment.datasets.values())
        return [self._study.candidates[name] for name in names if name in self._study.candidates]

    def as_retrieved(self, experiments: Iterable[Experiment]) -> list[Search]:
        """The searches of documents as retrieved, whose recall limits accuracy; that of reranked ones is unknown."""
        plain = [
            experiment
            for experiment in experiments
            if experiment.rerank is None and AS_RETRIEVED in {c.placement for c in experiment.cells}
        ]
        searches = [
            Search(candidates.questions, candidates.corpus, str(candidates.retriever))
            for candidates in self._candidates_of(plain)
        ]
        names = dict.fromkeys(name for experiment in plain for name in experiment.datasets.values())
        return [*searches, *(Search(name, name, name) for name in names if name in self._study.datasets)]

    def hits(self, ending: str) -> Callable[[Wildcards], list[str]]:
        """The file with this ending of what a search found; of a dataset its own file, without a manifest."""

        def files(wildcards: Wildcards) -> list[str]:
            questions, corpus, retriever = wildcards.questions, wildcards.corpus, wildcards.retriever
            if questions == corpus == retriever:
                return [self.file(questions)] if ending == "jsonl.gz" else []
            return [f"results/retrieved/{corpus}/{retriever}/{questions}.{ending}"]

        return files

    def sizes_as_retrieved(self, wildcards: Wildcards) -> list[str] | None:
        """The sizes of as-retrieved contexts of a search, except the usual ones (`KS`); None if there are no others."""
        sizes = {
            size
            for experiment in self._study.experiments.values()
            for search in self.as_retrieved([experiment])
            if recall_file(search) == recall_file(wildcards)
            for size in experiment.cell_sizes
        }
        return [str(size) for size in sorted(sizes.difference(KS))] or None

    @property
    def gold_tables(self) -> list[str]:
        """The tables on searched gold passages of questions that experiments ask, directly or through candidates."""
        named = [name for experiment in self._study.experiments.values() for name in experiment.datasets.values()]
        searched = self.made_by(FOUND_GOLD)
        asked = dict.fromkeys([*named, *(candidates.questions for candidates in self.used)])
        return [f"results/gold_passages/{name}.csv" for name in asked if name in searched]

    @property
    def written_tables(self) -> list[str]:
        """The tables on questions that a model writes and the selected experiments ask."""
        sets = dict.fromkeys(writing.questions.name for writing in self._study.writings.values())
        return [f"results/question_writing/{name}/questions.csv" for name in sets]


def recall_file(search: Candidates | Search) -> str:
    """The recall of a search, or of that for candidates."""
    return f"results/recall/{search.corpus}/{search.retriever}/{search.questions}.csv"


def bm25_threads(corpus: Corpus) -> int:
    """The number of threads to build a BM25 index, at most one per shard."""
    return min(BM25_THREADS, corpus.shards)


def bm25s_memory(corpus: Corpus) -> int:
    """MB of memory to index a corpus with bm25s: 4 kB for a passage of 100 words; 3.2 were measured."""
    return 500 + corpus.shards * corpus.passages_per_shard * 4 // 1000


def index_memory(corpus: Corpus) -> int:
    """MB of memory to index one shard: three times the vectors, as measured with 768 dimensions."""
    return 500 + corpus.passages_per_shard // 110


def _shards(folder: str, corpus: Corpus, retriever: Retriever) -> list[str]:
    return [f"results/{folder}/{corpus.name}/{retriever.name}/{shard}.json" for shard in range(corpus.shards)]


def _fetched(dataset: Dataset) -> str:
    return f"{FETCHED}/{dataset.file}"
