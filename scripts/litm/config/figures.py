"""Figures of the configuration: those that the config names, or those that its experiments imply."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from litm.base.messages import UserError
from litm.base.schema import FILLED_IN, Count, Entry, Names, Ref, choose, one_of, read_entry
from litm.config.conditions import ABSENT_END
from litm.config.experiments import Experiment
from litm.config.sweeps import Sweeps
from litm.examples.tasks import load_task
from litm.figures.kinds import KINDS
from litm.records.measures import ANSWER, LOG_PROBABILITY

#: Name of the figure of all curves, which is always made.
PBI_FOREST = "pbi_forest"
#: Suffix of the figure's name, and kind, for an experiment's wrong answers; for an experiment with remedies: accuracy
#: against the cost of a question.
BY_KIND, WRONG_KIND = "_wrong_answers", "wrong_answers"
BY_COST, COST_KIND = "_cost", "accuracy_by_cost"
#: The same for the log-probability of the right answer.
BY_PROBABILITY, PROBABILITY_KIND = "_log_probability", "log_probability_by_position"
CURVE_KIND, MEAN_KIND = "accuracy_by_position", "mean_accuracy_by_size"
#: Of two facts in one context.
FACTS_KIND = "two_facts"
#: The same for the differences between two levels of a factor.
BY_DIFFERENCE, DIFFERENCE_KIND = "_differences", "condition_differences"
#: A figure of the questions that a model gets wrong without documents. It needs the reference closed book.
NOT_KNOWN_KIND = "accuracy_of_not_known"
#: Of one model this is the figure by size once more.
TOKENS_KIND = "accuracy_by_tokens"
AND_PLAIN, BASE_AND_TUNED = "_and_plain", "_base_and_tuned"


class Figure(Entry):
    """Accuracy by position or by size, one curve per model."""

    kind: Annotated[str, one_of(lambda: KINDS)] = "accuracy_by_position"
    """accuracy_by_position (one panel per size), accuracy_by_size (with the retriever's recall for contexts as
    retrieved), mean_accuracy_by_size (the mean over the positions), accuracy_by_size_and_position (one heatmap per
    model), accuracy_by_target (bars for several gold items of one prompt), accuracy_by_cost (conditions of an
    experiment with remedies against the tokens or the money per question), accuracy_by_tokens (the mean over the
    positions against the tokens, or by `prices` the money, per question), log_probability_by_position (the probability
    of a token of the right answer, where it is measured), accuracy_of_not_known (accuracy_by_position of the
    questions that each model gets wrong in the closed-book experiment among the `references`), condition_differences
    (paired differences of its experiments by position; with one experiment, its tuned models minus their base), or
    wrong_answers (kinds of wrong answers of one experiment, by position).
    """
    title: str = FILLED_IN
    """Title above the panels. If omitted, the figure's name."""
    experiments: Annotated[Names, Ref("experiments")]
    """Experiments whose curves are shown."""
    references: Annotated[dict[str, str], Ref("experiments", keys=True)] = Field({})
    """Experiments, with their labels, that are drawn as horizontal lines if they are selected."""
    panel_title: str = FILLED_IN
    """Title of a panel; {size} stands for the number of items. If omitted: {size} documents, or the task's other noun.
    The mean number of tokens per prompt is added if it is known and the title does not mention tokens.
    """
    x_label: str = FILLED_IN
    """Label of the horizontal axis. If omitted, the kind's."""
    models: Annotated[Names | None, Ref("models")] = None
    """The models to show, if they are selected, in the order of the study's `models`. If omitted, all."""
    sizes: Annotated[tuple[int, ...], Field(strict=False)] | None = None
    """The sizes to show. If omitted, all."""
    published: bool = False
    """Whether the models' published values (resources/published/accuracy.csv) are also drawn, as dashed lines. The
    target `published` draws such a figure from published values alone, if it names its `models`.
    """

    windows: dict[str, Count] = Field({})
    """Context windows of models, in tokens. mean_accuracy_by_size then has the share of the window as a second axis: of
    the smallest of these windows that the figure shows.
    """

    def mistakes(self) -> Iterator[str]:
        """See `Entry.mistakes`."""
        if self.kind == NOT_KNOWN_KIND and not self.references:
            yield f"'kind: {NOT_KNOWN_KIND}' needs 'references': {{NAME: closed book}}, an experiment without documents"

    def settings(self) -> dict:
        """Settings that change the picture, apart from the scores."""
        return {"name": self.name, **self.model_dump(exclude=set() if self.windows else {"windows"})}

    @property
    def module(self) -> str:
        """The module that draws it."""
        return KINDS[self.kind].module

    @property
    def shown(self) -> tuple[str, ...]:
        """Its experiments, reference lines among them."""
        return (*self.experiments, *self.references)

    def shows(self, model: str) -> bool:
        """Whether the figure shows a model."""
        return self.models is None or model in self.models

    def shows_all(self, experiment: Experiment, models: Collection[str]) -> bool:
        """Whether the figure shows all curves of these models on an experiment."""
        is_shown = experiment.name in self.shown and "accuracy" in KINDS[self.kind].inputs
        has_sizes = self.sizes is None or experiment.cell_sizes <= {*self.sizes}
        return is_shown and has_sizes and all(map(self.shows, models))

    def labelled(self, experiments: Mapping[str, Experiment]) -> "Figure":
        """The figure with the labels that its entry leaves out."""
        shown = [experiments[name] for name in self.experiments if name in experiments]
        item = item_noun(shown)
        labels = {
            "title": self.name,
            "panel_title": "{size} tokens" if any(entry.tokens_of for entry in shown) else f"{{size}} {item}s",
            "x_label": KINDS[self.kind].x_label.replace("{item}", item),
        }
        return self.changed(**{key: label for key, label in labels.items() if getattr(self, key) is None})


