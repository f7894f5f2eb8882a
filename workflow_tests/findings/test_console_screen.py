"""The first screen on a terminal: its lines for few and many models and experiments, and narrow terminals."""

import re
from dataclasses import replace

import pytest

from litm.analysis.shapes import NONE
from litm.findings.console import MOST, Texts, console_lines
from litm.findings.console_tables import Terminal, curve_in_blocks, short_names
from litm.findings.first_screen import IN_DOUBT, FirstScreen, ModelRow, Point, QuestionTable, SizeTable
from litm.findings.record import Number, Strength
from litm.scoring.metrics import METRICS

NAMES = ("gpt-4o-mini", "gpt-4o", "claude-sonnet-4-20250514", "meta-llama-3.1-70b-instruct-q4", "deepseek-chat")
FILES = ("figures: results/figures/a.png, b.png, c.png and 9 more", "tables: results/tables/",
         "report: results/report.html, to open in a browser")  # fmt: skip


def model(number: int) -> str:
    return NAMES[number] if number < len(NAMES) else f"vendor-{number}-large-instruct-2025"


def row(number: int = 0, **changes) -> ModelRow:
    """A model's row: a U, or of every third model unclear."""
    heights = (0.8, 0.7, 0.55, 0.6, 0.75)
    points = tuple(
        Point(10 * place, place / 4, height - number / 50, height - number / 50 - 0.1, height - number / 50 + 0.1)
        for place, height in enumerate(heights)
    )
    values = {
        "model": model(number), "n": 60, "overall": Number(0.68 - number / 50, 0.6, 0.76), "is_tied": number % 2 == 1,
        "closed_book": Number(0.14), "oracle": Number(0.92), "n_references": None, "start": Number(0.8),
        "middle": Number(0.55), "end": Number(0.75), "pbi": Number(0.225, 0.103, 0.347),
        "shape": "U", "strength": Strength.SHOWN, "needed": None, "curve": points, "marks": (),
    }  # fmt: skip
    if number % 3 == 2:
        values |= {"shape": NONE, "strength": Strength.CANNOT_TELL, "needed": 500 + 10 * number, "marks": (1, 2)}
    return ModelRow(**values | changes)


def screen(models: int, experiments: int, sizes: tuple[int, ...] = (10, 20, 30), **changes) -> FirstScreen:
    """A screen of as many models and experiments."""
    tables = tuple(
        QuestionTable(
            f"experiment_{number}",
            "best_subspan_em",
            tuple(SizeTable(size, None, tuple(row(one, **changes) for one in range(models))) for size in sizes),
        )
        for number in range(experiments)
    )
    return FirstScreen((), tables, (), (), ())


def without_positions(models: int, experiment: str, sizes: tuple[int, ...] = (1,)) -> QuestionTable:
    """A table of accuracies without positions."""
    absent = dict.fromkeys(("closed_book", "oracle", "start", "middle", "end", "pbi", "strength"), None)
    changes = {**absent, "shape": "", "curve": ()}
    rows = tuple(row(number, **changes) for number in range(models))
    return QuestionTable(experiment, "best_subspan_em", tuple(SizeTable(size, None, rows) for size in sizes))


WARNING = (
    "gpt-4o-mini on experiment_1, experiment_2 and 4 more: 21 of 90 answers were cut at 80 tokens; accuracy is a lower "
    "bound; raise max_new_tokens (in define.experiments), unless they repeat themselves"
)
TEXTS = Texts(
    "gpt-4o-mini loses 22 points when the answer is not at the start; for the other nine the questions do not suffice "
    "to tell, about 600 would.",
    [["gpt-4o-mini on rag: pass 5 documents, best last; it costs US$ 0.40 per 1,000 questions. Shown: +8.1 points "
      "[3.0, 13.2]."]],
    warnings=[(number if number < 4 else 0, WARNING) for number in range(1, 13)],
)  # fmt: skip


def lines_of(shown: FirstScreen, columns: int = 100, texts: Texts = TEXTS, is_ascii: bool = False) -> list[str]:
    units = dict.fromkeys([table.experiment for table in shown.tables], "documents")
    return console_lines(shown, texts, units, FILES, Terminal(columns, is_ascii))


