"""Figures of the configuration: those that the config names, or those that its experiments imply."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Protocol

from pydantic import Field, Strict

from litm.base.messages import UserError
from litm.config.conditions import compared_pairs
from litm.config.experiments import Experiment, item_noun
from litm.config.models import AnyModel
from litm.config.schema import FILLED_IN, Entry, Names, choose, one_of, read_entry
from litm.figures.kinds import KINDS
from litm.records import Condition

#: Suffix of the figure's name, and kind, for an experiment with remedies: accuracy against the cost of a question.
BY_COST, COST_KIND = "_cost", "accuracy_by_cost"
CURVE_KIND, MEAN_KIND = "accuracy_by_position", "mean_accuracy_by_size"
#: Of one model this is the figure by size once more.
TOKENS_KIND = "accuracy_by_tokens"
AND_PLAIN, BASE_AND_TUNED = "_and_plain", "_base_and_tuned"

#: Keys of an entry in the figures' catalogue.
Keys = dict[str, Any]
#: The experiment at the sizes that the model runs, by model and experiment.
Sweeps = Mapping[tuple[str, str], Experiment]


class Shown(Protocol):
    """The part of a figure that tells which curves it shows, so that no other figure repeats them."""

    @property
    def kind(self) -> str: ...
    @property
    def experiments(self) -> Sequence[str]: ...
    @property
    def models(self) -> Sequence[str] | None: ...
    @property
    def panel_title(self) -> str | None: ...
    @property
    def x_label(self) -> str | None: ...
    @property
    def published(self) -> bool: ...
    def shows(self, model: str) -> bool: ...
    def shows_all(self, experiment: Experiment, models: Sequence[str]) -> bool: ...


def of_study(study: str, experiments: Mapping[str, Experiment], conditions: Mapping[str, Condition]) -> dict[str, Keys]:
    """The figure of an experiment with remedies and all its conditions; {} for a condition."""
    if conditions[study].study != study:
        return {}
    names = [name for name, one in conditions.items() if one.study == study and name in experiments]
    return {f"{study}{BY_COST}": {"kind": COST_KIND, "title": experiments[study].title, "experiments": names}}


def beside_plain(
    experiment: Experiment, experiments: Mapping[str, Experiment], sweeps: Sweeps, figures: Sequence[Shown]
) -> dict[str, Keys]:
    """A figure with the curves of a query-aware experiment and of its plain version, for the models that run both, at
    their common sizes.
    """
    plain = experiments.get(experiment.query_aware_of or "")
    if plain is None or not _draws_curve(experiment) or not _draws_curve(plain):
        return {}
    own, other = _models_of(experiment.name, sweeps), _models_of(plain.name, sweeps)
    models = [model for model in own if model in other]
    sizes = sorted(_sizes(experiment) & _sizes(plain))
    if not models or not sizes:
        return {}
    entry = {
        "kind": CURVE_KIND,
        "title": f"{experiment.title}, next to the plain prompt",
        "experiments": [plain.name, experiment.name],
        **labels_of([plain, experiment], figures),
        "models": None if set(own) == set(other) else models,
        "sizes": None if _sizes(experiment) == _sizes(plain) else sizes,
    }
    return {f"{experiment.name}{AND_PLAIN}": entry}


def plain_curves(
    experiment: Experiment, experiments: Mapping[str, Experiment], sweeps: Sweeps, figures: Sequence[Shown]
) -> dict[str, Keys]:
    """A figure of the curves that no other figure shows, of the first kind that fits, named after the experiment."""
    models = _models_of(experiment.name, sweeps)
    if any(figure.shows_all(experiment, models) for figure in figures):
        return {}
    kind = next((kind for kind in KINDS if KINDS[kind].is_automatic(experiment)), None)
    if kind is None:
        return {}
    entry = {
        "kind": kind,
        "title": experiment.title,
        "experiments": [experiment.name],
        "references": _references(experiment, experiments),
    }
    return {experiment.name: entry}


def base_and_tuned(
    experiment: Experiment,
    experiments: Mapping[str, Experiment],
    sweeps: Sweeps,
    figures: Sequence[Shown],
    tuned: Mapping[str, str],
) -> dict[str, Keys]:
    """A figure of tuned models and their base models (`tuned`: base by tuned model), if other models run the experiment
    too; pairs that another figure of some models shows are left out.
    """
    models = _models_of(experiment.name, sweeps)
    pairs = [(tuned[model], model) for model in models if tuned.get(model) in models]
    limited = [
        figure
        for figure in figures
        if figure.models and figure.kind == CURVE_KIND and tuple(figure.experiments) == (experiment.name,)
    ]
    pairs = [pair for pair in pairs if not any(all(map(figure.shows, pair)) for figure in limited)]
    paired = {model for pair in pairs for model in pair}
    if not paired or paired == set(models) or not _draws_curve(experiment):
        return {}
    entry = {
        "kind": CURVE_KIND,
        "title": f"{experiment.title}, before and after tuning",
        "experiments": [experiment.name],
        "references": _references(experiment, experiments),
        **labels_of([experiment], figures),
        "models": [model for model in models if model in paired],
        "published": _has_published(experiment, figures),
    }
    return {f"{experiment.name}{BASE_AND_TUNED}": entry}


def by_size(
    experiment: Experiment, experiments: Mapping[str, Experiment], sweeps: Sweeps, figures: Sequence[Shown]
) -> dict[str, Keys]:
    """A figure of each kind that shows sizes, for an experiment of several sizes, unless another figure shows all.

    Accuracy against tokens is for several models only.
    """
    run = {model: one for (model, name), one in sweeps.items() if name == experiment.name}
    if not any(len(_sizes(one)) > 1 for one in run.values()):
        return {}
    entries = {}
    for kind, made in KINDS.items():
        if not made.by_size or made.misfit([experiment]) is not None:
            continue
        if kind == TOKENS_KIND and len(run) < 2:
            continue
        if any(figure.kind == kind and figure.shows_all(experiment, list(run)) for figure in figures):
            continue
        name_end, title_end = made.by_size
        labels = labels_of([experiment], figures)
        entries[f"{experiment.name}{name_end}"] = {
            "kind": kind,
            "title": f"{experiment.title}{title_end}",
            "experiments": [experiment.name],
            "references": {} if kind == TOKENS_KIND else _references(experiment, experiments),
            **({"panel_title": labels["panel_title"]} if "panel_title" in labels else {}),
            "published": kind == MEAN_KIND and _has_published(experiment, figures),
        }
    return entries


def _draws_curve(experiment: Experiment) -> bool:
    return KINDS[CURVE_KIND].is_automatic(experiment)


def _models_of(experiment: str, sweeps: Sweeps) -> list[str]:
    return [model for model, name in sweeps if name == experiment]


def _sizes(experiment: Experiment) -> set[int]:
    return {cell.size for cell in experiment.cells}


def _references(experiment: Experiment, experiments: Mapping[str, Experiment]) -> dict[str, str]:
    """The experiment's closed book and oracle, if they are selected, with their labels."""
    lines = {"closed book": experiment.closed_book, "oracle": experiment.oracle}
    return {str(reference): label for label, reference in lines.items() if reference in experiments}


