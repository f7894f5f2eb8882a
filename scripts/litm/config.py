"""The configuration: catalogues say what there is, the config selects from them by lists of names.

All of it is checked here, before any job runs; a mistake is one line that names the key and what is allowed.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from litm.catalogue import check_name, choose, merge_catalogue, string_keys, validate
from litm.engines import engine_names
from litm.errors import UserError
from litm.identity import check_has_tokenizer, check_model_folder
from litm.metrics import METRICS
from litm.prompt_format import CHAT, RAW
from litm.questions import gold_position, read_template
from litm.tasks import ExampleSettings, load_task, task_names

CATALOGUES = ("models", "experiments", "figures", "datasets")


@dataclass(frozen=True)
class Cell:
    """One context shape of an experiment: its size and where the gold item is."""

    size: int
    placement: str


@dataclass(frozen=True)
class Experiment:
    """A named entry of the catalogue: a task with its cells, questions, prompt and scoring."""

    name: str
    task: str
    title: str
    cells: tuple[Cell, ...]
    datasets: Mapping[int, str]
    examples: int | None
    seed: int
    distractor_order: str
    prompt: str
    metric: str
    stop: str
    max_new_tokens: int

    def example_settings(self) -> dict:
        """What changes the examples, beside size, placement, dataset and prompt file.

        The seed is left out where nothing is random, so that another one changes nothing there.
        """
        is_random = not self.datasets or self.distractor_order == "random"
        return asdict(ExampleSettings(self.examples, self.seed if is_random else None, self.distractor_order))

    def decoding(self) -> dict:
        """What changes a response, beside the model and the prompt."""
        return {"max_new_tokens": self.max_new_tokens, "stop": self.stop}


@dataclass(frozen=True)
class Model:
    """A named entry of the catalogue: where a model is, how it is asked (changes answers), how it is run (does not)."""

    name: str
    engine: str
    path: str | None
    hub: str | None
    revision: str | None
    tokenizer: str | None
    context_window: int | None
    dtype: str
    attention: str
    prompt_template: str
    device: str
    batch_tokens: int
    threads: int

    def answer_settings(self) -> dict:
        """What changes a response, beside the weights, the prompt template's text and the decoding."""
        return {
            "engine": self.engine,
            "dtype": self.dtype,
            "attention": self.attention,
            "prompt_template": self.prompt_template,
        }

    @property
    def template_name(self) -> str | None:
        """The named prompt template, None for a raw prompt or the tokenizer's chat template."""
        return None if self.prompt_template in (RAW, CHAT) else self.prompt_template


@dataclass(frozen=True)
class Dataset:
    """A named file: at a path of the user's, or remote, checked by its sha256.

    file: the base name that a remote file has here, and under which it is looked for in `data_mirror`.
    """

    name: str
    path: str | None
    url: str | None
    file: str
    sha256: str | None


@dataclass(frozen=True)
class Figure:
    """A named figure: the experiments whose curves it shows, and those that are its reference lines."""

    name: str
    title: str
    experiments: tuple[str, ...]
    references: Mapping[str, str]
    panel_title: str
    x_label: str

    def settings(self) -> dict:
        """What changes the picture, beside the scores."""
        return asdict(self)


@dataclass(frozen=True)
class Study:
    """All that a run is about: the selected models, experiments and figures, and the datasets there are."""

    models: Mapping[str, Model]
    experiments: Mapping[str, Experiment]
    figures: Mapping[str, Figure]
    datasets: Mapping[str, Dataset]
    data_mirror: str | None


