"""Keys of an experiment that change retrieved documents before a model reads them."""

from typing import Annotated, Any

from pydantic import Field, Strict, model_validator

from litm.base.schema import AsGiven, Entry, one_of
from litm.domain.condition import RANKED, Cut, score_in_words
from litm.examples.orders import ORDERS

Score = Annotated[float, AsGiven]
Margin = Annotated[float, Field(ge=0), AsGiven]
OrderName = Annotated[str, one_of(lambda: ORDERS)]


#: JSON schema of a list without duplicates.
DISTINCT: Any = {"uniqueItems": True}


class CutEntry(Entry):
    """Rule that leaves out documents by their scores."""

    score: Score | None = None
    """Documents below this score are left out."""
    margin: Margin | None = None
    """Documents whose score is lower than the question's best by more than this are left out."""

    @model_validator(mode="after")
    def _check(self) -> "CutEntry":
        if self.score is None and self.margin is None:
            raise ValueError("give 'score', 'margin' or both")
        return self

    def settings(self) -> dict[str, float]:
        """The fields of a `Cut`."""
        return self.model_dump(exclude_none=True)

    def __str__(self) -> str:
        """See `Cut`."""
        return str(Cut(**self.settings()))

    @property
    def file_name(self) -> str:
        """The cut as a part of a name: `margin_3`."""
        return "_".join(f"{key}_{score_in_words(value)}".replace(".", "_") for key, value in self.settings().items())


class RemediesEntry(Entry):
    """Remedies that are tried on an experiment's documents, each compared with the documents as retrieved."""

    order: Annotated[tuple[OrderName, ...], Strict(False)] = Field((), json_schema_extra=DISTINCT)
    """Orders, as in `order`."""
    rerank: Annotated[tuple[str, ...], Strict(False)] = Field((), json_schema_extra=DISTINCT)
    """Rerankers, as in `rerank`."""
    cut: Annotated[tuple[CutEntry, ...], Strict(False)] = ()
    """Cuts, as in `cut`."""
    prompt: Annotated[tuple[str, ...], Strict(False)] = Field((), json_schema_extra=DISTINCT)
    """Prompt files, such as multi_document_qa_query_aware."""
    together: int = Field(1, ge=1, le=4)
    """Number of remedies that are combined: 1 (each alone), 2 (also any two of different keys), ... A cut is never
    combined with a reranker, whose scores have another scale.
    """

    @model_validator(mode="after")
    def _check(self) -> "RemediesEntry":
        if not (self.order or self.rerank or self.cut or self.prompt):
            raise ValueError("name at least one of 'order', 'rerank', 'cut' and 'prompt'")
        if RANKED in self.order:
            raise ValueError(f"'{RANKED}' is the baseline of every remedy, remove it from 'order'")
        return self
