"""Rerankers of the configuration, which reorder retrieved documents."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, Strict, model_validator

from litm.base.schema import Entry, Positive, Variants
from litm.config.model_folders import located_folder
from litm.config.values import Device, Hub


class CrossEncoder(Entry):
    """A model that scores each pair of question and document."""

    method: Literal["cross_encoder"]
    """cross_encoder: a sequence classifier with one score, as in sentence-transformers."""
    path: str | None = None
    """A folder with the cross-encoder (config.json, weights, tokenizer), relative to the working directory or the
    project.
    """
    hub: Hub | None = None
    """Name of the cross-encoder on the Hugging Face hub, such as cross-encoder/ms-marco-MiniLM-L6-v2."""
    revision: str | None = None
    """Branch, tag or commit on the hub; if left out, the default branch."""
    max_tokens: int = Field(512, ge=8)
    """Limit of tokens per pair; the longer text of a longer pair is cut, and the log counts these pairs."""
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    """Number format of the model."""
    device: Device = "auto"
    batch_tokens: Annotated[int, Field(ge=1)] | None = None
    """Tokens in one batch, with padding (if left out, 4,096 on a CPU and 65,536 on a GPU). Lower it if memory runs out.
    """

    fused_with: ClassVar[tuple[str, ...]] = ()

    @model_validator(mode="after")
    def _check(self) -> "CrossEncoder":
        if (self.path is None) == (self.hub is None):
            raise ValueError("give either 'path' (a folder) or 'hub' (a name on the Hugging Face hub)")
        return self

    @property
    def location(self) -> dict[str, str | None]:
        """The model's place."""
        return {"path": self.path, "hub": self.hub, "revision": self.revision}

    @property
    def settings(self) -> dict:
        """Settings that change the order, apart from the model and the documents."""
        return {"max_tokens": self.max_tokens, "dtype": self.dtype}

    def located(self, root: Path) -> "CrossEncoder":
        """The entry with the path of the model's folder; `UserError` if files are missing in it."""
        if self.path is None:
            return self
        path = located_folder(self.path, root, f"{self.where}.path", "cross-encoder")
        return self.changed(path=path)


class ReciprocalRank(Entry):
    """Fusion of several rankings, without a model."""

    method: Literal["reciprocal_rank"]
    """reciprocal_rank: the sum of 1/(k + rank) over the rankings (Cormack et al. 2009)."""
    fused_with: Annotated[tuple[str, ...], Strict(False)] = ()
    """Candidates or datasets with the same questions, such as those of a dense retriever, whose rankings are fused with
    that of the documents. If left out: BM25 over the question's own documents.
    """
    k: Positive = 60
    """Constant of the sum."""

    location: ClassVar[Mapping[str, str | None]] = {"path": None, "hub": None, "revision": None}
    device: ClassVar[str] = "cpu"
    batch_tokens: ClassVar[int | None] = None

    @property
    def settings(self) -> dict:
        """Settings that change the order, apart from the documents."""
        return {"k": self.k}

    def located(self, root: Path) -> "ReciprocalRank":
        """The same reranker: it has no files."""
        return self


Reranker = CrossEncoder | ReciprocalRank
RERANKERS = Variants("method", {"cross_encoder": CrossEncoder, "reciprocal_rank": ReciprocalRank})