#: Figures by name, made so far or all of a study.
Figures = Mapping[str, Figure]


def references_of(experiment: Experiment, sweeps: Sweeps) -> dict[str, str]:
    """The experiment's closed book and oracle, if they are selected, with their labels."""
    lines = {"closed book": experiment.closed_book, "oracle": experiment.oracle}
    return {str(reference): label for label, reference in lines.items() if reference in sweeps.answered}


def item_noun(experiments: Sequence[Experiment]) -> str:
    """The noun that the tasks of all experiments use for an item, "item" where they differ."""
    nouns = {load_task(experiment.task).item for experiment in experiments}
    return nouns.pop() if len(nouns) == 1 else "item"


def levels_of(experiment: Experiment, sweeps: Sweeps) -> list[str]:
    """The experiments of further levels of its factor, if they are selected."""
    made = {name: entry for name, entry in sweeps.answered.items() if entry.made_of == experiment.name}
    return [name for name, entry in made.items() if not (entry.condition or entry.lacks_gold or entry.asks_several)]


def labels_of(figures: Figures, *experiments: Experiment) -> dict[str, str]:
    """`panel_title` and `x_label` of the first figure of curves that shows an experiment; {} without one."""
    for experiment in experiments:
        for figure in figures.values():
            if experiment.name in figure.experiments and figure.kind == CURVE_KIND:
                return {"panel_title": figure.panel_title, "x_label": figure.x_label}
    return {}


def has_published(figures: Figures, experiment: Experiment) -> bool:
    """Whether figures show published values of the experiment."""
    return any(figure.published and experiment.name in figure.experiments for figure in figures.values())


def read_figures(names: Collection[str] | None, entries: Figures, sweeps: Sweeps) -> dict[str, Figure]:
    """The figures of a study by name: those that the config names, or for None those that its experiments imply.

    entries: of the catalogue. A figure has curves if all of its experiments are selected, and any of its models and
    sizes. Raises `UserError` for a figure that cannot be drawn.
    """
    experiments, figures = sweeps.answered, dict[str, Figure]()
    if PBI_FOREST in (*entries, *experiments):
        raise UserError(f"the name {PBI_FOREST} is taken by the figure of all Position Bias Indexes")
    for name in entries if names is None else choose(names, entries, "figures"):
        if names is not None:
            where = f"figures.{name}"
            choose(entries[name].experiments, experiments, f"{where}: experiments selected in this config")
            if misfit := KINDS[entries[name].kind].misfit([experiments[shown] for shown in entries[name].experiments]):
                raise UserError(f"{where}: {misfit}")
        figure = entries[name].labelled(experiments)
        if _has_curves(figure, sweeps):
            figures[name] = figure
        elif names is not None:
            limits = {"models": figure.models, "sizes": figure.sizes}
            named = "; ".join(f"its {key} are {', '.join(map(str, value))}" for key, value in limits.items() if value)
            raise UserError(f"figures.{name}: it shows nothing of the selection ({named}); remove it from 'figures'")
    if names is None:
        for experiment in experiments.values():
            is_part = experiment.lacks_gold or (experiment.made_of and experiment.asks_several)
            of_level = () if is_part else (_plain_curves,) if experiment.made_of else AUTOMATIC
            for kind in (_of_remedies,) if experiment.condition else of_level:
                for automatic in [*kind(experiment, sweeps, figures)]:
                    if automatic.name == experiment.name or automatic.name not in {*entries, *experiments}:
                        figures[automatic.name] = automatic.labelled(experiments)
        places = {name: place for place, name in enumerate(experiments)}
        figures = dict(sorted(figures.items(), key=lambda item: min(places[shown] for shown in item[1].experiments)))
        figures |= _more_figures(sweeps, figures)
    return figures


