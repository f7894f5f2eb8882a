"""Figures of the configuration: those that the config names, or those that its experiments imply."""

from collections.abc import Collection, Mapping
from functools import partial
from typing import Annotated

from pydantic import Field, Strict

from litm.base.messages import UserError
from litm.base.schema import FILLED_IN, Entry, Names, choose, one_of, read_entry
from litm.config import automatic_figures
from litm.config.automatic_figures import base_and_tuned, beside_plain, by_size, plain_curves
from litm.config.conditions import compared_pairs
from litm.config.experiments import Experiment
from litm.config.items import item_noun
from litm.config.models import AnyModel
from litm.domain.condition import Condition
from litm.figures import kind_names, load_kind

#: Name of the figure of all curves, which is always made.
PBI_FOREST = "pbi_forest"

#: Suffix of the figure's name, and kind, for an experiment's wrong answers.
BY_KIND, WRONG_KIND = "_wrong_answers", "wrong_answers"

#: A model and two experiments whose results are compared; the same experiment twice for a tuned model and its base.
Compared = tuple[str, str, str]


class FigureEntry(Entry):
    """Accuracy by position or by size, one curve per model."""

    kind: Annotated[str, one_of(kind_names)] = "accuracy_by_position"
    """accuracy_by_position (one panel per size), accuracy_by_size (with the retriever's recall for contexts as
    retrieved), mean_accuracy_by_size (the mean over the positions), accuracy_by_size_and_position (one heatmap per
    model), accuracy_by_target (bars for several gold items of one prompt), accuracy_by_cost (conditions of an
    experiment with remedies against the tokens or the money per question), accuracy_by_tokens (the mean over the
    positions against the tokens, or by `prices` the money, per question), condition_differences (paired differences of
    its experiments by position; with one experiment, its tuned models minus their base), or wrong_answers (kinds of
    wrong answers of one experiment, by position).
    """
    title: str = FILLED_IN
    """Title above the panels; if left out, the figure's name."""
    experiments: Names
    """Experiments whose curves are shown."""
    references: dict[str, str] = Field({})
    """Experiments drawn as horizontal lines if they are selected, each with its label."""
    panel_title: str = FILLED_IN
    """Title of a panel; {size} stands for the number of items. If left out: {size} documents, or the task's other noun.
    The mean tokens of a prompt are added if they were counted and the title does not mention tokens.
    """
    x_label: str = FILLED_IN
    """Label of the horizontal axis; if left out, the kind's."""
    models: Names | None = None
    """The models to show, if they are selected; if left out, all."""
    sizes: Annotated[tuple[int, ...], Strict(False)] | None = None
    """The sizes to show; if left out, all."""
    published: bool = False
    """Whether the models' published values (resources/published/accuracy.csv) are drawn too, dashed. The target
    `published` draws such a figure from published values alone, if it names its `models`.
    """


class Figure(FigureEntry):
    """A figure with its labels, the experiments whose accuracies it shows, and its reference lines."""

    def settings(self) -> dict:
        """Settings that change the picture, apart from the scores."""
        return {"name": self.name, **self.model_dump()}

    @property
    def is_of_differences(self) -> bool:
        """Whether it shows differences."""
        return "differences" in load_kind(self.kind).INPUTS

    @property
    def shows_accuracies(self) -> bool:
        """Whether it shows accuracies."""
        return "accuracy" in load_kind(self.kind).INPUTS

    def shows(self, model: str) -> bool:
        """Whether the figure shows a model."""
        return self.models is None or model in self.models

    def shows_all(self, experiment: Experiment, models: Collection[str]) -> bool:
        """Whether the figure shows all curves of these models on an experiment."""
        sizes = {cell.size for cell in experiment.cells}
        is_shown = experiment.name in (*self.experiments, *self.references) and self.shows_accuracies
        return is_shown and all(map(self.shows, models)) and (self.sizes is None or sizes <= {*self.sizes})


def read_figures(
    selected: Collection[str] | None,
    catalogues: Mapping[str, Mapping],
    experiments: Mapping[str, Experiment],
    sweeps: Mapping[tuple[str, str], Experiment],
    conditions: Mapping[str, Condition],
) -> dict[str, Figure]:
    """The named figures; if none are named, all that have curves, and those of `automatic_figures`.

    catalogues: all entries by kind and name; experiments: the selected ones; sweeps: pairs of a selected model and
    experiment, each with the experiment at the sizes that the model runs; conditions: of experiments with remedies,
    which share one figure. A figure has curves if all of its experiments are selected, and any of its models and sizes.
    """
    entries = catalogues["figures"]
    for name in (*entries, *experiments):
        if name == PBI_FOREST:
            raise UserError(f"the name {PBI_FOREST} is taken by the figure of all Position Bias Indexes")
    for name, entry in entries.items():
        choose(entry.experiments, catalogues["experiments"], f"figures.{name}.experiments")
        choose(entry.references, catalogues["experiments"], f"figures.{name}.references")
        choose(entry.models or [], catalogues["models"], f"figures.{name}.models")
    compared = _compared(sweeps, catalogues["models"])
    if selected is not None:
        choose(selected, entries, "figures")
        for name in selected:
            choose(entries[name].experiments, experiments, f"figures.{name}: experiments selected in this config")
        figures = {name: _read_figure(entries[name], experiments) for name in selected}
        for figure in figures.values():
            _check_kind(figure, experiments)
            _check_not_empty(figure, experiments, sweeps, compared)
        return figures
    figures = {name: _read_figure(entry, experiments) for name, entry in entries.items()}
    figures = {name: figure for name, figure in figures.items() if _has_curves(figure, experiments, sweeps, compared)}
    about = {name: model.about for name, model in catalogues["models"].items() if model.about}
    tuned = {name: one.tuned_from for name, one in about.items() if one.tuned_from}
    for name, experiment in experiments.items():
        if name in conditions:
            figures |= _read_all(automatic_figures.of_study(name, experiments, conditions), experiments)
            continue
        for entries_of in (beside_plain, plain_curves, partial(base_and_tuned, tuned=tuned), by_size):
            added = entries_of(experiment, experiments, sweeps, list(figures.values()))
            free = {one: entry for one, entry in added.items() if one == name or one not in {*entries, *experiments}}
            figures |= _read_all(free, experiments)
    return figures


