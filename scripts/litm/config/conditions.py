"""Remedies as experiments, pairs of experiments that differ in one condition, and relations of models."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, combinations, product
from typing import Any

from litm.base.messages import UserError
from litm.config.experiment_checks import check_remedies
from litm.config.experiments import Experiment, RemediesEntry
from litm.engines.model_entries import RECORDED, AnyModel
from litm.examples.orders import distinct_orders
from litm.examples.tasks import load_task
from litm.records.conditions import CLOSED_BOOK, ORACLE, SIZE, Comparison, Condition
from litm.records.measures import ANSWER

#: Keys that count as conditions, in the order in which they are named. The dataset of a size counts too.
CONDITIONS = (
    "task", "distractor_order", "order", "rerank", "cut", "prompt", "design", "wording", "fillers", "metric", "stop",
    "max_new_tokens",
)  # fmt: skip
#: Keys that decide the questions and the meaning of a size: experiments that differ in one are not comparable.
QUESTIONS = ("examples", "selection", "subset", "tokens_of", "measured_on")
#: End of the name of an experiment without the gold items.
ABSENT_END = "absent"
#: Keys of experiments that claims about them need.
EXPERIMENT_KEYS = {"task", "closed_book", "query_aware_of"}


def with_conditions(entries: Mapping[str, Experiment]) -> dict[str, Experiment]:
    """All experiments, with those of the other levels of their factors, and those of the conditions of their remedies;
    both of these have their `condition`.

    Raises `UserError` for remedies of other tasks, remedies that give no condition, and names that are taken.
    """
    experiments: dict[str, Experiment] = {}
    for name, entry in _with_levels(entries).items():
        check_remedies(entry)
        experiments[name] = entry
        if entry.remedies is None:
            continue
        _check_made(entry, entry.remedies)
        experiments[name] = _in_study(entry, entry)
        for condition in _conditions(entry, entry.remedies):
            if condition.name in entries:
                raise UserError(
                    f"{entry.where}.remedies: the name {condition.name} is taken by another experiment; "
                    "rename one of them"
                )
            if condition.name in experiments:
                raise UserError(
                    f"{entry.where}.remedies: two conditions have the name {condition.name}; rename one "
                    "(such as a reranker with the name of an order), or remove it"
                )
            experiments[condition.name] = _in_study(condition, entry)
    return experiments


def with_names(names: Iterable[str], experiments: Mapping[str, Experiment]) -> tuple[str, ...]:
    """Names of experiments, each followed by those that are made of it."""
    groups = ((name, *(made for made, entry in experiments.items() if entry.made_of == name)) for name in names)
    return tuple(dict.fromkeys(chain.from_iterable(groups)))


def _with_levels(entries: Mapping[str, Experiment]) -> dict[str, Experiment]:
    """The entries, each followed by what is made of it, see `_levels`."""
    experiments: dict[str, Experiment] = {}
    for entry in entries.values():
        for made in _levels(entry):
            if made.name in experiments or (made.made_of and made.name in entries):
                raise UserError(f"{entry.where}: the name {made.name} is taken by another experiment; rename one")
            experiments[made.name] = made
    return experiments


def _levels(entry: Experiment) -> Iterator[Experiment]:
    """The entry with the first level of its `fillers`, and an experiment of each further level; each is followed by its
    version without the gold item, if the entry asks for it, and by those that ask for each of several gold items alone.
    """
    if entry.fillers[1:] and entry.tokens_of:
        raise UserError(
            f"{entry.where}: levels of 'fillers' have texts of different lengths, so that contexts of one number of "
            "tokens would have different questions: give 'positions' instead of 'depths' and 'tokens_of'"
        )
    apart = {"made_of": entry.name, "query_aware_of": None, "compared_with": ()}
    for place, level in enumerate(entry.fillers or (None,)):
        made = entry.changed(fillers=entry.fillers[place : place + 1])
        if place:
            made = made.changed(title=f"{entry.title or entry.name}: {level}", **apart).placed(f"{entry.where}-{level}")
        yield made
        if entry.absent:
            title = f"{made.title or made.name}: gold absent"
            of_curves = {"closed_book": None, "oracle": None, "measure": (ANSWER,)}
            without = made.changed(lacks_gold=True, title=title, **apart, **of_curves)
            yield without.placed(f"{made.where}-{ABSENT_END}")
        for part in load_task(entry.task).parts:
            name = part.removeprefix(f"{entry.task}_")
            title = f"{made.title or made.name}: {name} alone"
            yield made.changed(task=part, title=title, **apart).placed(f"{made.where}-{name}")


def _in_study(entry: Experiment, base: Experiment) -> Experiment:
    condition = Condition(
        study=base.made_of or base.name,
        experiment=entry.name,
        order=entry.order,
        reranker=entry.rerank,
        cut="" if entry.cut is None else str(entry.cut),
        prompt=None if entry.prompt == base.prompt else entry.prompt,
        lacks_answer=base.lacks_gold,
    )
    return entry.changed(condition=condition)


def _conditions(base: Experiment, remedies: RemediesEntry) -> Iterator[Experiment]:
    """Experiments of each remedy alone, then of combinations, at the sizes at which their prompts differ."""
    keys = ("order", "rerank", "cut", "prompt")
    choices = [[(key, value) for value in getattr(remedies, key)] for key in keys]
    for together in range(1, remedies.together + 1):
        for combined in combinations(filter(None, choices), together):
            for chosen in map(dict, product(*combined)):
                if sizes := [size for size in base.sizes or () if _is_distinct(chosen, remedies, size)]:
                    yield _made(base, chosen, sizes)


def _check_made(base: Experiment, remedies: RemediesEntry) -> None:
    """Raise `UserError` for a remedy that gives no condition at any size."""
    sizes = base.sizes
    if not sizes:
        return  # A missing key has a message of its own.
    for key in ("order", "cut"):
        for value in getattr(remedies, key):
            if not any(_is_distinct({key: value}, remedies, size) for size in sizes):
                raise UserError(
                    f"{base.where}.remedies.{key}: '{value}' gives no condition, because its prompts at the sizes "
                    f"{list(sizes)} equal those without it or of an earlier remedy; add another size, or remove it"
                )


def _is_distinct(remedy: Mapping[str, object], remedies: RemediesEntry, size: int) -> bool:
    """Whether a condition needs a cell: its prompts differ from those of others (a single document has no order and is
    never cut), and its cut applies to the retriever's scores (a reranker's have another scale).
    """
    if "rerank" in remedy and "cut" in remedy:
        return False
    if size == 1 and ("order" in remedy or "cut" in remedy):
        return False
    # After a cut fewer documents are left, so that orders may still differ.
    return "order" not in remedy or "cut" in remedy or remedy["order"] in distinct_orders(remedies.order, size)


def _made(base: Experiment, remedy: Mapping[str, object], sizes: list[int]) -> Experiment:
    parts = [str(getattr(value, "file_name", value)) for value in remedy.values()]
    settings = [f"{key} {value}" for key, value in remedy.items()]
    title = f"{base.title or base.name}: {', '.join(settings)}"
    # Only the experiment itself has references and comparisons, not its conditions.
    apart = {"remedies": None, "closed_book": None, "oracle": None, "query_aware_of": None, "compared_with": ()}
    entry = base.changed(**{**remedy, **apart, "sizes": sizes, "title": title, "made_of": base.made_of or base.name})
    return entry.placed(f"{base.where}-{'-'.join(parts)}")


def find_comparisons(experiments: Mapping[str, Experiment]) -> list[Comparison]:
    """The comparisons that the selected experiments allow, in their order.

    Two experiments are compared at the sizes where they differ in exactly one of `CONDITIONS` or the dataset, and in
    none of `QUESTIONS`; the later one is side a. `compared_with` and `query_aware_of` name pairs that are compared
    in any case, and every experiment is compared with its `oracle` and `closed_book`. Sizes of one experiment are
    compared, the larger one as side a, unless its questions are generated and therefore differ by size. Experiments
    that ask for several gold items at once are left out.
    """
    single = {name: entry for name, entry in experiments.items() if not (entry.asks_several or entry.lacks_gold)}
    declared = {
        (experiment.name, other)
        for experiment in single.values()
        for other in (*experiment.compared_with, experiment.query_aware_of)
        if other in single
    }
    comparisons: list[Comparison] = []
    for first, second in combinations(single.values(), 2):
        pair = (first, second) if (first.name, second.name) in declared else (second, first)
        comparisons += _of_pair(*pair, is_declared=(pair[0].name, pair[1].name) in declared)
    for experiment in single.values():
        if experiment.datasets and len(experiment.cell_sizes) > 1:
            comparisons.append(Comparison(SIZE, experiment.name, experiment.name))
        for condition, other in ((ORACLE, experiment.oracle), (CLOSED_BOOK, experiment.closed_book)):
            if other in single:
                comparisons.append(Comparison(condition, experiment.name, str(other)))
    return comparisons


def _of_pair(a: Experiment, b: Experiment, is_declared: bool) -> Iterator[Comparison]:
    """The comparisons of two experiments: their shared sizes, grouped by what differs there."""
    if not is_declared and any(getattr(a, key) != getattr(b, key) for key in QUESTIONS):
        return
    by_difference: dict[tuple[str, str, str], list[int]] = {}
    for size in sorted(a.cell_sizes & b.cell_sizes):
        differing = _differing(a, b, size)
        if differing and (is_declared or len(differing) == 1):
            names, settings_a, settings_b = zip(*differing, strict=True)
            key = (" + ".join(names), ", ".join(settings_a), ", ".join(settings_b))
            by_difference.setdefault(key, []).append(size)
    for (condition, setting_a, setting_b), sizes in by_difference.items():
        yield Comparison(condition, a.name, b.name, setting_a, setting_b, tuple(sizes))


def _differing(a: Experiment, b: Experiment, size: int) -> list[tuple[str, str, str]]:
    """(key, value of a, value of b) for each condition in which two experiments differ at a size."""
    keys: list[tuple[str, object, object]] = [(key, getattr(a, key), getattr(b, key)) for key in CONDITIONS]
    keys.append(("dataset", a.datasets.get(size, "generated"), b.datasets.get(size, "generated")))
    return [(key, _word(of_a), _word(of_b)) for key, of_a, of_b in keys if of_a != of_b]


def _word(value: object) -> str:
    return "none" if value in (None, ()) else ", ".join(value) if isinstance(value, tuple) else str(value)


def _level_of(experiment: Experiment) -> dict[str, str]:
    """The level of `fillers` of an experiment that has one, and the entry with all its levels."""
    if not experiment.fillers or experiment.lacks_gold:
        return {}
    return {"fillers": experiment.fillers[0], "made_of": experiment.made_of or experiment.name}


def _order_of(experiment: Experiment) -> dict[str, str]:
    """The order of retrieved documents of an experiment that has nothing else of `remedies`, and the entry with all its
    orders.
    """
    if not (experiment.made_of or experiment.remedies) or experiment.rerank or experiment.cut or experiment.fillers:
        return {}
    return {"order": experiment.order, "made_of": experiment.made_of or experiment.name}


def read_relations(models: Mapping[str, AnyModel], experiments: Mapping[str, Experiment]) -> dict[str, Any]:
    """`about` of each model that has it; task, closed-book and plain version of each experiment; recorded models.

    It covers all entries of the catalogues, because a model's base may not be selected.
    """
    return {
        "models": {name: model.about.model_dump(exclude_none=True) for name, model in models.items() if model.about},
        "experiments": {
            name: experiment.model_dump(include=EXPERIMENT_KEYS, exclude_none=True)
            | _level_of(experiment)
            | _order_of(experiment)
            for name, experiment in experiments.items()
        },
        "recorded": sorted(name for name, model in models.items() if model.engine == RECORDED),
    }