def _more_figures(sweeps: Sweeps, figures: Figures) -> dict[str, Figure]:
    """A figure of kinds of wrong answers for each experiment with positions to compare, and one of the probability of
    the right answer where it is measured, unless there is such a figure.
    """
    more = {}
    for kind, ending, title, measure in (
        (WRONG_KIND, BY_KIND, "Wrong answers: {}", ANSWER),
        (FACTS_KIND, f"_{FACTS_KIND}", "{}: what answers have", ANSWER),
        (PROBABILITY_KIND, BY_PROBABILITY, "{}: probability of the right answer", LOG_PROBABILITY),
    ):
        shown = {name for figure in figures.values() if figure.kind == kind for name in figure.experiments}
        measured = [sweep.experiment for sweep in sweeps.sweeps_of(measure) if sweep.experiment.has_prompts]
        experiments = {
            entry.name: entry
            for entry in measured
            if (
                entry.has_facts and not entry.made_of
                if kind == FACTS_KIND
                else entry.has_positions and not (entry.has_facts or entry.has_chain)
            )
        }
        for name, experiment in experiments.items():
            if name not in shown and not experiment.condition and f"{name}{ending}" not in figures:
                labels: dict[str, Any] = {"title": title.format(experiment.title), **labels_of(figures, experiment)}
                absent = f"{name}-{ABSENT_END}"
                if kind == WRONG_KIND and absent in sweeps.answered:
                    labels["references"] = {absent: "absent"}
                more[f"{name}{ending}"] = _made(f"{name}{ending}", kind, experiment, **labels).labelled(experiments)
    return more


def published_figures(entries: Mapping[str, Figure]) -> dict[str, Figure]:
    """Figures of the paper's models with published values, for any selection."""
    return {name: figure.labelled({}) for name, figure in entries.items() if figure.published and figure.models}


def _made(name: str, kind: str, experiment: Experiment, **keys: Any) -> Figure:
    """A figure of these keys, by default of one experiment."""
    return read_entry(Figure, {"kind": kind, "experiments": [experiment.name], **keys}, f"figures.{name}")


def _has_curves(figure: Figure, sweeps: Sweeps) -> bool:
    """Whether all experiments of a figure are selected, and any of its models and sizes; for a figure of differences,
    whether any of its models is compared.
    """
    names, several = {*figure.experiments}, len(figure.experiments) > 1
    needed = names | {*figure.references} if figure.kind == NOT_KNOWN_KIND else names
    if not needed <= sweeps.answered.keys():
        return False
    # Sizes of one sweep are not compared at positions.
    if "condition_differences" in KINDS[figure.kind].inputs and not any(
        figure.shows(model) and {a, b} <= names and (a != b) == several and (model, a) != (other, b)
        for (model, a), (other, b) in sweeps.compared
    ):
        return False
    shown = [
        sweep for sweep in sweeps.sweeps_of(ANSWER) if sweep.experiment.name in names and figure.shows(sweep.model.name)
    ]
    sizes = {size for sweep in shown for size in sweep.experiment.cell_sizes}
    return bool(sizes) and (figure.sizes is None or bool(sizes & {*figure.sizes}))


# --- Figures without an entry in the catalogue


def _of_remedies(experiment: Experiment, sweeps: Sweeps, figures: Figures) -> Iterator[Figure]:
    """The figure of an experiment with remedies and all its conditions; none for a condition."""
    base = experiment.name
    if sweeps.conditions[base].study == base:
        names = [
            name
            for name, remedy in sweeps.conditions.items()
            if (remedy.study, remedy.lacks_answer) == (base, False) and name in sweeps.answered
        ]
        title = f"{experiment.title}: accuracy and cost"
        yield _made(f"{base}{BY_COST}", COST_KIND, experiment, title=title, experiments=names)


