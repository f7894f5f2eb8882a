"""The page's first screen, from first screens made by hand."""

import re
from dataclasses import replace

import pytest
from browser import Browser, find_browser
from first_screens import CURVES, around, first_screen, model_row, models
from report_contents import EXPERIMENT, contents, page

from litm.findings.first_screen import FirstScreen, PairMatrix, Point, QuestionTable, SizeTable
from litm.findings.record import Number, Strength
from litm.report.screen import COLUMNS, OPEN_TABLES, SHAPE, curve_of, shown_matrices, shown_tables
from litm.report.sizes import SizeNames
from litm.tables.table import tables

NAMES = SizeNames([])


def shown(n_models: int = 3, experiments: tuple[str, ...] = ("kv",), sizes: tuple[int, ...] = (6,)):
    first = first_screen(models(n_models), experiments, sizes)
    return shown_tables(first.tables, {name: name.upper() for name in experiments}, NAMES, models(n_models))


def html_of(n_models: int, n_experiments: int = 1, sizes: tuple[int, ...] = (10, 20)) -> str:
    """The page of a study with this first screen."""
    names = [f"kv{number or ''}" for number in range(n_experiments)]
    experiments = [{**EXPERIMENT, "name": name, "title": f"Retrieval {name}"} for name in names]
    first = first_screen(models(n_models), tuple(names), sizes)
    return page(whole=contents(), screen=first, experiments=experiments, models=[*contents().models, *models(n_models)])


def test_the_first_screen_is_headline_tables_advice_and_warnings_before_the_figures_and_pairs_are_after_them():
    html = html_of(3)
    sections = re.findall(r'<section id="([^"]+)"', html)
    assert sections[:6] == ["first", "advice", "warnings", "curves", "pairs", "measured"]
    assert "<h1>Does the model use its whole context?</h1>" not in html
    nothing = page(screen=FirstScreen((), (), (), (), ()))
    assert "<h1>Does the model use its whole context?</h1>" in nothing
    assert re.findall(r'<section id="([^"]+)"', nothing)[0] == "curves"


def test_a_table_has_a_row_for_each_model_and_a_group_of_rows_for_each_size():
    (table,) = shown(3, sizes=(6, 12))
    assert [block.title for block in table.blocks] == ["size 6", "size 12"]
    assert [row.model for row in table.blocks[0].rows] == [*models(3)]
    headings = ["Closed book", "Oracle", "All positions", "Start", "Middle", "End", "PBI"]
    assert [column.heading for column in table.columns] == headings
    first = table.blocks[0].rows[0]
    assert [cell.text for cell in first.cells] == ["20.0", "80.0", "61.6", "75.0", "54.0", "63.0", "+15.0"]
    assert [cell.limits for cell in first.cells][-1] == "[10.0, 20.0]"
    html = html_of(3)
    assert html.count('<th scope="rowgroup"') == 2 and "10 pairs <span" in html


def test_what_all_rows_of_a_size_have_is_said_once_beside_the_size():
    def block_of(*rows):
        table = QuestionTable("kv", "best_subspan_em", (SizeTable(6, None, rows),))
        return shown_tables([table], {"kv": "KV"}, NAMES, ["a", "b"])[0].blocks[0]

    same = block_of(model_row("a", marks=(1, 2)), model_row("b", marks=(2,)))
    assert (same.n, same.marks) == ("200", (2,))
    assert [(row.n, row.marks) for row in same.rows] == [("", (1,)), ("", ())]
    other = block_of(model_row("a", marks=(1,)), replace(model_row("b"), n=150))
    assert (other.n, other.marks) == ("", ())
    assert [(row.n, row.marks) for row in other.rows] == [("200", (1,)), ("150", ())]
    # The rows of a model alone are sizes.
    (alone,) = block_of(model_row("a", marks=(1,))).rows
    assert (alone.n, alone.marks) == ("200", (1,))


