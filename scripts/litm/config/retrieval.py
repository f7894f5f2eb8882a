"""Retrieval of the configuration: retrievers, candidates and rerankers."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from litm.base.messages import UserError
from litm.base.schema import (
    AnyNames,
    AsGiven,
    Count,
    Device,
    Entry,
    Hub,
    Made,
    NotNegative,
    PathTo,
    Positive,
    Ref,
    Variants,
    is_file,
)
from litm.engines.model_files import check_encoder
from litm.placements import AS_RETRIEVED
from litm.retrieval.candidates import FILL, GOLD_AND_RANDOM, CandidateSettings
from litm.retrieval.search import EXACT

#: Kinds of index of dense retrievers, each with the keys that only it has.
INDEX_KEYS = {EXACT: (), "hnsw": ("links", "explored"), "ivf": ("lists", "probes")}


class AnyRetriever(Entry):
    """A method to find passages."""

    method: str
    hits: Count = 100
    """Number of passages retrieved per question; at least the largest `documents` of the candidates made from them."""
    threads: Count = 8
    """CPU threads, at most Snakemake's cores."""


class WithoutModel(Entry):
    """A retriever or reranker without a model."""

    location: ClassVar[Mapping[str, str | None]] = {"path": None, "hub": None, "revision": None}
    encoding: ClassVar[Mapping] = {}
    index: ClassVar[Mapping] = {}
    device: ClassVar[str] = "auto"
    batch_tokens: ClassVar[int | None] = None


class WithModel(Entry):
    """A retriever or reranker with a model."""

    path: Annotated[str | None, PathTo(check_encoder)] = None
    """A folder with the model (config.json, weights, tokenizer), relative to the working directory or the project."""
    hub: Hub | None = None
    """Name of the model on the Hugging Face hub, such as facebook/contriever or cross-encoder/ms-marco-MiniLM-L6-v2."""
    revision: str | None = None
    """Branch, tag or commit on the hub. If omitted, the default branch."""
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    """Number format of the model."""
    device: Device = "auto"
    """auto (a GPU if there is one), cpu, cuda, or cuda:N."""
    batch_tokens: Count | None = None
    """Tokens in one batch, including padding (default: 4,096 on a CPU and 65,536 on a GPU). Lower it if memory runs
    out.
    """

    def mistakes(self) -> Iterator[str]:
        """See `Entry.mistakes`."""
        if (self.path is None) == (self.hub is None):
            yield "give either 'path' (a folder) or 'hub' (a name on the Hugging Face hub)"

    @property
    def location(self) -> dict[str, str | None]:
        """The model's place."""
        return {"path": self.path, "hub": self.hub, "revision": self.revision}


class ByWords(WithoutModel, AnyRetriever):
    """Search by the words of a question."""

    k1: NotNegative = 0.9
    """BM25's saturation of term frequency."""
    b: Annotated[float, Field(ge=0, le=1), AsGiven] = 0.4
    """BM25's normalisation by length, 0 to 1."""

    @property
    def search(self) -> dict:
        """Settings that change the hits."""
        return {"hits": self.hits, "k1": self.k1, "b": self.b}


class Bm25(ByWords):
    """Search with BM25."""

    method: Literal["bm25"]
    """bm25: Lucene, which needs the extra `[retrieval]` (pyserini and Java)."""


class Bm25s(ByWords):
    """Search with BM25, without Java."""

    method: Literal["bm25s"]
    """bm25s: the library bm25s, with Lucene's formula and stop words; for up to about a million passages."""


class Dense(WithModel, AnyRetriever):
    """Search by the vectors of an encoder."""

    method: Literal["dense"]
    """dense: an encoder of Hugging Face, searched with FAISS."""
    pooling: Literal["mean", "cls"] = "mean"
    """How a text's vector is computed: mean of its tokens' vectors, or the first token's vector (cls)."""
    normalize: bool = False
    """Whether vectors are scaled to length one, so that similarity is the cosine."""
    max_tokens: Count = 512
    """Maximum number of tokens per text. Longer texts are cut, and the log counts them."""
    passage_prefix: str = ""
    """Prefix of each passage, such as "passage: " for E5."""
    query_prefix: str = ""
    """Prefix of each question, such as "query: " for E5."""
    index_kind: Literal["exact", "hnsw", "ivf"] = Field("exact", alias="index")
    """exact (every vector is compared), or an approximate index per shard, hnsw or ivf; its recall against exact search
    is measured on a sample of the questions.
    """
    links: int = Field(32, ge=2)
    """Links per node in HNSW."""
    explored: Count = 256
    """Candidates that an HNSW search keeps. More candidates raise recall and time."""
    lists: Count = 1024
    """IVF lists per shard. Small shards have fewer."""
    probes: Count = 32
    """IVF lists that a search reads. More lists raise recall and time."""

    def mistakes(self) -> Iterator[str]:
        """See `Entry.mistakes`."""
        yield from super().mistakes()
        for kind, keys in INDEX_KEYS.items():
            for key in keys:
                if key in self.model_fields_set and kind != self.index_kind:
                    yield f"'{key}' is not for 'index: {self.index_kind}', only for 'index: {kind}'"

    @property
    def encoding(self) -> dict:
        """Settings that change a vector."""
        return self.model_dump(include={"pooling", "normalize", "max_tokens", "dtype", "passage_prefix"})

    @property
    def index(self) -> dict:
        """Settings that change an approximate index."""
        return {"kind": self.index_kind, **{key: getattr(self, key) for key in INDEX_KEYS[self.index_kind]}}

    @property
    def search(self) -> dict:
        """Further settings that change the hits."""
        return {"hits": self.hits, "query_prefix": self.query_prefix}


