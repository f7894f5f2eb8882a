"""Models with recorded responses only: the files of each experiment, and the names of their fields."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from litm.base.files import file_kind
from litm.base.messages import UserError
from litm.config.data import Dataset
from litm.config.experiments import Experiment
from litm.config.models import AnyModel, tokenizer_of
from litm.config.schema import Entry, GgufInPackage, choose, locate, text_names
from litm.inference.recorded import ENDINGS, IDENTIFIERS, OWN_FIELDS
from litm.models.files import find_in_package
from litm.placements import gold_positions
from litm.prompting.prompt_format import CHAT, RAW, named_template
from litm.prompting.reasoning import OFF, STRIP
from litm.records import Cell

#: Engine of an entry that runs nothing.
RECORDED = "recorded"


class Fields(Entry):
    """Names of the fields in files of recorded responses; nested ones with dots (a.b)."""

    response: str | None = None
    """Text of the answer. Required."""
    id: str | None = None
    """The question's id, as in results/examples. One of id, question and prompt is required."""
    question: str | None = None
    """The question's text; case, spacing and a final question mark do not count."""
    prompt: str | None = None
    """The whole prompt, exactly as in results/examples."""
    size: str | None = None
    """The size, if a file has several."""
    placement: str | None = None
    """The placement (gold_at_4, no_gold), if a file has several."""
    position: str | None = None
    """The position, from 0, instead of the placement."""
    finish_reason: str | None = None
    """Why the answer ended (stop, length); if left out, the number of cut answers is unknown."""

    prompt_sha256: str | None = None
    """The sha256 of the prompt, as in results/responses: a response to another prompt is not used, but counted."""

    @model_validator(mode="after")
    def _check(self) -> "Fields":
        if not self.response or not any(getattr(self, name) for name in IDENTIFIERS):
            raise ValueError(f"'response' and one of {', '.join(IDENTIFIERS)} are needed")
        return self


class RecordedEntry(AnyModel):
    """Recorded responses of a model, which is not run."""

    engine: Literal["recorded"]
    """recorded: responses made elsewhere are scored."""
    responses: dict[str, Annotated[str, Field(min_length=1)]] | None = None
    """File of the responses by experiment, a dataset's name or a path; JSON Lines, CSV or TSV, plain or .gz. {size},
    {placement} (gold_at_4) and {position} (4) in it are filled in. Experiments without an entry are left out for this
    model. null means that you must supply the file: until then the model is left out.
    """
    field_names: Fields | None = Field(None, alias="fields")
    """Names of the fields in these files, by this workflow's names; nested ones with dots (a.b). If left out: response,
    id, size, placement, finish_reason and, if present, prompt_sha256, as in results/responses.
    """

    tokenizer: str | None = None
    """The model's tokenizer, only to count prompt tokens: a tokenizer.json file, a folder with a tokenizer, a GGUF
    file, or the name of a dataset with one. If left out, the model has no row in the tables of tokens. It changes no
    answer.
    """
    package: GgufInPackage | None = None
    """Instead of `tokenizer`: a GGUF file in an installed Python package, as package name and path in its folder."""
    prompt_template: str = RAW
    """Format of the recorded prompts, to count their tokens: raw (as they are), chat (the tokenizer's chat template),
    or a file of resources/prompt_templates.
    """

    @field_validator("policy")
    @classmethod
    def _check_policy(cls, policy: str | None) -> str | None:
        if policy not in (None, STRIP):
            raise ValueError(f"{policy or OFF} is for models that are asked; allowed: {STRIP}")
        return policy

    @model_validator(mode="after")
    def _check(self) -> "RecordedEntry":
        if not self.responses and not self.is_to_supply:
            raise ValueError("'responses' is missing (for each experiment a file of recorded responses)")
        if self.tokenizer and self.package:
            raise ValueError("give either 'tokenizer' or 'package'")
        return self

    @property
    def is_to_supply(self) -> bool:
        """Whether the user must still supply the responses."""
        return "responses" in self.model_fields_set and self.responses is None

    @property
    def template_name(self) -> str | None:
        """Name of the prompt template's file, None for a raw prompt or a chat template."""
        return named_template(self.prompt_template)

    @property
    def fields(self) -> dict[str, str]:
        """Names in the files, by this workflow's names of fields."""
        return self.field_names.model_dump(exclude_none=True) if self.field_names else OWN_FIELDS