def _beside_plain(experiment: Experiment, sweeps: Sweeps, figures: Figures) -> Iterator[Figure]:
    """A figure with the curves of a query-aware experiment and of its plain version, for the models that run both, at
    their common sizes.
    """
    plain = sweeps.answered.get(experiment.query_aware_of or "")
    if plain is None or not _draws_curve(experiment) or not _draws_curve(plain):
        return
    query_aware, other = sweeps.models_of(experiment.name), sweeps.models_of(plain.name)
    models = [model for model in query_aware if model in other]
    sizes = sorted(experiment.cell_sizes & plain.cell_sizes)
    if models and sizes:
        yield _made(
            f"{experiment.name}{AND_PLAIN}",
            CURVE_KIND,
            experiment,
            title=f"{experiment.title}, next to the plain prompt",
            experiments=[plain.name, experiment.name],
            **labels_of(figures, plain, experiment),
            models=None if set(query_aware) == set(other) else models,
            sizes=None if experiment.cell_sizes == plain.cell_sizes else sizes,
        )


def _plain_curves(experiment: Experiment, sweeps: Sweeps, figures: Figures) -> Iterator[Figure]:
    """A figure of the curves that no other figure shows, of the first kind that fits, named after the experiment."""
    models = sweeps.models_of(experiment.name)
    kind = next((kind for kind in KINDS if KINDS[kind].is_automatic(experiment)), None)
    if kind is not None and not any(figure.shows_all(experiment, models) for figure in figures.values()):
        shown = [experiment.name, *levels_of(experiment, sweeps)]
        references = references_of(experiment, sweeps)
        yield _made(experiment.name, kind, experiment, title=experiment.title, references=references, experiments=shown)


def _differences(experiment: Experiment, sweeps: Sweeps, figures: Figures) -> Iterator[Figure]:
    """A figure of the differences between each further level of an experiment and its first one."""
    for level in levels_of(experiment, sweeps):
        if sweeps.answered[level].has_positions:
            title = f"{sweeps.answered[level].title}, minus {experiment.title}"
            names = [level, experiment.name]
            yield _made(f"{level}{BY_DIFFERENCE}", DIFFERENCE_KIND, experiment, title=title, experiments=names)


def _base_and_tuned(experiment: Experiment, sweeps: Sweeps, figures: Figures) -> Iterator[Figure]:
    """A figure of tuned models and their base models, if other models run the experiment too; pairs that another figure
    of some models shows are left out.
    """
    models = sweeps.models_of(experiment.name)
    limited = [
        figure
        for figure in figures.values()
        if figure.models and figure.kind == CURVE_KIND and figure.experiments == (experiment.name,)
    ]
    pairs = [pair for pair in sweeps.tuned if {*pair} <= {*models}]
    shown = [pair for pair in pairs if any(all(map(figure.shows, pair)) for figure in limited)]
    paired = {model for pair in pairs if pair not in shown for model in pair}
    if paired and paired != set(models) and _draws_curve(experiment):
        yield _made(
            f"{experiment.name}{BASE_AND_TUNED}",
            CURVE_KIND,
            experiment,
            title=f"{experiment.title}, before and after tuning",
            references=references_of(experiment, sweeps),
            **labels_of(figures, experiment),
            models=[model for model in models if model in paired],
            published=has_published(figures, experiment),
        )


def _by_size(experiment: Experiment, sweeps: Sweeps, figures: Figures) -> Iterator[Figure]:
    """A figure of each kind that shows sizes, for an experiment of several sizes, unless another figure shows all.

    Accuracy against tokens is for several models only.
    """
    run = {model: sweeps.experiment_of(model, experiment.name) for model in sweeps.models_of(experiment.name)}
    if not any(len(experiment_run.cell_sizes) > 1 for experiment_run in run.values()):
        return
    for kind, facts in KINDS.items():
        if (
            not facts.by_size
            or facts.misfit([experiment]) is not None
            or (kind == TOKENS_KIND and (len(run) < 2 or not experiment.has_prompts))
        ):
            continue
        if any(figure.kind == kind and figure.shows_all(experiment, list(run)) for figure in figures.values()):
            continue
        name_end, title_end = facts.by_size
        labels = labels_of(figures, experiment)
        yield _made(
            f"{experiment.name}{name_end}",
            kind,
            experiment,
            title=f"{experiment.title}{title_end}",
            references={} if kind == TOKENS_KIND else references_of(experiment, sweeps),
            **({"panel_title": labels["panel_title"]} if labels else {}),
            published=kind == MEAN_KIND and has_published(figures, experiment),
        )


def _draws_curve(experiment: Experiment) -> bool:
    return KINDS[CURVE_KIND].is_automatic(experiment)


AUTOMATIC = (_beside_plain, _plain_curves, _differences, _base_and_tuned, _by_size)
