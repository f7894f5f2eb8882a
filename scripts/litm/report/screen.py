"""The page's first screen: the texts, cells and curves that its templates show, from a `FirstScreen`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from litm.analysis.shapes import MEANINGS, NONE, SMALL
from litm.base.messages import counted, first_of, interval, ordinal, percent, signed_percent
from litm.figures.chart import places_in_words
from litm.findings.advice_words import advice_sentences
from litm.findings.first_screen import (
    FirstScreen,
    ModelRow,
    PairMatrix,
    Point,
    QuestionTable,
    SizeTable,
    WarningGroup,
    top_of,
)
from litm.findings.record import Number, Strength
from litm.findings.warning_words import MOST_MODELS
from litm.findings.words import about, headline, sentence, warning_sentence
from litm.report.sizes import SizeNames
from litm.scoring.metrics import METRICS

#: Tables of experiments that are open, at most, and the number of rows from which on further ones are folded.
OPEN_TABLES, MANY_ROWS = 4, 30
#: Names in a list, at most.
NAMED = 8
#: Points: the effect that a study should be able to show.
SMALL_POINTS = f"{100 * SMALL:.0f}"


@dataclass(frozen=True)
class Column:
    """A column of numbers of a table."""

    name: str
    """A field of `ModelRow`."""
    heading: str
    source: str
    """The file of results/tables and the column that have its numbers."""


#: Columns of numbers, in their order; without positions `overall` has the label of the metric.
COLUMNS = (
    Column("closed_book", "Closed book", "utilisation.csv: accuracy_closed_book"),
    Column("oracle", "Oracle", "utilisation.csv: accuracy_oracle"),
    Column("overall", "All positions", "position_bias.csv: accuracy_all"),
    Column("start", "Start", "position_bias.csv: accuracy_start"),
    Column("middle", "Middle", "position_bias.csv: accuracy_middle"),
    Column("end", "End", "position_bias.csv: accuracy_end"),
    Column("pbi", "PBI", "position_bias.csv: pbi"),
)
SHAPE = Column("shape", "Shape", "position_bias.csv: shape")


@dataclass(frozen=True)
class Cell:
    """A number of a table as text, with its interval."""

    text: str
    """Per cent, or points with a sign; "" without a number."""
    limits: str = ""
    is_shown: bool = False
    """Whether the effect, or the place as the best, is shown."""


@dataclass(frozen=True)
class Curve:
    """A curve in a box 100 wide and 46 high, whose lines are 0, half and all of the table's height."""

    lines: tuple[str, ...]
    """Points of each stretch without a gap, for `polyline`."""
    dots: tuple[tuple[float, float], ...]
    label: str
    """Positions and accuracies in words."""


@dataclass(frozen=True)
class Row:
    """A row of a table."""

    name: str
    """The model, or several with the same numbers; in the table of a model alone, the size."""
    model: str
    colour: int
    """Number of the model's colour."""
    n: str
    """"" where the block has it."""
    is_tied: bool
    marks: tuple[int, ...]
    cells: tuple[Cell, ...]
    """As the table's columns."""
    word: str
    """The shape of the curve, or why there is none."""
    meaning: str
    more: str
    """How many questions would tell more, "" if that is not known."""
    is_shown: bool
    """Whether an effect of position is shown."""
    is_silent: bool
    """Whether its numbers say nothing on positions."""
    curve: Curve | None


@dataclass(frozen=True)
class Block:
    """Rows of a size; or of all sizes, for a model alone."""

    title: str
    """"" for all sizes."""
    n: str
    """Number of questions, where all rows have the same; they are then without it."""
    marks: tuple[int, ...]
    """Marks of all rows, which are then without them."""
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Shown:
    """A table as it is shown."""

    name: str
    title: str
    metric: str
    """Label of the metric."""
    heading: str
    """Of the names of rows."""
    columns: tuple[Column, ...]
    ends: tuple[Column, ...]
    """Shape and curve, for an experiment with positions; else ()."""
    blocks: tuple[Block, ...]
    summary: str
    """What it shows, in a line."""
    is_open: bool


