"""Tables of verdicts: somebody's verdicts on answers, one row for each model, question and place."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from litm.base.delimited_files import DELIMITERS, read_named_columns
from litm.base.files import file_kind
from litm.base.groups import grouped
from litm.base.json_files import read_records
from litm.base.messages import UserError, first_of, quoted
from litm.placements import NO_GOLD, depth_of, depth_placement, gold_depths, gold_placement
from litm.recorded.files import NO_POSITION
from litm.recorded.foreign_answers import void_mark
from litm.recorded.position_scale import DEPTH, LAST, PERCENT, Positions, inferred_scale, place_of, position_numbers
from litm.records.cells import Cell

if TYPE_CHECKING:
    import pandas as pd

#: Names of columns by ours, in lower case with underscores.
NAMES: Mapping[str, Sequence[str]] = {
    "model": ("model", "model_name"),
    "experiment": ("experiment", "task", "dataset"),
    "question": ("question", "question_id", "id", "qid", "example_id", "sample_id"),
    "size": ("size", "num_documents", "n_documents", "context_length", "num_keys"),
    "position": ("position", "gold_index", "gold_position"),
    "depth": ("depth", "depth_percent"),
    "correct": ("correct", "is_correct", "score", "verdict"),
    "cluster": ("cluster",),
    # A column of this name may have the accepted answers.
    "answer": (),
}
#: A column, or several that together name a question.
Name = str | Sequence[str]
#: Columns that a table may lack, and their values then. One of position and depth is needed.
ABSENT = {"model": "model", "experiment": "scores", "position": None, "depth": None, "cluster": None, "answer": None}
#: Texts without a position or a name.
MISSING = {str(value) for value in NO_POSITION}
RIGHT = ("true", "yes", "y", "right", "correct", "pass", "passed")
WRONG = ("false", "no", "n", "wrong", "incorrect", "fail", "failed")


@dataclass(frozen=True)
class Verdict:
    """A row of a table of verdicts."""

    model: str
    experiment: str
    question: str
    size: int
    """Items or tokens of the context."""
    place: float | None
    """The position or depth as the table has it, None without a gold item."""
    correct: float | None
    """From 0 to 1, None if missing."""
    cluster: str | None
    where: str
    """File and line, or the row."""
    answer: str | None = None
    """The answer, if the table has it: only for doubts on answers that are none."""


class Place(NamedTuple):
    """Where the gold item of a verdict is."""

    position: int | None
    """From 0, among depths the rank; None without a gold item, as the depth."""
    depth: float | None
    items: int
    """Items of the context, or the number of depths."""
    placement: str


@dataclass(frozen=True)
class VerdictTable:
    """The verdicts of a table, each with its place."""

    verdicts: Sequence[Verdict]
    """Its rows, at least one."""
    places: Sequence[Place]
    """The place of each."""

    @property
    def cells(self) -> list[Cell]:
        """The sizes and places of its verdicts, in order; a size without a gold item comes first."""
        placements = {
            (row.size, -1 if place.depth is None else place.depth): place.placement for row, place in self.rows
        }
        return [Cell(size, placement) for (size, _), placement in sorted(placements.items())]

    @property
    def rows(self) -> Iterator[tuple[Verdict, Place]]:
        """The verdicts with their places."""
        return zip(self.verdicts, self.places, strict=True)

    def of_sweep(self, model: str, experiment: str, name: str) -> "VerdictTable":
        """The verdicts of a model on an experiment, where the table has several; `UserError` without any.

        name: the table's, for messages.
        """
        rows = [*self.rows]
        for what, wanted in (("model", model), ("experiment", experiment)):
            there = dict.fromkeys(getattr(verdict, what) for verdict, _ in rows)
            if len(there) > 1 and wanted not in there:
                raise UserError(
                    f"{name}: no {what} {quoted(wanted)}; there are {first_of([*there], 20)}: say which with 'rows'"
                )
            rows = [row for row in rows if len(there) == 1 or getattr(row[0], what) == wanted]
        return VerdictTable([verdict for verdict, _ in rows], [place for _, place in rows])


def read_verdict_table(
    table: "pd.DataFrame | str | Path",
    columns: Mapping[str, Name] | None = None,
    position_scale: str | None = None,
    full_score: float = 1,
    only: Mapping[str, str] | None = None,
    cells: Iterable[Cell] = (),
) -> VerdictTable:
    """The verdicts of a data frame or a file (.csv, .tsv, .json, .jsonl, each also .gz).

    columns: its names by ours (`NAMES`); position_scale: as of a recorded model; full_score: the score of a right
    answer, such as 10 for grades from 1 to 10; only: the values of the rows to read, by the table's names; cells: of
    other tables of the experiment, whose depths count too. Raises `UserError` in one line, with the row, for a missing
    or doubtful column, a verdict, size or place that cannot be read, two verdicts on one question at a place, and
    positions on an unclear scale.
    """
    name = str(table) if isinstance(table, str | Path) else "the table"
    verdicts = [*_verdicts(table, name, columns or {}, full_score, only or {})]
    if not verdicts:
        chosen = f" with {', '.join(f'{column} {value}' for column, value in only.items())}" if only else ""
        raise UserError(f"{name}: no rows{chosen}: there is nothing to draw")
    _check_once(verdicts)
    has_depths = "depth" in _columns(_records(table), columns or {}, name)
    placed = _by_depth(verdicts, cells) if has_depths else _by_position(verdicts, name, position_scale)
    return VerdictTable(verdicts, [*placed])


def verdict_counts(verdicts: int, missing: int) -> dict[str, Any]:
    """What the manifest of recorded verdicts counts, as that of recorded responses: nothing is known of tokens.

    missing: rows without a verdict.
    """
    return {
        "prompts": verdicts,
        "asked": 0,
        "recorded": verdicts - missing,
        "not_recorded": missing,
        "context_window": None,
        "prompt_tokens": None,
        "response_tokens": None,
        "made_with": {},
    }


def _verdicts(
    table: "pd.DataFrame | str | Path",
    name: str,
    columns: Mapping[str, Name],
    full_score: float,
    only: Mapping[str, str],
) -> Iterator[Verdict]:
    named: dict[str, Name] = {}
    for where, record in _records(table):
        named = named or _columns([(where, record)], columns, name)
        if absent := [column for column in only if column not in record]:
            raise UserError(f"{name}: no column {quoted(absent[0])} (rows); there are {first_of([*record], 20)}")
        if any(_text(record[column]) != value for column, value in only.items()):
            continue
        values = {ours: _value(record, theirs) for ours, theirs in named.items()}
        place = values.get("depth", values.get("position"))
        for needed in ("model", "experiment", "question"):
            if needed in values and _is_missing(values[needed]):
                raise UserError(f"{where}: {named[needed]} is empty: write what the verdict is of")
        yield Verdict(
            **{ours: _text(values.get(ours, ABSENT.get(ours))) for ours in ("model", "experiment", "question")},
            size=_size(values["size"], f"{where}: {named['size']}"),
            place=None
            if _is_missing(place)
            else _place(place, f"{where}: {named.get('depth', named.get('position'))}"),
            correct=None
            if void_mark(record)
            else _correct(values["correct"], f"{where}: {named['correct']}", full_score),
            cluster=None if _is_missing(values.get("cluster")) else _text(values["cluster"]),
            where=where,
            answer=None if str(answer := values.get("answer")) in MISSING - {""} else str(answer),
        )


def _value(record: Mapping[str, Any], name: Name) -> Any:
    """The value of a column, with dots of a nested one (a.b); of several columns, their texts together."""
    if not isinstance(name, str):
        parts = [_value(record, part) for part in name]
        return None if any(map(_is_missing, parts)) else " ".join(map(_text, parts))
    if name in record:
        return record[name]
    value: Any = record
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _records(table: "pd.DataFrame | str | Path") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The rows of a frame or a file, each with its place in messages."""
    if not isinstance(table, str | Path):
        names = [str(name) for name in table.columns]
        rows = zip(table.index, table.itertuples(index=False, name=None), strict=True)
        yield from ((f"row {label}", dict(zip(names, row, strict=True))) for label, row in rows)
        return
    path = Path(table)
    if not path.is_file():
        raise UserError(f"{path}: no such file")
    rows_of = read_named_columns(path) if file_kind(path) in DELIMITERS else read_records(path)
    yield from ((f"{path}, line {line}", values) for line, values in rows_of)


