"""The tables of the first screen for a terminal: of several models a row for each, of one model a row for each size.

All tables share their columns, so that they have one line of headings.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from textwrap import wrap
from typing import NamedTuple

from litm.analysis.shapes import MEANINGS, NONE, PRIMACY, PRIMACY_UNCLEAR, RECENCY, RECENCY_UNCLEAR
from litm.base.messages import first_of, in_columns, in_range, interval, ordinal, signed_percent
from litm.findings.curves import TOO_FEW
from litm.findings.first_screen import (
    DIFFERING,
    IN_DOUBT,
    FirstScreen,
    ModelRow,
    Point,
    QuestionTable,
    SizeTable,
    top_of,
)
from litm.findings.record import Number, Strength
from litm.findings.words import REASONS, about
from litm.placements import gold_places
from litm.scoring.metrics import mean_word, own_label

#: Characters of the narrowest and the widest line; of the longest label, and of the shortest before a column goes.
NARROWEST, WIDEST, LONGEST, SHORTEST = 60, 120, 32, 12
#: Columns that go where a line is too narrow, the first first.
DROPPED = (("closed", "oracle"), ("curve",), ("all",), ("shape",))
#: Heights of a curve from 0 to the end of its scale, and tens of per cent.
BLOCKS, DIGITS = "▁▂▃▄▅▆▇█", "0123456789"
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
#: The limits of an accuracy in a text.
INTERVAL = re.compile(r" \[\d+, \d+\]")
#: The word for a curve of too few questions to tell.
UNCLEAR = "unclear"
#: Shorter words for shapes, where what is shown is the same.
SHORT = {
    PRIMACY: "primacy",
    RECENCY: "recency",
    RECENCY_UNCLEAR: "primacy",
    PRIMACY_UNCLEAR: "recency",
    NONE: "none shown",
    TOO_FEW: "too few",
    DIFFERING: "differ",
}


@dataclass(frozen=True)
class Terminal:
    """What lines are for, and where everything else is."""

    columns: int = 100
    is_ascii: bool = False
    """Whether it shows no other characters."""
    rest: str = "results/report.html"
    """Where everything is that has no room."""

    @property
    def width(self) -> int:
        """Characters of a line."""
        return max(NARROWEST, min(WIDEST, self.columns))


class Block(NamedTuple):
    """Rows below a title, "" for none; each with its label."""

    title: str
    rows: tuple[tuple[str, ModelRow], ...]
    name: str
    """How it is called where it is left out."""
    metric: str
    """The metric of its rows."""


class Column(NamedTuple):
    name: str
    """As in `DROPPED`."""
    heading: str
    text: Callable[[ModelRow], str]
    begins: bool = False
    """Whether its texts begin at one place; numbers end at one."""


def table_lines(
    screen: FirstScreen, units: Mapping[str, str], room: int, terminal: Terminal, with_positions: bool = True
) -> list[str]:
    """The lines of the tables and of their legend, at most `room`. The last line names what is left out.

    Of an experiment with several sizes the last comes first, then other experiments, then other sizes. A study of one
    model has all positions with intervals, if there is room.

    units: of the sizes of each experiment, such as documents; with_positions: see `console_lines`.
    """
    curved = [table for table in screen.tables if _has_curve(table)]
    plain = [table for table in screen.tables if not _has_curve(table)]
    is_of_one, is_alone = (len(set(_models(tables))) == 1 for tables in (curved, plain))
    last = _accuracies(plain, units, terminal) if is_alone else _grids(plain, units, terminal)
    if is_of_one and with_positions and len(lines := _by_position(curved, units, terminal) + last) <= room:
        return lines
    blocks, order = _blocks(curved, units, is_of_one, terminal)
    # Accuracies without positions have a third of the room, or what curves leave.
    first = _as_fits(blocks, order, room - min(len(last), max(2, room // 3)), terminal)
    left = max(0, room - len(first))
    if len(last) > left:
        last = [*last[: left - 1], f"and {len(last) - left + 1:,} more lines: {terminal.rest}"][:left]
    return [*first, *last]


def _models(tables: Iterable[QuestionTable]) -> Iterator[str]:
    return (row.model for table in tables for size in table.sizes for row in size.rows)


def wrapped(text: str, width: int, first: str = "", later: str | None = None) -> list[str]:
    """Lines of a text, the first after `first`, the others after `later`; a number stays with its unit and interval."""
    joined = re.sub(r" (?=%|\[[-\d])|(?<=\d,) (?=-?[\d.]+\])", "\u00a0", text)
    indent = " " * len(first) if later is None else later
    lines = wrap(joined, width, initial_indent=first, subsequent_indent=indent, break_long_words=False)
    return [line.replace("\u00a0", " ") for line in lines]


def _has_curve(table: QuestionTable) -> bool:
    return any(row.curve for size in table.sizes for row in size.rows)


def _size_in_words(size: SizeTable, table: QuestionTable, units: Mapping[str, str]) -> str:
    """`20 documents`, with the places of the gold items where they tell tables of one size apart."""
    unit = units.get(table.experiment, "items")
    words = f"{size.size:,} {unit.removesuffix('s') if size.size == 1 else unit}"
    if sum(other.size == size.size for other in table.sizes) < 2:
        return words
    places = [
        ordinal(place + 1) if isinstance(place, int) else f"{place:g}" for place in gold_places(size.placement or "")
    ]
    return ", ".join([words, *([f"answers at {', '.join(places)}"] if places else [])])


def _numbers(rows: Iterable[ModelRow], metric: str) -> str:
    """`n = 40`, or `n = 38 to 40`; another n of the references, and a metric that is not the usual one."""
    rows = [*rows]
    others = [row.n_references for row in rows if row.n_references]
    references = f" (closed, oracle: {in_range(others)})" if others else ""
    return ", ".join(filter(None, [f"n = {in_range(row.n for row in rows)}{references}", own_label(metric)]))


# --- A row for each model, or each size of one model -----------------------------------------------------------


def _blocks(
    tables: Sequence[QuestionTable], units: Mapping[str, str], is_of_one: bool, terminal: Terminal
) -> tuple[list[Block], list[int]]:
    """All blocks, and their numbers in the order in which they get room; marks of all rows stand beside the title."""
    blocks: list[Block] = []
    order: list[tuple[bool, int]] = []
    for table in tables:
        for size in table.sizes:
            name = f"{table.experiment}, {_size_in_words(size, table, units)}"
            order.append((size is not table.sizes[-1], len(blocks)))
            if is_of_one:
                label = name if len(table.sizes) > 1 else table.experiment
                blocks += [Block("", ((label, row),), name, table.metric) for row in size.rows]
            else:
                common = set.intersection(*(set(row.marks) for row in size.rows)) if len(size.rows) > 1 else set()
                rows = (replace(row, marks=tuple(sorted({*row.marks} - common))) for row in size.rows)
                title = f"{name}, {_numbers(size.rows, table.metric)} {mark(sorted(common), terminal)}".rstrip()
                blocks.append(Block(title, tuple((row.model, row) for row in rows), name, table.metric))
    return blocks, [place for _, place in sorted(order)]


def _as_fits(blocks: Sequence[Block], order: Sequence[int], room: int, terminal: Terminal) -> list[str]:
    """As many blocks as fit, in their order, and a line on the others; of a first one that does not, its first rows."""
    if not blocks:
        return []
    most = 0
    for number in range(1, len(order) + 1):
        shown = [blocks[place] for place in sorted(order[:number])]
        least = sum(len(block.rows) + bool(block.title) for block in shown)
        if least >= room or len(_laid_out(shown, terminal)) + (number < len(order)) > room:
            break
        most = number
    if most:
        lines = _laid_out([blocks[place] for place in sorted(order[:most])], terminal)
        return [*lines, *_left_out([blocks[place].name for place in sorted(order[most:])], terminal)]
    first = blocks[order[0]]
    around = len(_laid_out([first], terminal)) - len(first.rows)
    kept = first._replace(rows=first.rows[: max(1, room - around - 1)])
    others = [
        f"{len(first.rows) - len(kept.rows)} models at {first.name}",
        *(blocks[place].name for place in sorted(order[1:])),
    ]
    return [*_laid_out([kept], terminal), *_left_out(others, terminal)]


def _left_out(names: Sequence[str], terminal: Terminal) -> list[str]:
    """A line on what is left out, which names as much of it as fits."""
    if not names:
        return []
    texts = [f"not shown: {first_of(names, most)} ({terminal.rest})" for most in range(len(names), 0, -1)]
    return [
        next(
            (text for text in texts if len(text) <= terminal.width), f"not shown: {len(names):,} more ({terminal.rest})"
        )
    ]


def _laid_out(blocks: Sequence[Block], terminal: Terminal) -> list[str]:
    """A line of headings, the blocks, and what explains them."""
    rows = [row for block in blocks for _, row in block.rows]
    labels = [label for block in blocks for label, _ in block.rows]
    marks = [mark(row.marks, terminal) for row in rows]
    is_of_one = all(not block.title for block in blocks)
    measures = dict.fromkeys(own_label(block.metric) or "accuracy" for block in blocks)
    columns = [
        column
        for column in _columns(is_of_one, terminal, top_of(rows))
        if any(column.text(row) not in ("-", "") for row in rows)
    ]
    room = terminal.width - 2 - max(map(len, marks), default=0)
    columns, gap, names = _fitted(columns, rows, labels, room)
    width = max(map(len, names))
    cells = [["", *(column.heading for column in columns)]]
    cells += [
        [name + mark, *(column.text(row) for column in columns)]
        for name, mark, row in zip(names, marks, rows, strict=True)
    ]
    lines = _aligned(cells, [column.begins for column in columns], gap, width + max(map(len, marks), default=0))
    body = iter([f"{'= ' if row.is_tied else '  '}{line}" for row, line in zip(rows, lines[1:], strict=True)])
    drawn = [f"  {lines[0]}"]
    for block in blocks:
        drawn += [_shortened(block.title, terminal.width)] if block.title else []
        drawn += [next(body) for _ in block.rows]
    # Of one model, references that have no room as columns.
    known = {", ".join(f"{name} {text}" for name, text in _known(row).items()) for row in rows} - {""}
    if is_of_one and len(known) == 1 and "oracle" not in {column.name for column in columns}:
        drawn += wrapped(known.pop(), terminal.width, "  ")
    return [line.rstrip() for line in drawn] + _legend(rows, measures, {column.name for column in columns}, terminal)


def _columns(has_numbers: bool, terminal: Terminal, top: float) -> list[Column]:
    numbers = [Column("n", "n", lambda row: f"{row.n:,}")] if has_numbers else []
    return [
        *numbers,
        Column("all", "all", lambda row: _accuracy(row, row.overall)),
        Column("closed", "closed", lambda row: _accuracy(row, row.closed_book, True)),
        Column("oracle", "oracle", lambda row: _accuracy(row, row.oracle, True)),
        Column("start", "start", lambda row: _accuracy(row, row.start)),
        Column("middle", "middle", lambda row: _accuracy(row, row.middle)),
        Column("end", "end", lambda row: _accuracy(row, row.end)),
        Column("pbi", "PBI [95 %]", _pbi),
        Column("shape", "shape", shape_of, begins=True),
        Column("curve", "curve", lambda row: _curve(row, terminal, top), begins=True),
    ]


def _fitted(
    columns: list[Column], rows: Sequence[ModelRow], labels: Sequence[str], room: int
) -> tuple[list[Column], int, Sequence[str]]:
    """The columns, the spaces between them and the labels that fit: labels are shortened, then columns go."""
    widths = {column.name: max(len(column.heading), *(len(column.text(row)) for row in rows)) for column in columns}
    longest = min(max(map(len, labels)), LONGEST)
    for gone in accumulate(DROPPED, initial=()):
        kept = [column for column in columns if column.name not in gone]
        for gap in (2, 1):
            left = room - sum(widths[column.name] + gap for column in kept)
            if left >= longest:
                return kept, gap, short_names(labels, longest)
        if left >= min(longest, SHORTEST):
            return kept, 1, short_names(labels, left)
    return kept, 1, short_names(labels, max(left, 1))


def _aligned(cells: Sequence[Sequence[str]], begins: Sequence[bool], gap: int, first: int) -> list[str]:
    widths = [first, *(max(map(len, column)) for column in list(zip(*cells, strict=True))[1:])]
    left = [True, *begins]
    return [
        (" " * gap).join(
            text.ljust(width) if is_left else text.rjust(width)
            for text, width, is_left in zip(row, widths, left, strict=True)
        )
        for row in cells
    ]


# --- Cells -------------------------------------------------------------------------------------------------------


def _accuracy(row: ModelRow, number: Number | None, is_reference: bool = False) -> str:
    """An accuracy in per cent; none of a curve in doubt, which says nothing of the model."""
    if number is None or number.value is None or (row.shape == IN_DOUBT and not is_reference):
        return "-"
    return f"{100 * number.value:.0f}"


def _pbi(row: ModelRow) -> str:
    number = row.pbi
    if number is None or number.value is None or row.strength is Strength.UNINFORMATIVE:
        return "-"
    limits = "" if number.low is None or number.high is None else f" {interval(number.low, number.high)}"
    return f"{signed_percent(number.value)}{limits}"


def shape_of(row: ModelRow) -> str:
    """The shape as a word of the table."""
    if row.shape == NONE and row.strength is Strength.CANNOT_TELL:
        return UNCLEAR
    is_silent = row.shape == NONE and row.strength is Strength.UNINFORMATIVE
    return "-" if is_silent else SHORT.get(row.shape, row.shape) or "-"


def _curve(row: ModelRow, terminal: Terminal, top: float) -> str:
    return "" if row.shape == IN_DOUBT else curve_in_blocks(row.curve, terminal.is_ascii, top)


def curve_in_blocks(curve: Iterable[Point], is_ascii: bool = False, top: float = 1.0) -> str:
    """A character for each position, higher for more right answers; in ASCII, the tens of its per cent."""
    scale, end = (DIGITS, 1.0) if is_ascii else (BLOCKS, top)
    return "".join(
        " " if point.accuracy is None else scale[min(int(point.accuracy / end * len(scale)), len(scale) - 1)]
        for point in curve
    )


def mark(numbers: Sequence[int], terminal: Terminal) -> str:
    """The mark of warnings after a name, a number, or before their sentence; "" without any."""
    text = ",".join(map(str, numbers))
    return text and (f"[{text}]" if terminal.is_ascii else text.translate(SUPERSCRIPTS))


def _legend(rows: Sequence[ModelRow], measures: Iterable[str], shown: set[str], terminal: Terminal) -> list[str]:
    """What the columns are. measures: the labels of the means."""
    scale = (
        "curve: tens of per cent"
        if terminal.is_ascii
        else f"curve: {BLOCKS[0]}\u00a00\u00a0% to\u00a0{BLOCKS[-1]} {100 * top_of(rows):.0f} %"
    )
    parts = [
        f"{', '.join(measures)} in %",
        *(["closed: closed book, without documents"] if "closed" in shown else []),
        *(["oracle: the right document alone"] if "oracle" in shown else []),
        *(["PBI: mean of start and end minus middle, in points"] if "pbi" in shown else []),
        *([scale] if "curve" in shown else []),
        *(["=: not shown to differ from the row above"] if any(row.is_tied for row in rows) else []),
    ]
    lines = ["; ".join(parts)]
    needed = sorted({row.needed for row in rows if row.needed})
    if needed and "shape" in shown:
        numbers = " to ".join(dict.fromkeys(about(number) for number in (needed[0], needed[-1]))).replace(
            "to about", "to"
        )
        # Shapes are corrected for all curves of the study.
        alone = any(row.needed and row.pbi and _leaves_out_zero(row.pbi) for row in rows)
        lines.append(
            f"{UNCLEAR}: cannot tell yet; {numbers} questions would show an effect of 5 points"
            f"{'; an interval alone, uncorrected, may leave out 0' if alone and 'pbi' in shown else ''}"
        )
    return [line for text in lines for line in wrapped(text, terminal.width)]


def _leaves_out_zero(number: Number) -> bool:
    """Whether 0 is outside the interval."""
    return number.low is not None and number.high is not None and not number.low <= 0 <= number.high


def _shortened(text: str, width: int, head: int | None = None) -> str:
    """A text without its middle, if it is longer than the width; head: characters before the gap."""
    if len(text) <= width:
        return text
    before = width // 2 if head is None else head
    return f"{text[:before]}…{text[len(text) - (width - 1 - before) :]}"


def short_names(names: Sequence[str], width: int) -> list[str]:
    """Names without their middles; of a name that looks like another so, another part goes, or it has a number."""
    short: dict[str, str] = {}
    for name in dict.fromkeys(names):
        heads = sorted(range(1, max(2, width - 1)), key=lambda head: abs(head - width // 2))
        cuts = [_shortened(name, width, head) for head in heads]
        others = [other for other in names if other != name]
        clear = (cut for cut in cuts if not any(_shows(cut, other) for other in others))
        numbered = f"{_shortened(name, width - 3)}~{len(short) + 1}"
        short[name] = next(clear, numbered if cuts[0] in short.values() else cuts[0])
    return [short[name] for name in names]


def _shows(cut: str, name: str) -> bool:
    """Whether a shortened name may be this one."""
    begin, gap, end = cut.partition("…")
    return cut == name if not gap else name.startswith(begin) and name.endswith(end)


# --- One model: every position ---------------------------------------------------------------------------------


def _by_position(tables: Sequence[QuestionTable], units: Mapping[str, str], terminal: Terminal) -> list[str]:
    """Accuracies with intervals by position, the PBI and the shape of each curve of one model."""
    lines: list[str] = []
    for table in tables:
        for size in table.sizes:
            for row in size.rows:
                name = f"{table.experiment}, {_size_in_words(size, table, units)}"
                title = f"{name}, {_numbers([row], table.metric)} {mark(row.marks, terminal)}"
                lines += [title.rstrip(), *_positions(row, table.metric, terminal), *_summed_up(row, terminal)]
    return lines


def _positions(row: ModelRow, metric: str, terminal: Terminal) -> Iterator[str]:
    if row.shape == IN_DOUBT:
        return
    columns = [
        (
            ordinal(point.position + 1),
            "-" if point.accuracy is None else f"{100 * point.accuracy:.0f} %",
            _limits(point),
        )
        for point in row.curve
    ]
    labels = ("position", mean_word(metric), "95 %")
    # As many positions a line as fit.
    width = max(len(text) for column in columns for text in column) + 2
    most = max(1, (terminal.width - 10) // width)
    for begin in range(0, len(columns), most):
        part = list(zip(labels, *columns[begin : begin + most], strict=True))
        yield from (f"  {line}" for line in in_columns(part, 1).splitlines())


def _limits(point: Point) -> str:
    return "" if point.low is None or point.high is None else f"[{100 * point.low:.0f}, {100 * point.high:.0f}]"


def _summed_up(row: ModelRow, terminal: Terminal) -> list[str]:
    """The shape with its meaning, the PBI and the references."""
    needed = f": {about(row.needed)} questions would show an effect of 5 points" if row.needed else ""
    if row.shape in MEANINGS and row.shape != NONE:
        parts = [f"{row.shape} ({MEANINGS[row.shape]})"]
    elif row.strength is Strength.CANNOT_TELL:
        parts = [f"cannot tell yet{needed or ': use more questions'}"]
    else:
        parts = [REASONS.get(row.shape, SHORT.get(row.shape, row.shape))]
    parts += [f"PBI {_pbi(row)}"] if _pbi(row) != "-" else []
    known = [f"{name} {text}" for name, text in _known(row).items()]
    return [
        line
        for label, texts, between in (("shape", parts, "; "), ("beside", known, ", "))
        if any(texts)
        for line in wrapped(between.join(texts), terminal.width, f"  {label:<8}  ")
    ]


def _known(row: ModelRow) -> dict[str, str]:
    """The references with their intervals."""
    known = {"closed book": row.closed_book, "oracle": row.oracle}
    return {name: _with_limits(row, number) for name, number in known.items() if number}


# --- Accuracies without positions ------------------------------------------------------------------------------


def _accuracies(tables: Sequence[QuestionTable], units: Mapping[str, str], terminal: Terminal) -> list[str]:
    """A line for each experiment of one model."""
    lines = []
    for table in tables:
        rows = [row for size in table.sizes for row in size.rows]
        texts = [
            f"{size}{_with_marks(row, terminal)}" for size, row in zip(_sizes(table, units, " "), rows, strict=True)
        ]
        texts += [f"{name} {text}" for name, text in _known(rows[0]).items()]
        title = f"{table.experiment}, {_numbers(rows, table.metric)}: "
        lines += wrapped(title + ", ".join(texts), terminal.width, later="  ")
    return lines


def _grids(tables: Sequence[QuestionTable], units: Mapping[str, str], terminal: Terminal) -> list[str]:
    """A table of the experiments of one size, and one of the sizes, or of the references, of each other."""
    single = [table for table in tables if len(table.sizes) == 1 and not any(map(_known, table.sizes[0].rows))]
    lines = []
    for together in [*([single] if single else []), *([table] for table in tables if table not in single)]:
        columns = {
            name or table.experiment: {row.model: _with_marks(row, terminal) for row in size.rows}
            for table in together
            for name, size in zip(_sizes(table, units, ""), table.sizes, strict=True)
        }
        rows = [row for table in together for size in table.sizes for row in size.rows]
        for name in dict.fromkeys(name for row in rows for name in _known(row)):
            columns[name] = {row.model: _known(row).get(name, "-") for row in together[0].sizes[0].rows}
        title = f"{together[0].experiment if len(together) == 1 else 'without positions'}, accuracy"
        numbers = _numbers(rows, together[0].metric)
        whole = _grid(columns, terminal)
        # Without intervals, where these take further lines.
        brief = {
            name: {model: INTERVAL.sub("", text) for model, text in cells.items()} for name, cells in columns.items()
        }
        short = _grid(brief, terminal)
        with_limits = len(whole) == len(short)
        lines += [f"{title}{' [95 %]' if with_limits else ''}, {numbers}", *(whole if with_limits else short)]
    return lines


def _grid(columns: Mapping[str, Mapping[str, str]], terminal: Terminal) -> list[str]:
    """A row for each model, as many columns a line as fit; columns: texts by model, by heading."""
    models = list(dict.fromkeys(model for cells in columns.values() for model in cells))
    texts = [[heading, *(cells.get(model, "-") for model in models)] for heading, cells in columns.items()]
    longest = min(max(map(len, models)), LONGEST)
    left = terminal.width - 2 - sum(max(map(len, column)) + 2 for column in texts)
    names = short_names(models, min(longest, left if left >= SHORTEST else 16))
    room = terminal.width - 2 - max(map(len, names))
    headings = short_names([*columns], room - 2)
    texts = [[heading, *column[1:]] for heading, column in zip(headings, texts, strict=True)]
    most = max(1, room // (max(len(text) for column in texts for text in column) + 2))
    return [
        f"  {line}"
        for begin in range(0, len(texts), most)
        for line in in_columns(list(zip(["", *names], *texts[begin : begin + most], strict=True)), 1).splitlines()
    ]


def _sizes(table: QuestionTable, units: Mapping[str, str], end: str) -> list[str]:
    """The sizes in words, with an end; "" for an only one."""
    return [f"{_size_in_words(size, table, units)}{end}" if len(table.sizes) > 1 else "" for size in table.sizes]


def _with_marks(row: ModelRow, terminal: Terminal) -> str:
    return _with_limits(row, row.overall) + mark(row.marks, terminal)


def _with_limits(row: ModelRow, number: Number) -> str:
    """`63 % [51, 74]`."""
    text = _accuracy(row, number, True)
    if text == "-":
        return text
    has_limits = number.low is not None and number.high is not None
    return f"{text} %" + (f" [{100 * number.low:.0f}, {100 * number.high:.0f}]" if has_limits else "")  # type: ignore[operator]
