"""Pairs of selected experiments that differ in one condition, found from their keys."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from litm.config.experiments import Experiment
from litm.domain.comparison import CLOSED_BOOK, ORACLE, SIZE, Comparison

#: Keys that count as conditions, in the order in which they are named. The dataset of a size counts too.
CONDITIONS = (
    "task", "distractor_order", "order", "rerank", "cut", "prompt", "design", "wording", "metric", "stop",
    "max_new_tokens",
)  # fmt: skip
#: Keys that decide the questions and the meaning of a size: experiments that differ in one are not comparable.
QUESTIONS = ("examples", "selection", "subset", "tokens_of")


def find_comparisons(experiments: Mapping[str, Experiment]) -> list[Comparison]:
    """The comparisons that the selected experiments allow, in their order.

    Two experiments are compared at the sizes where they differ in exactly one of `CONDITIONS` or the dataset, and in
    none of `QUESTIONS`; the later one is side a. `compared_with` and `query_aware_of` name pairs that are compared
    in any case, and every experiment is compared with its `oracle` and `closed_book`. Sizes of one experiment are
    compared, the larger one as side a, unless its questions are generated and therefore differ by size. Experiments
    that ask for several gold items at once are left out.
    """
    single = {name: one for name, one in experiments.items() if not one.asks_several}
    declared = {
        (one.name, other): one
        for one in single.values()
        for other in dict.fromkeys([*one.compared_with, *filter(None, [one.query_aware_of])])
        if other in single
    }
    found: list[Comparison] = []
    for first, second in combinations(single.values(), 2):
        pair = (first, second) if (first.name, second.name) in declared else (second, first)
        found += _of_pair(*pair, is_declared=(pair[0].name, pair[1].name) in declared)
    for one in single.values():
        if one.datasets and len({cell.size for cell in one.cells}) > 1:
            found.append(Comparison(SIZE, one.name, one.name))
        for condition, other in ((ORACLE, one.oracle), (CLOSED_BOOK, one.closed_book)):
            if other in single:
                found.append(Comparison(condition, one.name, str(other)))
    return found


def compared_pairs(
    sweeps: Mapping[tuple[str, str], Experiment], tuned: Iterable[tuple[str, str]]
) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """The pairs of sweeps (model, experiment) that condition_differences.csv compares; one with itself for its sizes.

    sweeps: each with its experiment at the sizes that the model runs; tuned: (tuned model, its base), which are
    compared in the experiments that both run, where these ask for one gold item at a time and share a cell.
    """
    pairs = []
    for model in dict.fromkeys(model for model, _ in sweeps):
        own = {name: experiment for (who, name), experiment in sweeps.items() if who == model}
        pairs += [((model, one.experiment_a), (model, one.experiment_b)) for one in find_comparisons(own)]
    for model, base in tuned:
        for name in [name for who, name in sweeps if who == model]:
            one, other = sweeps[model, name], sweeps.get((base, name))
            if other and not one.asks_several and {*one.cells} & {*other.cells}:
                pairs.append(((model, name), (base, name)))
    return pairs


def _of_pair(a: Experiment, b: Experiment, is_declared: bool) -> Iterator[Comparison]:
    """The comparisons of two experiments: their shared sizes, grouped by what differs there."""
    if not is_declared and any(getattr(a, key) != getattr(b, key) for key in QUESTIONS):
        return
    by_difference: dict[tuple[str, str, str], list[int]] = {}
    for size in sorted({cell.size for cell in a.cells} & {cell.size for cell in b.cells}):
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
    return "none" if value is None else str(value)
