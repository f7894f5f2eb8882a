"""Reads experiments from their entries: cells, questions of each size, and checks of both."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from litm.base.messages import UserError
from litm.base.schema import choose
from litm.config.experiments import Experiment, ExperimentEntry
from litm.config.retrieval import Candidates
from litm.config.values import check_names, text_names
from litm.domain.curve import Cell
from litm.domain.placement import AS_RETRIEVED, depth_placement, gold_placement, gold_places
from litm.examples.prompt_file import read_template
from litm.examples.task import ASK_ANOTHER_KEY, PLAIN, TaskDefaults
from litm.examples.tasks import load_task


def read_experiment(entry: ExperimentEntry, seed: int, files: Mapping[str, Any], root: Path) -> Experiment:
    """The experiment of an entry; `files`: the datasets, question sets and candidates that it may name.

    Raises `UserError` for an unknown name, an impossible position, and keys that the task does not accept.
    """
    where = entry.where
    defaults = load_task(entry.task).DEFAULTS
    cells = read_cells(entry)
    prompts = root / "resources" / "prompts"
    choose([entry.prompt], text_names(prompts), f"{where}.prompt")
    check_names([entry.prompt], f"{where}.prompt")
    read_template(prompts / f"{entry.prompt}.txt", with_context=any(cell.size for cell in cells))
    if entry.design == ASK_ANOTHER_KEY and not hasattr(load_task(entry.task), ASK_ANOTHER_KEY):
        raise UserError(f"{where}: 'design: {entry.design}' is for kv_retrieval, not for the task {entry.task}")
    if entry.wording != PLAIN and not hasattr(load_task(entry.task), "WORDINGS"):
        raise UserError(f"{where}: the task {entry.task} has no 'wording: {entry.wording}'")
    datasets = _dataset_by_size(entry, cells)
    _check_questions(entry, cells, datasets, defaults, files)
    return entry.become(
        Experiment,
        title=entry.title if entry.title is not None else entry.name,
        cells=cells,
        datasets=datasets,
        seed=seed,
        labels=files[entry.subset].labels if entry.subset else None,
    )


def read_cells(entry: ExperimentEntry) -> tuple[Cell, ...]:
    """The cells of an experiment by size and place; `UserError` for impossible positions or keys of other tasks."""
    where, defaults = entry.where, load_task(entry.task).DEFAULTS
    allowed = ["sizes"] if defaults.placement else [] if defaults.fixed_cells else ["positions", "depths", "sizes"]
    given = [key for key in ("positions", "depths", "sizes") if getattr(entry, key) is not None]
    for key in given:
        if key not in allowed:
            raise UserError(f"{where}: the task {entry.task} takes no '{key}'")
    if defaults.fixed_cells is not None:
        return tuple(Cell(size, placement) for size, placement in defaults.fixed_cells)
    if defaults.placement is not None:
        if entry.sizes is None:
            raise UserError(f"{where}: 'sizes' is missing (the number of items in the contexts)")
        cells = [Cell(size, defaults.placement) for size in sorted(entry.sizes)]
    else:
        cells = _placed_cells(entry, [key for key in given if key != "sizes"], defaults.golds)
    for cell, times in Counter(cells).items():
        if times > 1:
            raise UserError(f"{where}.{given[0]}.{cell.size}: {cell.placement} is there {times} times")
    return tuple(cells)


def _placed_cells(entry: ExperimentEntry, given: list[str], golds: int) -> list[Cell]:
    """The cells of the given key, 'positions' or 'depths'."""
    where = entry.where
    if len(given) == 2:
        raise UserError(
            f"{where}: give either 'positions' or 'depths'; 'positions: null' removes those of the catalogue"
        )
    if not given:
        raise UserError(f"{where}: 'positions' is missing (for each size the positions of the gold item)")
    if (given == ["depths"]) != (entry.tokens_of is not None):
        raise UserError(f"{where}: 'depths' (for each number of tokens) and 'tokens_of' (a model) go together")
    by_size = {int(size): _places(int(size), golds, places) for size, places in _given_places(entry, given[0])}
    if unknown := [size for size in entry.sizes or () if size not in by_size]:
        raise UserError(f"{where}.sizes: {unknown[0]} is not in {given[0]}; choose from {sorted(by_size)}")
    if entry.sizes is not None:
        by_size = {size: by_size[size] for size in entry.sizes}
    return [
        Cell(size, _placement(given[0], size, place, golds, f"{where}.{given[0]}.{size}"))
        for size, places in sorted(by_size.items())
        for place in sorted(places, key=lambda place: place if isinstance(place, list) else [place])
    ]


def _given_places(entry: ExperimentEntry, key: str) -> Iterable[tuple[str | int, list | str]]:
    """Size and places of 'positions' or 'depths'; `UserError` for `nine` without sizes."""
    places = getattr(entry, key)
    if isinstance(places, dict):
        return places.items()
    if entry.sizes is None:
        raise UserError(f"{entry.where}: 'positions: {places}' needs 'sizes' (the number of items in the contexts)")
    return [(size, places) for size in entry.sizes]


def _places(size: int, golds: int, places: list | str) -> list:
    """The places of a size in an entry; `nine` means the suite's nine positions, or fewer in a small context.

    Several gold items are together there, the first at the position or as far back as there is room for the others.
    """
    if isinstance(places, list):
        return places
    last = max(0, size - golds)
    firsts = sorted({min(size * eighth // 8, last) for eighth in range(8)} | {last})
    return firsts if golds == 1 else [list(range(first, first + golds)) for first in firsts]


def _placement(key: str, size: int, place: float | list[float], golds: int, where: str) -> str:
    """The placement of one value in 'positions' or 'depths'; `UserError` for an impossible one."""
    places = place if isinstance(place, list) else [place]
    if len(places) != golds:
        wanted = "one number" if golds == 1 else f"a list of {golds}, as in {list(range(golds))}"
        raise UserError(
            f"{where}: {place} is not a placement: questions of this task have {golds} gold item(s), so give {wanted}"
        )
    if any(one >= other for one, other in pairwise(places)):
        raise UserError(f"{where}: {place} must ascend, because the gold items keep their order")
    if key == "depths":
        return depth_placement(places)
    positions = [int(one) for one in places]
    if positions[-1] >= size:
        raise UserError(
            f"{where}: position {positions[-1]} is impossible, positions in a context of {size} are 0 to {size - 1}"
        )
    return gold_placement(positions)


def _check_questions(
    entry: ExperimentEntry,
    cells: tuple[Cell, ...],
    datasets: Mapping[int, str],
    defaults: TaskDefaults,
    files: Mapping[str, Any],
) -> None:
    """Raise `UserError` unless the keys that select the questions are consistent with each other and with the task."""
    where, in_tokens = entry.where, entry.tokens_of is not None
    choose(entry.named_datasets, files, f"{where}.dataset", "a file of your own is an entry of define.datasets")
    if defaults.needs_dataset:
        if in_tokens:
            raise UserError(f"{where}: sizes in tokens are for generated contexts, the task {entry.task} has documents")
        _check_kind(cells, datasets, files, where)
        if not datasets:
            raise UserError(f"{where}: the task {entry.task} needs a 'dataset'")
    if datasets and in_tokens:
        raise UserError(f"{where}: sizes in tokens are for generated contexts, remove 'dataset' or 'tokens_of'")
    if entry.cluster is not None and not defaults.needs_dataset:
        raise UserError(f"{where}: 'cluster' is for questions from a file, the task {entry.task} takes none")
    if not datasets and entry.examples is None:
        raise UserError(f"{where}: 'examples' is missing: the number of questions to generate")
    if entry.subset is not None:
        choose([entry.subset], files, f"{where}.subset")
        if getattr(files[entry.subset], "labels", None) is None:
            raise UserError(
                f"{where}.subset: {entry.subset} is not a file of labels: its entry in datasets has no 'labels'"
            )
    if entry.selection == "random" and entry.examples is None:
        raise UserError(f"{where}: 'selection: random' needs 'examples', the number of questions to draw")


def _check_kind(cells: Iterable[Cell], datasets: Mapping[int, str], files: Mapping[str, Any], where: str) -> None:
    """Raise `UserError` for candidates without the necessary gold document, or with too few documents."""
    for cell in cells:
        candidates = files[datasets[cell.size]] if cell.size in datasets else None
        if not isinstance(candidates, Candidates):
            continue
        is_retrieved = candidates.kind == AS_RETRIEVED
        if is_retrieved and gold_places(cell.placement):
            raise UserError(
                f"{where}.dataset: {candidates.name} is 'kind: {AS_RETRIEVED}', so it lacks the gold document that "
                "positions need"
            )
        if not is_retrieved and cell.placement == AS_RETRIEVED:
            raise UserError(
                f"{where}.dataset: the task needs candidates of 'kind: {AS_RETRIEVED}', {candidates.name} has another "
                "kind"
            )
        if cell.size > candidates.documents:
            raise UserError(
                f"{where}: a context of {cell.size} documents, but candidates.{candidates.name}.documents is "
                f"{candidates.documents}"
            )


def _dataset_by_size(entry: ExperimentEntry, cells: Iterable[Cell]) -> dict[int, str]:
    sizes = sorted({cell.size for cell in cells})
    if not isinstance(entry.dataset, dict):
        return dict.fromkeys(sizes, entry.dataset) if entry.dataset is not None else {}
    for size in sizes:
        if str(size) not in entry.dataset:
            raise UserError(f"{entry.where}.dataset: no dataset for size {size}")
    return {size: entry.dataset[str(size)] for size in sizes}
