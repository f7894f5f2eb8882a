"""The recipe of the reference model: all that its weights depend on beside the code."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from litm.config.catalogue import validate
from litm.errors import UserError

#: The tasks that there are lessons for; also the names of their prompt files.
TASKS = ("kv_retrieval", "multi_document_qa", "needle_in_haystack")


@dataclass(frozen=True)
class Shape:
    """Sizes of the network; a head has `head_width` channels, whatever the width."""

    width: int
    layers: int
    heads: int
    head_width: int
    feed_forward: int


@dataclass(frozen=True)
class Rates:
    """Learning rates of matrices (Muon) and of all else (AdamW); warm_up: steps in which they rise; decay: the last
    part of the steps, as a fraction, in which they fall to `LOWEST_RATE` of themselves. See `rate_factor`.
    """

    matrices: float
    others: float
    warm_up: int
    decay: float


@dataclass(frozen=True)
class Course:
    """How often a task is practised in a stage, relative to the others, at which sizes, with how many queries."""

    task: str
    share: float
    smallest: int
    largest: int
    queries: int


@dataclass(frozen=True)
class Stage:
    """So many steps with these courses."""

    steps: int
    courses: tuple[Course, ...]


@dataclass(frozen=True)
class Recipe:
    """seed: of all that is drawn; batch_tokens: about so many tokens a step; hints: weight of the hints about
    attention; deciding: weight of the first token that tells one answer from another, where the others have 1;
    held_out: seed and number of passages of the encyclopedia whose names no lesson has.
    """

    seed: int
    shape: Shape
    batch_tokens: int
    rates: Rates
    hints: float
    deciding: float
    held_out: tuple[int, int]
    stages: tuple[Stage, ...]

    @property
    def steps(self) -> int:
        """How many steps there are in all."""
        return sum(stage.steps for stage in self.stages)

    def stage_at(self, step: int) -> Stage:
        """The stage of a step, counted from 0."""
        for stage in self.stages:
            if step < stage.steps:
                return stage
            step -= stage.steps
        raise IndexError(step)


#: What is left of the learning rates at the end.
LOWEST_RATE = 0.02


def rate_factor(recipe: Recipe, step: int) -> float:
    """What the learning rates are multiplied by at a step, counted from 0: a rise, a plateau and a straight fall."""
    rising = min(1.0, (step + 1) / max(1, recipe.rates.warm_up))
    left = (recipe.steps - step) / recipe.steps
    return rising * (1.0 if left > recipe.rates.decay else max(LOWEST_RATE, left / recipe.rates.decay))


def read_recipe(path: str | Path, schema: str | Path) -> Recipe:
    """The recipe in a YAML file; `UserError` for the first mistake, with the key."""
    value = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    validate(value, Path(schema), str(path))
    return Recipe(
        seed=value["seed"],
        shape=Shape(**value["shape"]),
        batch_tokens=value["batch_tokens"],
        rates=Rates(**value["rates"]),
        hints=value["hints"],
        deciding=value["deciding"],
        held_out=(value["held_out"]["seed"], value["held_out"]["passages"]),
        stages=tuple(_read_stage(stage, f"{path}.stages.{number}") for number, stage in enumerate(value["stages"])),
    )


def _read_stage(value: Mapping[str, Any], where: str) -> Stage:
    courses = []
    for task, course in value["courses"].items():
        smallest, largest = course["sizes"]
        if smallest > largest:
            raise UserError(f"{where}.courses.{task}.sizes: put the smaller one first")
        courses.append(Course(task, course["share"], smallest, largest, course.get("queries", 1)))
    return Stage(value["steps"], tuple(courses))