def _columns(
    records: "Iterator[tuple[str, Mapping[str, Any]]] | Sequence[tuple[str, Mapping[str, Any]]]",
    columns: Mapping[str, Name],
    name: str,
) -> dict[str, Name]:
    """The table's names of columns by ours, of its first row; `UserError` for a missing or doubtful one."""
    first = next(iter(records), ("", {}))[1]
    there = [*first]
    plain = {column: re.sub(r"\W+", "_", column.strip().lower().replace("%", "percent")).strip("_") for column in there}
    named: dict[str, Name] = {}
    for ours, usual in NAMES.items():
        if said := columns.get(ours):
            parts = [said] if isinstance(said, str) else said
            if absent := [part for part in parts if part.split(".")[0] not in first and part not in first]:
                raise UserError(f"{name}: no column {quoted(absent[0])} ({ours}); there are {first_of(there, 20)}")
            named[ours] = said
            continue
        fitting = [column for column in there if plain[column] in usual]
        if len(fitting) > 1:
            raise UserError(f"{name}: {ours} may be {' or '.join(fitting)}: say which with columns={{{ours!r}: ...}}")
        named |= {ours: fitting[0]} if fitting else {}
    if unknown := [ours for ours in columns if ours not in NAMES]:
        raise UserError(f"columns: no {unknown[0]!r}; there are {', '.join(NAMES)}")
    if {"position", "depth"} <= {*named}:
        del named["position" if "depth" in columns else "depth"]
    if lacking := [ours for ours in NAMES if ours not in named and ours not in ABSENT]:
        raise UserError(
            f"{name}: no column for {' and '.join(lacking)}; there are {first_of(there, 20)}: name it with "
            f"columns={{{lacking[0]!r}: ...}}"
        )
    if not {"position", "depth"} & {*named}:
        raise UserError(f"{name}: no column for position or depth; there are {first_of(there, 20)}")
    return named


