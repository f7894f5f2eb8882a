"""Rerankers of the configuration: what puts documents that were retrieved into another order."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, Strict, model_validator

from litm.base.schema import Entry, Positive, Variants
from litm.config.model_folders import located_folder
from litm.config.values import Device, Hub


class CrossEncoder(Entry):
    """A model that reads question and document together and scores them."""

    method: Literal["cross_encoder"] = Field(
        description="cross_encoder: a sequence classifier with one score, as sentence-transformers has them."
    )
    path: str | None = Field(
        None,
        description="A folder with the cross-encoder (config.json, weights, tokenizer), from the working directory or "
        "the project.",
    )
    hub: Hub | None = Field(
        None,
        description="Name of the cross-encoder on the Hugging Face hub, such as cross-encoder/ms-marco-MiniLM-L6-v2.",
    )
    revision: str | None = Field(None, description="Branch, tag or commit on the hub; the default branch if left out.")
    max_tokens: int = Field(
        512, ge=8, description="Longer pairs are cut there, at the longer of the two texts; the log counts them."
    )
    dtype: Literal["float32", "bfloat16", "float16"] = Field("float32", description="Number format of the model.")
    device: Device = "auto"
    batch_tokens: Annotated[int, Field(ge=1)] | None = Field(
        None,
        description="Tokens in one batch, padding included (left out, 4,096 on a CPU and 65,536 on a GPU). Lower it if "
        "memory runs out.",
    )

    fused_with: ClassVar[tuple[str, ...]] = ()

    @model_validator(mode="after")
    def _check(self) -> "CrossEncoder":
        if (self.path is None) == (self.hub is None):
            raise ValueError("give either 'path' (a folder) or 'hub' (a name on the Hugging Face hub)")
        return self

    @property
    def location(self) -> dict[str, str | None]:
        """Where the model is."""
        return {"path": self.path, "hub": self.hub, "revision": self.revision}

    @property
    def settings(self) -> dict:
        """What changes the order, beside the model and the documents."""
        return {"max_tokens": self.max_tokens, "dtype": self.dtype}

    def located(self, root: Path) -> "CrossEncoder":
        """With the place of the model's folder; `UserError` for one without what a cross-encoder needs."""
        if self.path is None:
            return self
        path = located_folder(self.path, root, f"{self.where}.path", "cross-encoder")
        return self.changed(path=path)


class ReciprocalRank(Entry):
    """Several rankings fused into one, without a model."""

    method: Literal["reciprocal_rank"] = Field(
        description="reciprocal_rank: the sum of 1/(k + rank) over the rankings (Cormack et al. 2009)."
    )
    fused_with: Annotated[tuple[str, ...], Strict(False)] = Field(
        (),
        description="Candidates or datasets with the same questions, such as those of a dense retriever, whose "
        "rankings are fused with that of the documents. Left out: BM25 of the question among the documents themselves.",
    )
    k: Positive = Field(60, description="The constant of the sum.")

    location: ClassVar[Mapping[str, str | None]] = {"path": None, "hub": None, "revision": None}
    device: ClassVar[str] = "cpu"
    batch_tokens: ClassVar[int | None] = None

    @property
    def settings(self) -> dict:
        """What changes the order, beside the documents."""
        return {"k": self.k}

    def located(self, root: Path) -> "ReciprocalRank":
        """The same reranker, which has no files."""
        return self


Reranker = CrossEncoder | ReciprocalRank
RERANKERS = Variants("method", {"cross_encoder": CrossEncoder, "reciprocal_rank": ReciprocalRank})
