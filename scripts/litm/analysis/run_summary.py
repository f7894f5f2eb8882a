"""Summary of a run for the console: accuracy by position of each curve, and its shape in words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from litm.analysis.claims.meanings import shape_in_words

#: Number of curves and other tables that are printed, at most.
MOST_TABLES = 20
#: Task of the upper reference: without a right answer in it, a curve has no meaning.
ORACLE_TASK = "oracle_qa"

Row = Mapping[Any, Any]
#: Name of a curve: model, experiment, size.
Name = tuple[str, str, str]


def run_summary(rows: Iterable[Row], shapes: Iterable[Row], units: Mapping[str, str]) -> Iterator[str]:
    """Lines for a terminal, model by model in the order of the rows.

    rows: of the accuracy table, one per cell and target; shapes: of position_bias.csv; both as texts of CSV files.
    units: of each experiment's sizes, such as documents. An experiment with several gold items per prompt has many
    rows, so it has one line that names the table.
    """
    words = {_name(row): shape_in_words(row) for row in shapes if not row["placement"]}
    shown = 0
    for model, of_model in groupby(rows, lambda row: row["model"]):
        yield model
        for experiment, cells in groupby(of_model, lambda row: row["experiment"]):
            for lines in _tables(experiment, list(cells), words, units[experiment]):
                shown += 1
                if shown <= MOST_TABLES:
                    yield from (f"  {line}" for line in lines)
    if shown > MOST_TABLES:
        yield f"and {shown - MOST_TABLES} more: tables/accuracy.csv"


def _tables(experiment: str, cells: Sequence[Row], words: Mapping[Name, str], unit: str) -> Iterator[list[str]]:
    """Yield the lines of each curve; an experiment without positions has one table of its sizes."""
    curves = {name: list(curve) for name, curve in groupby(cells, _name)}
    if len(curves) > 1 and all(len(curve) == 1 for curve in curves.values()):
        columns = [(f"{cell['size']}", *_accuracy(cell)) for cell in cells]
        yield [f"{experiment}, n = {_numbers(cells)}", *_columns((unit, "accuracy", "95 %"), columns)]
        return
    for name, curve in curves.items():
        yield list(_curve(name, curve, words.get(name), unit))


def _name(row: Row) -> Name:
    return row["model"], row["experiment"], row["size"]


def _curve(name: Name, cells: Sequence[Row], word: str | None, unit: str) -> Iterator[str]:
    if len(cells) == 1:
        yield f"{name[1]}, n = {_numbers(cells)}: {' '.join(_accuracy(cells[0]))}"
        if cells[0]["task"] == ORACLE_TASK and cells[0]["accuracy"] and float(cells[0]["accuracy"]) == 0:
            yield (
                "  no answer is right with the document alone, so positions tell nothing: check prompt_template and "
                "the accepted answers, or take another model"
            )
        return
    title = f"{name[1]}, {name[2]} {unit}, n = {_numbers(cells)}"
    if len({cell["target"] for cell in cells}) > 1:
        counted = [float(cell["accuracy"]) for cell in cells if cell["accuracy"]]
        mean = f"{100 * sum(counted) / len(counted):.0f} %" if counted else "-"
        yield f"{title}: {mean} of the items; by position in tables/accuracy.csv"
        return
    yield title
    yield from _columns(("position", "accuracy", "95 %"), [(cell["position"], *_accuracy(cell)) for cell in cells])
    if word:
        yield f"  shape     {word}"
    if lost := _lost(cells):
        yield f"  without   {lost}"


def _columns(labels: Sequence[str], columns: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of a table with these columns of texts."""
    widths = [max(map(len, column)) for column in columns]
    width = max(8, *map(len, labels))
    for number, label in enumerate(labels):
        texts = (column[number].rjust(width) for column, width in zip(columns, widths, strict=True))
        yield f"  {label:<{width}}  {'  '.join(texts)}"


def _numbers(cells: Sequence[Row]) -> str:
    """Numbers of questions of the accuracies: one number, or the smallest and the largest."""
    numbers = sorted(int(cell["n"]) for cell in cells)
    return "-".join(str(number) for number in dict.fromkeys((numbers[0], numbers[-1])))


def _accuracy(cell: Row) -> tuple[str, str]:
    """The accuracy and its 95 % interval in per cent; "" without an answer."""
    if not cell["accuracy"]:
        return "-", ""
    accuracy, low, high = (f"{100 * float(cell[key]):.0f}" for key in ("accuracy", "ci_low", "ci_high"))
    return f"{accuracy} %", f"[{low}, {high}]"


def _lost(cells: Sequence[Row]) -> str:
    """A sentence on questions without an accuracy, for the cell that lacks most."""
    columns = {"that do not fit": "n_left_out", "that failed": "n_failed", "that are not recorded": "n_not_recorded"}
    most = {what: max(int(float(cell[column] or 0)) for cell in cells) for what, column in columns.items()}
    return ", ".join(f"{number:,} questions {what}" for what, number in most.items() if number)
