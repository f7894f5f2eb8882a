"""The config: what a run is about."""

from typing import Annotated, Any, Literal

from pydantic import Field, Strict

from litm.base.schema import Entry, Names
from litm.config.models import ModelDefaults
from litm.config.my_data import MyData
from litm.figures.drawing.page import PRESETS, Page

#: The kinds of catalogues. Each has a file beside config.yaml.
Kind = Literal[
    "models", "experiments", "figures", "datasets", "corpora", "retrievers", "questions", "candidates", "rerankers"
]

#: Sizes that a model runs of an experiment; 0 is that of contexts without items.
Sizes = Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1, json_schema_extra={"uniqueItems": True})]


class Audit(Entry):
    """What `snakemake audit` asks again."""

    prompts_per_cell: int = Field(default=5, ge=1, description="Questions of each size, asked again at every position.")


class Report(Entry):
    """What `results/report.html` shows."""

    questions_per_size: int = Field(
        default=20,
        ge=0,
        description="Questions of each experiment and size that can be looked at, with prompts and answers; a random "
        "sample. Fewer are shown where the file would become larger than 25 MB.",
    )


class FigureStyle(Entry):
    """The page that figures are for; left out, they are as wide as they need."""

    preset: Literal["single_column", "double_column", "slide"] = Field(
        "single_column",
        description="single_column (3.3 inches wide, 8 points), double_column (6.9 inches, 8 points) or slide (12 "
        "inches, 16 points).",
    )
    width: Annotated[float, Field(ge=1, le=60)] | None = Field(
        None, description="Inches of each figure; that of the preset if left out."
    )
    font_size: Annotated[float, Field(ge=4, le=60)] | None = Field(
        None, description="Points of the labels of axes; other text follows. That of the preset if left out."
    )
    titles: bool = Field(True, description="Whether figures have titles; journals want the caption alone.")

    @property
    def page(self) -> Page:
        """The preset with the values that replace its own."""
        preset = PRESETS[self.preset]
        return Page(self.width or preset.width, self.font_size or preset.font_size, self.titles)


class Config(Entry):
    """What a run is about. It selects entries of the catalogues by name and may define more of them."""

    models: Names = Field(description="Names of models in config/models.yaml or under define.models.")
    experiments: Names = Field(
        description="Names of experiments in config/experiments.yaml or under define.experiments."
    )
    my_data: MyData | None = Field(
        None,
        description="Your own documents and questions: docs/your_documents.md. Where `experiments` is that of "
        "config/config.yaml, those that follow from them are run instead.",
    )
    only: dict[str, Annotated[tuple[str | dict[str, Sizes], ...], Strict(False)] | None] | None = Field(
        None,
        description="For models that run some of the selected experiments and not all, the names of those, as in "
        "{flan-ul2: [multi_document_qa]}, or with the sizes that they run, as in "
        "{mpt-30b: [{multi_document_qa: [20]}]}. null is all of them.",
    )
    examples: Annotated[int, Field(ge=1)] | None = Field(
        None,
        description="A pilot: no experiment asks more questions than this, whatever its own examples say. Raise it "
        "later, or take it out, and only what is new is asked.",
    )
    figures: Annotated[tuple[str, ...], Strict(False)] | None = Field(
        None,
        description="Names of figures in config/figures.yaml or under define.figures. Left out: every figure whose "
        "experiments are all selected, and a plain curve for any other selected experiment that has positions.",
    )
    figure_style: FigureStyle | None = Field(
        None, description="The page that figures are for: width, font size, titles."
    )
    seed: int = Field(
        ge=0,
        description="Seed of everything random (generated questions and passages, random orders, samples and "
        "distractors).",
    )
    audit: Audit | None = Field(None, description="What `snakemake audit` asks again.")
    report: Report | None = Field(None, description="What `results/report.html` shows.")
    data_mirror: str | None = Field(
        None,
        description="A folder where remote files are looked for by their base name before they are downloaded; their "
        "sums are checked all the same.",
    )
    data_version: Literal["v1", "v2"] | None = Field(
        None,
        description="Which contexts of the paper's authors all experiments take, where a dataset has several versions: "
        "those before January 2024 that the printed numbers were made from (v1), or those since (v2). Left out: those "
        "that the experiments name (v2).",
    )
    model_defaults: ModelDefaults | None = Field(
        None, description="Values for keys that a model's entry leaves out, such as {quantization: nf4}."
    )
    define: dict[Kind, dict[str, dict[str, Any]] | None] | None = Field(
        None,
        description="More catalogue entries, by kind and name. An entry of a name that the catalogue has replaces its "
        "keys one by one.",
    )
