"""The figures of the configuration: those asked for, or those that the experiments call for."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from litm.config.catalogue import choose
from litm.config.experiments import Experiment
from litm.errors import UserError

#: Accuracy against the position of the gold item, or the number of items, or of each of several gold items.
BY_POSITION, BY_SIZE, BY_TARGET = "accuracy_by_position", "accuracy_by_size", "accuracy_by_target"
#: The figure that is always made, of all curves.
PBI_FOREST = "pbi_forest"
X_LABELS = {
    BY_POSITION: "Position of the item with the answer",
    BY_SIZE: "Number of items in the context",
    BY_TARGET: "Item asked for, and its position",
}
#: What is wrong with a figure of a kind that has an experiment of another.
MISFITS = {
    BY_POSITION: "none of its experiments has positions to draw a curve over",
    BY_SIZE: "{name} has positions, a figure of 'kind: accuracy_by_size' is of experiments without",
    BY_TARGET: "{name} asks for one item at a time, a figure of 'kind: accuracy_by_target' is of those with several",
}


@dataclass(frozen=True)
class Figure:
    """A named figure: the experiments whose accuracies it shows, and those that are its reference lines."""

    name: str
    kind: str
    title: str
    experiments: tuple[str, ...]
    references: Mapping[str, str]
    panel_title: str
    x_label: str

    def settings(self) -> dict:
        """What changes the picture, beside the scores."""
        return asdict(self)


def read_figures(
    selected: list[str] | None, entries: Mapping, catalogue: Mapping, experiments: Mapping[str, Experiment]
) -> dict[str, Figure]:
    """The figures asked for; if none are named, those whose curves are all selected, and one for any other curve.

    catalogue: the entries of all experiments; experiments: those that are selected.
    """
    for name in (*entries, *experiments):
        if name == PBI_FOREST:
            raise UserError(f"the name {PBI_FOREST} is taken by the figure of all Position Bias Indexes")
    for name, entry in entries.items():
        choose(entry["experiments"], catalogue, f"figures.{name}.experiments")
        choose(entry.get("references", {}), catalogue, f"figures.{name}.references")
    if selected is not None:
        choose(selected, entries, "figures")
        for name in selected:
            choose(entries[name]["experiments"], experiments, f"figures.{name}: experiments selected in this config")
        figures = {name: _read_figure(name, entries[name], experiments) for name in selected}
        for figure in figures.values():
            _check_kind(figure, experiments)
        return figures
    figures = {
        name: _read_figure(name, entry, experiments)
        for name, entry in entries.items()
        if set(entry["experiments"]) <= set(experiments)
    }
    shown = {name for figure in figures.values() for name in (*figure.experiments, *figure.references)}
    for name, experiment in experiments.items():
        kind = _kind_of(experiment)
        if name not in shown and (kind != BY_SIZE or len({cell.size for cell in experiment.cells}) > 1):
            entry = {"kind": kind, "title": experiment.title, "experiments": [name]}
            figures[name] = _read_figure(name, entry, experiments)
    return figures


def _kind_of(experiment: Experiment) -> str:
    if not experiment.curves:
        return BY_SIZE
    return BY_TARGET if experiment.asks_several else BY_POSITION


def _check_kind(figure: Figure, experiments: Mapping[str, Experiment]) -> None:
    """Of a figure by position some experiment must have a curve; of the other kinds all must be of the kind."""
    wrong = [name for name in figure.experiments if _kind_of(experiments[name]) != figure.kind]
    if wrong and (figure.kind != BY_POSITION or len(wrong) == len(figure.experiments)):
        raise UserError(f"figures.{figure.name}: {MISFITS[figure.kind].format(name=wrong[0])}")


def _read_figure(name: str, entry: Mapping, experiments: Mapping[str, Experiment]) -> Figure:
    kind = entry.get("kind", BY_POSITION)
    unit = "tokens" if any(experiments[one].tokens_of for one in entry["experiments"]) else "items"
    return Figure(
        name=name,
        kind=kind,
        title=entry.get("title", name),
        experiments=tuple(entry["experiments"]),
        references=dict(entry.get("references", {})),
        panel_title=entry.get("panel_title", f"{{size}} {unit}"),
        x_label=entry.get("x_label", X_LABELS[kind]),
    )
