"""What the config knows of figures: the kinds, which experiments fit each, and the pages that figures are for.

The rules read this module at each start, so it imports no library that draws.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litm.base.extensions import Registry, declared, full_name, load
from litm.base.yaml_files import read_data

#: Points of the labels of axes in figures as they are drawn; `scale` makes them those of the page.
DRAWN_POINTS = 10.8


@dataclass(frozen=True)
class Page:
    """The page that a figure is drawn for."""

    width: float
    """Inches of a figure."""
    font_size: float
    """Points of the labels of its axes."""
    titles: bool = True
    """Whether figures have titles."""

    @property
    def scale(self) -> float:
        """How much larger a figure is on the page than it is drawn."""
        return self.font_size / DRAWN_POINTS

    @property
    def room(self) -> float:
        """Inches that a figure may be wide as it is drawn."""
        return self.width / self.scale


#: Columns of usual journals (ACL 3.03 and 6.3 inches, IEEE 3.5 and 7.16, PNAS 3.42 and 7), and a slide of 16 : 9.
PRESETS = {"single_column": Page(3.3, 8.0), "double_column": Page(6.9, 8.0), "slide": Page(12.0, 16.0)}


def page_of(figure: Mapping) -> Page | None:
    """The page in the settings of a figure, None if figures are as wide as they need."""
    return Page(**figure["page"]) if figure.get("page") else None


def room_of(figure: Mapping) -> float | None:
    """Inches that a figure may be wide as it is drawn, None without a limit."""
    page = page_of(figure)
    return page.room if page else None


#: An experiment of the config: its `name`, its `cells` with a `size` each, its `curves`, and whether it `asks_several`.
Experiment = Any
Fits = Callable[[Experiment], bool]


def has_positions(experiment: Experiment) -> bool:
    """Whether it has positions, one gold item at a time."""
    return bool(experiment.curves) and not experiment.asks_several


def has_targets(experiment: Experiment) -> bool:
    """Whether its prompts ask for several items."""
    return bool(experiment.curves) and experiment.asks_several


def has_two_facts(experiment: Experiment) -> bool:
    """Whether its contexts have two facts that belong together."""
    return experiment.has_facts


def has_no_curve(experiment: Experiment) -> bool:
    """Whether it has no positions."""
    return not experiment.curves


def asks_one(experiment: Experiment) -> bool:
    """Whether its prompts ask for one item."""
    return not experiment.asks_several


def has_sizes_alone(experiment: Experiment) -> bool:
    """Whether it has several sizes, and no positions."""
    return not experiment.curves and len({cell.size for cell in experiment.cells}) > 1


def has_curves(experiment: Experiment) -> bool:
    """Whether it has positions, of one gold item or of several."""
    return bool(experiment.curves)


#: What a kind may ask of experiments, by its name in kinds.yaml.
FITS: dict[str, Fits] = {
    fit.__name__: fit
    for fit in (has_positions, has_targets, has_curves, has_no_curve, asks_one, has_sizes_alone, has_two_facts)
} | {"fits_all": lambda experiment: True, "fits_nothing": lambda experiment: False}


@dataclass(frozen=True)
class Kind:
    """A kind of figure."""

    name: str
    draws: str
    """The function that draws the picture: from the chart, or else from settings and rows."""
    x_label: str
    """The default label of the horizontal axis, {item} stands for the task's noun."""
    inputs: Sequence[str]
    """The fields of `Rows` that it reads, except `published`, which is a setting of each figure."""
    charts: str = ""
    """The module of this package, or the full name of an extension's, and its function of a figure's settings and
    `Rows` that gives the figure as plain data, a `Chart`; '' without one.
    """
    in_report: bool = False
    """Whether the report draws the chart, from its tables."""
    alone: str = ""
    """The sentence if a figure must be of one experiment and is not; {kind} stands for this kind."""
    each: tuple[Fits, str] = (FITS["fits_all"], "")
    """What every experiment of a figure must be, and the end of the sentence on one that is not."""
    at_least_one: tuple[Fits, str] = (FITS["fits_all"], "")
    """What at least one of them must be, and the sentence if none is."""
    is_automatic: Fits = FITS["fits_nothing"]
    """Whether an experiment without a figure gets one of this kind."""
    by_size: tuple[str, str] | None = None
    """The suffixes of name and title of an additional figure for experiments of several sizes; None if the kind gives
    no additional figure.
    """

    @property
    def module(self) -> str:
        """The module of this package, or of an extension by its full name, that draws it."""
        return self.draws.rpartition(".")[0]

    def misfit(self, experiments: Sequence[Experiment]) -> str | None:
        """Why a figure of these experiments cannot have this kind, None if it can."""
        (is_each, otherwise), (is_one, without), kind = self.each, self.at_least_one, f"'kind: {self.name}'"
        lacking = next((experiment.name for experiment in experiments if not is_each(experiment)), None)
        if self.alone and len(experiments) != 1:
            return self.alone.format(kind=kind)
        if lacking is not None:
            return f"{lacking} {otherwise.format(kind=kind)}"
        return None if any(map(is_one, experiments)) else without.format(kind=kind)

    def draw(self, figure: Mapping, rows: Any) -> Any:
        """The picture, a `matplotlib.figure.Figure`, from `chart.Rows`.

        figure: its settings: name, kind, title, experiments, references, panel_title, x_label, and optionally models,
        sizes, places (of models in the study, which decide their colours), facts (about models, for the legend),
        training_lengths (tokens, by model) and prices (`input` and `output`, US dollars per million tokens, by model).
        """
        draw = self._function(self.draws)
        return draw(self.chart(figure, rows)) if self.charts else draw(figure, rows)

    def chart(self, figure: Mapping, rows: Any) -> Any:
        """The same as plain data, a `chart.Chart`."""
        return self._function(self.charts)(figure, rows)

    def _function(self, name: str) -> Callable:
        """Its module is imported here, because the rules read this one at each start."""
        module, _, function = name.rpartition(".")
        return getattr(load(full_name("figures", module)), function)


def declared_kind(name: str, **keys: Any) -> Kind:
    """A kind from its entry of kinds.yaml."""
    facts: dict[str, Any] = {"is_automatic": FITS[keys.pop("is_automatic", "fits_nothing")]}
    for key in {"each", "at_least_one"} & keys.keys():
        fits, sentence = keys[key]
        facts[key] = FITS[fits], sentence
    return Kind(name, **keys | facts)


#: Kinds of figures by name, those of extensions last.
KINDS = Registry(
    "figures",
    declared("KINDS", Kind),
    {name: declared_kind(name, **keys) for name, keys in read_data(Path(__file__).with_suffix(".yaml")).items()},
)
