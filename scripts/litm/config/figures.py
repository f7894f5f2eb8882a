"""The figures of the configuration: those asked for, or those that the experiments call for."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass

from litm.config.catalogue import choose
from litm.config.experiments import Experiment
from litm.errors import UserError
from litm.figures import kind_names, load_kind

#: The kind of a figure that does not name one.
DEFAULT_KIND = "accuracy_by_position"
#: The figure that is always made, of all curves.
PBI_FOREST = "pbi_forest"


@dataclass(frozen=True)
class Figure:
    """A named figure: the experiments whose accuracies it shows, and those that are its reference lines.

    models, sizes: the only ones that it shows, None for all there are; published: whether the published values of its
    models are drawn too.
    """

    name: str
    kind: str
    title: str
    experiments: tuple[str, ...]
    references: Mapping[str, str]
    panel_title: str
    x_label: str
    models: tuple[str, ...] | None
    sizes: tuple[int, ...] | None
    published: bool

    def settings(self) -> dict:
        """What changes the picture, beside the scores."""
        return asdict(self)

    def shows(self, model: str) -> bool:
        """Whether a model is among those that the figure is of."""
        return self.models is None or model in self.models

    def shows_all(self, experiment: Experiment, models: Collection[str]) -> bool:
        """Whether the figure has all that these models and an experiment have to show."""
        sizes = {cell.size for cell in experiment.cells}
        is_shown = experiment.name in (*self.experiments, *self.references)
        return is_shown and all(map(self.shows, models)) and (self.sizes is None or sizes <= {*self.sizes})


def read_figures(
    selected: list[str] | None,
    catalogues: Mapping[str, Mapping],
    experiments: Mapping[str, Experiment],
    sweeps: Collection[tuple[str, str]],
) -> dict[str, Figure]:
    """The figures asked for; if none are named, those with something to show, and one for any other curve.

    catalogues: all entries by kind and name; experiments: those that are selected; sweeps: the pairs of a selected
    model and experiment that there are. A figure has something to show if its experiments are all selected, and any of
    its models and sizes is.
    """
    entries = catalogues["figures"]
    for name in (*entries, *experiments):
        if name == PBI_FOREST:
            raise UserError(f"the name {PBI_FOREST} is taken by the figure of all Position Bias Indexes")
    for name, entry in entries.items():
        choose(entry["experiments"], catalogues["experiments"], f"figures.{name}.experiments")
        choose(entry.get("references", {}), catalogues["experiments"], f"figures.{name}.references")
        choose(entry.get("models", []), catalogues["models"], f"figures.{name}.models")
    if selected is not None:
        choose(selected, entries, "figures")
        for name in selected:
            choose(entries[name]["experiments"], experiments, f"figures.{name}: experiments selected in this config")
        figures = {name: _read_figure(name, entries[name], experiments) for name in selected}
        for figure in figures.values():
            _check_kind(figure, experiments)
            _check_not_empty(figure, experiments, sweeps)
        return figures
    figures = {name: _read_figure(name, entry, experiments) for name, entry in entries.items()}
    figures = {name: figure for name, figure in figures.items() if _has_curves(figure, experiments, sweeps)}
    for name, experiment in experiments.items():
        models = {model for model, one in sweeps if one == name}
        if not any(figure.shows_all(experiment, models) for figure in figures.values()):
            kind = next((kind for kind in kind_names() if load_kind(kind).is_automatic(experiment)), None)
            if kind:
                entry = {"kind": kind, "title": experiment.title, "experiments": [name]}
                figures[name] = _read_figure(name, entry, experiments)
    return figures


def published_figures(entries: Mapping) -> dict[str, Figure]:
    """The figures of which there are published values, whatever is selected."""
    figures = {name: _read_figure(name, entry, {}) for name, entry in entries.items()}
    return {name: figure for name, figure in figures.items() if figure.published}


def _has_curves(figure: Figure, experiments: Mapping[str, Experiment], sweeps: Collection[tuple[str, str]]) -> bool:
    """Whether all experiments of a figure are selected, and any of its models and sizes is among them."""
    if not set(figure.experiments) <= set(experiments):
        return False
    sizes = {cell.size for name in figure.experiments for cell in experiments[name].cells}
    models = {model for model, experiment in sweeps if experiment in figure.experiments}
    return any(map(figure.shows, models)) and (figure.sizes is None or bool(sizes & {*figure.sizes}))


def _check_not_empty(
    figure: Figure, experiments: Mapping[str, Experiment], sweeps: Collection[tuple[str, str]]
) -> None:
    if not _has_curves(figure, experiments, sweeps):
        limits = {"models": figure.models, "sizes": figure.sizes}
        named = "; ".join(f"its {key} are {', '.join(map(str, value))}" for key, value in limits.items() if value)
        raise UserError(f"figures.{figure.name}: nothing that is selected is in it ({named}); take it out of 'figures'")


def _check_kind(figure: Figure, experiments: Mapping[str, Experiment]) -> None:
    misfit = load_kind(figure.kind).misfit([experiments[name] for name in figure.experiments])
    if misfit:
        raise UserError(f"figures.{figure.name}: {misfit}")


def _read_figure(name: str, entry: Mapping, experiments: Mapping[str, Experiment]) -> Figure:
    kind = entry.get("kind", DEFAULT_KIND)
    choose([kind], kind_names(), f"figures.{name}.kind")
    unit = (
        "tokens" if any(experiments[one].tokens_of for one in entry["experiments"] if one in experiments) else "items"
    )
    return Figure(
        name=name,
        kind=kind,
        title=entry.get("title", name),
        experiments=tuple(entry["experiments"]),
        references=dict(entry.get("references", {})),
        panel_title=entry.get("panel_title", f"{{size}} {unit}"),
        x_label=entry.get("x_label", load_kind(kind).X_LABEL),
        models=tuple(entry["models"]) if "models" in entry else None,
        sizes=tuple(entry["sizes"]) if "sizes" in entry else None,
        published=entry.get("published", False),
    )
