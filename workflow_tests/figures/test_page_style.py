"""Figures for a page: their width, the size of their text, panels in rows, and files of the same bytes."""

import shutil
from pathlib import Path

import matplotlib
import pytest
from figure_tables import FIGURE, cell, draw, table
from matplotlib.figure import Figure
from matplotlib.font_manager import get_font
from PIL import Image
from pypdf import PdfReader

from litm.config.catalogue import FigureStyle
from litm.figures import style
from litm.figures.kinds import DRAWN_POINTS, PRESETS, Page, page_of, room_of
from litm.figures.style import DPI, fit, save_figure

CELLS = [
    cell(model, "qa", size, position, 0.5)
    for model in ("a", "b") for size in (10, 20, 30) for position in (0, size // 2, size - 1)
]  # fmt: skip


def picture(page: Page | None = None) -> Figure:
    return draw({**FIGURE, **({"page": vars(page)} if page else {})}, table(*CELLS))


@pytest.mark.parametrize("name", PRESETS)
def test_png_and_pdf_are_as_wide_as_the_page_and_equal_each_time_without_a_date(tmp_path, name):
    page = PRESETS[name]
    for time in ("first", "second"):
        figure = picture(page)
        scale = fit(figure, page)
        assert scale == pytest.approx(page.font_size / DRAWN_POINTS)
        save_figure(figure, tmp_path / f"{time}.pdf", scale)
    save_figure(figure, tmp_path / "f.png", scale)
    image, pdf = Image.open(tmp_path / "f.png"), tmp_path / "first.pdf"
    assert image.width == pytest.approx(page.width * DPI, abs=1)
    assert image.info["dpi"][0] == pytest.approx(DPI, abs=0.01)
    assert float(PdfReader(pdf).pages[0].mediabox.width) == pytest.approx(72 * page.width, abs=0.1)
    assert pdf.read_bytes() == (tmp_path / "second.pdf").read_bytes() and b"/CreationDate" not in pdf.read_bytes()


@pytest.mark.parametrize(("page", "columns"), [(None, 3), (PRESETS["single_column"], 1), (PRESETS["double_column"], 3)])
def test_panels_stand_in_as_many_rows_as_the_page_needs(page, columns):
    panels = picture(page).axes
    assert len(panels) == 3 and panels[0].get_subplotspec().get_gridspec().ncols == columns


@pytest.mark.parametrize(("sizes", "lines"), [([10], 1), ([10, 20, 30], 2)])
def test_the_label_of_a_panel_that_a_page_widens_is_not_broken(sizes, lines):
    figure = {**FIGURE, "x_label": "Position of the demonstration of the subject"}
    shown = table(*[one for one in CELLS if one["size"] in sizes])
    (ax, *_) = draw({**figure, "page": vars(PRESETS["double_column"])}, shown).axes
    assert len(ax.get_xlabel().splitlines()) == lines


def test_without_a_page_a_figure_is_as_wide_as_its_panels_need():
    figure = picture()
    width = figure.get_figwidth()
    assert (fit(figure, None), figure.get_figwidth(), room_of(FIGURE)) == (1, width, None)


def test_a_figure_that_is_too_wide_is_scaled_down_and_a_narrow_one_is_widened():
    page = Page(3.0, DRAWN_POINTS)
    wide, narrow = picture(), picture()
    assert fit(wide, page) == pytest.approx(3.0 / wide.get_figwidth())
    narrow.set_figwidth(2)
    assert fit(narrow, page) == pytest.approx(1) and narrow.get_figwidth() == 3


@pytest.mark.parametrize("page", [None, PRESETS["single_column"]])
@pytest.mark.parametrize("model", ["organisation_model-" + 6 * "13B-", "organisation_" + 6 * "one-long-name-"])
def test_long_entries_of_the_legend_stay_inside_the_figure(model, page):
    """The fact about the model makes its entry two lines; a name that is too long by itself has smaller text."""
    settings = {**FIGURE, "facts": {model: "tuned from organisation_base-model"}, "page": page and vars(page)}
    figure = draw(settings, table(*(cell(model, "qa", 5, position, 0.5) for position in (0, 4))))
    figure.draw_without_rendering()
    drawn, (text,) = figure.legends[0].get_window_extent(), figure.legends[0].get_texts()
    assert 0 <= drawn.x0 < drawn.x1 <= figure.bbox.x1
    assert len(text.get_text().splitlines()) > 1 and " ".join(text.get_text().splitlines()).startswith(model)


def test_titles_can_be_left_out():
    figure = picture()
    assert figure.get_suptitle() == "A title"
    fit(figure, Page(6.0, 8.0, titles=False))
    assert figure.get_suptitle() == ""


def test_a_config_takes_a_preset_and_replaces_single_values():
    assert FigureStyle().page == PRESETS["single_column"]
    assert FigureStyle(preset="slide", titles=False).page == Page(12.0, 16.0, titles=False)
    page = FigureStyle(preset="double_column", width=6.3).page
    assert page == Page(6.3, 8.0) == page_of({"page": vars(page)})


@pytest.mark.parametrize("fonts", [["c.ttf", "b-Regular.ttf", "a-Regular.ttf"], ["LastResort-Regular.ttf"]])
def test_characters_that_the_font_lacks_are_of_an_installed_one_or_named_in_one_line(
    tmp_path, capfd, monkeypatch, fonts
):
    for font in fonts:
        shutil.copy(Path(matplotlib.get_data_path(), "fonts/ttf/LastResortHE-Regular.ttf"), tmp_path / font)
    (tmp_path / "a-Regular.ttf").write_text("no font")
    paths, read = [str(tmp_path / font) for font in fonts], []
    monkeypatch.setattr(style, "findSystemFonts", lambda: paths)
    monkeypatch.setattr(style, "get_font", lambda path: read.append(path) or get_font(path))
    figure = draw({**FIGURE, "title": "日本 é 日"}, table(*CELLS))
    fit(figure, None)
    save_figure(figure, tmp_path / "f.png")
    is_found = len(fonts) > 1
    said = "" if is_found else "no installed font has these characters of a figure: 日本 (Noto Sans has most)\n"
    assert capfd.readouterr().err == said
    assert len(figure.texts[0].get_fontfamily()) == 1 + is_found
    # Once all characters are found, no further font is read.
    assert {*paths}.intersection(read) == ({*paths[1:]} if is_found else set())


def test_a_title_is_wrapped_by_the_width_of_its_characters():
    assert style.wrapped("日本語の質問 ab-cd", 6) == "日本語\nの質問\nab-cd"
