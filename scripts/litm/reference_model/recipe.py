"""Recipe of the reference model: everything that determines its weights, except the code."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import Field

from litm.base.schema import AsGiven, Entry, NotNegative, Positive, read_entry
from litm.config.yaml_files import read_yaml

Task = Literal["kv_retrieval", "multi_document_qa", "needle_in_haystack"]
#: Tasks with lessons; also the names of their prompt files.
TASKS: tuple[str, ...] = get_args(Task)


class Shape(Entry):
    """Sizes of the network; a head has `head_width` channels, whatever the width."""

    width: int = Field(ge=32)
    """Number of channels; a multiple of heads."""
    layers: int = Field(ge=4)
    """Number of layers."""
    heads: int = Field(ge=4)
    """Heads in each layer."""
    head_width: int = Field(ge=16, multiple_of=2)
    """Channels per head."""
    feed_forward: int = Field(ge=1)
    """Channels between the two halves of a layer's perceptron."""


class Rates(Entry):
    """Learning rates, and how they rise and fall to `LOWEST_RATE` of themselves. See `rate_factor`."""

    matrices: Positive
    """Learning rate of Muon."""
    others: Positive
    """Learning rate of AdamW."""
    warm_up: int = Field(ge=0)
    """Number of steps in which the rates rise."""
    decay: Annotated[float, Field(gt=0, le=1), AsGiven]
    """Fraction of the steps, at the end, in which the rates fall."""


class Course(Entry):
    """How a task is practised in a stage."""

    share: Positive
    """Frequency relative to the other lessons."""
    sizes: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=2, max_length=2)]
    """Smallest and largest number of items."""
    queries: int = Field(1, ge=1)
    """Questions about each context."""

    def mistakes(self) -> Iterator[str]:
        """See `Entry.mistakes`."""
        if self.sizes[0] > self.sizes[1]:
            yield "'sizes': put the smaller one first"

    def settings(self, task: str) -> dict:
        """All settings, for the key of their results."""
        smallest, largest = self.sizes
        sizes = {"smallest": smallest, "largest": largest}
        return {"task": task, "share": self.share, **sizes, "queries": self.queries}


class Stage(Entry):
    """A number of steps with the same lessons."""

    steps: int = Field(ge=1)
    """Number of steps in the stage."""
    courses: Annotated[dict[Task, Course], Field(min_length=1)]
    """Lessons of the stage, by task."""


class HeldOut(Entry):
    """A made-up encyclopedia."""

    seed: int
    """Seed of that encyclopedia."""
    passages: int = Field(ge=0)
    """Number of passages in that encyclopedia."""


class Recipe(Entry):
    """How `snakemake reference_model` trains a model."""

    seed: int
    """Seed of the drawn weights and of all lessons."""
    shape: Shape
    """Sizes of the network. Its first four layers contain the heads that are set by hand."""
    batch_tokens: int = Field(ge=1)
    """Approximate number of tokens per step."""
    rates: Rates
    """Learning rates and their schedule."""
    hints: NotNegative
    """Weight of the loss that directs some heads to the right place; 0 for none."""
    deciding: Annotated[float, Field(ge=1), AsGiven]
    """Weight of the first token that distinguishes one answer from another; other tokens have weight 1."""
    held_out: HeldOut
    """The encyclopedia for the evaluation, whose names occur in no lesson."""
    stages: Annotated[list[Stage], Field(min_length=1)]
    """Stages of the training, in order."""

    def settings(self) -> dict:
        """All settings, for the key of their results."""
        stages = [
            {"steps": stage.steps, "courses": [course.settings(task) for task, course in stage.courses.items()]}
            for stage in self.stages
        ]
        return {**self.model_dump(), "held_out": [self.held_out.seed, self.held_out.passages], "stages": stages}

    @property
    def steps(self) -> int:
        """The total number of steps."""
        return sum(stage.steps for stage in self.stages)

    def stage_at(self, step: int) -> Stage:
        """The stage of a step, counted from 0."""
        for stage in self.stages:
            if step < stage.steps:
                return stage
            step -= stage.steps
        raise IndexError(step)


def read_recipe(path: str | Path) -> Recipe:
    """The recipe in a YAML file; `UserError` for the first mistake, with the key."""
    return read_entry(Recipe, read_yaml(path), str(path))


#: Final learning rates as a fraction of the highest.
LOWEST_RATE = 0.02


def rate_factor(recipe: Recipe, step: int) -> float:
    """The factor of the learning rates at a step, from 0: a rise, a plateau and a linear fall."""
    rising = min(1.0, (step + 1) / max(1, recipe.rates.warm_up))
    left = (recipe.steps - step) / recipe.steps
    return rising * (1.0 if left > recipe.rates.decay else max(LOWEST_RATE, left / recipe.rates.decay))