def test_models_with_the_same_numbers_share_a_row_and_curves_fill_the_height_of_their_table():
    same = [replace(model_row("a", kind=4), model=name, is_tied=tied) for name, tied in (("a", False), ("rerun", True))]
    low = tuple(Point(number, None, accuracy) for number, accuracy in enumerate((0.25, 0.1)))
    for curve, heading, y in ((same[0].curve, "0 to 50 %", 11.0), (low, "0 to 25 %", 3.0)):
        rows = tuple(replace(row, curve=curve) for row in (*same, replace(model_row("b", kind=4), marks=(1,))))
        table = QuestionTable("kv", "best_subspan_em", (SizeTable(6, None, rows),))
        (shown_table,) = shown_tables([table], {"kv": "KV"}, NAMES, ["a", "rerun", "b"])
        assert [row.name for row in shown_table.blocks[0].rows] == ["a, rerun", "b"]
        assert shown_table.ends[1].heading == heading and shown_table.blocks[0].rows[0].curve.dots[0][1] == y


def test_a_curve_without_a_sound_accuracy_is_not_drawn():
    row = replace(model_row("a"), curve=tuple(Point(number, None, None) for number in range(3)))
    table = QuestionTable("kv", "best_subspan_em", (SizeTable(6, None, (row, model_row("b"))),))
    html = page(screen=FirstScreen((), (table,), (), (), ()), models=[*contents().models, "a", "b"])
    assert "Accuracy of b by position" in html and "Accuracy of a by position" not in html


def test_an_experiment_without_positions_has_no_columns_of_positions():
    row = replace(model_row("a"), start=None, middle=None, end=None, pbi=None, closed_book=None, curve=(), shape="")
    table = QuestionTable("qa", "token_f1", (SizeTable(5, None, (row,)),))
    (without,) = shown_tables([table], {"qa": "QA"}, NAMES, ["a"])
    assert [column.heading for column in without.columns] == ["Oracle", "Token F1"] and without.ends == ()
    assert without.blocks[0].rows[0].curve is None and without.summary == "a, 61.6 %"


def test_the_rows_of_a_model_alone_are_its_sizes():
    (table,) = shown(1, sizes=(6, 12))
    (block,) = table.blocks
    assert (table.heading, block.title, [row.name for row in block.rows]) == ("Size", "", ["size 6", "size 12"])
    assert table.summary == f"{models(1)[0]}, 61.6 %; an effect of position is shown in 2 of 2 curves"
    assert shown(2)[0].heading == "Model" and 'scope="rowgroup"' not in html_of(1)


def test_nothing_is_said_of_the_curve_of_a_stand_in_or_of_one_without_a_scored_question():
    stand_in = replace(model_row("a", tied=True), strength=None)
    unscored = replace(model_row("b"), strength=Strength.UNINFORMATIVE, shape="no difference shown", n=0)
    rows = SizeTable(6, None, (model_row("c"), stand_in, unscored))
    (table,) = shown_tables([QuestionTable("kv", "exact_code", (rows,))], {"kv": ""}, NAMES, "abc")
    assert [row.word for row in table.blocks[0].rows] == ["U", "stand-in", "no information"]
    assert [row.is_tied for row in table.blocks[0].rows] == [False, False, False]
    assert table.summary.endswith("shown in 1 of 2 curves")


def test_numbers_that_say_nothing_on_positions_are_grey():
    (table,) = shown(len(CURVES))
    assert [row.word for row in table.blocks[0].rows if row.is_silent] == ["floor", "in doubt"]
    few = replace(model_row("a"), shape="too few questions", strength=Strength.CANNOT_TELL)
    (table,) = shown_tables([QuestionTable("kv", "exact_code", (SizeTable(6, None, (few,)),))], {"kv": ""}, NAMES, "a")
    assert table.blocks[0].rows[0].is_silent
    assert html_of(len(CURVES)).count('<td data-heading="PBI" class="soft">') == 4


