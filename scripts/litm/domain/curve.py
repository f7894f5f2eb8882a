"""A cell of an experiment, and a curve: the cells that are compared over positions."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """One shape of an experiment's contexts: the size, and the placement of the gold items."""

    size: int
    placement: str


@dataclass(frozen=True)
class Curve:
    """Positions of an experiment at one size that are compared with one another; a curve has a Position Bias Index.

    placement: that of all prompts where each prompt has several gold items, None where each position has its own.
    """

    name: str
    experiment: str
    size: int
    placement: str | None
