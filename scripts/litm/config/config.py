"""The config: the selection of a run."""

from typing import Annotated, Any, Literal

from pydantic import Field, Strict

from litm.base.schema import Entry, Names
from litm.config.model_keys import ModelDefaults
from litm.config.my_data import MyData
from litm.figures.drawing.page import PRESETS, Page

#: Kinds of catalogues. Each has a file next to config.yaml.
Kind = Literal[
    "models", "experiments", "figures", "datasets", "corpora", "retrievers", "questions", "candidates", "rerankers"
]

#: Sizes of an experiment that a model runs; contexts without items have size 0.
Sizes = Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1, json_schema_extra={"uniqueItems": True})]


class Audit(Entry):
    """Settings of `snakemake audit`, which asks a sample again."""

    prompts_per_cell: int = Field(default=5, ge=1)
    """Questions per size that are asked again, at every position."""


class Report(Entry):
    """Settings of `results/report.html`."""

    questions_per_size: int = Field(default=20, ge=0)
    """Questions per experiment and size, with prompts and answers, that the report shows; a random sample. Fewer are
    shown if the file would exceed 25 MB.
    """


class FigureStyle(Entry):
    """Width and text size of all figures. If left out, figures are as wide as their panels need."""

    preset: Literal["single_column", "double_column", "slide"] = "single_column"
    """single_column (3.3 inches wide, 8 points), double_column (6.9 inches, 8 points) or slide (12 inches, 16 points).
    """
    width: Annotated[float, Field(ge=1, le=60)] | None = None
    """Width of each figure in inches; if left out, the preset's."""
    font_size: Annotated[float, Field(ge=4, le=60)] | None = None
    """Size of axis labels in points; other text is scaled with it. If left out, the preset's."""
    titles: bool = True
    """Whether figures have titles; journals usually want only a caption."""

    @property
    def page(self) -> Page:
        """The preset with the values that replace its own."""
        preset = PRESETS[self.preset]
        return Page(self.width or preset.width, self.font_size or preset.font_size, self.titles)


class Config(Entry):
    """The selection of a run: entries of the catalogues by name, and further entries that it defines."""

    models: Names
    """Names of models in config/models.yaml or under define.models."""
    experiments: Names
    """Names of experiments in config/experiments.yaml or under define.experiments."""
    my_data: MyData | None = None
    """Your own documents and questions: docs/your_documents.md. Their experiments replace the default `experiments` of
    config/config.yaml.
    """
    only: dict[str, Annotated[tuple[str | dict[str, Sizes], ...], Strict(False)] | None] | None = None
    """Restricts models to some of the selected experiments, as in {flan-ul2: [multi_document_qa]}, or to some of their
    sizes, as in {mpt-30b: [{multi_document_qa: [20]}]}. null restricts nothing.
    """
    examples: Annotated[int, Field(ge=1)] | None = None
    """Number of questions of every experiment: exactly this many where the task generates them, at most this many where
    they come from a file. Raise or remove it later, and only new prompts are asked.
    """
    figures: Annotated[tuple[str, ...], Strict(False)] | None = None
    """Names of figures in config/figures.yaml or under define.figures. If left out: every figure whose experiments are
    all selected, and a plain curve for each other selected experiment with positions.
    """
    figure_style: FigureStyle | None = None
    """Width and text size of all figures; if left out, figures are as wide as their panels need."""
    seed: int = Field(ge=0)
    """Seed of all random choices (generated questions and passages, random orders, samples and distractors)."""
    audit: Audit | None = None
    """Settings of `snakemake audit`."""
    report: Report | None = None
    """What `results/report.html` shows."""
    data_mirror: str | None = None
    """A folder that is searched for remote files, by base name, before they are downloaded; checksums are verified in
    both cases.
    """
    data_version: Literal["v1", "v2"] | None = None
    """The version of the authors' contexts for all experiments, where a dataset has several: v1 (before January 2024;
    the published numbers are from these) or v2 (since then). If left out, the version that the experiments name (v2).
    """
    model_defaults: ModelDefaults | None = None
    """Defaults for keys that a model's entry leaves out, such as {quantization: nf4}."""
    define: dict[Kind, dict[str, dict[str, Any]] | None] | None = None
    """Further catalogue entries, by kind and name. An entry with the name of an existing one replaces single keys of
    it.
    """
