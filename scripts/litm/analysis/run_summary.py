"""The summary of a run on the console: models compared, and the accuracies of each experiment and size.

Rows are of the tables, as `formats.plain_rows` gives them.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter

from litm.analysis.sentences import MOST_PAIRS, Row, compared, compared_on, is_shown, more_pairs, telling
from litm.analysis.shapes import word_of
from litm.base.groups import grouped
from litm.base.messages import first_of, in_columns, interval_of, ordinal, p_value, signed_percent
from litm.scoring.doubts import doubt_in_words
from litm.scoring.metrics import METRICS, Metric

#: Numbers of tables, and of models that lack questions that are printed, at most.
MOST_TABLES, MOST_LACKING = 20, 3
#: Name of a curve: model, experiment, size.
Name = tuple[str, str, int]


def own_label(metric: str) -> str:
    """The label of a metric's mean, if it is not the usual one, else ''."""
    return METRICS[metric].label if METRICS[metric].label != Metric.label else ""


def labelled(rows: Iterable[Row], accuracy: Iterable[Row]) -> list[Row]:
    """Rows with the label of their experiment's metric if it is not the usual one, else ''; accuracy: of that table."""
    labels = {row["experiment"]: own_label(row["metric"]) for row in accuracy}
    return [{**row, "label": labels.get(row["experiment"])} for row in rows]


def compared_lines(
    rows: Iterable[Row], experiments: Container[str], left_out: Iterable[str], silent: Container[tuple] = ()
) -> Iterator[str]:
    """A table for each pair of models and experiment with a curve, and a line for each other one that differs.

    rows, experiments, left_out, silent: see `compared`.
    """
    pairs = compared(rows, experiments, left_out, silent)
    shown = [(pair_rows, conclusion) for pair_rows, conclusion in pairs if len(pair_rows) > 1 or is_shown(pair_rows[0])]
    for pair_rows, conclusion in shown[:MOST_PAIRS]:
        yield f"{pair_rows[0]['model_a']} minus {pair_rows[0]['model_b']} on {compared_on(pair_rows[0])}"
        labels = ("", "points", "95 %", "p", *(["sizes"] if len({row["n_sizes"] for row in pair_rows}) > 1 else []))
        columns = [
            (
                row["place"] or ("PBI" if row["quantity"] == "pbi" else row["quantity"]),
                signed_percent(row["difference"]) + ("*" if is_shown(row) else " "),
                interval_of(row),
                p_value(row["p_holm"]),
                str(row["n_sizes"]),
            )[: len(labels)]
            for row in telling(pair_rows, silent)
        ]
        yield from _columns(labels, columns)
        yield f"  {conclusion}"
    if shown:
        yield "* shown: p < 0.05; p is corrected for all comparisons of the experiment, the intervals are not"
    yield from more_pairs(shown)


def run_summary(rows: Iterable[Row], shapes: Iterable[Row], units: Mapping[str, str]) -> Iterator[str]:
    """The accuracies of each experiment and size, experiments in the order of the rows.

    rows: of the accuracy table, one per cell and target; shapes: of position_bias.csv. units: of the sizes of each
    experiment to show, such as documents.
    """
    name = itemgetter("model", "experiment", "size")
    words = {name(row): word_of(row) for row in shapes}
    by_experiment = grouped((row for row in rows if row["experiment"] in units), itemgetter("experiment"))
    tables = [
        lines
        for experiment, cells in by_experiment.items()
        for lines in _tables(experiment, cells, words, units[experiment])
    ]
    for lines in tables[:MOST_TABLES]:
        yield from lines
    if len(tables) > MOST_TABLES:
        yield f"and {len(tables) - MOST_TABLES} more: tables/accuracy.csv"


