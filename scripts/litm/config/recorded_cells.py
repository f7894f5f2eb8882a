"""The cells of experiments whose verdicts are recorded: those of the tables of the selected models."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from litm.base.messages import UserError
from litm.base.store import canonical_json
from litm.config.catalogue import Config, Entries
from litm.config.experiments import Experiment
from litm.config.recorded_models import RecordedModel
from litm.config.sweeps import Selection
from litm.placements import NO_GOLD, gold_depths, gold_places
from litm.recorded.score_tables import VerdictTable, read_verdict_table
from litm.records.cells import Cell

#: The sizes of the verdicts of a model on an experiment, by their names.
Sizes = dict[tuple[str, str], tuple[int, ...]]


def with_recorded_cells(config: Config, entries: Entries, root: Path) -> tuple[dict[str, Experiment], Sizes]:
    """The experiments, the selected ones of recorded verdicts with the cells of their tables; and the sizes of each
    model's verdicts.

    Raises `UserError` for a table that cannot be read, for an experiment without one, with depths in one table and
    positions in another, or with a selected model that would have to be asked, and for verdicts on an experiment with
    prompts.
    """
    selected = dict.fromkeys([*config.models, *(config.beside or ())])
    models: dict[str, Any] = {name: entries["models"][name] for name in selected if name in entries["models"]}
    cells: dict[str, tuple[Cell, ...]] = {}
    sizes: Sizes = {}
    for entry in (entries["experiments"][name] for name in config.experiments if name in entries["experiments"]):
        scored = {name: model for name, model in models.items() if model.is_recorded and entry.name in model.scores}
        if entry.has_prompts and scored:
            raise UserError(
                f"models.{next(iter(scored))}.scores: {entry.name} has prompts; verdicts alone are an experiment of "
                "their own, with 'task: recorded_scores'"
            )
        if not entry.has_prompts:
            _check_models(entry, config, models, scored)
            by_model = _cells_by_model(entry, scored, root)
            order = {cell: (cell.size, gold_places(cell.placement)) for here in by_model.values() for cell in here}
            cells[entry.name] = tuple(sorted(order, key=order.__getitem__))
            sizes |= {
                (name, entry.name): tuple(sorted({cell.size for cell in here})) for name, here in by_model.items()
            }
    experiments = entries["experiments"]
    changed = {name: experiments[name].changed(cells=of_name) for name, of_name in cells.items()}
    return {**experiments, **changed}, sizes


def with_sizes(selection: Selection, sizes: Sizes) -> Selection:
    """The selection with these sizes of its pairs, unless 'only' names some of them."""
    return replace(selection, sizes={pair: run or sizes.get(pair) for pair, run in selection.sizes.items()})


def _check_models(entry: Experiment, config: Config, models: Mapping[str, Any], scored: Mapping[str, Any]) -> None:
    if not scored:
        raise UserError(f"{entry.where}: no selected model has 'scores' for it")
    only = config.only or {}
    for name in config.models:
        if name in models and not models[name].is_recorded and entry.name in (only.get(name) or [entry.name]):
            raise UserError(
                f"{entry.where}: its prompts are not known, so {name} cannot be asked: name the other experiments of "
                f"{name} in 'only'"
            )


def _cells_by_model(entry: Experiment, models: Mapping[str, RecordedModel], root: Path) -> dict[str, list[Cell]]:
    """The cells of the tables of an experiment, by model. Each table is read once."""
    kinds: dict[bool, str] = {}
    cells: dict[str, list[Cell]] = {}
    tables: dict[str, VerdictTable] = {}
    for name, model in models.items():
        reading = model.reading(entry.name, root)
        if (key := canonical_json(reading)) not in tables:
            tables[key] = read_verdict_table(**reading)
        cells[name] = tables[key].of_sweep(name, entry.name, reading["table"]).cells
        placed = [cell.placement for cell in cells[name] if cell.placement != NO_GOLD]
        kinds |= {bool(gold_depths(placement)): f"models.{name}.scores" for placement in placed}
    if len(kinds) > 1:
        raise UserError(
            f"{entry.where}: {kinds[True]} has depths and {kinds[False]} positions: these are two experiments"
        )
    return cells
