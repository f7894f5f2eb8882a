"""Inputs and params of the rules for data: fetched files, corpora, questions, retrieval, recorded answers."""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from litm.base.download import check_fetched
from litm.base.messages import UserError
from litm.base.store import canonical_json
from litm.config.data import (
    FIRST_OF,
    FOUND_GOLD,
    NATURAL_QUESTIONS,
    OWN_FILE,
    Candidates,
    Corpus,
    Recorded,
    Reranker,
    Retriever,
)
from litm.config.experiments import Experiment
from litm.config.recorded_models import RecordedModel, ResponseFile
from litm.config.study import Study
from litm.corpora.passages import SOURCES, is_generator
from litm.domain.placement import AS_RETRIEVED
from litm.models.files import model_files
from litm.reference_model.recipe import TASKS
from litm.retrieval.search import EXACT, METHODS
from litm.workflow.rules_help import ProjectFiles, Wildcards


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
        return self._project.code("make_passages.py", f"litm.corpora.{SOURCES[self.source(wildcards)].module}")

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


class QuestionPlan:
    """Inputs and params of the rules that make the question sets {generated}, {derived}, {first}, {own} and {found}."""

    def __init__(self, study: Study, project: ProjectFiles, data: DataPlan) -> None:
        self._study = study
        self._project = project
        self._data = data

    @property
    def generated(self) -> list[str]:
        """Names of the question sets that come from the generator of a corpus."""
        return [name for name, questions in self._study.questions.items() if is_generator(questions.source)]

    @property
    def derived(self) -> list[str]:
        """Names of the question sets that are derived from annotations."""
        return self._of(NATURAL_QUESTIONS)

    @property
    def first(self) -> list[str]:
        """Names of the question sets that are the first questions of a dataset."""
        return self._of(FIRST_OF)

    @property
    def own(self) -> list[str]:
        """Names of the question sets that are read from a table of the user's."""
        return self._of(OWN_FILE)

    @property
    def found(self) -> list[str]:
        """Names of the question sets whose gold passages are searched."""
        return self._of(FOUND_GOLD)

    def _of(self, source: str) -> list[str]:
        return [name for name, questions in self._study.questions.items() if questions.source == source]

    def _corpus(self, wildcards: Wildcards) -> Corpus:
        return self._study.corpora[str(self._study.questions[wildcards.generated].corpus)]

    def generator(self, wildcards: Wildcards) -> str:
        """The name of the module that generates {generated}."""
        return self._corpus(wildcards).source

    def generator_code(self, wildcards: Wildcards) -> list[str]:
        """generate_questions.py and the generator's module."""
        return self._project.code("generate_questions.py", f"litm.corpora.{SOURCES[self.generator(wildcards)].module}")

    def generator_settings(self, wildcards: Wildcards) -> str:
        """The settings that change the questions: JSON of the corpus's `CorpusSettings`."""
        return canonical_json(asdict(self._corpus(wildcards).settings))

    def taken(self, wildcards: Wildcards) -> str:
        """The number of questions in {generated}; "" for all."""
        taken = self._study.questions[wildcards.generated].questions
        return "" if taken is None else str(taken)

    def nq_open(self, wildcards: Wildcards) -> str:
        """The file with the questions and answers for {derived}."""
        return self._data.file(str(self._study.questions[wildcards.derived].nq_open))

    def annotations(self, wildcards: Wildcards) -> list[str]:
        """The annotation files with the gold passages of {derived}."""
        return [self._data.file(name) for name in self._study.questions[wildcards.derived].annotations]

    def all_of(self, wildcards: Wildcards) -> str:
        """The file of the dataset whose first questions are {first}."""
        return self._data.file(str(self._study.questions[wildcards.first].dataset))

    def first_taken(self, wildcards: Wildcards) -> int:
        """The number of questions in {first}."""
        taken = self._study.questions[wildcards.first].questions
        assert taken is not None, "the configuration asks for it"
        return taken

    def own_file(self, wildcards: Wildcards) -> str:
        """The user's table of questions {own}."""
        return str(self._study.questions[wildcards.own].file)

    def own_passages(self, wildcards: Wildcards) -> str:
        """The manifest of the corpus that {own} asks about."""
        return f"results/passages/{self._study.questions[wildcards.own].corpus}/manifest.json"

    def own_shards(self, wildcards: Wildcards) -> str:
        """The folder of its shards."""
        return f"results/passages/{self._study.questions[wildcards.own].corpus}/shards"

    def asked(self, wildcards: Wildcards) -> str:
        """The questions whose gold passages {found} contains."""
        return self._data.file(str(self._study.questions[wildcards.found].gold_of))

    def asked_passages(self, wildcards: Wildcards) -> str:
        """The manifest of their corpus."""
        return f"results/passages/{self._study.questions[wildcards.found].corpus}/manifest.json"

    def asked_shards(self, wildcards: Wildcards) -> str:
        """The folder of its shards."""
        return f"results/passages/{self._study.questions[wildcards.found].corpus}/shards"

    def retrieved(self, wildcards: Wildcards) -> str:
        """The passages retrieved for them."""
        found = self._study.questions[wildcards.found]
        return f"results/retrieved/{found.corpus}/{found.retriever}/{found.gold_of}.jsonl.gz"

    def corrections(self, wildcards: Wildcards) -> list[str]:
        """The user's corrections of their gold passages, if any."""
        return [one] if (one := self._study.questions[wildcards.found].corrections) else []

    @property
    def seed(self) -> int:
        """Seed for the sample of questions that the user is asked to judge."""
        return self._study.seed


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
        return self._project.code("retrieve.py", f"litm.retrieval.{METHODS[self.method(wildcards)]}")

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


class RecordedPlan:
    """Inputs and params of the rule that imports the recorded responses of {model} to {experiment}."""

    def __init__(self, study: Study, data: DataPlan) -> None:
        self.models = {name: model for name, model in study.models.items() if isinstance(model, RecordedModel)}
        self._data = data

    def _files(self, wildcards: Wildcards) -> tuple[ResponseFile, ...]:
        files = self.models[wildcards.model].files
        if wildcards.experiment not in files:
            raise UserError(f"models.{wildcards.model}.responses: no responses to {wildcards.experiment}")
        return files[wildcards.experiment]

    def files(self, wildcards: Wildcards) -> list[str]:
        """The files of the responses, each a dataset or the user's own."""
        return [self._data.file(file.dataset) if file.dataset else str(file.path) for file in self._files(wildcards)]

    def cells(self, wildcards: Wildcards) -> str:
        """The cells that each file covers: JSON, a list of [size, placement] per file."""
        return canonical_json([[[cell.size, cell.placement] for cell in file.cells] for file in self._files(wildcards)])

    def fields(self, wildcards: Wildcards) -> str:
        """The files' names of our fields: JSON."""
        return canonical_json(dict(self.models[wildcards.model].fields))

    def reasoning(self, wildcards: Wildcards) -> str:
        """The treatment of reasoning in the responses: JSON."""
        return canonical_json(self.models[wildcards.model].reasoning.settings())


class ReferenceModelPlan:
    """Inputs of the rules that train the reference model."""

    def __init__(self, project: ProjectFiles) -> None:
        self.recipe = project.file("config", "reference_model.yaml")
        #: The prompt files of the tasks in its lessons.
        self.prompts = [project.file("resources", "prompts", f"{task}.txt") for task in TASKS]