@pytest.mark.parametrize("columns", [40, 60, 80, 100, 200])
@pytest.mark.parametrize("experiments", [1, 3, 20])
@pytest.mark.parametrize("models", [1, 2, 5, 10, 30])
def test_any_number_of_models_and_experiments_has_at_most_40_lines_that_fit_the_terminal(models, experiments, columns):
    for sizes, is_ascii in (((20,), True), ((10, 20, 30), False)):
        lines = lines_of(screen(models, experiments, sizes), columns, is_ascii=is_ascii)
        text = "\n".join(lines)
        assert len(lines) <= MOST and max(map(len, lines)) <= max(60, min(columns, 120))
        assert text.startswith("gpt-4o-mini loses 22 points") and text.endswith(FILES[-1])
        assert "What to do:" in text and "Before you quote this" in text
        # A difference has its interval.
        assert not re.search(r" [+-]\d+\.\d(?!( points)? \[)", " ".join(text.split()))
        if models * experiments * len(sizes) > 30:
            assert re.search(r"not shown: .*\(results/report.html\)", text)


def test_several_models_are_rows_with_their_curves_ties_and_marks():
    texts = Texts("A headline.", warnings=[(1, "First."), (2, "Second."), (0, "Other.")])
    assert lines_of(screen(3, 1, (20,)), 90, texts)[:14] == [
        "A headline.",
        "",
        "                       all closed oracle start middle end         PBI [95 %] shape   curve",
        "experiment_0, 20 documents, n = 60",
        "  gpt-4o-mini           68     14     92    80     55  75 +22.5 [10.3, 34.7] U       ▇▆▅▅▇",
        "= gpt-4o                66     14     92    80     55  75 +22.5 [10.3, 34.7] U       ▇▆▅▅▆",
        "  claude-s…20250514¹,²  64     14     92    80     55  75 +22.5 [10.3, 34.7] unclear ▇▆▅▅▆",
        "accuracy in %; closed: closed book, without documents; oracle: the right document alone;",
        "PBI: mean of start and end minus middle, in points; curve: ▁ 0 % to █ 100 %; =: not shown",
        "to differ from the row above",
        "unclear: cannot tell yet; about 520 questions would show an effect of 5 points; an",
        "interval alone, uncorrected, may leave out 0",
        "",
        "Before you quote this:",
    ]


def test_closed_book_and_oracle_of_other_questions_have_their_number():
    (title,) = (line for line in lines_of(screen(2, 1, (20,), n_references=36), 100, Texts()) if "n =" in line)
    assert title == "experiment_0, 20 documents, n = 60 (closed, oracle: 36)"


def test_curves_of_low_accuracies_have_a_scale_that_shows_them():
    def low(row: ModelRow) -> ModelRow:
        curve = (replace(point, accuracy=(point.accuracy or 0) / 4) for point in row.curve)
        return replace(row, curve=tuple(curve))

    shown = screen(2, 1, (20,))
    (table,) = shown.tables
    (size,) = table.sizes
    lowered = replace(table, sizes=(replace(size, rows=tuple(map(low, size.rows))),))
    drawn, scaled = (lines_of(replace(shown, tables=(given,)), 100, Texts()) for given in (table, lowered))
    assert drawn[2].endswith("▇▆▅▅▇") and "curve: ▁ 0 % to █ 100 %" in " ".join(drawn)
    assert scaled[2].endswith("▇▆▅▅▇") and "curve: ▁ 0 % to █ 25 %" in " ".join(scaled)


def test_a_narrow_terminal_loses_the_references_then_the_curve_then_the_mean_then_the_shape():
    (wide, usual, narrow) = (lines_of(screen(3, 1, (20,)), columns, Texts())[0].split() for columns in (120, 80, 60))
    assert wide == ["all", "closed", "oracle", "start", "middle", "end", "PBI", "[95", "%]", "shape", "curve"]
    assert usual == ["all", "start", "middle", "end", "PBI", "[95", "%]", "shape", "curve"]
    assert narrow == ["start", "middle", "end", "PBI", "[95", "%]"]


def test_a_terminal_without_utf_8_has_ascii_alone():
    lines = lines_of(screen(5, 2, (20,)), 100, is_ascii=True)
    assert all(map(str.isascii, lines))
    assert any(line.startswith("  claude-sonnet-4-20250514[1,2]") for line in lines)
    assert "~" in "".join(lines_of(screen(5, 2, (20,)), 60, is_ascii=True))
    assert curve_in_blocks([Point(0, 0.0, 0.0), Point(1, 0.5, 0.55), Point(2, 1.0, 1.0)], True) == "059"
    assert curve_in_blocks([Point(0, 0.0, 0.0), Point(1, 0.5, None), Point(2, 1.0, 1.0)]) == "▁ █"