@dataclass(frozen=True)
class Screen:
    """The first screen and the matrices of pairs, which are after the figures."""

    headline: str
    """"" where nothing is concluded."""
    models: str
    experiments: str
    tables: Sequence["Shown"]
    advice: Sequence[Sequence[str]]
    """Sentences of each: what to pass and what it costs, why, and what is not known."""
    marked: Sequence["Warned"]
    """Warnings that a table marks."""
    others: Sequence["Warned"]
    pairs: Sequence["Matrix"]
    sources: Sequence[tuple[str, str]]
    """Headings of the tables, and the file and column of results/tables that have their numbers."""
    meanings: Sequence[tuple[str, str]]
    """Shapes that occur, and what they mean."""

    @property
    def has_pbi(self) -> bool:
        """Whether a table has the Position Bias Index."""
        return any(column.name == "pbi" for table in self.tables for column in table.columns)

    @property
    def has_ties(self) -> bool:
        """Whether a row is not shown to differ from the one above."""
        return any(row.is_tied for table in self.tables for block in table.blocks for row in block.rows)


def screen(first: FirstScreen, titles: Mapping[str, str], names: SizeNames, models: Sequence[str]) -> Screen:
    """The first screen as it is shown.

    titles: by experiment. models: in the order of the study, which decides their colours.
    """
    tables = shown_tables(first.tables, titles, names, models, first.pairs)
    warned = [_warned(group) for group in first.warnings]
    return Screen(
        headline=headline(first.headline),
        models=first_of(models, NAMED, "; "),
        experiments=first_of([*dict.fromkeys(titles.values())], NAMED, "; "),
        tables=tables,
        advice=[advice_sentences(finding) for finding in first.advice],
        marked=[group for group in warned if group.number],
        others=[group for group in warned if not group.number],
        pairs=shown_matrices(first.pairs, titles),
        sources=[
            *dict.fromkeys(
                (column.heading, column.source) for table in tables for column in (*table.columns, *table.ends)
            )
        ],
        meanings=[
            *dict.fromkeys(
                (row.word, row.meaning)
                for table in tables
                for block in table.blocks
                for row in block.rows
                if row.meaning
            )
        ],
    )


def shown_tables(
    tables: Sequence[QuestionTable],
    titles: Mapping[str, str],
    names: SizeNames,
    models: Sequence[str],
    pairs: Sequence[PairMatrix] = (),
) -> list[Shown]:
    """The tables as they are shown; the first ones are open.

    titles: by experiment. models: in the order of the study, which decides their colours. pairs: of the experiments.
    """
    shown, n_rows, leads = [], 0, {matrix.experiment: _lead(matrix) for matrix in pairs}
    for number, table in enumerate(tables):
        is_open = number == 0 or (number < OPEN_TABLES and n_rows < MANY_ROWS)
        n_rows += sum(len(block.rows) for block in table.sizes)
        made = _table(table, titles[table.experiment], names, models, is_open)
        shown.append(replace(made, summary="; ".join(filter(None, [made.summary, leads.get(table.experiment)]))))
    return shown


def _table(table: QuestionTable, title: str, names: SizeNames, models: Sequence[str], is_open: bool) -> Shown:
    rows = [row for block in table.sizes for row in block.rows]
    metric, has_curves = METRICS[table.metric].label, any(row.curve for row in rows)
    is_alone = len({row.model for row in rows}) == 1
    top = top_of(rows)
    columns = tuple(
        column if has_curves or column.name != "overall" else Column("overall", metric, "accuracy.csv: accuracy")
        for column in COLUMNS
        if any(getattr(row, column.name) is not None for row in rows)
    )
    return Shown(
        name=table.experiment,
        title=title,
        metric=metric,
        heading="Size" if is_alone else "Model",
        columns=columns,
        ends=(SHAPE, Column("curve", f"0 to {100 * top:.0f} %", "accuracy.csv: accuracy")) if has_curves else (),
        blocks=tuple(_blocks(table, columns, names, models, is_alone, top)),
        summary=_summary(rows),
        is_open=is_open,
    )


def _size_title(table: QuestionTable, block: SizeTable, names: SizeNames) -> str:
    place = f"at {places_in_words(block.placement)}" if block.placement else ""
    return ", ".join(filter(None, [names.with_length(table.experiment, block.size), place]))