def _tables(
    experiment: str, cells: Sequence[Row], words: Mapping[Name, tuple[str, str]], unit: str
) -> Iterator[list[str]]:
    """Yield the lines of each size; an experiment without positions has one table of its sizes."""
    sizes = grouped(cells, itemgetter("size"))
    if len({(cell["model"], cell["size"]) for cell in cells}) == len(cells):
        if len(sizes) == 1:
            accuracies = ", ".join(f"{_model_prefix(cell, cells)}{' '.join(_accuracy(cell))}" for cell in cells)
            yield [f"{experiment}, n = {_numbers(cells)}: {accuracies}", *_doubts(cells)]
        else:
            yield [f"{experiment}, n = {_numbers(cells)}", *_grid(cells, unit, "size"), *_doubts(cells)]
        return
    for size, size_cells in sizes.items():
        title = f"{experiment}, {size} {unit}, n = {_numbers(size_cells)}"
        if len({cell["target"] for cell in size_cells}) > 1 and len({cell["placement"] for cell in size_cells}) > 1:
            means = ", ".join(
                f"{_model_prefix(model_cells[0], cells)}{_mean(model_cells)}"
                for model_cells in _by_model(size_cells).values()
            )
            yield [f"{title}: {means} of the items; by position in tables/accuracy.csv", *_doubts(size_cells)]
            continue
        named = [(word, model) for model in _by_model(size_cells) if (word := words.get((model, experiment, size)))]
        shapes = grouped(named, itemgetter(0))
        several = len(_by_model(size_cells)) > 1
        yield [
            title,
            *_grid(size_cells, "position", "position"),
            *(
                f"  {'shape     ' if not several else ''}{f'{word} ({meaning})' if word else meaning}"
                f"{': ' + ', '.join(model for _, model in models) if several else ''}"
                for (word, meaning), models in shapes.items()
            ),
            *([f"  without   {lost}"] if (lost := _lost(size_cells)) else []),
        ]


def _doubts(cells: Sequence[Row]) -> list[str]:
    """A line for each doubt on these accuracies."""
    where: dict[str, dict[str, None]] = {}
    for cell in cells:
        if doubt := cell.get("doubt"):
            where.setdefault(doubt, {})[f"{_model_prefix(cell, cells)}size {cell['size']:,}"] = None
    return [f"  in doubt  {', '.join(which)}: {doubt_in_words(doubt)}" for doubt, which in where.items()]


def _by_model(cells: Iterable[Row]) -> dict[str, list[Row]]:
    return grouped(cells, itemgetter("model"))


def _model_prefix(cell: Row, cells: Iterable[Row]) -> str:
    """The cell's model, if there are several."""
    return f"{cell['model']} " if len({other["model"] for other in cells}) > 1 else ""


def _mean(cells: Iterable[Row]) -> str:
    counted = [cell["accuracy"] for cell in cells if cell["accuracy"] is not None]
    return f"{100 * sum(counted) / len(counted):.0f} %" if counted else "-"


def _grid(cells: Sequence[Row], label: str, column: str) -> Iterator[str]:
    """Lines of a table: a column for each position or size, two lines for each model."""
    models, mean = _by_model(cells), METRICS[cells[0]["metric"]].label.lower()
    labels = [label, *(line for model in models for line in (model if len(models) > 1 else mean, "95 %"))]
    headings = list(dict.fromkeys(cell[column] for cell in cells))
    texts = {(cell["model"], cell[column]): _accuracy(cell) for cell in cells}
    # As in figures and the report.
    name = (lambda heading: ordinal(heading + 1)) if column == "position" else str
    columns = [
        (name(heading), *(text for model in models for text in texts.get((model, heading), ("-", ""))))
        for heading in headings
    ]
    return _columns(labels, columns)


def _columns(labels: Sequence[str], columns: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of a table with these columns of texts."""
    rows = list(zip([f"{label:<8}" for label in labels], *columns, strict=True))
    return (f"  {line}" for line in in_columns(rows, 1).splitlines())


def _numbers(cells: Sequence[Row]) -> str:
    """Numbers of questions of the accuracies: one number, or the smallest and the largest; a graded metric's name."""
    numbers, metric = sorted(cell["n"] for cell in cells if cell["n"]) or [0], METRICS[cells[0]["metric"]]
    shown = "-".join(f"{number:,}" for number in dict.fromkeys((numbers[0], numbers[-1])))
    return f"{shown}, {metric.label}" if metric.is_graded else shown


def _accuracy(cell: Row) -> tuple[str, str]:
    """The accuracy and its 95 % interval in per cent; "" without an answer."""
    if cell["accuracy"] is None:
        return "-", ""
    accuracy, low, high = (f"{100 * cell[key]:.0f}" for key in ("accuracy", "ci_low", "ci_high"))
    return f"{accuracy} %", f"[{low}, {high}]"


def _lost(cells: Iterable[Row]) -> str:
    """A sentence on questions without an accuracy, for the cell of each model that lacks most."""
    columns = {"that do not fit": "n_left_out", "that failed": "n_failed", "that are not recorded": "n_not_recorded"}
    by_model, losses = _by_model(cells), []
    for what, column in columns.items():
        most = {model: max(cell[column] or 0 for cell in model_cells) for model, model_cells in by_model.items()}
        if lacking := [f"{model} {number:,}" for model, number in most.items() if number]:
            names = f" ({first_of(lacking, MOST_LACKING)})" if len(most) > 1 else ""
            losses.append(f"{max(most.values()):,} questions {what}{names}")
    return ", ".join(losses)