def _is_missing(value: Any) -> bool:
    return str(value) in MISSING


def _text(value: Any) -> str:
    """A name; whole numbers as pandas writes them beside empty cells, 4.0, are whole."""
    return re.sub(r"^(\d+)\.0$", r"\1", str(value).strip())


def _size(value: Any, where: str) -> int:
    text = _text(value).replace(",", "")
    if not text.isdecimal() or int(text) < 1:
        raise UserError(
            f"{where} must be a whole number above 0 (items or tokens of the context), found {quoted(value)}"
        )
    return int(text)


def _place(value: Any, where: str) -> float:
    numbers = position_numbers(value)
    if len(numbers) != 1:
        raise UserError(f"{where} must be one number, 0 or more, found {quoted(value)}")
    return numbers[0]


def _correct(value: Any, where: str, full_score: float) -> float | None:
    """A verdict from 0 to 1, None if it is missing."""
    text = str(value).strip().lower()
    if text in ("", "nan", "none", "null", "<na>"):
        return None
    if text in RIGHT or text in WRONG:
        return float(text in RIGHT)
    try:
        number = float(text.replace(",", ".").removesuffix("%"))
    except ValueError:
        raise UserError(f"{where} must be 1 or 0, yes or no, or a number, found {quoted(value)}") from None
    number /= 100 if text.endswith("%") else full_score
    if not 0 <= number <= 1:
        raise UserError(
            f"{where} is {value}, and a right answer has {full_score:g}: give full_score, the score of a right answer"
        )
    return number


def _check_once(verdicts: Sequence[Verdict]) -> None:
    """Raise `UserError` for two verdicts on one question of a model at a place."""
    first: dict[tuple, str] = {}
    for row in verdicts:
        key = (row.model, row.experiment, row.size, row.place, row.question)
        if key in first:
            at = "without a place" if row.place is None else f"at {row.place:g}"
            raise UserError(
                f"{row.where}: {row.model} has a second verdict on question {quoted(row.question)}, size {row.size}, "
                f"{at} (the first is {first[key]}): give repetitions ids of their own, and the question as `cluster`"
            )
        first[key] = row.where


def _by_depth(verdicts: Sequence[Verdict], cells: Iterable[Cell]) -> Iterator[Place]:
    """The places of verdicts at depths, 0 to 1 or per cent: a position is the rank of its depth at the size."""
    highest = max((verdict.place for verdict in verdicts if verdict.place is not None), default=0)
    last = LAST[DEPTH if highest <= 1 else PERCENT]
    depths: dict[tuple[str, int], set[float]] = {}
    for verdict in verdicts:
        if verdict.place is not None:
            if verdict.place > last:
                what = f"the depth {verdict.place:g} is above 100"
                raise UserError(f"{verdict.where}: {what}: depths are from 0 to 1 or from 0 to 100")
            here = depths.setdefault((verdict.experiment, verdict.size), set())
            here.add(round(verdict.place / last, 6))
    for key, of_size in depths.items():
        of_size.update(depth for cell in cells if cell.size == key[1] for depth in gold_depths(cell.placement))
    ranks = {key: {depth: rank for rank, depth in enumerate(sorted(of_size))} for key, of_size in depths.items()}
    for verdict in verdicts:
        rank = ranks.get((verdict.experiment, verdict.size), {})
        if verdict.place is None:
            yield Place(None, None, len(rank), NO_GOLD)
        else:
            depth = round(verdict.place / last, 6)
            yield Place(rank[depth], depth, len(rank), depth_placement([depth]))


def _by_position(verdicts: Sequence[Verdict], name: str, scale: str | None) -> Iterator[Place]:
    """The places of verdicts at positions of items, on the scale or the only one that all positions have."""
    sizes = grouped((verdict for verdict in verdicts if verdict.place is not None), lambda verdict: verdict.size)
    contexts = {
        size: Positions(size, frozenset(row.place for row in rows if row.place is not None), frozenset(range(size)))
        for size, rows in sizes.items()
    }
    chosen = inferred_scale([*contexts.values()], name, scale) if contexts else ""
    for verdict in verdicts:
        if verdict.place is None:
            yield Place(None, None, verdict.size, NO_GOLD)
            continue
        position = place_of(verdict.place, chosen, contexts[verdict.size])
        if position is None:
            raise UserError(f"{verdict.where}: position {verdict.place:g} is none of {verdict.size} items")
        yield Place(position, depth_of(position, verdict.size), verdict.size, gold_placement([position]))
