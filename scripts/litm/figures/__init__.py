"""Figures: one module per kind, found by name.

A kind of figure is a module of this package with

- `X_LABEL`: the default label of the horizontal axis, {item} stands for the task's noun;
- `INPUTS`: the fields of `Rows` that it reads, except `published`, which is a setting of each figure;
- `misfit(experiments) -> str | None`: why a figure of these experiments cannot have this kind, None if it can;
- `is_automatic(experiment) -> bool`: whether an experiment without a figure gets one of this kind;
- `BY_SIZE`: the suffixes of name and title of an additional figure of this kind for experiments of several sizes; None
  if the kind gives no additional figure;
- `draw(figure, rows) -> matplotlib.figure.Figure`: the picture;
- `chart(figure, rows) -> Chart | None`: the same as plain data, which the report draws from its tables; None if it
  needs more than these.

`figure` has the settings of a figure: name, kind, title, experiments, references, panel_title, x_label, and optionally
models, sizes, places (of models in the study, which decide their colours), facts (about models, for the legend),
training_lengths (tokens, by model) and prices (`input` and `output`, US dollars per million tokens, by model). The
config loads these modules at every start, so they must not import pandas and matplotlib at module level: only the
package `drawing` does.

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
    """The properties of a cell that decide which figures show it."""

    @property
    def size(self) -> int: ...


class Experiment(Protocol):
    """The properties of an experiment that decide which kinds of figures fit it."""

    @property
    def name(self) -> str: ...
    @property
    def cells(self) -> Sequence[Cell]: ...
    @property
    def curves(self) -> Collection[object]: ...
    @property
    def asks_several(self) -> bool: ...


class Kind(Protocol):
    """A module of this package, see its docstring."""

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
    """Sorted names of all kinds of figures."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__) if not module.ispkg)


def load_kind(name: str) -> Kind:
    """The kind of figure with this name; `ModuleNotFoundError` if there is none."""
    return cast(Kind, importlib.import_module(f"{__name__}.{name}"))
