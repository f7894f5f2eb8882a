"""Retrievers of the configuration, and the candidates made from their hits."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from litm.base.messages import UserError
from litm.base.schema import AsGiven, Entry, NotNegative, Variants, choose
from litm.config.model_folders import located_folder
from litm.config.values import Device, Hub, locate
from litm.domain.placement import AS_RETRIEVED
from litm.retrieval.candidates import FILL, GOLD_AND_RANDOM, CandidateSettings
from litm.retrieval.method import EXACT

#: Kinds of index of dense retrievers, each with the keys that only it has.
INDEX_KEYS = {EXACT: (), "hnsw": ("links", "explored"), "ivf": ("lists", "probes")}


class AnyRetriever(Entry):
    """A method to find passages."""

    method: str
    hits: int = Field(100, ge=1)
    """Passages found per question; at least the `documents` of all candidates made from them."""
    threads: int = Field(8, ge=1)
    """CPU threads, at most Snakemake's cores."""


class WithoutEncoder(AnyRetriever):
    """A retriever without an encoder and its settings."""

    location: ClassVar[Mapping[str, str | None]] = {"path": None, "hub": None, "revision": None}
    encoding: ClassVar[Mapping] = {}
    index: ClassVar[Mapping] = {}
    device: ClassVar[str] = "auto"
    batch_tokens: ClassVar[int | None] = None


class Bm25(WithoutEncoder):
    """Search with BM25."""

    method: Literal["bm25"]
    """bm25: Lucene."""
    k1: NotNegative = 0.9
    """BM25's saturation of term frequency."""
    b: Annotated[float, Field(ge=0, le=1), AsGiven] = 0.4
    """BM25's normalisation by length, 0 to 1."""

    @property
    def search(self) -> dict:
        """Settings that change the hits."""
        return {"hits": self.hits, "k1": self.k1, "b": self.b}

    def located(self, root: Path) -> "Bm25":
        """The same retriever: it has no files."""
        return self


class Dense(AnyRetriever):
    """Search by the vectors of an encoder."""

    method: Literal["dense"]
    """dense: an encoder of Hugging Face, searched with FAISS."""
    path: str | None = None
    """A folder with the encoder (config.json, weights, tokenizer), relative to the working directory or the project."""
    hub: Hub | None = None
    """Name of the encoder on the Hugging Face hub."""
    revision: str | None = None
    """Branch, tag or commit on the hub; if left out, the default branch."""
    pooling: Literal["mean", "cls"] = "mean"
    """How a text's vector is computed: mean of its tokens' vectors, or the first token's vector (cls)."""
    normalize: bool = False
    """Whether vectors are scaled to length one, so that similarity is the cosine."""
    max_tokens: int = Field(512, ge=1)
    """Limit of tokens per text; longer texts are cut, and the log counts them."""
    passage_prefix: str = ""
    """Prefix of each passage, such as "passage: " for E5."""
    query_prefix: str = ""
    """Prefix of each question, such as "query: " for E5."""
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    """Number format of the encoder."""
    index_kind: Literal["exact", "hnsw", "ivf"] = Field("exact", alias="index")
    """exact (every vector is compared), or an approximate index per shard, hnsw or ivf; its recall against exact search
    is measured on a sample of the questions.
    """
    links: int = Field(32, ge=2)
    """Links per node in HNSW."""
    explored: int = Field(256, ge=1)
    """Candidates that a search of HNSW keeps; more raise recall and time."""
    lists: int = Field(1024, ge=1)
    """Lists of IVF per shard; small shards have fewer."""
    probes: int = Field(32, ge=1)
    """Lists of IVF that a search reads; more raise recall and time."""
    device: Device = "auto"
    batch_tokens: Annotated[int, Field(ge=1)] | None = None
    """Tokens in one batch, with padding (if left out, 4,096 on a CPU and 65,536 on a GPU). Lower it if memory runs out.
    """

    @model_validator(mode="after")
    def _check(self) -> "Dense":
        if (self.path is None) == (self.hub is None):
            raise ValueError("give either 'path' (a folder) or 'hub' (a name on the Hugging Face hub)")
        for kind, keys in INDEX_KEYS.items():
            for key in keys:
                if key in self.model_fields_set and kind != self.index_kind:
                    raise ValueError(f"'{key}' is not for 'index: {self.index_kind}', only for 'index: {kind}'")
        return self

    @property
    def location(self) -> dict[str, str | None]:
        """The encoder's place."""
        return {"path": self.path, "hub": self.hub, "revision": self.revision}

    @property
    def encoding(self) -> dict:
        """Settings that change a vector."""
        keys = ("pooling", "normalize", "max_tokens", "dtype", "passage_prefix")
        return {key: getattr(self, key) for key in keys}

    @property
    def index(self) -> dict:
        """Settings that change an approximate index."""
        return {"kind": self.index_kind, **{key: getattr(self, key) for key in INDEX_KEYS[self.index_kind]}}

    @property
    def search(self) -> dict:
        """Further settings that change the hits."""
        return {"hits": self.hits, "query_prefix": self.query_prefix}

    def located(self, root: Path) -> "Dense":
        """The entry with the path of the encoder's folder; `UserError` if files are missing in it."""
        if self.path is None:
            return self
        path = located_folder(self.path, root, f"{self.where}.path", "encoder")
        return self.changed(path=path)


