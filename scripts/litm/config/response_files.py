"""The files of recorded responses that an entry names, by cell."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from litm.base.files import file_kind
from litm.base.groups import grouped
from litm.base.messages import UserError
from litm.base.schema import is_file, locate
from litm.placements import gold_placement, gold_positions
from litm.recorded.logs import KINDS
from litm.recorded.position_scale import FROM_0, FROM_1, Positions, inferred_scale
from litm.records.cells import Cell

# Recorded responses


def fill(pattern: str, cell: Cell, where: str, position_scale: str | None = None) -> str:
    """The file of a cell: {size}, {placement} (`gold_at_4`) and {position} (`4`) are filled in, on the scale."""
    values = {"size": str(cell.size), "placement": cell.placement}
    if positions := [position + (position_scale == FROM_1) for position in gold_positions(cell.placement)]:
        values |= {"placement": gold_placement(positions), "position": "_".join(map(str, positions))}

    def value(match: re.Match) -> str:
        if match[1] not in values:
            raise UserError(f"{where}: {match[0]} is not known of {cell.placement}; allowed: {{{'}, {'.join(values)}}}")
        return values[match[1]]

    return re.sub(r"\{(\w*)\}", value, pattern)


def check_counted(pattern: str, cells: Iterable[Cell], where: str, is_here: Callable[[str], bool]) -> None:
    """Raise `UserError` unless the positions in the names of the present files can only be counted from 0."""
    if not re.search(r"\{(position|placement)\}", pattern):
        return
    placed = grouped((cell for cell in cells if len(gold_positions(cell.placement)) == 1), lambda cell: cell.size)
    sizes = []
    for size, cells_of_size in placed.items():
        named = (place for place in range(size + 1) if is_here(fill(pattern, Cell(size, f"gold_at_{place}"), where)))
        asked = (gold_positions(cell.placement)[0] for cell in cells_of_size)
        sizes.append(Positions(size, frozenset(map(float, named)), frozenset(asked)))
    if any(positions.recorded for positions in sizes) and inferred_scale(sizes, where) != FROM_0:
        raise UserError(f"{where}: the files are named by positions counted from 1: set 'position_scale' to {FROM_1}")


def check_told_apart(cells: Iterable[Cell], fields: Mapping, where: str) -> None:
    """Raise `UserError` unless each record of a file with several cells names its cell."""
    if "prompt" in fields:
        return
    sizes = [cell.size for cell in cells]
    if len({*sizes}) > 1 and "size" not in fields:
        raise UserError(f"{where}: one file for several sizes: write {{size}} in its path, or give 'size' in 'fields'")
    if len({*sizes}) < len(sizes) and not {"placement", "position"} & set(fields):
        raise UserError(
            f"{where}: one file for several placements: write {{placement}} in its path, or give 'placement' or "
            f"'position' in 'fields'"
        )


def response_file(name: str, datasets: Mapping, root: Path, where: str, kinds: tuple[str, ...]) -> str:
    """The file of responses of a name: a dataset's name as it is, or a path; `UserError` if it is missing or not of
    these kinds.
    """
    if dataset := datasets.get(name):
        resolved, file = name, dataset.path or dataset.file or name
    else:
        resolved = file = locate(name, root, where)
        is_file(file, where)
    if (kind := file_kind(file)) not in kinds:
        log = next((f"; for this one, set 'log: {tool}'" for tool, endings in KINDS.items() if kind in endings), "")
        raise UserError(f"{where}: {file} must end in {', '.join(kinds)}, or one of these with .gz{log}")
    return resolved
