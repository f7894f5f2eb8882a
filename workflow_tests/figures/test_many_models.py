"""Figures of many models: panels of single models, looks, intervals that do not touch, sizes of texts."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from figure_tables import FIGURE, FOREST, NEEDLES, cell, draw, draw_forest, legend, needles, table, targets, told
from matplotlib.axes import Axes
from matplotlib.colors import same_color
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.text import Text
from report_contents import WRONG_FIGURE, contents_with_wrong_answers

from litm.figures.kinds import PRESETS
from litm.figures.looks import HATCHES, KIND_COLOURS, look_at
from litm.figures.style import BEHIND_LOOK, LEAST_POINTS, save_figure

MANY = 18
NINE = [0, 12, 25, 37, 50, 62, 74, 87, 99]


def curves(models: int, positions: dict[int, list[int]], experiments: tuple[str, ...] = ("qa",)) -> list[dict]:
    """Models of nearly equal accuracy, so that all intervals at a position are at the same height."""
    return [
        cell(f"m{model}", experiment, size, position, 0.5 + 0.001 * model)
        for model in range(models) for experiment in experiments for size, at in positions.items() for position in at
    ]  # fmt: skip


def by_position(models: int, positions: dict[int, list[int]], **settings: object) -> Figure:
    names = tuple(settings.get("experiments", ("qa",)))  # type: ignore[arg-type]
    return draw({**FIGURE, "references": {}, **settings}, table(*curves(models, positions, names)))


def headings(figure: Figure) -> list[str]:
    return [ax.get_title(loc="left") for ax in figure.axes]


def behind(ax: Axes) -> list:
    return [line for line in ax.get_lines() if same_color(line.get_color(), BEHIND_LOOK["color"])]


def boxes(ax: Axes) -> list[tuple[float, float]]:
    """Left and right ends, in points, of each interval with its caps and its mark, at every position."""
    found = []
    scale = 72 / ax.figure.dpi
    for bar in ax.containers:
        line, caps, (intervals,) = bar.lines
        half = max([caps[0].get_markersize() / 2 if caps else 0, line.get_markersize() / 2, 0.5])
        for segment in intervals.get_segments():
            x = intervals.get_transform().transform(segment)[0, 0] * scale
            found.append((x - half, x + half))
    return sorted(found)


@pytest.mark.parametrize(("models", "panels"), [(1, 1), (4, 1), (5, 5), (MANY, MANY)])
def test_more_than_four_models_have_a_panel_each_with_the_others_in_grey_behind_and_the_same_axes(models, panels):
    figure = by_position(models, {5: [0, 2, 4]})
    assert len(figure.axes) == panels
    if panels == 1:
        assert not behind(figure.axes[0]) and len(legend(figure)) == models
        return
    assert headings(figure) == [f"m{model}" for model in range(models)]
    assert {len(behind(ax)) for ax in figure.axes} == {models - 1}
    assert [len(ax.containers) for ax in figure.axes] == [1] * models
    assert len({(*ax.get_xlim(), *ax.get_ylim()) for ax in figure.axes}) == 1
    # The panels name the models, so that the legend does not take the room of the curves.
    assert legend(figure) == ["the other models"]


def test_the_panels_of_a_model_for_several_sizes_stand_in_a_row_below_the_sizes():
    figure = by_position(6, {5: [0, 2, 4], 9: [0, 4, 8]})
    grid = figure.axes[0].get_subplotspec().get_gridspec()
    assert grid.ncols % 2 == 0 and headings(figure)[:4] == ["m0", "", "m1", ""]
    top = [text.get_text() for ax in figure.axes[: grid.ncols] for text in ax.texts]
    assert top[:2] == ["5 documents", "9 documents"] and len(top) == grid.ncols
    assert not any(ax.texts for ax in figure.axes[grid.ncols :])


@pytest.mark.parametrize("kind", ["mean_accuracy_by_size", "accuracy_by_size"])
def test_a_figure_by_size_has_panels_of_single_models_too(kind):
    position = None if kind == "accuracy_by_size" else 0
    rows = table(*(cell(f"m{model}", "qa", size, position, 0.5) for model in range(5) for size in (5, 9)))
    figure = draw({**FIGURE, "references": {}, "kind": kind}, rows)
    assert headings(figure) == [f"m{model}" for model in range(5)]


def test_the_reference_line_of_a_panel_is_that_of_its_model_with_its_interval_as_a_band():
    rows = [*curves(5, {5: [0, 2, 4]}), *(cell(f"m{m}", "closed_book", 0, None, 0.2 + m / 100) for m in range(5))]
    figure = draw(FIGURE, table(*rows))
    for model, ax in enumerate(figure.axes):
        (line,) = [line for line in ax.get_lines() if list(line.get_xdata()) == [0, 1]]
        assert line.get_ydata()[0] == pytest.approx(20 + model)
        (band,) = ax.patches
        assert (band.get_y(), band.get_y() + band.get_height()) == pytest.approx((10 + model, 30 + model))
    assert "bands: 95 % intervals of the horizontal lines" in told(figure)


def test_models_without_a_scored_question_have_a_panel_that_says_so():
    cells = [one | ({"n": 0} if one["model"] == "m3" else {}) for one in curves(5, {5: [0, 4]})]
    assert headings(draw({**FIGURE, "references": {}}, table(*cells)))[3] == "m3\nno question scored"


@pytest.mark.parametrize("page", [None, *PRESETS])
@pytest.mark.parametrize(
    ("models", "positions", "experiments"),
    [
        (2, {5: [0, 2, 4]}, ("qa",)), (4, {100: NINE}, ("qa",)), (4, {20: [0, 1, 2, 19]}, ("qa",)),
        (4, {5: [0, 2, 4], 100: NINE}, ("qa", "other")), (6, {100: NINE}, ("qa",)),
        (5, {10: [0, 4, 9], 100: NINE}, ("qa", "other")),
    ],
)  # fmt: skip
def test_intervals_and_marks_do_not_touch_those_of_their_neighbours(models, positions, experiments, page):
    settings = {"page": vars(PRESETS[page])} if page else {}
    figure = by_position(models, positions, experiments=experiments, **settings)
    figure.draw_without_rendering()
    for ax in figure.axes:
        gaps = [right[0] - left[1] for left, right in pairwise(boxes(ax))]
        assert min(gaps, default=0) > -0.1


def test_four_models_without_room_next_to_one_another_have_panels_each():
    assert len(by_position(4, {100: [0, 50, 99]}).axes) == 1
    assert len(by_position(4, {100: [0, 1, 99]}).axes) == 4


def test_looks_of_72_models_differ_in_colour_and_mark_and_of_18_in_black_and_white_too():
    looks = [look_at(place) for place in range(72)]
    assert len({(look.colour, look.marker) for look in looks}) == 72
    assert len({(look.marker, str(look.dash)) for look in looks[:MANY]}) == MANY
    assert len({(look.hatch, look.is_hollow) for look in looks[:MANY]}) == MANY
    assert {str(look.dash) for look in looks[:4]} == {"-"} and len(HATCHES) >= len(KIND_COLOURS)


def test_bars_of_models_and_of_kinds_of_wrong_answers_differ_in_their_hatching():
    figure = draw(NEEDLES, targets(*(needles(f"m{i}") for i in range(MANY))))
    bars = [group for group in figure.axes[0].containers if isinstance(group, BarContainer)]
    fills = [(group[0].get_hatch(), same_color(group[0].get_facecolor(), "white")) for group in bars]
    assert len(set(fills)) == MANY
    handles = [
        (patch.get_hatch(), same_color(patch.get_facecolor(), "white")) for patch in figure.legends[0].get_patches()
    ]
    assert handles == fills
    rows = contents_with_wrong_answers().tables["wrong_answers"]
    kinds = [name.removeprefix("share_") for name in rows if name.removeprefix("share_") in KIND_COLOURS]
    rows = rows.assign(**{f"share_{kind}": 1 / len(kinds) for kind in kinds})
    patches = draw(WRONG_FIGURE, wrong_answers=rows).legends[0].get_patches()
    assert len({patch.get_hatch() for patch in patches}) == len(patches) == len(KIND_COLOURS)


def texts_of(figure: Figure) -> list[float]:
    return [text.get_fontsize() for text in figure.findobj(Text) if text.get_text().strip()]


@pytest.mark.parametrize("models", [1, 2, 5, pytest.param(MANY, marks=pytest.mark.long)])
def test_no_text_of_a_figure_is_smaller_than_a_phone_shows(models):
    sizes = {5: [0, 2, 4], 9: [0, 4, 8]}
    rows = table(*curves(models, sizes))
    pictures = [draw({**FIGURE, "references": {}, "kind": kind}, rows) for kind in (
        "accuracy_by_position", "mean_accuracy_by_size", "accuracy_by_size_and_position",
    )]  # fmt: skip
    pictures.append(draw(NEEDLES, targets(*(needles(f"m{i}") for i in range(models)))))
    pictures.append(draw_forest(*(FOREST * (25 if models == MANY else 1))))
    pictures.append(draw(WRONG_FIGURE, wrong_answers=contents_with_wrong_answers().tables["wrong_answers"]))
    for picture in pictures:
        picture.draw_without_rendering()
        assert min(texts_of(picture)) >= LEAST_POINTS


def test_labels_of_positions_in_small_panels_do_not_touch():
    figure = by_position(5, {10: [0, 4, 9], 100: NINE})
    figure.draw_without_rendering()
    for ax in figure.axes:
        drawn = [label for label in ax.get_xticklabels() if label.get_text()]
        for left, right in combinations([label.get_window_extent() for label in drawn], 2):
            assert not left.overlaps(right)
        if drawn:
            assert [drawn[0].get_text(), drawn[-1].get_text()] == [
                "1st",
                "10th" if len(ax.get_xticks()) == 3 else "100th",
            ]


def test_a_curve_behind_another_has_the_same_gaps():
    cells = curves(5, {5: [0, 2, 4]})
    cells = [one | ({"n": 0} if (one["model"], one["position"]) == ("m1", 2) else {}) for one in cells]
    figure = draw({**FIGURE, "references": {}}, table(*cells))
    assert [np.isnan(line.get_ydata()).sum() for line in behind(figure.axes[0])] == [1, 0, 0, 0]


def test_a_figure_of_many_models_has_the_same_bytes_each_time(tmp_path):
    for name in ("one.png", "two.png"):
        save_figure(by_position(6, {5: [0, 2, 4]}), tmp_path / name)
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()