@pytest.mark.parametrize(("tied", "is_best"), [(False, True), (True, False)])
def test_the_best_model_is_marked_only_if_it_is_shown_to_be_better_than_the_next(tied, is_best):
    rows = (model_row("a"), replace(model_row("b", tied=tied), n=150))
    (table,) = shown_tables([QuestionTable("kv", "exact_code", (SizeTable(6, None, rows),))], {"kv": ""}, NAMES, "ab")
    overall = [column.name for column in table.columns].index("overall")
    marked = [row.cells[overall].is_shown for row in table.blocks[0].rows]
    assert marked == [is_best, False] and table.blocks[0].rows[1].is_tied == tied
    # A model alone is not the best of anything.
    (table,) = shown_tables(
        [QuestionTable("kv", "exact_code", (SizeTable(6, None, rows[:1]),))], {"kv": ""}, NAMES, "a"
    )
    assert not table.blocks[0].rows[0].cells[overall].is_shown


def test_ties_and_warnings_are_marked_and_a_mark_leads_to_its_warning():
    html = html_of(3)
    tied = re.findall(r"=<span class=\"unseen\"> not shown to differ from the row above</span></span> ([^<]+)", html)
    assert [name.strip() for name in tied] == [models(3)[1]] * 2
    assert html.count('<sup><a href="#warning-1" aria-label="Warning 1">1</a></sup>') == 2
    assert '<li id="warning-1" value="1">' in html
    # What no table depends on is folded, and said once.
    folded = html.partition('<section id="warnings"')[2].partition("</section>")[0].partition("<details>")[2]
    assert folded.count("<li>") == 1


def test_a_shape_is_a_word_with_its_meaning_and_what_cannot_be_told_says_how_many_questions_would():
    (table,) = shown(len(CURVES))
    words = [(row.word, row.more, row.is_shown) for row in table.blocks[0].rows]
    assert words == [
        ("U", "", True), ("falling", "", True), ("cannot tell yet", "about 620 questions would", False),
        ("flat", "", False), ("no difference shown", "", False), ("floor", "", False), ("in doubt", "", False),
    ]  # fmt: skip
    meanings = [row.meaning for row in table.blocks[0].rows]
    assert meanings[0] == "start and end are above the middle" and "do not suffice" in meanings[2]
    assert "suffice to show an effect of 5 points, and none is shown" in meanings[4] and meanings[5:] == ["", ""]


def test_a_curve_is_drawn_from_0_to_100_per_cent_at_its_depths_with_a_gap_where_there_is_no_answer():
    points = (Point(0, 0.0, 1.0), Point(4, 0.25, 0.0), Point(9, 0.5, None), Point(19, 1.0, 0.5))
    curve = curve_of(points)
    assert curve.dots == ((4.0, 3.0), (27.0, 43.0), (96.0, 23.0)) and curve.lines == ("4,3 27,43",)
    assert curve.label == "1st 100.0 %, 5th 0.0 %, 20th 50.0 %"
    # Without depths the points are evenly apart.
    assert [x for x, _ in curve_of([replace(point, depth=None, accuracy=0.5) for point in points]).dots] == [
        4.0, 34.7, 65.3, 96.0
    ]  # fmt: skip
    assert curve_of(()) is None


def test_the_first_tables_of_many_are_open_and_each_folded_one_has_a_line():
    tables_of_20 = shown(3, tuple(f"e{number}" for number in range(20)))
    assert [table.is_open for table in tables_of_20] == [True] * OPEN_TABLES + [False] * (20 - OPEN_TABLES)
    assert tables_of_20[-1].summary == "3 models, 49.8 to 70.0 %; an effect of position is shown in 2 of 3 curves"
    # A long first table leaves no room for others.
    assert [table.is_open for table in shown(18, ("a", "b", "c"), (1, 2))] == [True, False, False]


def test_each_column_of_numbers_names_a_file_and_a_column_that_exist():
    for column in (*COLUMNS, SHAPE):
        file, name = re.fullmatch(r"(\w+)\.csv: (\w+).*", column.source).groups()
        assert name in tables()[file].columns
    html = html_of(2)
    assert 'title="position_bias.csv: pbi">PBI</th>' in html and "<code>position_bias.csv: pbi</code>" in html


