"""What is compared over positions, and has a Position Bias Index."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Curve:
    """Positions of an experiment at one size that are compared with one another, under a name of their own.

    placement: the one there is where each prompt has several gold items, None where there is one for each position.
    """

    name: str
    experiment: str
    size: int
    placement: str | None
