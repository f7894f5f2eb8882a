"""Experiments with remedies: each gives one more experiment per condition."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations, product

from litm.base.messages import UserError
from litm.base.schema import choose
from litm.config.experiments import ExperimentEntry
from litm.config.remedies import RemediesEntry
from litm.domain.condition import RANKED, Condition
from litm.domain.placement import AS_RETRIEVED
from litm.examples.orders import RANDOM, distinct_orders
from litm.examples.tasks import load_task

#: A key of an experiment and its value, in which two conditions of one study differ.
Remedy = tuple[str, object]


def with_conditions(
    entries: Mapping[str, ExperimentEntry], rerankers: Iterable[str]
) -> tuple[dict[str, ExperimentEntry], dict[str, Condition]]:
    """All entries of experiments, with those of the conditions of their remedies; and the conditions by experiment,
    beginning with the experiment itself.

    Raises `UserError` as `check_remedies` does, and for names that are taken or unknown.
    """
    made: dict[str, ExperimentEntry] = {}
    conditions: dict[str, Condition] = {}
    for name, entry in entries.items():
        check_remedies(entry)
        made[name] = entry
        if entry.remedies is None:
            continue
        choose(entry.remedies.rerank, rerankers, f"{entry.where}.remedies.rerank", "yours is one of define.rerankers")
        _check_made(entry, entry.remedies)
        conditions[name] = _condition(name, entry, entry)
        for one in _conditions(entry, entry.remedies):
            if one.name in entries:
                raise UserError(
                    f"{entry.where}.remedies: the name {one.name} is taken by another experiment; rename one of them"
                )
            if one.name in made:
                raise UserError(
                    f"{entry.where}.remedies: two conditions have the name {one.name}; rename one (such as a reranker "
                    "with the name of an order), or remove it"
                )
            made[one.name] = one
            conditions[one.name] = _condition(name, entry, one)
    return made, conditions


def with_names(names: Iterable[str], conditions: Mapping[str, Condition]) -> tuple[str, ...]:
    """Names of experiments, each followed by those of its conditions."""
    found: dict[str, None] = {}
    for name in names:
        found |= dict.fromkeys([name, *(one.experiment for one in conditions.values() if one.study == name)])
    return tuple(found)


def _condition(study: str, base: ExperimentEntry, entry: ExperimentEntry) -> Condition:
    return Condition(
        study=study,
        experiment=entry.name,
        order=entry.order,
        reranker=entry.rerank,
        cut="" if entry.cut is None else str(entry.cut),
        prompt=None if entry.prompt == base.prompt else entry.prompt,
    )


def _conditions(base: ExperimentEntry, remedies: RemediesEntry) -> Iterator[ExperimentEntry]:
    """Entries of each remedy alone, then of combinations, at the sizes at which their prompts differ from others."""
    choices: list[list[Remedy]] = [
        [(key, value) for value in getattr(remedies, key)] for key in ("order", "rerank", "cut", "prompt")
    ]
    for together in range(1, remedies.together + 1):
        for some in combinations(filter(None, choices), together):
            for chosen in product(*some):
                sizes = [size for size in base.sizes or () if _is_distinct(dict(chosen), remedies, size)]
                if sizes:
                    yield _entry(base, dict(chosen), sizes)


def _check_made(base: ExperimentEntry, remedies: RemediesEntry) -> None:
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


def _entry(base: ExperimentEntry, remedy: Mapping[str, object], sizes: list[int]) -> ExperimentEntry:
    parts = [str(getattr(value, "file_name", value)) for value in remedy.values()]
    told = [f"{key} {value}" for key, value in remedy.items()]
    title = f"{base.title or base.name}: {', '.join(told)}"
    # Only the experiment itself has references and comparisons, not its conditions.
    apart = {"remedies": None, "closed_book": None, "oracle": None, "query_aware_of": None, "compared_with": ()}
    entry = base.changed(**{**remedy, **apart, "sizes": sizes, "title": title})
    return entry.placed(f"{base.where}-{'-'.join(parts)}")


def check_remedies(entry: ExperimentEntry) -> None:
    """Raise `UserError` for keys about retrieved documents in a task without them, and for keys that exclude others."""
    keys = {"order": entry.order != RANKED, "rerank": entry.rerank, "cut": entry.cut, "remedies": entry.remedies}
    given = [key for key, value in keys.items() if value]
    if given and load_task(entry.task).DEFAULTS.placement != AS_RETRIEVED:
        raise UserError(
            f"{entry.where}: '{given[0]}' is for documents as retrieved (task: open_domain_qa), not for the task "
            f"{entry.task}"
        )
    if entry.distractor_order == RANDOM and entry.order != RANKED:
        raise UserError(f"{entry.where}: give either 'order' or 'distractor_order', not both")
    if entry.remedies is not None and len(given) > 1:
        raise UserError(
            f"{entry.where}: an experiment with 'remedies' reads documents as retrieved, as the baseline of its "
            f"remedies: remove '{given[0]}', or name it in 'remedies'"
        )