def test_pairs_are_a_matrix_with_intervals_in_which_the_shown_ones_are_marked():
    (matrix,) = shown_matrices(first_screen(models(5)).pairs, {"kv": "KV"})
    cells = dict(matrix.rows)[models(5)[0]]
    assert cells[0] is None and (cells[1].text, cells[1].limits, cells[1].is_shown) == ("+2.0", "[-3.0, 7.0]", False)
    assert [cell.is_shown for cell in cells[1:]] == [False, False, True, True]
    assert matrix.summary == "a difference is shown in 3 of 10 pairs"
    html = html_of(5)
    assert re.search(r"<td><strong>\+6\.0</strong> <span class=\"soft\">\[1\.0, 11\.0\]</span></td>", html)
    assert 'id="pairs"' not in html_of(1)


def test_the_line_of_a_table_has_the_lead_of_the_best_model_with_its_interval():
    nothing = around(0.0)
    ahead = {p: ((None, around(0.12, p=p), around(0.3)), (around(-0.12), None, nothing), (around(-0.3), nothing, None))
             for p in (0.01, 0.2)}  # fmt: skip
    rows = tuple(model_row(name) for name in "abc")
    asked = [QuestionTable("kv", "exact_code", (SizeTable(6, None, rows),))]
    for p, more in ((0.01, ""), (0.2, ", not shown with the correction for all pairs")):
        (table,) = shown_tables(asked, {"kv": ""}, NAMES, "abc", [PairMatrix("kv", tuple("abc"), ahead[p])])
        assert table.summary.endswith(
            f"; a leads b by 12.0 points [7.0, 17.0] over all positions and sizes of the same questions{more}"
        )
    # A model without a comparison may be the best.
    unknown = ((None, nothing, None), (nothing, None, None), (None, None, None))
    (table,) = shown_tables(asked, {"kv": ""}, NAMES, "abc", [PairMatrix("kv", tuple("abc"), unknown)])
    assert "leads" not in table.summary


def test_an_advice_is_a_card_with_what_it_costs_and_how_sure_it_is():
    section = html_of(1).partition('<section id="advice"')[2].partition("</section>")[0]
    lead, *details = re.findall(r"<p[^>]*>([^<]+)</p>", section)
    assert lead == "gpt-4o-mini: pass 5 documents. 61.0 % right [56.0, 66.0], n = 200, 1,834 tokens a question."
    assert details[0].startswith("It is the cheapest of 3") and "loses at most 2.4 points" in details[0]
    none = replace(first_screen(models(1)), advice=())
    assert 'id="advice"' not in page(screen=none, models=[*contents().models, *models(1)])


def test_an_accuracy_without_a_value_is_a_dash_and_not_tied():
    row = replace(model_row("a", tied=True), overall=Number(None), pbi=around(0.1))
    (table,) = shown_tables([QuestionTable("kv", "exact_code", (SizeTable(6, None, (row,)),))], {"kv": ""}, NAMES, "a")
    assert [cell.text for cell in table.blocks[0].rows[0].cells][2] == "-" and table.summary.startswith("a; ")
    assert not table.blocks[0].rows[0].is_tied


@pytest.mark.skipif(find_browser() is None, reason="no Chromium (Debian: apt-get install chromium)")
def test_the_first_screen_fits_a_desktop_and_a_phone_with_1_to_18_models_and_20_experiments(tmp_path):
    browser = Browser(str(find_browser()), tmp_path / "profile")
    for n_models, n_experiments in ((1, 2), (2, 1), (5, 2), (18, 20)):
        (tmp_path / "report.html").write_text(html_of(n_models, n_experiments), encoding="utf-8")
        for width in (1280, 390):
            browser.open(tmp_path / "report.html", width)
            assert browser.run("document.documentElement.scrollWidth <= innerWidth"), (n_models, width)
            # Nothing of a table is beyond its box, so no number needs scrolling.
            boxes = "[...document.querySelectorAll('.scroll:has(.first)')]"
            assert browser.run(f"{boxes}.every((box) => box.scrollWidth <= box.clientWidth)"), (n_models, width)
    assert browser.problems == []
    browser.close()