def test_names_are_shortened_where_they_do_not_tell_models_apart():
    names = ["meta-llama-3-8b-instruct", "meta-llama-3-70b-instruct", "mistral-3-8b-instruct"]
    assert short_names(names, 16) == ["meta…8b-instruct", "meta…0b-instruct", "mistral-…nstruct"]
    alike = [f"a-long-name-{number}-of-a-model" for number in range(3)]
    assert short_names(alike, 12) == ["a-long…model", "a-lo…odel~2", "a-lo…odel~3"]
    assert short_names(["a", "b"], 14) == ["a", "b"]


def test_a_curve_in_doubt_has_no_number_and_one_without_information_no_pbi():
    doubtful = row(1, shape=IN_DOUBT, strength=Strength.UNINFORMATIVE)
    at_floor = row(2, shape="floor", strength=Strength.UNINFORMATIVE, marks=())
    table = QuestionTable("kv", "best_subspan_em", (SizeTable(20, None, (row(0), doubtful, at_floor)),))
    lines = lines_of(FirstScreen((), (table,), (), (), ()), 120, Texts())
    assert lines[3].split() == ["=", "gpt-4o", "-", "14", "92", "-", "-", "-", "-", "in", "doubt"]
    assert "+22.5" not in lines[4] and lines[4].split()[-3:] == ["-", "floor", "▇▆▅▅▆"]


@pytest.mark.parametrize(("metric", "word"), [("gives_code", "share"), ("token_f1", "mean")])
def test_what_is_no_share_of_right_answers_is_not_called_an_accuracy(metric, word):
    tables = (QuestionTable("conflict", metric, (SizeTable(20, None, (row(0),)),)),)
    assert lines_of(FirstScreen((), tables, (), (), ()), 80, Texts())[2].split()[0] == word
    several = (QuestionTable("conflict", metric, (SizeTable(20, None, (row(0), row(1))),)),)
    lines = lines_of(FirstScreen((), several, (), (), ()), 120, Texts())
    assert not any("accuracy" in line for line in lines)
    assert any(f"{METRICS[metric].label} in %" in line for line in lines)


def test_one_model_has_every_position_with_its_interval_if_there_is_room():
    lines = lines_of(screen(1, 1, (20,)), 80, Texts("A headline."))
    assert lines[2:9] == [
        "experiment_0, 20 documents, n = 60",
        "  position       1st      11th      21st      31st      41st",
        "  accuracy      80 %      70 %      55 %      60 %      75 %",
        "  95 %      [70, 90]  [60, 80]  [45, 65]  [50, 70]  [65, 85]",
        "  shape     U (start and end are above the middle); PBI +22.5 [10.3, 34.7]",
        "  beside    closed book 14 %, oracle 92 %",
        "",
    ]
    unclear = {"shape": NONE, "strength": Strength.CANNOT_TELL}
    shown = {needed: lines_of(screen(1, 1, (20,), needed=needed, **unclear), 100, Texts())[4] for needed in (580, None)}
    assert "cannot tell yet: about 580 questions would show an effect of 5 points; PBI" in shown[580]
    assert "cannot tell yet: use more questions; PBI" in shown[None]
    many = lines_of(screen(1, 20, (20,)), 80, Texts("A headline."))
    assert many[2].split()[:3] == ["n", "all", "start"] and many[3].split()[:3] == ["experiment_0", "60", "68"]


def test_references_of_one_model_have_a_line_where_they_have_no_column():
    lines = lines_of(screen(1, 20, (20,)), 60, Texts())
    assert "  closed book 14 %, oracle 92 %" in lines
    assert "  closed book 14 %, oracle 92 %" not in lines_of(screen(1, 20, (20,)), 100, Texts())


def test_of_several_sizes_the_largest_comes_first_and_what_is_left_out_is_named():
    lines = lines_of(screen(10, 2), 100, Texts())
    titles = [line for line in lines if line.startswith("experiment_")]
    assert titles == ["experiment_0, 30 documents, n = 60", "experiment_1, 30 documents, n = 60"]
    (left,) = (line for line in lines if line.startswith("not shown: "))
    assert left == (
        "not shown: experiment_0, 10 documents, experiment_0, 20 documents and 2 more (results/report.html)"
    )
    lines = lines_of(screen(50, 1, (20,)), 100, Texts())
    (left,) = (line for line in lines if line.startswith("not shown: "))
    n_rows = sum(" U " in line or " unclear " in line for line in lines)
    assert f"not shown: {50 - n_rows} models at experiment_0, 20 documents (" in left


