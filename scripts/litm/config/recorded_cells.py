"""The cells of experiments whose verdicts are recorded: those of the tables of the selected models."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from litm.base.messages import UserError
from litm.config.catalogue import Config, Entries
from litm.config.experiments import Experiment
from litm.config.recorded_models import RecordedModel
from litm.placements import NO_GOLD, gold_depths, gold_places
from litm.records.cells import Cell


def with_recorded_cells(config: Config, entries: Entries, root: Path) -> dict[str, Experiment]:
    """The experiments, the selected ones of recorded verdicts with the cells of their tables.

    Raises `UserError` for a table that cannot be read, for an experiment without one, with depths in one table and
    positions in another, or with a selected model that would have to be asked, and for verdicts on an experiment with
    prompts.
    """
    selected = dict.fromkeys([*config.models, *(config.beside or ())])
    models: dict[str, Any] = {name: entries["models"][name] for name in selected if name in entries["models"]}
    cells = {}
    for entry in (entries["experiments"][name] for name in config.experiments if name in entries["experiments"]):
        scored = {name: model for name, model in models.items() if model.is_recorded and entry.name in model.scores}
        if entry.has_prompts and scored:
            raise UserError(
                f"models.{next(iter(scored))}.scores: {entry.name} has prompts; verdicts alone are an experiment of "
                "their own, with 'task: recorded_scores'"
            )
        if not entry.has_prompts:
            _check_models(entry, config, models, scored)
            cells[entry.name] = _cells(entry, scored, root)
    experiments = entries["experiments"]
    return {**experiments, **{name: experiments[name].changed(cells=of_name) for name, of_name in cells.items()}}


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


def _cells(entry: Experiment, models: Mapping[str, RecordedModel], root: Path) -> tuple[Cell, ...]:
    """The cells of all tables of an experiment, by size and place."""
    kinds: dict[bool, str] = {}
    cells: set[Cell] = set()
    for name, model in models.items():
        here = model.verdicts(entry.name, model.score_file(entry.name, root)).cells
        cells.update(here)
        placed = [cell.placement for cell in here if cell.placement != NO_GOLD]
        kinds |= {bool(gold_depths(placement)): f"models.{name}.scores" for placement in placed}
    if len(kinds) > 1:
        raise UserError(
            f"{entry.where}: {kinds[True]} has depths and {kinds[False]} positions: these are two experiments"
        )
    return tuple(sorted(cells, key=lambda cell: (cell.size, gold_places(cell.placement))))
