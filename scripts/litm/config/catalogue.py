"""The config and the catalogues: the selection of a run, and entries by kind and name."""

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import Field

from litm.base.extensions import Registry, files, merged
from litm.base.messages import UserError
from litm.base.schema import AnyNames, Count, Entry, Names, Variants, read_entry, string_keys
from litm.config.data import Corpus, Dataset, QuestionSet
from litm.config.experiments import Experiment
from litm.config.figures import Figure
from litm.config.my_data import MyData
from litm.config.recorded_models import RecordedModel
from litm.config.retrieval import RERANKERS, RETRIEVERS, Candidates
from litm.config.yaml_files import read_yaml
from litm.engines import modules
from litm.engines.local_models import LocalModel
from litm.engines.model_entries import RECORDED, ModelDefaults
from litm.engines.registry import settings_class
from litm.engines.served_models import ServedModel
from litm.figures.kinds import PRESETS, Page
from litm.records.measures import LOG_PROBABILITY

#: Kinds of catalogues. Each has a file next to config.yaml.
Kind = Literal[
    "models", "experiments", "figures", "datasets", "corpora", "retrievers", "questions", "candidates", "rerankers"
]


def _entry_class(module: str) -> dict[str, type[Entry]]:
    name = module.rpartition(".")[2]
    return {name: settings_class(name)}


MODELS = Variants("engine", Registry("engines", _entry_class, {RECORDED: RecordedModel}, modules))
#: Class of the entries of each kind.
CATALOGUES: dict[Kind, type[Entry] | Variants] = {
    "models": MODELS,
    "experiments": Experiment,
    "figures": Figure,
    "datasets": Dataset,
    "corpora": Corpus,
    "retrievers": RETRIEVERS,
    "questions": QuestionSet,
    "candidates": Candidates,
    "rerankers": RERANKERS,
}
#: Entries by kind and name.
Entries = Mapping[str, Mapping[str, Any]]
#: Sizes of an experiment that a model runs; contexts without items have size 0.
Sizes = Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=1, json_schema_extra={"uniqueItems": True})]


class Audit(Entry):
    """Settings of `snakemake audit`, which asks a sample again."""

    prompts_per_cell: Count = 5
    """Questions per size that the audit repeats, at every position."""


class Report(Entry):
    """Settings of `results/report.html`."""

    questions_per_size: Annotated[int, Field(ge=0)] = 20
    """Number of questions per experiment and size that the report shows with prompts and answers: a random sample, or
    fewer if they would take more than 16 MB of it.
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
    """Whether figures have titles. Journals usually want only a caption."""

    @property
    def page(self) -> Page:
        """The preset with the values that replace its own."""
        preset = PRESETS[self.preset]
        return Page(self.width or preset.width, self.font_size or preset.font_size, self.titles)


class Config(Entry):
    """What a run selects: entries of the catalogues by name, and further entries that the config defines."""

    models: Names
    """Names of models in config/models.yaml or under define.models."""
    experiments: Names
    """Names of experiments in config/experiments.yaml or under define.experiments."""
    beside: Names | None = None
    """Names of models with recorded responses, of config/others.yaml or under define.models, whose curves are drawn
    beside those of `models` (docs/others.md). They are scored and compared on the same questions, and in no conclusion.
    """
    my_data: MyData | None = None
    """Your own documents and questions (docs/your_documents.md). Their experiments replace the default `experiments` of
    config/config.yaml.
    """
    only: dict[str, Annotated[tuple[str | dict[str, Sizes], ...], Field(strict=False)] | None] | None = None
    """Restricts models to some of the selected experiments, as in {flan-ul2: [multi_document_qa]}, or to some of their
    sizes, as in {mpt-30b: [{multi_document_qa: [20]}]}. null restricts nothing.
    """
    examples: Count | None = None
    """Number of questions in every experiment: exactly this many if the task generates them, at most this many if they
    come from a file. For questions from a file, it does not raise an experiment's own `examples`. If you raise or
    remove it later, only new prompts run.
    """
    figures: AnyNames | None = None
    """Names of figures in config/figures.yaml or under define.figures. If omitted, every figure whose experiments are
    all selected, and a plain curve for each other selected experiment with positions.
    """
    figure_style: FigureStyle | None = None
    """Width and text size of all figures; if left out, figures are as wide as their panels need."""
    seed: Annotated[int, Field(ge=0)]
    """Seed of all random choices (generated questions and passages, random orders, samples and distractors)."""
    audit: Audit | None = None
    """Settings of `snakemake audit`."""
    report: Report | None = None
    """Contents of `results/report.html`."""
    data_mirror: str | None = None
    """A folder that is searched for remote files, by base name, before they are downloaded. Checksums are verified in
    both cases.
    """
    answers: str | None = None
    """A folder of kept answers that several studies or people share, see docs/answers.md; the environment variable
    LITM_ANSWERS names one for all studies. New answers go there if it can be written. The study's own
    `results/answers` is read in any case.
    """
    data_version: Literal["v1", "v2"] | None = None
    """Version of the authors' contexts for all experiments, if a dataset has several: v1 (before January 2024, used for
    the published numbers) or v2 (since then). If omitted, the version that the experiments name (v2).
    """
    model_defaults: ModelDefaults | None = None
    """Defaults for keys that a model's entry leaves out, such as {quantization: nf4}."""
    extensions: AnyNames = ()
    """Folders or installed Python packages with your own tasks, metrics, engines and more (docs/extensions.md), as in
    [examples/my_task].
    """
    define: dict[Kind, dict[str, dict[str, Any]] | None] | None = None
    """Further catalogue entries, by kind and name. An entry with the name of an existing one overrides single keys of
    it. If its `engine` or `method` is of another kind (such as `engine: recorded` for a model that runs here), it keeps
    only `about`. The `path` of a dataset replaces its `url`.
    """