@dataclass(frozen=True)
class ResponseFile:
    """A file of recorded responses (a dataset's name or a path) and the cells in it."""

    dataset: str | None
    path: str | None
    cells: tuple[Cell, ...]


class RecordedModel(RecordedEntry):
    """Recorded responses: their files by selected experiment."""

    files: dict[str, tuple[ResponseFile, ...]]


def read_recorded_model(
    entry: RecordedEntry,
    catalogue: Iterable[str],
    experiments: Mapping[str, Experiment],
    datasets: Mapping[str, Dataset],
    root: Path,
) -> RecordedModel:
    """The recorded responses of an entry to the selected experiments.

    catalogue: names of all experiments. Raises `UserError` for an unknown experiment, a file that is missing or of the
    wrong kind, cells that cannot be told apart, and if no selected experiment has responses.
    """
    where = f"{entry.where}.responses"
    responses = entry.responses or {}
    choose(responses, catalogue, where)
    # Mistakes are reported in the order of the entry; files are in the order of the experiments.
    files = {
        name: _files(pattern, experiments[name], entry.fields, datasets, root, f"{where}.{name}")
        for name, pattern in responses.items()
        if name in experiments
    }
    if not files:
        raise UserError(
            f"{where}: no file has responses to the selected experiments ({', '.join(experiments)}); add one, or "
            "remove the model from 'models'"
        )
    templates = [RAW, CHAT, *text_names(root / "resources" / "prompt_templates")]
    choose([entry.prompt_template], templates, f"{entry.where}.prompt_template")
    in_package = entry.package and find_in_package(entry.package, f"{entry.where}.package", root)
    return entry.become(
        RecordedModel,
        files={name: files[name] for name in experiments if name in files},
        tokenizer=in_package or tokenizer_of(entry, datasets, root),
    )


def _files(
    pattern: str, experiment: Experiment, fields: Mapping, datasets: Mapping[str, Dataset], root: Path, where: str
) -> tuple[ResponseFile, ...]:
    by_name: dict[str, list[Cell]] = {}
    for cell in experiment.cells:
        by_name.setdefault(fill(pattern, cell, where), []).append(cell)
    for cells in by_name.values():
        _check_told_apart(cells, fields, where)
    return tuple(_file(name, tuple(cells), datasets, root, where) for name, cells in by_name.items())


def fill(pattern: str, cell: Cell, where: str) -> str:
    """The file of a cell: {size}, {placement} (`gold_at_4`) and {position} (`4`) are filled in."""
    values = {"size": str(cell.size), "placement": cell.placement}
    if positions := gold_positions(cell.placement):
        values["position"] = "_".join(map(str, positions))

    def value(match: re.Match) -> str:
        if match[1] not in values:
            raise UserError(f"{where}: {match[0]} is not known of {cell.placement}; allowed: {{{'}, {'.join(values)}}}")
        return values[match[1]]

    return re.sub(r"\{(\w*)\}", value, pattern)


def _check_told_apart(cells: Iterable[Cell], fields: Mapping, where: str) -> None:
    """Raise `UserError` unless each record of a file with several cells names its cell."""
    if "prompt" in fields:
        return
    placements: dict[int, list[str]] = {}
    for cell in cells:
        placements.setdefault(cell.size, []).append(cell.placement)
    if len(placements) > 1 and "size" not in fields:
        raise UserError(f"{where}: one file for several sizes: write {{size}} in its path, or give 'size' in 'fields'")
    if any(len(several) > 1 for several in placements.values()) and not {"placement", "position"} & set(fields):
        raise UserError(
            f"{where}: one file for several placements: write {{placement}} in its path, or give 'placement' or "
            f"'position' in 'fields'"
        )


def _file(name: str, cells: tuple[Cell, ...], datasets: Mapping[str, Dataset], root: Path, where: str) -> ResponseFile:
    dataset = datasets.get(name)
    path = None if dataset else locate(name, root, where)
    file = path or (dataset and (dataset.path or dataset.file)) or name
    if path and not Path(path).is_file():
        raise UserError(f"{where}: {path} is not a file")
    if file_kind(file) not in ENDINGS:
        raise UserError(f"{where}: {file} must end in {', '.join(ENDINGS)}, or one of these with .gz")
    return ResponseFile(name if dataset else None, path, cells)