class Recorded(WithoutModel, AnyRetriever):
    """Hits of an existing retrieval system."""

    method: Literal["recorded"]
    """recorded: hits of an existing system, from a file."""
    path: Annotated[str, PathTo(is_file)]
    """The file: .jsonl or .json with the texts (LangChain's and LlamaIndex' objects, with scores), or a TREC run with
    ids; relative to the working directory or the project.
    """
    questions: Annotated[str, Ref("datasets", "questions")]
    """The question set of the hits."""

    @property
    def search(self) -> dict:
        """Settings that change the hits, apart from the file."""
        return {"hits": self.hits}


Retriever = Bm25 | Bm25s | Dense | Recorded
RETRIEVERS = Variants("method", {"bm25": Bm25, "bm25s": Bm25s, "dense": Dense, "recorded": Recorded})


class Candidates(Entry):
    """Questions with the documents of their contexts, in the released format.

    Experiments name them as `dataset`.
    """

    questions: Annotated[str, Ref("datasets", "questions")]
    """A dataset in the released format with at least the gold documents, or an entry of questions."""
    corpus: Annotated[str, Ref("corpora")]
    """The corpus of the other documents."""
    retriever: Annotated[str | None, Ref("retrievers")] = None
    """The retriever that finds these documents."""
    kind: Literal["gold_and_retrieved", "gold_and_random", "as_retrieved"] = "gold_and_retrieved"
    """gold_and_retrieved (the gold document, then passages without an answer in the retriever's order), gold_and_random
    (the gold document, then random passages without an answer), or as_retrieved (passages in the retriever's order, for
    open-domain question answering).
    """
    documents: Count
    """Number of documents per question, including the gold document: the largest possible size of an experiment."""
    distractor_check: Literal["dpr", "metric", "words"] = "dpr"
    """How to decide whether a passage contains an answer: dpr (the answer's consecutive tokens, as in Karpukhin et al.
    2020), metric (as best_subspan_em judges, which also finds answers inside other words) or words (as whole_words
    judges; that of `my_data`).
    """
    too_few: Literal["error", "leave_out", "fill"] = "error"
    """How to handle a question with fewer documents: error, leave_out (counted in the table), or fill (random passages
    without an answer are added; a question that still has too few is left out).
    """
    seed: Made[int] = 0
    """The config's seed."""

    def mistakes(self) -> Iterator[str]:
        """See `Entry.mistakes`."""
        if self.kind == GOLD_AND_RANDOM and self.retriever is not None:
            yield f"{GOLD_AND_RANDOM} takes no 'retriever'"
        if self.kind != GOLD_AND_RANDOM and self.retriever is None:
            yield f"{self.kind} needs a 'retriever'"

    @property
    def settings(self) -> CandidateSettings:
        """The settings that change the documents; the seed only if some are random."""
        seed = self.seed if self.kind == GOLD_AND_RANDOM or self.too_few == FILL else None
        return CandidateSettings(self.kind, self.documents, self.distractor_check, self.too_few, seed)

    def check_hits(self, retrievers: Mapping[str, Retriever]) -> None:
        """Raise `UserError` for more documents than the retriever finds."""
        hits = retrievers[self.retriever].hits if self.retriever else self.documents
        if hits < self.documents - (0 if self.kind == AS_RETRIEVED else 1):
            raise UserError(
                f"{self.where}.documents: {self.documents} are more than the {hits} 'hits' of the retriever "
                f"{self.retriever}"
            )


class CrossEncoder(WithModel):
    """A model that scores each pair of question and document."""

    method: Literal["cross_encoder"]
    """cross_encoder: a sequence classifier with one score, as in sentence-transformers."""
    max_tokens: int = Field(512, ge=8)
    """Maximum number of tokens per pair. In a longer pair, the longer text is cut, and the log counts these pairs."""

    fused_with: ClassVar[tuple[str, ...]] = ()

    @property
    def settings(self) -> dict:
        """Settings that change the order, apart from the model and the documents."""
        return {"max_tokens": self.max_tokens, "dtype": self.dtype}


class ReciprocalRank(WithoutModel):
    """Fusion of several rankings, without a model."""

    method: Literal["reciprocal_rank"]
    """reciprocal_rank: the sum of 1/(k + rank) over the rankings (Cormack et al. 2009)."""
    fused_with: Annotated[AnyNames, Ref("datasets", "questions", "candidates")] = ()
    """Candidates or datasets with the same questions, such as those of a dense retriever, whose rankings are fused with
    that of the documents. If omitted, BM25 over the question's own documents.
    """
    k: Positive = 60
    """Constant of the sum."""

    device: ClassVar[str] = "cpu"

    @property
    def settings(self) -> dict:
        """Settings that change the order, apart from the documents."""
        return {"k": self.k}


Reranker = CrossEncoder | ReciprocalRank
RERANKERS = Variants("method", {"cross_encoder": CrossEncoder, "reciprocal_rank": ReciprocalRank})
