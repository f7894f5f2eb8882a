"""Recorded scores: somebody's verdicts on answers, without prompts and answers, as curves in a notebook.

What needs a prompt or an answer is not said: readings, wrong answers, tokens, doubts, prompts that did not fit.
"""

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
from litm.base.groups import grouped
from litm.base.messages import UserError
from litm.claims.curve_words import position_bias_table
from litm.figures.chart import Rows
from litm.figures.kinds import KINDS
from litm.figures.style import add_note
from litm.placements import NO_GOLD
from litm.recorded.score_tables import Name, read_verdict_table
from litm.scoring.scores import KNOWN, accuracies, verdict_scores
from litm.tables.table import tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
    """The curves of a table of verdicts, one row for each model, question and place, see `read_verdict_table`.

    table: a data frame, or a file. `size` is the items of the context where places are positions, else any measure of
    its length. Rows without a place count as answers without a gold item.
    """
    return Curves(verdict_scores(read_verdict_table(table, columns, position_scale, full_score).rows))