def labels_of(experiments: Sequence[Experiment], figures: Sequence[Shown]) -> Keys:
    """`panel_title` and `x_label` of the first figure of curves that shows one of these experiments; {} without one."""
    labels = (
        {"panel_title": figure.panel_title, "x_label": figure.x_label}
        for experiment in experiments
        for figure in figures
        if experiment.name in figure.experiments and figure.kind == CURVE_KIND
    )
    return next(labels, {})


def _has_published(experiment: Experiment, figures: Sequence[Shown]) -> bool:
    """Whether the catalogue's figures show published values of the experiment."""
    return any(figure.published and experiment.name in figure.experiments for figure in figures)


#: Name of the figure of all curves, which is always made.
PBI_FOREST = "pbi_forest"

#: Suffix of the figure's name, and kind, for an experiment's wrong answers.
BY_KIND, WRONG_KIND = "_wrong_answers", "wrong_answers"

#: A model and two experiments whose results are compared; the same experiment twice for a tuned model and its base.
Compared = tuple[str, str, str]


class FigureEntry(Entry):
    """Accuracy by position or by size, one curve per model."""

    kind: Annotated[str, one_of(lambda: KINDS)] = "accuracy_by_position"
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
    def module(self) -> str:
        """The module that draws it."""
        return KINDS[self.kind].module

    @property
    def is_of_differences(self) -> bool:
        """Whether it shows differences."""
        return "differences" in KINDS[self.kind].inputs

    @property
    def shows_accuracies(self) -> bool:
        """Whether it shows accuracies."""
        return "accuracy" in KINDS[self.kind].inputs

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
            figures |= _read_all(of_study(name, experiments, conditions), experiments)
            continue
        for entries_of in (beside_plain, plain_curves, partial(base_and_tuned, tuned=tuned), by_size):
            added = entries_of(experiment, experiments, sweeps, list(figures.values()))
            free = {one: entry for one, entry in added.items() if one == name or one not in {*entries, *experiments}}
            figures |= _read_all(free, experiments)
    places = {name: place for place, name in enumerate(experiments)}
    return dict(sorted(figures.items(), key=lambda item: min(places[name] for name in item[1].experiments)))


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
            labels = labels_of([experiment], list(figures.values()))
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
    misfit = KINDS[figure.kind].misfit([experiments[name] for name in figure.experiments])
    if misfit:
        raise UserError(f"figures.{figure.name}: {misfit}")


def _read_figure(entry: FigureEntry, experiments: Mapping[str, Experiment]) -> Figure:
    shown = [experiments[name] for name in entry.experiments if name in experiments]
    item = item_noun(shown)
    labels = {
        "title": entry.name,
        "panel_title": "{size} tokens" if any(one.tokens_of for one in shown) else f"{{size}} {item}s",
        "x_label": KINDS[entry.kind].x_label.replace("{item}", item),
    }
    missing = {key: label for key, label in labels.items() if getattr(entry, key) is None}
    return entry.become(Figure, **missing)