def _summary(rows: Sequence[ModelRow]) -> str:
    """`5 models, 23.1 to 64.0 %; an effect of position is shown in 2 of 5 curves`."""
    values = [row.overall.value for row in rows if row.overall.value is not None]
    ends = dict.fromkeys(percent(end) for end in (min(values), max(values))) if values else ()
    models = [*dict.fromkeys(row.model for row in rows)]
    who = models[0] if len(models) == 1 else counted(len(models), "model")
    said = who + (f", {' to '.join(ends)} %" if ends else "")
    if concluded := [row for row in rows if row.curve and row.strength]:
        n_shown = sum(row.strength is Strength.SHOWN for row in concluded)
        said += f"; an effect of position is shown in {n_shown} of {counted(len(concluded), 'curve')}"
    return said


def _lead(matrix: PairMatrix) -> str:
    """`a leads b by 28.0 points [19.6, 35.1]`: the best model and the next; "" where the best is not known."""
    for model, row in zip(matrix.models, matrix.cells, strict=True):
        leads = {other: number for other, number in zip(matrix.models, row, strict=True) if number}
        values = {other: number.value for other, number in leads.items() if number.value is not None}
        if values and len(values) == len(matrix.models) - 1 and min(values.values()) > 0:
            following = min(values, key=values.__getitem__)
            _, low, high, _ = number = leads[following]
            limits = "" if low is None or high is None else f" {interval(low, high)}"
            lead = f"{model} leads {following} by {percent(values[following])} points{limits}"
            corrected = " with the correction for all pairs" if low is not None and low > 0 else ""
            doubt = "" if number.is_shown else f", not shown{corrected}"
            return f"{lead} over all positions and sizes of the same questions{doubt}"
    return ""


def _blocks(
    table: QuestionTable, columns: Sequence[Column], names: SizeNames, models: Sequence[str], is_alone: bool, top: float
) -> Iterator[Block]:
    """A block for each size; of a model alone one, whose rows are the sizes."""
    titles = [_size_title(table, block, names) for block in table.sizes]
    titled = [*zip(titles, table.sizes, strict=True)]
    if is_alone:
        rows = (row for title, block in titled for row in _rows(block.rows, columns, models, top, title))
        yield Block("", "", (), tuple(rows))
    else:
        yield from (_block(title, [*_rows(block.rows, columns, models, top)]) for title, block in titled)


def _block(title: str, rows: Sequence[Row]) -> Block:
    """The block of these rows; what all of them have is said once, and so are rows with the same numbers."""
    common = [mark for mark in rows[0].marks if all(mark in row.marks for row in rows)]
    n = rows[0].n if len({row.n for row in rows}) == 1 else ""
    of_rows = [
        replace(row, n="" if n else row.n, marks=tuple(mark for mark in row.marks if mark not in common))
        for row in rows
    ]
    return Block(title, n, tuple(common), tuple(_merged(of_rows)))