def test_accuracies_without_positions_are_a_line_of_one_model_and_a_table_of_several():
    tables = (without_positions(1, "book"), without_positions(1, "rag", (5, 10)))
    assert lines_of(FirstScreen((), tables, (), (), ()), 100, Texts())[:2] == [
        "book, n = 60: 68 % [60, 76]",
        "rag, n = 60: 5 documents 68 % [60, 76], 10 documents 68 % [60, 76]",
    ]
    tables = (without_positions(2, "book"), without_positions(2, "rag", (5, 10)))
    assert lines_of(FirstScreen((), tables, (), (), ()), 100, Texts())[:8] == [
        "book, accuracy [95 %], n = 60",
        "                        book",
        "  gpt-4o-mini  68 % [60, 76]",
        "  gpt-4o       66 % [60, 76]",
        "rag, accuracy [95 %], n = 60",
        "                 5 documents   10 documents",
        "  gpt-4o-mini  68 % [60, 76]  68 % [60, 76]",
        "  gpt-4o       66 % [60, 76]  66 % [60, 76]",
    ]
    tables = tuple(without_positions(40, f"e{number}") for number in range(9))
    assert "more lines: results/report.html" in "".join(lines_of(FirstScreen((), tables, (), (), ()), 80))


def test_warnings_that_touch_a_number_are_never_left_out_and_others_are_counted():
    texts = TEXTS._replace(warnings=[(number if number < 10 else 0, WARNING) for number in range(1, 13)])
    text = "\n".join(lines_of(screen(10, 3, (20,)), 80, texts))
    assert "Before you quote this (in full: results/report.html):" in text
    assert all(f"\n  {sign} gpt-4o-mini on" in text for sign in "¹²³⁴⁵⁶⁷⁸⁹") and "  and 3 more: " in text
    few = "\n".join(lines_of(screen(1, 1, (20,)), 80, Texts(warnings=[(1, "A."), (0, "B.")])))
    assert "Before you quote this:\n  ¹ A.\n  - B.\n" in few


def test_a_graded_metric_and_several_placements_of_a_size_are_named():
    sizes = tuple(SizeTable(20, placement, (row(0), row(1))) for placement in ("gold_at_0_9", "gold_at_depth_0_1"))
    table = QuestionTable("needles", "token_f1", sizes)
    lines = lines_of(FirstScreen((), (table,), (), (), ()), 100, Texts())
    assert lines[1] == "needles, 20 documents, answers at 1st, 10th, n = 60, Token F1"
    assert lines[4] == "needles, 20 documents, answers at 0, 1, n = 60, Token F1"


def test_an_advice_has_as_many_of_its_sentences_as_fit_and_every_model_has_the_first():
    advice = [
        [f"m{number}: pass 5 documents.", "It is the cheapest.", "It may lose 3.0 points. " * 9] for number in range(4)
    ]
    empty = FirstScreen((), (), (), (), ())
    lines = console_lines(empty, Texts(advice=advice[:1]), {}, [], Terminal(100))
    assert lines[0] == "What to do:" and lines[1].startswith("  m0: pass 5 documents. It is the cheapest. It may lose")
    lines = console_lines(empty, Texts(advice=advice), {}, [], Terminal(100))
    assert lines[0] == "What to do (in full: results/report.html):"
    assert lines[1:] == [f"  m{number}: pass 5 documents. It is the cheapest." for number in range(4)]
    lines = console_lines(empty, Texts(advice=[advice[0]] * 9), {}, [], Terminal(100))
    assert len(lines) == 6 and lines[-1] == "  and 5 more: results/report.html"


def test_a_run_without_results_has_warnings_alone():
    empty = FirstScreen((), (), (), (), ())
    texts = Texts(warnings=[(0, "A."), (1, "B.")])
    assert console_lines(empty, texts, {}, [], Terminal()) == ["Before you quote this:", "  - A.", "  ¹ B."]
    assert console_lines(empty, Texts(), {}, [], Terminal()) == []