class Recorded(WithoutEncoder):
    """Hits of an existing retrieval system."""

    method: Literal["recorded"]
    """recorded: hits of an existing system, from a file."""
    path: str
    """The file: .jsonl or .json with the texts (LangChain's and LlamaIndex' objects, with scores), or a TREC run with
    ids; relative to the working directory or the project.
    """
    questions: str
    """The question set of the hits."""

    @property
    def search(self) -> dict:
        """Settings that change the hits, apart from the file."""
        return {"hits": self.hits}

    def located(self, root: Path) -> "Recorded":
        """The entry with the path of the file; `UserError` if it is missing."""
        path = locate(self.path, root, f"{self.where}.path")
        if not Path(path).is_file():
            raise UserError(f"{self.where}.path: {path} is not a file")
        return self.changed(path=path)


Retriever = Bm25 | Dense | Recorded
RETRIEVERS = Variants("method", {"bm25": Bm25, "dense": Dense, "recorded": Recorded})


class CandidatesEntry(Entry):
    """Questions with the documents of their contexts, in the released format.

    Experiments name them as `dataset`.
    """

    questions: str
    """A dataset in the released format with at least the gold documents, or an entry of questions."""
    corpus: str
    """The corpus of the other documents."""
    retriever: str | None = None
    """What finds them."""
    kind: Literal["gold_and_retrieved", "gold_and_random", "as_retrieved"] = "gold_and_retrieved"
    """gold_and_retrieved (the gold document, then passages without an answer in the retriever's order), gold_and_random
    (the gold document, then random passages without an answer), or as_retrieved (passages in the retriever's order, for
    open-domain question answering).
    """
    documents: int = Field(ge=1)
    """Documents per question, with the gold document; the largest possible size of an experiment."""
    distractor_check: Literal["dpr", "metric"] = "dpr"
    """Test of whether a passage has an answer: dpr (the answer's consecutive tokens, as in Karpukhin et al. 2020) or
    metric (as best_subspan_em judges, which also finds answers inside other words).
    """
    too_few: Literal["error", "leave_out", "fill"] = "error"
    """Handling of a question with fewer documents: error, leave_out (counted in the table), or fill (random passages
    without an answer are added; a question that still has too few is left out).
    """

    @model_validator(mode="after")
    def _check(self) -> "CandidatesEntry":
        if self.kind == GOLD_AND_RANDOM and self.retriever is not None:
            raise ValueError(f"{GOLD_AND_RANDOM} takes no 'retriever'")
        if self.kind != GOLD_AND_RANDOM and self.retriever is None:
            raise ValueError(f"{self.kind} needs a 'retriever'")
        return self


class Candidates(CandidatesEntry):
    """Candidates with their settings."""

    settings: CandidateSettings


def read_candidates(
    entry: CandidatesEntry, questions: Iterable[str], corpora: Iterable[str], retrievers: Iterable[str], seed: int
) -> Candidates:
    """Candidates of an entry; `UserError` for unknown names."""
    choose([entry.questions], questions, f"{entry.where}.questions")
    choose([entry.corpus], corpora, f"{entry.where}.corpus")
    choose(filter(None, [entry.retriever]), retrievers, f"{entry.where}.retriever")
    own_seed = seed if entry.kind == GOLD_AND_RANDOM or entry.too_few == FILL else None
    settings = CandidateSettings(entry.kind, entry.documents, entry.distractor_check, entry.too_few, own_seed)
    return entry.become(Candidates, settings=settings)


def check_hits(candidates: Candidates, retrievers: Mapping[str, Retriever]) -> None:
    """Raise `UserError` for candidates with more documents than their retriever finds."""
    if candidates.retriever is None:
        return
    hits = retrievers[candidates.retriever].hits
    if hits < candidates.documents - (0 if candidates.kind == AS_RETRIEVED else 1):
        raise UserError(
            f"candidates.{candidates.name}.documents: {candidates.documents} are more than the {hits} 'hits' of the "
            f"retriever {candidates.retriever}"
        )