def load_study(config: Mapping[str, Any], root: Path) -> Study:
    """The study that a config selects from the catalogues in `root`/config.

    Raises `UserError`, one line, for an unknown key or name, a wrong type, or an impossible position.
    """
    config = string_keys(config)
    schemas = root / "config" / "schemas"
    validate(config, schemas / "config.schema.yaml", "config")
    entries = {
        kind: merge_catalogue(
            string_keys(yaml.safe_load((root / "config" / f"{kind}.yaml").read_text(encoding="utf-8"))),
            (config.get("define") or {}).get(kind) or {},
        )
        for kind in CATALOGUES
    }
    for kind in CATALOGUES:
        for name, entry in entries[kind].items():
            check_name(name, kind)
            validate(entry, schemas / f"{kind}.schema.yaml", f"{kind}.{name}")
    datasets = {name: _dataset(name, entry, root) for name, entry in entries["datasets"].items()}
    _check_file_names(datasets)
    mirror = config.get("data_mirror")
    if mirror is not None and not Path(mirror).expanduser().is_dir():
        raise UserError(f"config.data_mirror: {mirror} is not a folder")
    models = {
        name: _model(name, entries["models"][name], datasets, root)
        for name in choose(config["models"], entries["models"], "models")
    }
    experiments = {
        name: _experiment(name, entries["experiments"][name], config["seed"], datasets, root)
        for name in choose(config["experiments"], entries["experiments"], "experiments")
    }
    figures = _figures(config.get("figures"), entries["figures"], entries["experiments"], experiments)
    return Study(models, experiments, figures, datasets, mirror)


def _dataset(name: str, entry: Mapping, root: Path) -> Dataset:
    if ("path" in entry) == ("url" in entry):
        raise UserError(f"datasets.{name}: give either 'path' or 'url' (with 'sha256')")
    if "path" in entry:
        path = locate(entry["path"], root, f"datasets.{name}.path")
        if not Path(path).is_file():
            raise UserError(f"datasets.{name}.path: {path} is not a file")
        return Dataset(name, path, None, "", None)
    if "sha256" not in entry:
        raise UserError(f"datasets.{name}: a remote file needs its 'sha256'")
    file = entry.get("file", entry["url"].rsplit("/", 1)[-1])
    return Dataset(name, None, entry["url"], file, entry["sha256"])


def _check_file_names(datasets: Mapping[str, Dataset]) -> None:
    """Two datasets of one base name would be served for one another, unless they are the same file."""
    by_file: dict[str, Dataset] = {}
    for dataset in datasets.values():
        other = by_file.setdefault(dataset.file, dataset) if dataset.url else dataset
        if other.sha256 != dataset.sha256:
            raise UserError(
                f"datasets.{dataset.name}: {other.name} is another file with the same base name {dataset.file}; "
                f"give one of them a 'file' of its own"
            )


def _model(name: str, entry: Mapping, datasets: Mapping[str, Dataset], root: Path) -> Model:
    if ("path" in entry) == ("hub" in entry):
        raise UserError(f"models.{name}: give either 'path' (a folder) or 'hub' (a name on the Hugging Face hub)")
    choose([entry["engine"]], engine_names(), f"models.{name}.engine")
    templates = [RAW, CHAT, *_stems(root / "resources" / "prompt_templates")]
    prompt_template = entry.get("prompt_template", RAW)
    choose([prompt_template], templates, f"models.{name}.prompt_template")
    path, tokenizer = entry.get("path"), entry.get("tokenizer")
    if path is not None:
        path = locate(path, root, f"models.{name}.path")
        check_model_folder(Path(path))
        if tokenizer is None:
            check_has_tokenizer(Path(path))
    if tokenizer is not None and tokenizer not in datasets:
        tokenizer = locate(tokenizer, root, f"models.{name}.tokenizer")
        if not Path(tokenizer).is_file():
            raise UserError(f"models.{name}.tokenizer: {tokenizer} is not a file (a tokenizer.json is wanted)")
    return Model(
        name=name,
        engine=entry["engine"],
        path=path,
        hub=entry.get("hub"),
        revision=entry.get("revision"),
        tokenizer=tokenizer,
        context_window=entry.get("context_window"),
        dtype=entry.get("dtype", "auto"),
        attention=entry.get("attention", "sdpa"),
        prompt_template=prompt_template,
        device=entry.get("device", "auto"),
        batch_tokens=entry.get("batch_tokens", 16384),
        threads=entry.get("threads", 8),
    )


