"""The cells of an experiment, made from its keys `positions`, `depths` and `sizes`."""

from collections import Counter
from itertools import pairwise

from litm.base.messages import UserError
from litm.config.experiments import Experiment
from litm.examples.task import Task
from litm.examples.tasks import load_task
from litm.placements import ABSENT, depth_placement, gold_placement
from litm.records.cells import Cell


def read_cells(entry: Experiment) -> tuple[Cell, ...]:
    """The cells of an experiment by size and place; `UserError` for impossible positions or keys of other tasks."""
    where, task = entry.where, load_task(entry.task)
    if not task.has_prompts:
        return entry.cells
    allowed = ["sizes"] if task.placement else [] if task.fixed_cells else ["positions", "depths", "sizes"]
    keys = [key for key in ("positions", "depths", "sizes") if getattr(entry, key) is not None]
    for key in keys:
        if key not in allowed:
            raise UserError(f"{where}: the task {entry.task} takes no '{key}'")
    if task.fixed_cells is not None:
        return tuple(Cell(size, placement) for size, placement in task.fixed_cells)
    if task.placement is not None:
        if entry.sizes is None:
            raise UserError(f"{where}: 'sizes' is missing (the number of items in the contexts)")
        cells = [Cell(size, task.placement) for size in sorted(entry.sizes)]
    else:
        cells = _placed_cells(entry, [key for key in keys if key != "sizes"], task)
    if entry.lacks_gold:
        cells = [Cell(size, ABSENT) for size in dict.fromkeys(cell.size for cell in cells)]
    for cell, times in Counter(cells).items():
        if times > 1:
            raise UserError(f"{where}.{keys[0]}.{cell.size}: {cell.placement} is there {times} times")
    return tuple(cells)


def _placed_cells(entry: Experiment, keys: list[str], task: Task) -> list[Cell]:
    """The cells of the given key, 'positions' or 'depths'."""
    where, sizes, golds = entry.where, entry.sizes, task.golds
    if len(keys) == 2:
        raise UserError(
            f"{where}: give either 'positions' or 'depths'; 'positions: null' removes those of the catalogue"
        )
    if not keys:
        raise UserError(f"{where}: 'positions' is missing (for each size the positions of the gold item)")
    if (keys == ["depths"]) != (entry.tokens_of is not None):
        raise UserError(f"{where}: 'depths' (for each number of tokens) and 'tokens_of' (a model) go together")
    (key,) = keys
    by_size = getattr(entry, key)
    if not isinstance(by_size, dict):
        if sizes is None:
            raise UserError(f"{where}: 'positions: {by_size}' needs 'sizes' (the number of items in the contexts)")
        by_size = dict.fromkeys(sizes, by_size)
    by_size = {int(size): _nine(int(size), golds) if places == "nine" else places for size, places in by_size.items()}
    if unknown := [size for size in sizes or () if size not in by_size]:
        raise UserError(f"{where}.sizes: {unknown[0]} is not in {key}; choose from {sorted(by_size)}")
    return [
        Cell(size, _placement(key, size, place, task, f"{where}.{key}.{size}"))
        for size in sorted({*sizes} if sizes else by_size)
        for place in sorted(by_size[size], key=lambda place: place if isinstance(place, list) else [place])
    ]


def _nine(size: int, golds: int) -> list:
    """The suite's nine positions, or fewer in a small context.

    Several gold items are together there, the first at the position or as far back as there is room for the others.
    """
    last = max(0, size - golds)
    firsts = sorted({min(size * eighth // 8, last) for eighth in range(8)} | {last})
    return firsts if golds == 1 else [list(range(first, first + golds)) for first in firsts]


def _placement(key: str, size: int, place: float | list[float], task: Task, where: str) -> str:
    """The placement of one value in 'positions' or 'depths'; `UserError` for an impossible one."""
    places, golds = place if isinstance(place, list) else [place], task.golds
    if len(places) != golds:
        wanted = "one number" if golds == 1 else f"a list of {golds}, as in {list(range(golds))}"
        raise UserError(
            f"{where}: {place} is not a placement: questions of this task have {golds} gold item(s), so give {wanted}"
        )
    if task.in_any_order and len({*places}) < len(places):
        raise UserError(f"{where}: {place} has two gold items at one place")
    if not task.in_any_order and any(earlier >= other for earlier, other in pairwise(places)):
        raise UserError(f"{where}: {place} must ascend, because the gold items keep their order")
    if key == "depths":
        return depth_placement(places)
    positions = [int(value) for value in places]
    if (last := max(positions)) >= size:
        raise UserError(f"{where}: position {last} is impossible, positions in a context of {size} are 0 to {size - 1}")
    return gold_placement(positions)
