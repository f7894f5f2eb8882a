"""Cells and curves of experiments."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """A size and a placement of the gold items; an experiment has one prompt per cell and question."""

    size: int
    """Items in the context, or tokens if the experiment's sizes are tokens."""
    placement: str
    """Where the gold items are, such as `gold_at_4`, see `litm.placements`."""


@dataclass(frozen=True)
class Curve:
    """The positions of an experiment at one size that are compared; a curve has a Position Bias Index."""

    name: str
    """Name in tables and exported files."""
    experiment: str
    """Name of the experiment."""
    size: int
    """Items in the context, or tokens if the experiment's sizes are tokens."""
    placement: str | None
    """That of all prompts if each prompt has several gold items, None if each position has its own."""