def _experiment(name: str, entry: Mapping, seed: int, datasets: Mapping[str, Dataset], root: Path) -> Experiment:
    where = f"experiments.{name}"
    choose([entry["task"]], task_names(), f"{where}.task")
    defaults = load_task(entry["task"]).DEFAULTS
    cells = _cells(entry, defaults.fixed_cells, where)
    prompt, metric = entry.get("prompt", defaults.prompt), entry.get("metric", defaults.metric)
    choose([prompt], _stems(root / "resources" / "prompts"), f"{where}.prompt")
    read_template(root / "resources" / "prompts" / f"{prompt}.txt", with_context=any(cell.size for cell in cells))
    choose([metric], METRICS, f"{where}.metric")
    by_size = _dataset_by_size(entry, cells, where)
    named = entry["dataset"].values() if isinstance(entry.get("dataset"), dict) else by_size.values()
    choose(named, datasets, f"{where}.dataset", "a file of your own is an entry of define.datasets")
    if defaults.needs_dataset and not by_size:
        raise UserError(f"{where}: the task {entry['task']} needs a 'dataset'")
    if not by_size and entry.get("examples") is None:
        raise UserError(f"{where}: 'examples' must say how many to generate")
    return Experiment(
        name=name,
        task=entry["task"],
        title=entry.get("title", name),
        cells=cells,
        datasets=by_size,
        examples=entry.get("examples"),
        seed=seed,
        distractor_order=entry.get("distractor_order", "ranked"),
        prompt=prompt,
        metric=metric,
        stop=entry.get("stop", defaults.stop),
        max_new_tokens=entry.get("max_new_tokens", defaults.max_new_tokens),
    )


def _cells(entry: Mapping, fixed: tuple[tuple[int, str], ...] | None, where: str) -> tuple[Cell, ...]:
    if fixed is not None:
        if "positions" in entry:
            raise UserError(f"{where}: the task {entry['task']} takes no 'positions'")
        return tuple(Cell(size, placement) for size, placement in fixed)
    if "positions" not in entry:
        raise UserError(f"{where}: 'positions' is missing (for each size the positions of the gold item)")
    cells = []
    for size, positions in sorted((int(size), positions) for size, positions in entry["positions"].items()):
        for position in sorted(positions):
            if position >= size:
                raise UserError(
                    f"{where}.positions.{size}: position {position} is impossible, "
                    f"positions in a context of {size} are 0 to {size - 1}"
                )
            cells.append(Cell(size, f"gold_at_{position}"))
    return tuple(cells)


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


def _figures(
    selected: list[str] | None, entries: Mapping, catalogue: Mapping, experiments: Mapping[str, Experiment]
) -> dict[str, Figure]:
    """The figures asked for; if none are named, those whose curves are all selected, and one for any other curve."""
    for name, entry in entries.items():
        choose(entry["experiments"], catalogue, f"figures.{name}.experiments")
        choose(entry.get("references", {}), catalogue, f"figures.{name}.references")
    known = {name: _figure(name, entry) for name, entry in entries.items()}
    if selected is not None:
        choose(selected, known, "figures")
        for name in selected:
            choose(known[name].experiments, experiments, f"figures.{name}: experiments selected in this config")
            if not any(_has_curve(experiments[one]) for one in known[name].experiments):
                raise UserError(f"figures.{name}: none of its experiments has positions to draw a curve over")
        return {name: known[name] for name in selected}
    figures = {name: figure for name, figure in known.items() if set(figure.experiments) <= set(experiments)}
    shown = {name for figure in figures.values() for name in (*figure.experiments, *figure.references)}
    for name, experiment in experiments.items():
        if _has_curve(experiment) and name not in shown:
            figures[name] = _figure(name, {"title": experiment.title, "experiments": [name]})
    return figures


def _has_curve(experiment: Experiment) -> bool:
    return any(gold_position(cell.placement) is not None and cell.size > 1 for cell in experiment.cells)


def _figure(name: str, entry: Mapping) -> Figure:
    return Figure(
        name=name,
        title=entry.get("title", name),
        experiments=tuple(entry["experiments"]),
        references=dict(entry.get("references", {})),
        panel_title=entry.get("panel_title", "{size} items"),
        x_label=entry.get("x_label", "Position of the item with the answer"),
    )


def locate(path: str, root: Path, where: str) -> str:
    """A path of the config, found from the working directory or else from the project's folder.

    Relative paths stay relative, so that a moved checkout is the same study. `UserError` if there is nothing.
    """
    for candidate in (Path(path).expanduser(), root / path):
        if candidate.exists():
            return str(candidate) if Path(path).is_absolute() else os.path.relpath(candidate)
    raise UserError(f"{where}: {path} does not exist (looked from {Path.cwd()} and from the project's folder)")


def _stems(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.txt"))
