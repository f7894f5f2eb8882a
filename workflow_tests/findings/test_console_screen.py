"""The first screen on a terminal: its lines for few and many models and experiments, and narrow terminals."""

import re

import pytest

from litm.analysis.shapes import NONE
from litm.findings.console import MOST, Texts, console_lines
from litm.findings.console_tables import Terminal, curve_in_blocks, short_names
from litm.findings.first_screen import FirstScreen, ModelRow, Point, QuestionTable, SizeTable
from litm.findings.record import Number, Strength

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
        "closed_book": Number(0.14), "oracle": Number(0.92), "start": Number(0.8), "middle": Number(0.55),
        "end": Number(0.75), "pbi": Number(0.225, 0.103, 0.347), "shape": "U", "strength": Strength.SHOWN,
        "needed": None, "curve": points, "marks": (),
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
    ("gpt-4o-mini on rag: pass 5 documents, best last; it costs US$ 0.40 per 1,000 questions. Shown: +8.1 points "
     "[3.0, 13.2].",),
    warnings=[(number if number < 4 else 0, WARNING) for number in range(1, 13)],
)  # fmt: skip


def lines_of(shown: FirstScreen, columns: int = 100, texts: Texts = TEXTS, is_ascii: bool = False) -> list[str]:
    units = dict.fromkeys([table.experiment for table in shown.tables], "documents")
    return console_lines(shown, texts, units, FILES, Terminal(columns, is_ascii))


@pytest.mark.parametrize("columns", [40, 60, 80, 100, 200])
@pytest.mark.parametrize("experiments", [1, 3, 20])
@pytest.mark.parametrize("models", [1, 2, 5, 10, 30])
def test_any_number_of_models_and_experiments_has_at_most_40_lines_that_fit_the_terminal(models, experiments, columns):
    for sizes in ((20,), (10, 20, 30)):
        lines = lines_of(screen(models, experiments, sizes), columns)
        assert len(lines) <= MOST
        assert max(map(len, lines)) <= max(60, min(columns, 120))
        text = "\n".join(lines)
        assert text.startswith("gpt-4o-mini loses 22 points") and text.endswith(FILES[-1])
        assert "What to do:" in text and "Before you quote this" in text
        # A difference has its interval.
        assert not re.search(r"[+-]\d+\.\d(?! points \[)(?! \[)", text)
        # What is left out is said.
        shown = len(re.findall("▆|█", text)) or text.count("gpt-4o")
        assert shown
        if models * experiments * len(sizes) > 30:
            assert re.search(r"not shown: .*results/report.html, tables/accuracy.csv", text)


def test_several_models_are_rows_with_their_curve_ties_and_marks():
    said = lines_of(screen(3, 1, (20,)), texts=Texts("Headline.", (), [(1, "First."), (2, "Second."), (0, "Other.")]))
    assert said == [
        "Headline.",
        "",
        "                                 all  closed  oracle  start  middle  end          PBI [95 %]  shape    curve",
    ]