def _read_all(entries: Mapping[str, Mapping], experiments: Mapping[str, Experiment]) -> dict[str, Figure]:
    return {
        name: _read_figure(read_entry(FigureEntry, entry, f"figures.{name}"), experiments)
        for name, entry in entries.items()
    }


def wrong_answer_figures(
    figures: Mapping[str, Figure],
    sweeps: Mapping[tuple[str, str], Experiment],
    conditions: Mapping[str, Condition],
) -> dict[str, Figure]:
    """A figure of kinds of wrong answers for each experiment with positions to compare and no such figure yet.

    sweeps, conditions: as in `read_figures`.
    """
    own = {name for figure in figures.values() if figure.kind == WRONG_KIND for name in figure.experiments}
    more = {}
    experiments = {name: one for (_, name), one in sweeps.items() if one.has_positions and name not in own}
    for name, experiment in experiments.items():
        if name not in conditions:
            labels = automatic_figures.labels_of([experiment], list(figures.values()))
            entry = {"kind": WRONG_KIND, "title": f"Wrong answers: {experiment.title}", "experiments": [name], **labels}
            figure = f"{name}{BY_KIND}"
            more[figure] = _read_figure(read_entry(FigureEntry, entry, f"figures.{figure}"), experiments)
    return {name: figure for name, figure in more.items() if name not in figures}


def published_figures(entries: Mapping[str, FigureEntry]) -> dict[str, Figure]:
    """Figures of the paper's models with published values, for any selection."""
    figures = {name: _read_figure(entry, {}) for name, entry in entries.items()}
    return {name: figure for name, figure in figures.items() if figure.published and figure.models}


def _compared(sweeps: Mapping[tuple[str, str], Experiment], models: Mapping[str, AnyModel]) -> set[Compared]:
    """The comparisons of condition_differences.csv that figures can show."""
    about = {model: models[model].about for model, _ in sweeps}
    tuned = [(model, one.tuned_from) for model, one in about.items() if one and one.tuned_from]
    pairs = compared_pairs(sweeps, tuned)
    # Sizes of one sweep are not compared at positions.
    return {(one[0], one[1], other[1]) for one, other in pairs if one != other}


def _has_curves(
    figure: Figure,
    experiments: Mapping[str, Experiment],
    sweeps: Mapping[tuple[str, str], Experiment],
    compared: Collection[Compared],
) -> bool:
    """Whether all experiments of a figure are selected, and any of its models and sizes; for a figure of differences,
    whether any of its models is compared.
    """
    if not set(figure.experiments) <= set(experiments):
        return False
    if figure.is_of_differences:
        own, several = {*figure.experiments}, len(figure.experiments) > 1
        if not any(figure.shows(model) and {a, b} <= own and (a != b) == several for model, a, b in compared):
            return False
    shown = [one for (model, name), one in sweeps.items() if name in figure.experiments and figure.shows(model)]
    sizes = {cell.size for one in shown for cell in one.cells}
    return bool(sizes) and (figure.sizes is None or bool(sizes & {*figure.sizes}))


def _check_not_empty(
    figure: Figure,
    experiments: Mapping[str, Experiment],
    sweeps: Mapping[tuple[str, str], Experiment],
    compared: Collection[Compared],
) -> None:
    if not _has_curves(figure, experiments, sweeps, compared):
        limits = {"models": figure.models, "sizes": figure.sizes}
        named = "; ".join(f"its {key} are {', '.join(map(str, value))}" for key, value in limits.items() if value)
        raise UserError(f"figures.{figure.name}: it shows nothing of the selection ({named}); remove it from 'figures'")


def _check_kind(figure: Figure, experiments: Mapping[str, Experiment]) -> None:
    misfit = load_kind(figure.kind).misfit([experiments[name] for name in figure.experiments])
    if misfit:
        raise UserError(f"figures.{figure.name}: {misfit}")


def _read_figure(entry: FigureEntry, experiments: Mapping[str, Experiment]) -> Figure:
    shown = [experiments[name] for name in entry.experiments if name in experiments]
    item = item_noun(shown)
    labels = {
        "title": entry.name,
        "panel_title": "{size} tokens" if any(one.tokens_of for one in shown) else f"{{size}} {item}s",
        "x_label": load_kind(entry.kind).X_LABEL.replace("{item}", item),
    }
    missing = {key: label for key, label in labels.items() if getattr(entry, key) is None}
    return entry.become(Figure, **missing)
