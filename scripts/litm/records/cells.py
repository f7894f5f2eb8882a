"""Cells and curves of experiments."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """A size and a placement of the gold items; an experiment has one prompt per cell and question."""

    size: int
    placement: str


@dataclass(frozen=True)
class Curve:
    """The positions of an experiment at one size that are compared; a curve has a Position Bias Index.

    placement: that of all prompts if each prompt has several gold items, None if each position has its own.
    """

    name: str
    experiment: str
    size: int
    placement: str | None
