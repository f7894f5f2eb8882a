"""Figures: one module for each kind, found by its name.

A kind of figure is a module of this package with

- `X_LABEL`: the label of the horizontal axis, unless a figure has its own;
- `INPUTS`: the fields of `Rows` that it reads, `published` apart, which a figure asks for;
- `misfit(experiments) -> str | None`: why a figure of these experiments cannot be of this kind, None if it can;
- `is_automatic(experiment) -> bool`: whether an experiment that no figure shows gets one of this kind;
- `BY_SIZE`: the ends of the name and of the title of the figure of this kind that an experiment gets beside its curves,
  if it has several sizes and fits; None if none does;
- `draw(figure, rows) -> matplotlib.figure.Figure`: the picture;
- `chart(figure, rows) -> Chart | None`: the same as plain data, which the report draws from the accuracy table; None if
  the accuracy table is not enough.

`figure` has the settings of a figure: name, kind, title, experiments, references, panel_title, x_label, and optionally
models, sizes, places (of models in the study, which give them their colours), facts (that the legend says of models),
training_lengths (tokens, by model) and prices (`input` and `output`, US dollars a million tokens, by model). The config
reads these modules whenever a workflow is planned: pandas and matplotlib are imported by what draws, in the package
`drawing`, and not by a kind when it is loaded.

Adding a kind is adding a module.
"""

import importlib
import pkgutil
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from litm.figures.drawing.chart import Chart
    from litm.figures.drawing.rows import Rows


class Cell(Protocol):
    """The part of a cell that decides which figures show it."""

    @property
    def size(self) -> int: ...


class Experiment(Protocol):
    """The part of an experiment that decides which kinds of figures fit it."""

    @property
    def name(self) -> str: ...
    @property
    def cells(self) -> Sequence[Cell]: ...
    @property
    def curves(self) -> Collection[object]: ...
    @property
    def asks_several(self) -> bool: ...


class Kind(Protocol):
    """A module of this package, see above."""

    X_LABEL: str
    INPUTS: tuple[str, ...]
    BY_SIZE: tuple[str, str] | None

    @staticmethod
    def misfit(experiments: Sequence[Experiment]) -> str | None: ...
    @staticmethod
    def is_automatic(experiment: Experiment) -> bool: ...
    @staticmethod
    def draw(figure: Mapping, rows: "Rows") -> "Figure": ...
    @staticmethod
    def chart(figure: Mapping, rows: "Rows") -> "Chart | None": ...


def kind_names() -> list[str]:
    """The kinds of figures there are, by name."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.ispkg)


def load_kind(name: str) -> Kind:
    """The kind of figure with this name; `ModuleNotFoundError` if there is none."""
    return cast(Kind, importlib.import_module(f"{__name__}.{name}"))