def read_catalogues(root: Path, config: Config, added: Entries) -> dict[str, dict[str, Any]]:
    """All checked entries by kind and name: from `root`/config, from `added` and from the config, with its defaults."""
    return {kind: read_catalogue(kind, root, config, added) for kind in CATALOGUES}


def read_catalogue(kind: Kind, root: Path, config: Config | None = None, added: Entries = MappingProxyType({})) -> dict:
    """The checked entries of one kind, by name."""
    extra = ((file, string_keys(read_yaml(file)) or {}) for file in files("config", kind))
    entries = {**merged(kind, string_keys(read_yaml(root / "config" / f"{kind}.yaml")), extra), **added.get(kind, {})}
    if config is not None:
        for name, entry in ((config.define or {}).get(kind) or {}).items():
            entries[name] = {**_kept(kind, entries.get(name, {}), entry), **entry}
        if kind == "models" and config.model_defaults:
            defaults = config.model_defaults.model_dump(exclude_unset=True)
            entries = {name: _with_defaults(entry, defaults) for name, entry in entries.items()}
    return {name: read_catalogue_entry(kind, name, entry) for name, entry in entries.items()}


def read_catalogue_entry(kind: Kind, name: str, value: Mapping) -> Any:
    """A checked entry of a catalogue; `UserError` for the first mistake, and for a name that no file can have."""
    if name.endswith((".zip", ".json", f".{LOG_PROBABILITY}")):
        raise UserError(f"{kind}: the name '{name}' is not allowed; it would be taken for a file")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise UserError(f"{kind}: the name '{name}' is not allowed; use letters a to z, digits, '.', '-' and '_'")
    entries, where = CATALOGUES[kind], f"{kind}.{name}"
    return entries.read(value, where) if isinstance(entries, Variants) else read_entry(entries, value, where)


def _kept(kind: Kind, entry: Mapping, changes: Mapping) -> Mapping:
    """The keys of an entry that stay if others are changed: all, or `about` alone if it becomes one of another kind. A
    local file of a dataset replaces its URL.
    """
    if kind == "datasets" and changes.get("path"):
        return {key: value for key, value in entry.items() if key != "url"}
    entries = CATALOGUES[kind]
    if not isinstance(entries, Variants) or entries.key not in changes:
        return entry
    before, after = entries.class_of(entry), entries.class_of(changes)
    if before is after:
        return entry
    classes = [entry_class for entry_class in (before, after) if entry_class is not None]
    if any(all(issubclass(entry_class, base) for entry_class in classes) for base in (LocalModel, ServedModel)):
        return entry
    return {key: value for key, value in entry.items() if key == "about"}


def _with_defaults(entry: Mapping, defaults: Mapping) -> dict:
    """A model's entry with those of the config's defaults that its kind has."""
    keys = kind.keys if (kind := MODELS.class_of(entry)) else ()
    return {**{key: value for key, value in defaults.items() if key in keys}, **entry}
