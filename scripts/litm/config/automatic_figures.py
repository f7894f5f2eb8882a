"""Figures that a study gets without a catalogue entry, by its experiments and models."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from litm.config.experiments import Experiment
from litm.domain.condition import Condition
from litm.figures import kind_names, load_kind

#: Suffix of the figure's name, and kind, for an experiment with remedies: accuracy against the cost of a question.
BY_COST, COST_KIND = "_cost", "accuracy_by_cost"
CURVE_KIND, MEAN_KIND = "accuracy_by_position", "mean_accuracy_by_size"
#: Of one model this is the figure by size once more.
TOKENS_KIND = "accuracy_by_tokens"
AND_PLAIN, BASE_AND_TUNED = "_and_plain", "_base_and_tuned"

#: Keys of an entry in the figures' catalogue.
Entry = dict[str, Any]
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


def of_study(
    study: str, experiments: Mapping[str, Experiment], conditions: Mapping[str, Condition]
) -> dict[str, Entry]:
    """The figure of an experiment with remedies and all its conditions; {} for a condition."""
    if conditions[study].study != study:
        return {}
    names = [name for name, one in conditions.items() if one.study == study and name in experiments]
    return {f"{study}{BY_COST}": {"kind": COST_KIND, "title": experiments[study].title, "experiments": names}}


def beside_plain(
    experiment: Experiment, experiments: Mapping[str, Experiment], sweeps: Sweeps, figures: Sequence[Shown]
) -> dict[str, Entry]:
    """A figure with the curves of a query-aware experiment and of its plain version, for the models that run both, at
    their common sizes.
    """
    plain = experiments.get(experiment.query_aware_of or "")
    if plain is None or not _has_curves(experiment) or not _has_curves(plain):
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
) -> dict[str, Entry]:
    """A figure of the curves that no other figure shows, of the first kind that fits, named after the experiment."""
    models = _models_of(experiment.name, sweeps)
    if any(figure.shows_all(experiment, models) for figure in figures):
        return {}
    kind = next((kind for kind in kind_names() if load_kind(kind).is_automatic(experiment)), None)
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
) -> dict[str, Entry]:
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
    if not paired or paired == set(models) or not _has_curves(experiment):
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
) -> dict[str, Entry]:
    """A figure of each kind that shows sizes, for an experiment of several sizes, unless another figure shows all.

    Accuracy against tokens is for several models only.
    """
    run = {model: one for (model, name), one in sweeps.items() if name == experiment.name}
    if not any(len(_sizes(one)) > 1 for one in run.values()):
        return {}
    entries = {}
    for kind in kind_names():
        module = load_kind(kind)
        if not module.BY_SIZE or module.misfit([experiment]) is not None:
            continue
        if kind == TOKENS_KIND and len(run) < 2:
            continue
        if any(figure.kind == kind and figure.shows_all(experiment, list(run)) for figure in figures):
            continue
        name_end, title_end = module.BY_SIZE
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


def _has_curves(experiment: Experiment) -> bool:
    return load_kind(CURVE_KIND).is_automatic(experiment)


def _models_of(experiment: str, sweeps: Sweeps) -> list[str]:
    return [model for model, name in sweeps if name == experiment]


def _sizes(experiment: Experiment) -> set[int]:
    return {cell.size for cell in experiment.cells}


def _references(experiment: Experiment, experiments: Mapping[str, Experiment]) -> dict[str, str]:
    """The experiment's closed book and oracle, if they are selected, with their labels."""
    lines = {"closed book": experiment.closed_book, "oracle": experiment.oracle}
    return {str(reference): label for label, reference in lines.items() if reference in experiments}


def labels_of(experiments: Sequence[Experiment], figures: Sequence[Shown]) -> Entry:
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
