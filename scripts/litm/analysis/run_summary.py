"""What a run shows, in lines for the console: accuracy by position of each curve, and the word for its shape."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

#: Curves that are printed; the tables have all.
MOST_CURVES = 20

Row = Mapping[Any, Any]
#: A curve: model, experiment, size.
Name = tuple[str, str, str]


def run_summary(rows: Iterable[Row], shapes: Iterable[Row]) -> Iterator[str]:
    """Lines for a terminal, model by model in the order of the rows.

    rows: of the accuracy table, one of each cell and target; shapes: of position_bias.csv; both as texts of CSV files.
    An experiment with several gold items in a prompt has many rows, and one line that names the table.
    """
    words = {_name(row): row["shape"] for row in shapes if not row["placement"] and row.get("shape")}
    shown = 0
    curves = [(name, list(cells)) for name, cells in groupby(rows, _name)]
    for model, of_model in groupby(curves, lambda curve: curve[0][0]):
        yield model
        for name, cells in of_model:
            shown += 1
            if shown <= MOST_CURVES:
                yield from (f"  {line}" for line in _curve(name, cells, words.get(name)))
    if shown > MOST_CURVES:
        yield f"and {shown - MOST_CURVES} more curves"


def _name(row: Row) -> Name:
    return row["model"], row["experiment"], row["size"]


def _curve(name: Name, cells: Sequence[Row], word: str | None) -> Iterator[str]:
    questions = sorted({int(cell["n"]) for cell in cells})
    n = "-".join(str(number) for number in dict.fromkeys((questions[0], questions[-1])))
    title = f"{name[1]}, n = {n}"
    if len(cells) == 1:
        yield f"{title}: {_percent(cells[0]['accuracy'])} % {_interval(cells[0])}"
        return
    title = f"{name[1]}, {name[2]} items, n = {n}"
    if len({cell["target"] for cell in cells}) > 1:
        mean = sum(float(cell["accuracy"]) for cell in cells) / len(cells)
        yield f"{title}: {100 * mean:.0f} % of the items; by position in tables/accuracy.csv"
        return
    yield title
    columns = [(cell["position"], f"{_percent(cell['accuracy'])} %", _interval(cell)) for cell in cells]
    widths = [max(map(len, column)) for column in columns]
    for number, label in enumerate(("position", "accuracy", "95 %")):
        texts = (column[number].rjust(width) for column, width in zip(columns, widths, strict=True))
        yield f"  {label:<8}  {'  '.join(texts)}"
    if word:
        yield f"  shape     {word}"
    if lost := _lost(cells):
        yield f"  without   {lost}"


def _percent(fraction: str) -> str:
    return f"{100 * float(fraction):.0f}"


def _interval(cell: Row) -> str:
    return f"[{_percent(cell['ci_low'])}, {_percent(cell['ci_high'])}]" if cell["ci_low"] else ""


def _lost(cells: Sequence[Row]) -> str:
    """Questions that have no accuracy, of the cell that lacks most, in words."""
    columns = {"that do not fit": "n_excluded", "that failed": "n_failed", "that are not recorded": "n_not_recorded"}
    most = {what: max(int(float(cell[column] or 0)) for cell in cells) for what, column in columns.items()}
    return ", ".join(f"{number:,} questions {what}" for what, number in most.items() if number)
