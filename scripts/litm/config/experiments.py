"""The experiments of the configuration: a task, the cells it is run in, its questions, and how answers are scored."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from litm.config.catalogue import choose, text_names
from litm.config.data import Candidates
from litm.domain.curve import Cell, Curve
from litm.domain.placement import AS_RETRIEVED, depth_placement, gold_placement, gold_places
from litm.errors import UserError
from litm.examples.prompt_file import read_template
from litm.examples.task import ASK_ANOTHER_KEY, MOVE_THE_PAIR, ExampleSettings, TaskDefaults
from litm.examples.tasks import load_task, task_names
from litm.inference.policies import LEAVE_OUT
from litm.scoring.metrics import METRICS


@dataclass(frozen=True)
class Experiment:
    """A named entry of the catalogue.

    tokens_of: the model whose tokens the sizes count, None where they count items; closed_book, oracle: experiments
    with the same questions, without documents and with the gold document alone.
    """

    name: str
    task: str
    title: str
    cells: tuple[Cell, ...]
    tokens_of: str | None
    datasets: Mapping[int, str]
    examples: int | None
    seed: int
    distractor_order: str
    selection: str
    design: str
    subset: str | None
    labels: str | None
    prompt: str
    metric: str
    stop: str
    max_new_tokens: int
    on_overflow: str
    closed_book: str | None
    oracle: str | None

    def example_settings(self) -> dict:
        """What changes the examples, beside size, placement, dataset and prompt file.

        The seed is left out where nothing is random, so that another one changes nothing there; and so is the usual
        design, as before there was another.
        """
        is_random = not self.datasets or "random" in (self.distractor_order, self.selection)
        seed = self.seed if is_random else None
        settings = asdict(
            ExampleSettings(self.examples, seed, self.distractor_order, self.selection, self.labels, self.design)
        )
        return {key: value for key, value in settings.items() if (key, value) != ("design", MOVE_THE_PAIR)}

    def decoding(self) -> dict:
        """What changes a response, beside the model and the prompt."""
        return {"max_new_tokens": self.max_new_tokens, "stop": self.stop}

    @property
    def asks_several(self) -> bool:
        """Whether a prompt has several gold items, all asked for at once."""
        return any(len(gold_places(cell.placement)) > 1 for cell in self.cells)

    @property
    def has_positions(self) -> bool:
        """Whether gold items are at more than one position of some size."""
        by_size: dict[int, set[float]] = {}
        for cell in self.cells:
            by_size.setdefault(cell.size, set()).update(gold_places(cell.placement))
        return any(len(places) > 1 for places in by_size.values())

    @property
    def curves(self) -> list[Curve]:
        """Its curves in the order of its cells, named after it and, of several, after what tells them apart."""
        cells = [cell for cell in self.cells if gold_places(cell.placement) and cell.size > 1]
        keys = list(dict.fromkeys((cell.size, cell.placement if self.asks_several else None) for cell in cells))
        sizes = [size for size, _ in keys]
        curves = []
        for size, placement in keys:
            parts = [self.name]
            if len(set(sizes)) > 1:
                parts.append(str(size))
            if sizes.count(size) > 1:
                parts.append(str(placement))
            curves.append(Curve("_".join(parts), self.name, size, placement))
        return curves


def read_experiment(name: str, entry: Mapping, seed: int, files: Mapping[str, Any], root: Path) -> Experiment:
    """An entry of experiments.yaml; `files` are the datasets, question sets and candidates that it may name.

    Raises `UserError` for an unknown name, an impossible position, and keys that the task does not take.
    """
    where = f"experiments.{name}"
    choose([entry["task"]], task_names(), f"{where}.task")
    defaults = load_task(entry["task"]).DEFAULTS
    cells = _cells(entry, defaults, where)
    prompt, metric = entry.get("prompt", defaults.prompt), entry.get("metric", defaults.metric)
    choose([prompt], text_names(root / "resources" / "prompts"), f"{where}.prompt")
    read_template(root / "resources" / "prompts" / f"{prompt}.txt", with_context=any(cell.size for cell in cells))
    choose([metric], METRICS, f"{where}.metric")
    by_size = _dataset_by_size(entry, cells, where)
    _check_questions(entry, cells, by_size, defaults, files, where)
    subset = entry.get("subset")
    return Experiment(
        name=name,
        task=entry["task"],
        title=entry.get("title", name),
        cells=cells,
        tokens_of=entry.get("tokens_of"),
        datasets=by_size,
        examples=entry.get("examples"),
        seed=seed,
        distractor_order=entry.get("distractor_order", "ranked"),
        selection=entry.get("selection", "first"),
        design=_design(entry, where),
        subset=subset,
        labels=files[subset].labels if subset else None,
        prompt=prompt,
        metric=metric,
        stop=entry.get("stop", defaults.stop),
        max_new_tokens=entry.get("max_new_tokens", defaults.max_new_tokens),
        on_overflow=entry.get("on_overflow", LEAVE_OUT),
        closed_book=entry.get("closed_book"),
        oracle=entry.get("oracle"),
    )


def _design(entry: Mapping, where: str) -> str:
    design = entry.get("design", MOVE_THE_PAIR)
    if design == ASK_ANOTHER_KEY and not hasattr(load_task(entry["task"]), ASK_ANOTHER_KEY):
        raise UserError(f"{where}: 'design: {design}' is for kv_retrieval, not for the task {entry['task']}")
    return design


def _cells(entry: Mapping, defaults: TaskDefaults, where: str) -> tuple[Cell, ...]:
    allowed = ["sizes"] if defaults.placement else [] if defaults.fixed_cells else ["positions", "depths"]
    given = [key for key in ("positions", "depths", "sizes") if entry.get(key) is not None]
    for key in given:
        if key not in allowed:
            raise UserError(f"{where}: the task {entry['task']} takes no '{key}'")
    if defaults.fixed_cells is not None:
        return tuple(Cell(size, placement) for size, placement in defaults.fixed_cells)
    if defaults.placement is not None:
        if not given:
            raise UserError(f"{where}: 'sizes' is missing (how many items the contexts have)")
        return tuple(Cell(size, defaults.placement) for size in sorted(entry["sizes"]))
    if len(given) == 2:
        raise UserError(f"{where}: give either 'positions' or 'depths'; 'positions: null' leaves the catalogue's out")
    if not given:
        raise UserError(f"{where}: 'positions' is missing (for each size the positions of the gold item)")
    if (given == ["depths"]) != (entry.get("tokens_of") is not None):
        raise UserError(f"{where}: 'depths' (for each number of tokens) and 'tokens_of' (a model) go together")
    cells = [
        Cell(int(size), _placement(given[0], int(size), place, defaults.golds, f"{where}.{given[0]}.{size}"))
        for size, places in sorted(entry[given[0]].items(), key=lambda item: int(item[0]))
        for place in sorted(places, key=lambda place: place if isinstance(place, list) else [place])
    ]
    for cell, times in Counter(cells).items():
        if times > 1:
            raise UserError(f"{where}.{given[0]}.{cell.size}: {cell.placement} is there {times} times")
    return tuple(cells)


def _placement(key: str, size: int, place: float | list[float], golds: int, where: str) -> str:
    """The placement that an entry of 'positions' or 'depths' means; `UserError` for one that cannot be."""
    places = place if isinstance(place, list) else [place]
    if len(places) != golds:
        wanted = "one number" if golds == 1 else f"a list of {golds}, as in {list(range(golds))}"
        raise UserError(
            f"{where}: {place} is no placement, a question of this task has {golds} gold item(s): give {wanted}"
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
    entry: Mapping,
    cells: tuple[Cell, ...],
    by_size: Mapping[int, str],
    defaults: TaskDefaults,
    files: Mapping[str, Any],
    where: str,
) -> None:
    """The keys that say which questions are asked fit one another and the task."""
    named = entry["dataset"].values() if isinstance(entry.get("dataset"), dict) else by_size.values()
    choose(named, files, f"{where}.dataset", "a file of your own is an entry of define.datasets")
    if defaults.needs_dataset and entry.get("tokens_of") is not None:
        raise UserError(f"{where}: sizes in tokens are for generated contexts, the task {entry['task']} has documents")
    if defaults.needs_dataset:
        _check_kind(cells, by_size, files, where)
    if defaults.needs_dataset and not by_size:
        raise UserError(f"{where}: the task {entry['task']} needs a 'dataset'")
    if by_size and entry.get("tokens_of") is not None:
        raise UserError(f"{where}: sizes in tokens are for generated contexts, remove 'dataset' or 'tokens_of'")
    if not by_size and entry.get("examples") is None:
        raise UserError(f"{where}: 'examples' must say how many to generate")
    if "subset" in entry:
        choose([entry["subset"]], files, f"{where}.subset")
        if getattr(files[entry["subset"]], "labels", None) is None:
            raise UserError(
                f"{where}.subset: {entry['subset']} is no file of labels: its entry in datasets has no 'labels'"
            )
    if entry.get("selection") == "random" and entry.get("examples") is None:
        raise UserError(f"{where}: 'selection: random' needs 'examples', how many questions to draw")


def _check_kind(cells: Iterable[Cell], by_size: Mapping[int, str], files: Mapping[str, Any], where: str) -> None:
    """A position needs a gold document, which candidates as retrieved lack; and a context that many documents."""
    for cell in cells:
        entry = files[by_size[cell.size]] if cell.size in by_size else None
        if not isinstance(entry, Candidates):
            continue
        is_retrieved = entry.settings.kind == AS_RETRIEVED
        if is_retrieved and gold_places(cell.placement):
            raise UserError(
                f"{where}.dataset: {entry.name} is 'kind: {AS_RETRIEVED}', without the gold document that is wanted"
            )
        if not is_retrieved and cell.placement == AS_RETRIEVED:
            raise UserError(
                f"{where}.dataset: the task wants candidates of 'kind: {AS_RETRIEVED}', {entry.name} is none"
            )
        if cell.size > entry.settings.documents:
            raise UserError(
                f"{where}: a context of {cell.size} documents, but candidates.{entry.name}.documents is "
                f"{entry.settings.documents}"
            )


def _dataset_by_size(entry: Mapping, cells: Iterable[Cell], where: str) -> dict[int, str]:
    dataset = entry.get("dataset")
    if dataset is None:
        return {}
    sizes = sorted({cell.size for cell in cells})
    if isinstance(dataset, str):
        return dict.fromkeys(sizes, dataset)
    missing = [size for size in sizes if str(size) not in dataset]
    if missing:
        raise UserError(f"{where}.dataset: no dataset for size {missing[0]}")
    return {size: dataset[str(size)] for size in sizes}
