"""Models of which only recorded responses are there: which files have those to an experiment, and their fields."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from litm.config.catalogue import choose
from litm.config.data import Dataset, locate
from litm.config.experiments import Experiment
from litm.domain.curve import Cell
from litm.domain.placement import gold_positions
from litm.errors import UserError
from litm.inference.recorded_files import ENDINGS, IDENTIFIERS, OWN_FIELDS, file_ending
from litm.reasoning import STRIP, Reasoning, read_reasoning


@dataclass(frozen=True)
class ResponseFile:
    """A file of recorded responses, a dataset's name or a path, and the cells that it is about."""

    dataset: str | None
    path: str | None
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class RecordedModel:
    """A named entry of the catalogue that has responses: for each selected experiment that it covers, its files.

    fields: our name of a field to the files'.
    """

    name: str
    fields: Mapping[str, str]
    reasoning: Reasoning
    files: Mapping[str, tuple[ResponseFile, ...]]


def read_recorded_model(
    name: str,
    entry: Mapping,
    catalogue: Iterable[str],
    experiments: Mapping[str, Experiment],
    datasets: Mapping[str, Dataset],
    root: Path,
) -> RecordedModel:
    """An entry with recorded responses, of the experiments that are selected.

    catalogue: the names of all experiments. Raises `UserError` for an unknown experiment, a file that is not there or
    of another kind, fields that name no question, cells that nothing tells apart, and where no selected experiment
    has responses.
    """
    where = f"models.{name}"
    if not entry.get("responses"):
        raise UserError(f"{where}: 'responses' is missing (for each experiment a file of recorded responses)")
    choose(entry["responses"], catalogue, f"{where}.responses")
    fields = entry.get("fields", OWN_FIELDS)
    if "response" not in fields or not set(IDENTIFIERS) & set(fields):
        raise UserError(f"{where}.fields: 'response' and one of {', '.join(IDENTIFIERS)} are needed")
    files = {
        experiment: _files(pattern, experiments[experiment], fields, datasets, root, f"{where}.responses.{experiment}")
        for experiment, pattern in entry["responses"].items()
        if experiment in experiments
    }
    if not files:
        raise UserError(
            f"{where}.responses: there are none to the selected experiments ({', '.join(experiments)}); add a file of "
            f"one of them, or take the model out of 'models'"
        )
    # In the order of the experiments, as everything is.
    reasoning = read_reasoning(entry, where)
    if reasoning.policy not in (None, STRIP):
        raise UserError(f"{where}.reasoning: {reasoning.policy} is for models that are asked; allowed: {STRIP}")
    return RecordedModel(name, dict(fields), reasoning, {name: files[name] for name in experiments if name in files})


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
    """The name of the file of a cell: {size}, {placement} (`gold_at_4`) and {position} (`4`) are filled in."""
    values = {"size": str(cell.size), "placement": cell.placement}
    if positions := gold_positions(cell.placement):
        values["position"] = "_".join(map(str, positions))

    def value(match: re.Match) -> str:
        if match[1] not in values:
            raise UserError(f"{where}: {match[0]} is not known of {cell.placement}; allowed: {{{'}, {'.join(values)}}}")
        return values[match[1]]

    return re.sub(r"\{(\w*)\}", value, pattern)


def _check_told_apart(cells: Iterable[Cell], fields: Mapping, where: str) -> None:
    """Records must say of which of the cells they are that their file is about."""
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
    if file_ending(file) not in ENDINGS:
        raise UserError(f"{where}: {file} must end in {', '.join(ENDINGS)}, or one of these with .gz")
    return ResponseFile(name if dataset else None, path, cells)