def _merged(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows, each with those that follow with the same curve and numbers, such as a model that was run twice."""

    def numbers(row: Row) -> Row:
        return replace(row, name="", model="", colour=0, is_tied=False) if row.curve else row

    for _, (first, *others) in groupby(rows, numbers):
        yield replace(first, name=", ".join([first.name, *(row.name for row in others)]))


def _rows(
    rows: Sequence[ModelRow], columns: Sequence[Column], models: Sequence[str], top: float, name: str = ""
) -> Iterator[Row]:
    """Rows of a size. name: in place of that of the model, if it is not empty."""
    for number, row in enumerate(rows):
        # The best is marked only if it is shown to be better than the next.
        is_best = number == 0 and len(rows) > 1 and not rows[1].is_tied
        word, meaning, more = shape_of(row)
        yield Row(
            name=name or row.model,
            model=row.model,
            colour=models.index(row.model) % 8,
            n=f"{row.n:,}" + (f"; closed book and oracle {row.n_references:,}" if row.n_references else ""),
            # Neither an accuracy in doubt nor a stand-in is compared.
            is_tied=row.is_tied and row.overall.value is not None and not _is_stand_in(row),
            marks=row.marks,
            cells=tuple(_cell(row, column.name, is_best) for column in columns),
            word=word,
            meaning=meaning,
            more=more,
            is_shown=row.strength is Strength.SHOWN,
            is_silent=bool(word) and row.strength in (Strength.UNINFORMATIVE, Strength.CANNOT_TELL) and not meaning,
            curve=curve_of(row.curve, top),
        )


def _cell(row: ModelRow, name: str, is_best: bool) -> Cell:
    number: Number | None = getattr(row, name)
    if number is None or number.value is None:
        return Cell("-" if name == "overall" else "")
    is_shown = (is_best and name == "overall") or (name == "pbi" and number.is_shown)
    return Cell((signed_percent if name == "pbi" else percent)(number.value), _limits(number), is_shown)


def _limits(number: Number) -> str:
    return "" if number.low is None or number.high is None else interval(number.low, number.high)


def shape_of(row: ModelRow) -> tuple[str, str, str]:
    """The shape of a row's curve, or why there is none; what the word means; how many questions would tell more."""
    if _is_stand_in(row):
        return "stand-in", "nothing is concluded, because no model gave these answers", ""
    if row.strength is Strength.UNINFORMATIVE and row.shape == NONE:
        return "no information", "", ""
    if row.strength is Strength.CANNOT_TELL and row.shape in ("", NONE):
        more = f"{about(row.needed)} questions would" if row.needed else ""
        return "cannot tell yet", f"the questions do not suffice to show an effect of {SMALL_POINTS} points", more
    if row.strength is Strength.NOT_SHOWN and row.shape == NONE:
        return NONE, f"the questions suffice to show an effect of {SMALL_POINTS} points, and none is shown", ""
    return row.shape, MEANINGS.get(row.shape, ""), ""


def _is_stand_in(row: ModelRow) -> bool:
    """Whether nothing is concluded from a curve."""
    return bool(row.curve) and row.strength is None


def curve_of(points: Sequence[Point], top: float = 1.0) -> Curve | None:
    """The curve of points; None without any. A point without answers is a gap. top: the accuracy of the upper line."""
    if not points:
        return None
    places = [_place(point, number, points) for number, point in enumerate(points)]
    lines: list[list[str]] = [[]]
    dots, words = [], []
    for place, point in zip(places, points, strict=True):
        if point.accuracy is None:
            lines.append([])
            continue
        x, y = round(4 + 92 * place, 1), round(43 - 40 * point.accuracy / top, 1)
        lines[-1].append(f"{x:g},{y:g}")
        dots.append((x, y))
        words.append(f"{ordinal(point.position + 1)} {percent(point.accuracy)} %")
    label = ", ".join(words) or "no answers"
    return Curve(tuple(" ".join(line) for line in lines if len(line) > 1), tuple(dots), label)


def _place(point: Point, number: int, points: Sequence[Point]) -> float:
    """Fraction of the width: the depth, or of points without one their order."""
    if point.depth is not None:
        return point.depth
    return number / (len(points) - 1) if len(points) > 1 else 0.5


@dataclass(frozen=True)
class Warned:
    """Warnings of one kind as they are shown."""

    number: int
    """0 for one without a mark."""
    sentence: str
    each: tuple[str, ...]
    """A sentence for each where that sentence does not name all models."""


def _warned(group: WarningGroup) -> Warned:
    models = {model for finding in group.findings for model in finding.models}
    each = tuple(map(sentence, group.findings)) if len(models) > MOST_MODELS else ()
    return Warned(group.number, warning_sentence(group.findings), each)


@dataclass(frozen=True)
class Matrix:
    """Differences of pairs of models as they are shown."""

    name: str
    title: str
    models: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]
    summary: str
    is_open: bool


def shown_matrices(matrices: Sequence[PairMatrix], titles: Mapping[str, str]) -> list[Matrix]:
    """The matrices as they are shown; the first ones are open."""
    return [
        Matrix(
            name=matrix.experiment,
            title=titles[matrix.experiment],
            models=matrix.models,
            rows=tuple(
                (model, tuple(_difference(number) for number in numbers))
                for model, numbers in zip(matrix.models, matrix.cells, strict=True)
            ),
            summary=_pairs_summary(matrix),
            is_open=number < OPEN_TABLES,
        )
        for number, matrix in enumerate(matrices)
    ]


def _difference(number: Number | None) -> Cell | None:
    if number is None or number.value is None:
        return None
    return Cell(signed_percent(number.value), _limits(number), number.is_shown)


def _pairs_summary(matrix: PairMatrix) -> str:
    pairs = [
        number
        for place, numbers in enumerate(matrix.cells)
        for number in numbers[place + 1 :]
        if number is not None and number.value is not None
    ]
    return f"a difference is shown in {sum(number.is_shown for number in pairs)} of {counted(len(pairs), 'pair')}"
