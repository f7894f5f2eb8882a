"""Kinds of wrong answers at each position: stacked bars, one panel per size and model."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from litm.base.messages import ordinal
from litm.base.records import plain_rows
from litm.figures import Experiment
from litm.figures.drawing.chart import PART, WHOLE, Chart, Panel, Point, Series, make_chart, panel_title
from litm.figures.drawing.colours import KIND_COLOURS
from litm.figures.drawing.rows import Rows, shown_cells
from litm.scoring.wrong_answers import HEADINGS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

X_LABEL = "Position of the item asked for"
INPUTS = ("wrong_answers",)
BY_SIZE = None
Y_LABEL, WRONG = "Wrong answers (% of all)", "wrong answers"


def misfit(experiments: Sequence[Experiment]) -> str | None:
    """There must be one experiment; its sizes and models are the panels."""
    return None if len(experiments) == 1 else "a figure of 'kind: wrong_answers' is of one experiment"


def is_automatic(experiment: Experiment) -> bool:
    """False: the config adds one per experiment with positions."""
    return False


def draw(figure: Mapping, rows: Rows) -> "Figure":
    """Wrong answers in per cent of all answers, by kind, at each position."""
    from litm.figures.drawing.stacks import draw_stacks

    return draw_stacks(chart(figure, rows))


def chart(figure: Mapping, rows: Rows) -> Chart:
    """A bar per position: the share of wrong answers of all answers (`WHOLE`), and the share of each kind of the wrong
    answers (`PART`), for the kinds that occur in the figure.
    """
    if rows.wrong_answers is None:
        return make_chart(figure, [], [])
    cells = shown_cells(figure, rows.wrong_answers)
    cells = cells[cells["position"].notna()]
    kinds = [kind for kind in KIND_COLOURS if (cells[f"share_{kind}"] > 0).any()]
    models = list(dict.fromkeys(cells["model"]))
    return replace(make_chart(figure, list(_panels(figure, cells, models, kinds)), models), y_label=Y_LABEL)


def _panels(figure: Mapping, cells: "pd.DataFrame", models: Sequence[str], kinds: Sequence[str]) -> Iterator[Panel]:
    """Panels by size and, if prompts ask for several items, by placement; models are in their order."""
    several = cells["target"].nunique() > 1
    for size, of_size in cells.groupby("size"):
        for where, group in _placements(of_size) if several else [("", of_size)]:
            for model in models:
                of_model = group[group["model"] == model].sort_values("position", kind="stable")
                if len(of_model):
                    title = f"{panel_title(figure, size)}{where}\n{model}"
                    yield _panel(title, model, plain_rows(of_model), kinds)


def _placements(of_size: "pd.DataFrame") -> Iterator[tuple[str, "pd.DataFrame"]]:
    """Placements of prompts that ask for several items, each with its positions in words."""
    for placement in dict.fromkeys(of_size["placement"]):
        group = of_size[of_size["placement"] == placement]
        yield ", " + ", ".join(ordinal(position + 1) for position in sorted({*group["position"]})), group


def _panel(title: str, model: str, rows: Sequence[Mapping], kinds: Sequence[str]) -> Panel:
    wrong = [place for place, row in enumerate(rows) if row["n_wrong"]]
    parts = [
        Series(
            PART, model, HEADINGS[kind], list(KIND_COLOURS).index(kind),
            tuple(_point(place, rows[place], kind, "n_wrong") for place in wrong),
        )
        for kind in kinds
    ]  # fmt: skip
    whole = Series(WHOLE, model, WRONG, 0, tuple(_point(place, row, "wrong", "n") for place, row in enumerate(rows)))
    ticks = tuple((place, ordinal(int(row["position"]) + 1)) for place, row in enumerate(rows))
    return Panel(title, ticks, (*parts, whole))


def _point(place: int, row: Mapping, kind: str, n: str) -> Point:
    value, low, high = (float(row[name]) for name in (f"share_{kind}", f"share_{kind}_ci_low", f"share_{kind}_ci_high"))
    return Point(place, int(row[n]), value, low, high)
