"""The studies of `litm check --against`: two entries of one model, and experiments from easy to hard."""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

from litm.base.groups import grouped
from litm.base.messages import UserError
from litm.checks.first_study import entry_of
from litm.config.study import Study
from litm.examples.tasks import load_task
from litm.placements import gold_positions
from litm.records.measures import LOG_PROBABILITY

#: Prompts of a pilot for each length, and the accuracies between which a reference can lose and win.
PILOT, LOW, HIGH = 20, 0.35, 0.85
#: The accuracy that leaves most room for losses and is far from the ceiling.
BEST = 0.65
#: Depths of the positions of a length in tokens.
DEPTHS = (0, 0.25, 0.5, 0.75, 1)


@dataclass(frozen=True)
class Asking:
    """An experiment at one size."""

    experiment: str
    size: int
    positions: tuple[int, ...]
    """Positions of the gold item that are asked, from 0."""


def two_entries(
    model: str | None, url: str | None, against: str, config: Mapping[str, Any], catalogue: Mapping[str, Any]
) -> dict[str, dict[str, Any]]:
    """Name and entry of the model to judge, then of the reference; {} for one that is defined.

    against: a name, or the address of another server of the same model. `UserError` for a name that nothing has.
    """
    defined = {**catalogue, **config.get("define", {}).get("models", {})}
    others = [name for name in config["models"] if name != against]
    if not model and len(others) != 1:
        raise UserError(f"--against {against}: give --model too: the study has {', '.join(others)} beside it")
    name, entry = entry_of(model or others[0], url, defined)
    if "://" in against:
        return {name: entry, f"{name}-reference": {**defined.get(name, {}), **entry, "base_url": against}}
    reference, its_entry = entry_of(against, None, defined)
    if reference == name:
        raise UserError(f"--against {against}: that is the model itself: name another entry, or a server's address")
    return {name: entry, reference: its_entry}


def with_lengths(config: Mapping[str, Any], lengths: Sequence[int]) -> dict[str, Any]:
    """The config with these lengths in tokens, by rule of thumb, in place of the experiments' own."""
    changed = deepcopy({**config})
    for name in config["experiments"] if lengths else ():
        entry = changed["define"]["experiments"].get(name, {})
        if "task" not in entry:
            raise UserError(f"--lengths: define 'task' of {name} in a file of --study")
        sizes = [max(len(DEPTHS), length // load_task(entry["task"]).tokens_per_item) for length in lengths]
        entry["positions"] = {size: [round(depth * (size - 1)) for depth in DEPTHS] for size in sizes}
    return changed


def ladders(study: Study) -> list[list[Asking]]:
    """For each length the experiments to choose from, easy ones first; `UserError` for one that cannot be judged."""
    sizes: list[list[Asking]] = []
    for name, experiment in study.experiments.items():
        if LOG_PROBABILITY in experiment.measure:
            raise UserError(
                f"{name}.measure: answers alone are checked. A log-probability is read in one pass over prompt and "
                "answer, which need not read the cache that is to be checked"
            )
        if experiment.judge:
            raise UserError(f"{name}.judge: a check cannot correct a judge's errors: leave the experiment out")
        if experiment.cluster:
            raise UserError(f"{name}.cluster: a check needs independent questions: leave the experiment out")
        cells = grouped(experiment.cells, lambda cell: cell.size)
        places = {size: [gold_positions(cell.placement) for cell in of_size] for size, of_size in cells.items()}
        if any(len(positions) != 1 for of_size in places.values() for positions in of_size):
            raise UserError(f"{name}: a check needs 'positions' of one item: leave the experiment out")
        sizes.append([Asking(name, size, tuple(position for (position,) in places[size])) for size in sorted(places)])
    if len({len(askings) for askings in sizes}) > 1:
        raise UserError("experiments of a check need the same number of sizes, from short to long")
    return [list(ladder) for ladder in zip(*sizes, strict=True)]


def next_rung(tried: Mapping[int, float], rungs: int) -> int | None:
    """The place on a ladder of the experiment to try next, from the accuracies of those tried in turn; None if the last
    one is between floor and ceiling, or there is no other.
    """
    if not tried:
        return rungs // 2
    *_, (last, accuracy) = tried.items()
    there = last + (accuracy > HIGH) - (accuracy < LOW)
    return there if there not in tried and 0 <= there < rungs else None


def best_rung(tried: Mapping[int, float]) -> int:
    """The place of the experiment whose accuracy leaves most room, the easier of two."""
    return min(sorted(tried), key=lambda rung: abs(tried[rung] - BEST))


def pilot_of(asking: Asking) -> tuple[Asking, int]:
    """What a pilot asks, and its number of questions: at few positions, because answers to one question are alike."""
    inner = asking.positions[1::2] or asking.positions
    return replace(asking, positions=inner), ceil(PILOT / len(inner))


def asking_study(
    config: Mapping[str, Any], models: Iterable[str], asked: Iterable[Asking], examples: int
) -> dict[str, Any]:
    """The config with these models and this number of questions, at these sizes and positions alone."""
    narrowed = deepcopy({**config})
    entries = narrowed.setdefault("define", {}).setdefault("experiments", {})
    by_name = grouped(asked, lambda asking: asking.experiment)
    for name, sizes in by_name.items():
        positions = {asking.size: [*asking.positions] for asking in sizes}
        entries[name] = {**entries.get(name, {}), "positions": positions, "sizes": [*positions], "examples": examples}
    return {**narrowed, "models": [*models], "experiments": [*by_name], "figures": []}
