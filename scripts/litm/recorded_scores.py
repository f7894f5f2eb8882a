"""Recorded scores: somebody's verdicts on answers, without prompts and answers, as curves in a notebook.

What needs a prompt or an answer is not said: readings, wrong answers, tokens, doubts, prompts that did not fit.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from litm.analysis.differences import model_pairs_table
from litm.analysis.grid import Files
from litm.analysis.not_known import not_known_scores, selection_note
from litm.analysis.positions import position_pairs_table
from litm.base.delimited_files import DELIMITERS, read_named_columns
from litm.base.files import file_kind
from litm.base.groups import grouped
from litm.base.json_files import read_records
from litm.base.messages import UserError, first_of, quoted
from litm.claims.curve_words import position_bias_table
from litm.figures.chart import Rows
from litm.figures.kinds import KINDS
from litm.figures.style import add_note
from litm.placements import NO_GOLD, depth_of, depth_placement, gold_placement
from litm.recorded.files import NO_POSITION
from litm.recorded.foreign_answers import void_mark
from litm.recorded.position_scale import DEPTH, LAST, PERCENT, Positions, inferred_scale, place_of, position_numbers
from litm.records.responses import NOT_RECORDED, UNKNOWN
from litm.scoring.scores import CELL, Score, accuracies, typed
from litm.tables.table import tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Task and metric of recorded scores.
TASK, METRIC = "recorded_scores", "recorded"
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
}
#: A column, or several that together name a question.
Name = str | Sequence[str]
#: Columns that a table may lack, and their values then. One of position and depth is needed.
ABSENT = {"model": "model", "experiment": "scores", "position": None, "depth": None, "cluster": None}
RIGHT = ("true", "yes", "y", "right", "correct", "pass", "passed")
WRONG = ("false", "no", "n", "wrong", "incorrect", "fail", "failed")
#: Columns of accuracy.csv that are known without answers.
KNOWN = (*CELL, "n", "accuracy", "ci_low", "ci_high", "n_not_recorded")


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


@dataclass(frozen=True)
class ScoreFrames(Files):
    """Score rows of sweeps in memory, in place of files."""

    frames: Sequence[pd.DataFrame] = ()

    def scores(self) -> Iterator[pd.DataFrame]:
        """See `Files`."""
        return iter(self.frames)

    def by_experiment(self) -> Iterator[pd.DataFrame]:
        """See `Files`."""
        return (pd.concat(same) for same in grouped(self.frames, lambda rows: rows["experiment"].iloc[0]).values())


@dataclass(frozen=True)
class Curves:
    """Curves of recorded scores, or of a study, with the statistics of its tables."""

    scores: pd.DataFrame
    """A row of `Score` for each verdict."""
    note: str = ""
    """What to know before a number is quoted, which figures have too."""

    @cached_property
    def _files(self) -> ScoreFrames:
        frames = (rows.reset_index(drop=True) for _, rows in self.scores.groupby(["model", "experiment"], sort=False))
        return ScoreFrames((), [*frames])

    def not_known(self) -> "Curves":
        """`curves_of_not_known`, by the verdicts without a gold item."""
        has_gold = self.scores["placement"] != NO_GOLD
        return curves_of_not_known(self.scores[has_gold], self.scores[~has_gold])

    @cached_property
    def accuracy(self) -> pd.DataFrame:
        """Rows as in accuracy.csv, without the columns that need answers."""
        table = pd.concat([accuracies(rows) for rows in self._files.frames], ignore_index=True)
        return tables()["accuracy"].frame(table)[[*KNOWN]]

    @cached_property
    def position_bias(self) -> pd.DataFrame:
        """Rows as in position_bias.csv: shape, primacy, recency, PBI, gap, with paired intervals."""
        return tables()["position_bias"].frame(position_bias_table(self._files, 0, ()))

    @cached_property
    def position_pairs(self) -> pd.DataFrame:
        """Rows as in position_pairs.csv."""
        return tables()["position_pairs"].frame(position_pairs_table(self._files))

    @cached_property
    def model_pairs(self) -> pd.DataFrame:
        """Rows as in model_pairs.csv: models compared on the questions that both have."""
        return tables()["model_pairs"].frame(model_pairs_table(self._files))

    def plot(self, experiment: str | None = None, **settings: Any) -> "Figure":
        """Accuracy over the positions, a panel for each size. settings: of the figure, such as `models` or `title`.

        Raises `UserError` if there are several experiments and none is named.
        """
        names = [*self.scores["experiment"].unique()]
        chosen = experiment or (names[0] if len(names) == 1 else "")
        if chosen not in names:
            raise UserError(f"plot({experiment!r}): name one of the experiments {', '.join(names)}")
        has_depths = self.scores["placement"].str.startswith("gold_at_depth_").any()
        label = "Place among the depths, from start to end" if has_depths else "Position of the gold item"
        places = {model: place for place, model in enumerate(self.scores["model"].unique())}
        defaults = {
            "name": chosen, "experiments": [chosen], "kind": "accuracy_by_position", "models": None, "sizes": None,
            "panel_title": "size {size}", "places": places, "published": False, "recall": [], "references": {},
            "title": chosen, "x_label": label, "page": None,
        }  # fmt: skip
        if unknown := [name for name in settings if name not in defaults]:
            raise UserError(f"plot: no setting '{unknown[0]}'; there are {', '.join(defaults)}")
        figure = KINDS["accuracy_by_position"].draw({**defaults, **settings}, Rows(accuracy=self.accuracy))
        add_note(figure, [self.note] if self.note else [])
        return figure


def curves_of_not_known(scores: pd.DataFrame, closed_book: pd.DataFrame) -> Curves:
    """The curves of the questions that each model gets wrong without documents, with their numbers in `note`.

    closed_book: score rows of the same models and questions without a gold item. Raises `UserError` if a model has
    none, or none that is wrong. One wrong answer selects a question, so some are known and were wrong by chance; and
    models have questions of their own.
    """
    kept, numbers = not_known_scores(scores, closed_book)
    for model, (wrong, asked) in numbers.items():
        if not wrong:
            what = "are wrong" if asked else "are scored"
            raise UserError(f"{model}: no answers without documents {what}, so it is not known what it knows")
    return Curves(kept, selection_note(numbers))


def curves_of(
    table: "pd.DataFrame | str | Path",
    columns: Mapping[str, Name] | None = None,
    position_scale: str | None = None,
    full_score: float = 1,
) -> Curves:
    """The curves of a table of verdicts, one row for each model, question and place.

    table: a data frame, or a file (.csv, .tsv, .json, .jsonl, each also .gz); columns: its names by ours (`NAMES`);
    position_scale: as of a recorded model; full_score: the score of a right answer, such as 10 for grades from 1 to 10.
    `size` is the items of the context where places are positions, else any measure of its length. Rows without a place
    count as answers without a gold item. Raises `UserError` in one line, with the row, for a missing or doubtful
    column, a verdict, size or place that cannot be read, two verdicts on one question at a place, and positions on an
    unclear scale.
    """
    verdicts = [*read_verdicts(table, columns or {}, full_score)]
    name = "the table" if isinstance(table, pd.DataFrame) else str(table)
    if not verdicts:
        raise UserError(f"{name}: no rows: there is nothing to draw")
    _check_once(verdicts)
    has_depths = "depth" in _columns(_records(table), columns or {}, name)
    placed = _by_depth(verdicts) if has_depths else _by_position(verdicts, name, position_scale)
    is_graded = any(verdict.correct not in (0, 1, None) for verdict in verdicts)
    return Curves(typed(Score, [_score(verdict, *place) for verdict, place in placed], is_graded))


def read_verdicts(
    table: "pd.DataFrame | str | Path", columns: Mapping[str, Name], full_score: float
) -> Iterator[Verdict]:
    """Yield the verdicts of a table, see `curves_of`."""
    name = "the table" if isinstance(table, pd.DataFrame) else str(table)
    named: dict[str, Name] = {}
    for where, record in _records(table):
        named = named or _columns([(where, record)], columns, name)
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
    if isinstance(table, pd.DataFrame):
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
    return value is pd.NA or value in NO_POSITION or (isinstance(value, float) and value != value)


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
        raise UserError(f"{where} must be one number, found {quoted(value)}")
    return numbers[0]


def _correct(value: Any, where: str, full_score: float) -> float | None:
    """A verdict from 0 to 1, None if it is missing."""
    text = str(value).strip().lower()
    if value is None or value is pd.NA or text in ("", "nan", "none", "null", "<na>"):
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


#: Position, depth, items of the context, placement.
Place = tuple[int | None, float | None, int, str]


def _by_depth(verdicts: Sequence[Verdict]) -> Iterator[tuple[Verdict, Place]]:
    """Verdicts whose places are depths, 0 to 1 or per cent: a position is the rank of its depth at the size."""
    highest = max((verdict.place for verdict in verdicts if verdict.place is not None), default=0)
    last = LAST[DEPTH if highest <= 1 else PERCENT]
    if highest > last:
        raise UserError(f"the depth {highest:g} is above 100: depths are from 0 to 1 or from 0 to 100")
    depths: dict[tuple[str, int], set[float]] = {}
    for verdict in verdicts:
        if verdict.place is not None:
            depths.setdefault((verdict.experiment, verdict.size), set()).add(verdict.place)
    ranks = {key: {depth: rank for rank, depth in enumerate(sorted(of_size))} for key, of_size in depths.items()}
    for verdict in verdicts:
        rank = ranks.get((verdict.experiment, verdict.size), {})
        if verdict.place is None:
            yield verdict, (None, None, len(rank), NO_GOLD)
        else:
            depth = round(verdict.place / last, 6)
            yield verdict, (rank[verdict.place], depth, len(rank), depth_placement([depth]))


def _by_position(verdicts: Sequence[Verdict], name: str, scale: str | None) -> Iterator[tuple[Verdict, Place]]:
    """Verdicts whose places are positions of items, on the scale or the only one that all positions have."""
    sizes = grouped((verdict for verdict in verdicts if verdict.place is not None), lambda verdict: verdict.size)
    contexts = {
        size: Positions(size, frozenset(row.place for row in rows if row.place is not None), frozenset(range(size)))
        for size, rows in sizes.items()
    }
    chosen = inferred_scale([*contexts.values()], name, scale) if contexts else ""
    for verdict in verdicts:
        if verdict.place is None:
            yield verdict, (None, None, verdict.size, NO_GOLD)
            continue
        position = place_of(verdict.place, chosen, contexts[verdict.size])
        if position is None:
            raise UserError(f"{verdict.where}: position {verdict.place:g} is none of {verdict.size} items")
        yield verdict, (position, depth_of(position, verdict.size), verdict.size, gold_placement([position]))


def _score(verdict: Verdict, position: int | None, depth: float | None, items: int, placement: str) -> Score:
    """A row of scores; what needs an answer is missing."""
    missing: dict[str, Any] = dict.fromkeys(
        name for name in Score._fields if name not in ("empty", "excluded", "preamble", "more_lines")
    )
    values: dict[str, Any] = missing | {
        "model": verdict.model,
        "experiment": verdict.experiment,
        "task": TASK,
        "metric": METRIC,
        "size": verdict.size,
        "items": items,
        "placement": placement,
        "position": position,
        "depth": depth,
        "id": verdict.question,
        "target": "gold",
        "correct": verdict.correct if verdict.correct not in (0, 1) else bool(verdict.correct),
        "finish_reason": NOT_RECORDED if verdict.correct is None else UNKNOWN,
        "cluster": verdict.cluster,
    }
    return Score(**values, empty=False, excluded=False, preamble=False, more_lines=False)
