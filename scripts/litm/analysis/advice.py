"""The advised condition of an experiment with remedies, and the rows of advice.csv.

All conditions of a study and model are compared on the same questions. The best of k conditions is chosen by the same
answers that judge it, so the result is a set: all conditions that exact McNemar tests against the best, corrected by
Holm over these k - 1, do not distinguish from it at 5 %. The set holds the truly best condition with a chance of at
least 95 % (docs/remedies.md). Its cheapest member is advised, if every other condition is shown to be worse than the
best, or if it is shown to lose at most 5 points to any other condition (upper limits of paired differences, corrected
for k - 1 comparisons). By the second rule, a condition that truly loses more is advised in at most 2.5 % of samples, if
the intervals cover: its difference to the truly best one is beyond a limit of level 0.025/(k - 1), for one of at most
k - 1 conditions. It is not enough that cheaper conditions are shown to be worse, as dearer ones may be better.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from litm.analysis.cells import made_up
from litm.analysis.grid import CORRECT, Grid, interval_columns, joined, read_grid, sweep_of
from litm.analysis.pbi import limit_of
from litm.analysis.power import FIVE_POINTS, Assumption, n_for_five_points, observed
from litm.analysis.significance import SIGNIFICANT, holm
from litm.analysis.statistics import Estimate
from litm.base.messages import counted
from litm.examples.orders import remedies_in_words
from litm.records.bills import Prices
from litm.records.conditions import PLAIN, Condition
from litm.scoring.doubts import doubt_of, is_doubt

if TYPE_CHECKING:
    from litm.tables.accuracy import AdviceRow

#: Fraction of its questions that a condition must have scored, because conditions are compared on their common
#: questions.
LEAST_SCORED = 0.9
#: Fraction: costs that differ by less count as equal, because orders of the same documents differ by a few tokens.
EQUAL_COST = 0.02
#: Fraction: the largest loss of an advised condition to any other.
MOST_LOST = FIVE_POINTS
#: Reasons why there is no advice.
FLOOR, ONE_CONDITION, MAY_LOSE = "floor", "one condition", "the cheapest may lose over 5 points"


@dataclass(frozen=True)
class Cell:
    """The answers of one model under one condition and number of documents."""

    condition: Condition
    documents: int
    answers: Grid
    """Those to all questions, in one column."""
    tokens: float | None = None
    """Mean of a prompt and its answer, None if not counted."""
    dollars: float | None = None
    """Mean of an answer, as billed, None without prices."""
    doubt: str | None = None
    """See `doubts.doubt_of`."""

    @property
    def asked(self) -> int:
        """Number of questions."""
        return len(self.answers.ids)

    @property
    def scored(self) -> int:
        """Number of scored questions."""
        return int(self.answers.scored.sum())

    @property
    def name(self) -> str:
        """`5 documents, best last, reranked by my_reranker`."""
        remedies = remedies_in_words(self.condition, self.documents)
        return ", ".join([counted(self.documents, "document"), *remedies])


@dataclass(frozen=True)
class Difference:
    """A condition minus the best one (or another) on the same questions."""

    estimate: Estimate
    """The difference of the accuracies with its paired 95 % interval."""
    corrected: Estimate
    """The same with the interval corrected for all comparisons (Bonferroni)."""
    p_value: float
    """The p value of the difference, uncorrected."""


@dataclass(frozen=True)
class Against:
    """A condition against another one."""

    index: int
    difference: Difference
    """The condition minus the other one."""
    is_shown: bool


@dataclass(frozen=True)
class MadeUp:
    """Made-up answers (`cells.made_up`) under a condition, where no document has the answer."""

    n: int
    """Number of questions."""
    share: Estimate
    """Share of made-up answers, with its 95 % interval."""
    plain: Estimate | None = None
    """The same for the same number of documents as retrieved; None of these themselves, as the next two."""
    difference: Estimate | None = None
    """The condition minus documents as retrieved, on the same questions."""
    p_value: float | None = None
    """The p value of the difference."""


@dataclass(frozen=True)
class Compared:
    """Conditions of one model and study on the questions that all of them scored."""

    model: str
    study: str
    cells: tuple[Cell, ...]
    answers: Grid
    """Answers to these questions, a column for each condition."""
    left_out: tuple[Cell, ...]
    """Cells with too few scored questions."""
    n_left_out: int
    without_answer: tuple[Cell, ...] = ()
    """Cells without the documents that have the answer, whose answers are whether one is made up."""

    @property
    def n(self) -> int:
        """Number of questions."""
        return len(self.answers.ids)

    @cached_property
    def right(self) -> list[float]:
        """Right answers under each condition."""
        return self.answers.right.sum(axis=0).tolist()

    @property
    def accuracies(self) -> list[Estimate]:
        """Accuracies of the conditions, with 95 % intervals."""
        return self.answers.accuracies

    @cached_property
    def costs(self) -> list[float]:
        """Cost per question under each condition: in dollars, or tokens, or documents if tokens were not counted."""
        if any(cell.tokens is None for cell in self.cells):
            return [float(cell.documents) for cell in self.cells]
        if any(cell.dollars for cell in self.cells):
            return [float(cell.dollars or 0) for cell in self.cells]
        return [cell.tokens or 0.0 for cell in self.cells]

    @cached_property
    def best(self) -> int:
        """The condition with the most right answers; of equal ones the cheapest."""
        return min(range(len(self.cells)), key=lambda index: (-self.right[index], self.costs[index], index))

    def difference(self, first: int, second: int) -> Difference:
        """One condition minus another."""
        columns = np.eye(len(self.cells))
        contrast = self.answers.contrast(columns[first] - columns[second])
        corrected = contrast.estimate(1 - SIGNIFICANT / max(1, len(self.cells) - 1), of_small=True)
        return Difference(contrast.estimate(), corrected, self.answers.difference_p(first, second))

    @cached_property
    def to_best(self) -> dict[int, Difference]:
        """Every other condition minus the best one."""
        return {index: self.difference(index, self.best) for index in range(len(self.cells)) if index != self.best}

    @cached_property
    def p_holm(self) -> dict[int, float]:
        """The p values of `to_best`, corrected over all of them."""
        corrected = holm([difference.p_value for difference in self.to_best.values()])
        return dict(zip(self.to_best, corrected, strict=True))

    @cached_property
    def best_set(self) -> list[int]:
        """Conditions not distinguished from the best, including the best."""
        return [index for index in range(len(self.cells)) if self.p_holm.get(index, 1.0) >= SIGNIFICANT]

    @cached_property
    def cheapest(self) -> int:
        """The cheapest of the set; among equal costs one without a reranker, then the most accurate."""

        def preference(index: int) -> tuple:
            condition = self.cells[index].condition
            return bool(condition.reranker), -self.right[index], len(condition.differing), self.costs[index]

        least = min(self.costs[index] for index in self.best_set)
        return min((index for index in self.best_set if self.costs[index] <= least * (1 + EQUAL_COST)), key=preference)

    @cached_property
    def most_lost(self) -> tuple[float, int]:
        """The largest possible loss of the cheapest of the set, and to which condition: the largest corrected upper
        limit of another condition minus it. (0, itself) if the set has one member.
        """
        if len(self.best_set) == 1:
            return 0.0, self.cheapest
        others = [index for index in range(len(self.cells)) if index != self.cheapest]
        limits = {index: self.difference(index, self.cheapest).corrected.high for index in others}
        # The best condition wins among equal limits.
        other = max(others, key=lambda index: (limits[index], index == self.best))
        return max(0.0, limits[other]), other

    @cached_property
    def frontier(self) -> list[int]:
        """Conditions on the frontier: no other is as accurate and cheaper, or more accurate and as cheap."""
        both = list(zip(self.right, self.costs, strict=True))
        return [
            index
            for index, candidate in enumerate(both)
            if not any(
                right >= candidate[0] and cost <= candidate[1] and (right, cost) != candidate for right, cost in both
            )
        ]

    @cached_property
    def reason(self) -> str:
        """Why the data support no advice: the first doubt, `FLOOR`, `ONE_CONDITION`, `MAY_LOSE`; "" if they support
        one.
        """
        if doubt := next((cell.doubt for cell in self.cells if cell.doubt), None):
            return doubt
        if limit_of([self.right[self.best]], self.n, [self.accuracies[self.best].limits]) == FLOOR:
            return FLOOR
        if len(self.cells) == 1:
            return ONE_CONDITION
        return "" if self.most_lost[0] <= MOST_LOST else MAY_LOSE

    @property
    def advised(self) -> int | None:
        """The condition that is advised, None without an advice."""
        return None if self.reason else self.cheapest

    @property
    def assumed(self) -> Assumption:
        """Mean accuracy, correlation and design effect of the conditions."""
        return observed(self.answers.measured, self.answers.clusters)

    @cached_property
    def needed(self) -> int | None:
        """Questions that show a difference of 5 points in the k - 1 comparisons with one of k conditions, see
        `power.n_for_five_points`; None if that is irrelevant.
        """
        is_irrelevant = (
            self.reason in (FLOOR, ONE_CONDITION) or is_doubt(self.reason) or self.most_lost[1] == self.cheapest
        )
        return None if is_irrelevant else n_for_five_points(self.assumed, len(self.cells) - 1)

    def times(self, index: int, other: int) -> float | None:
        """The ratio of two conditions' costs; None if it is unknown."""
        return self.costs[index] / self.costs[other] if self.costs[other] else None

    def other_numbers(self, index: int) -> list[Against]:
        """The next smaller and the largest number of documents under the same condition."""
        same, documents = self._same(index), self.cells[index].documents
        smaller = [other for other in same if self.cells[other].documents < documents]
        larger = [other for other in same if self.cells[other].documents > documents]
        against = []
        for other in [*smaller[-1:], *larger[-1:]]:
            difference = self.difference(other, index)
            low, high = difference.corrected.limits
            # Differences from the best use Holm's correction, as the set does.
            is_shown = other not in self.best_set if index == self.best else not low <= 0 <= high
            against.append(Against(other, difference, is_shown))
        return against

    def remedies(self, index: int) -> list[Against]:
        """The single remedies at the same number of documents that are shown to differ from documents as retrieved; if
        none is, the one with the largest difference; none without documents as retrieved.
        """
        documents = self.cells[index].documents
        same_number = [other for other, cell in enumerate(self.cells) if cell.documents == documents]
        plain = next((other for other in same_number if self.cells[other].condition.is_plain), None)
        single = [other for other in same_number if len(self.cells[other].condition.differing) == 1]
        if plain is None or not single:
            return []
        differences = [self.difference(other, plain) for other in single]
        corrected = holm([difference.p_value for difference in differences])
        against = [
            Against(other, difference, p < SIGNIFICANT)
            for other, difference, p in zip(single, differences, corrected, strict=True)
        ]
        shown = [comparison for comparison in against if comparison.is_shown]
        return shown or [max(against, key=lambda comparison: abs(comparison.difference.estimate.value))]

    def made_up(self, index: int) -> MadeUp | None:
        """The made-up answers of a condition; None if they were not asked for, or are in doubt."""
        cell = self.cells[index]
        cells = {(other.condition.treatment, other.documents): other for other in self.without_answer}
        keys = [(cell.condition.treatment, cell.documents)]
        keys += [] if cell.condition.is_plain else [(PLAIN, cell.documents)]
        beside = [cells[key] for key in keys if key in cells and not cells[key].doubt]
        answers = joined(*(other.answers for other in beside)).complete() if len(beside) == len(keys) else None
        if answers is None or not len(answers.ids):
            return None
        share, *plain = answers.accuracies
        if not plain:
            return MadeUp(len(answers.ids), share)
        difference = answers.contrast([1, -1]).estimate()
        return MadeUp(len(answers.ids), share, plain[0], difference, answers.difference_p(0, 1))

    def shown_worse(self) -> list[Against]:
        """The conditions shown to be worse than the best one."""
        return [
            Against(index, self.to_best[index], True) for index in range(len(self.cells)) if index not in self.best_set
        ]

    def _same(self, index: int) -> list[int]:
        """Indices of all numbers of documents under the same condition, ascending."""
        cells, condition = self.cells, self.cells[index].condition
        indices = [other for other, cell in enumerate(cells) if cell.condition.experiment == condition.experiment]
        # A single document has no order and is never cut, so the plain cell serves these conditions too.
        if set(condition.differing) <= {"order", "cut"} and all(cells[other].documents > 1 for other in indices):
            indices += [other for other, cell in enumerate(cells) if cell.documents == 1 and cell.condition.is_plain]
        return sorted(indices, key=lambda other: cells[other].documents)


# --- From scores -----------------------------------------------------------------------------------------------


def read_compared(
    scores: Iterable[pd.DataFrame], conditions: Sequence[Condition], prices: Mapping[str, Mapping | None]
) -> list[Compared]:
    """The comparison of each study and model, from score rows, one sweep at a time."""
    by_experiment = {condition.experiment: condition for condition in conditions}
    cells: dict[tuple[str, str], list[Cell]] = {}
    for sweep in scores:
        model, experiment = sweep_of(sweep)
        condition = by_experiment[experiment]
        for size in sorted(sweep["size"].unique()):
            cell = _cell(condition, int(size), sweep[sweep["size"] == size], prices.get(model))
            cells.setdefault((condition.study, model), []).append(cell)
    places = {condition.experiment: place for place, condition in enumerate(conditions)}
    comparisons = []
    for (study, model), unordered in cells.items():
        ordered = sorted(unordered, key=lambda cell: (places[cell.condition.experiment], cell.documents))
        # These may be selected alone.
        if asked := [cell for cell in ordered if not cell.condition.lacks_answer]:
            without = tuple(cell for cell in ordered if cell.condition.lacks_answer)
            comparisons.append(replace(_compared(study, model, asked), without_answer=without))
    return comparisons


def _cell(condition: Condition, documents: int, rows: pd.DataFrame, price: Mapping | None) -> Cell:
    asked = rows[~rows["excluded"]]
    if condition.lacks_answer:
        # Labels of a judge correct verdicts, and these are none.
        judged = [name for name in ("correct_strict", "label") if name in rows]
        rows = rows.assign(correct=made_up(rows)).drop(columns=judged)
    counts = asked[["prompt_tokens", "response_tokens"]].astype("Float64")
    is_counted = len(counts) > 0 and not counts.isna().any(axis=None)
    return Cell(
        condition=condition,
        documents=documents,
        answers=read_grid(rows, "target"),
        tokens=float(counts.mean().sum()) if is_counted else None,
        dollars=float(Prices.from_entry(price).of_rows(asked).mean()) if is_counted and price else None,
        doubt=doubt_of(rows),
    )


def _compared(study: str, model: str, cells: Sequence[Cell]) -> Compared:
    least = LEAST_SCORED * max(cell.asked for cell in cells)
    kept, left_out = (tuple(cell for cell in cells if (cell.scored >= least) == is_kept) for is_kept in (True, False))
    grids = [cell.answers for cell in kept]
    answers = joined(*grids).complete() if grids else Grid([], pd.Index([]), {CORRECT: np.zeros((0, 0))}, None)
    asked = {question for grid in grids for question in grid.ids}
    return Compared(model, study, kept, answers, left_out, len(asked) - len(answers.ids))


def advice_rows(compared: Compared, sentences: Sequence[str]) -> "Iterator[AdviceRow]":
    """One row per condition; conditions with too few scored questions are last. sentences: the advice in words."""
    if not compared.n:
        yield from _left_out(compared, sentences)
        return
    least, clusters = min(compared.costs), compared.answers.clusters
    spoken = compared.best if compared.advised is None else compared.advised
    itself = Difference(Estimate(0.0, 0.0, 0.0), Estimate(0.0, 0.0, 0.0), 1.0)
    for index, cell in enumerate(compared.cells):
        difference = compared.to_best.get(index, itself)
        words: AdviceRow = _spoken(sentences) if index == spoken else {}
        yield {
            **_names(compared, cell),
            "n": compared.n,
            "n_left_out": compared.n_left_out,
            "n_clusters": None if clusters is None else int(clusters.max()) + 1,
            **interval_columns("accuracy", compared.accuracies[index]),
            "tokens": cell.tokens,
            "dollars": None if cell.dollars is None else 1000 * cell.dollars,
            "cost_ratio": compared.costs[index] / least if least else None,
            **interval_columns("difference", difference.estimate),
            "difference_ci_low_bonferroni": difference.corrected.low,
            "p_value": None if difference is itself else difference.p_value,
            "p_holm": compared.p_holm.get(index),
            **_made_up_columns(compared.made_up(index)),
            "is_best": index == compared.best,
            "in_best_set": index in compared.best_set,
            "on_frontier": index in compared.frontier,
            "is_advised": index == compared.advised,
            "n_for_5_points": compared.needed,
            "reason": compared.reason if index == spoken else "",
            **words,
        }
    yield from _left_out(compared, sentences)


def _made_up_columns(made_up: MadeUp | None) -> dict:
    return {
        **interval_columns("made_up", made_up.share if made_up else None),
        **interval_columns("made_up_difference", made_up.difference if made_up else None),
        "made_up_p_value": made_up.p_value if made_up else None,
    }


def _left_out(compared: Compared, sentences: Sequence[str]) -> "Iterator[AdviceRow]":
    """Rows of conditions that are not compared; if none is compared, the first has the sentences."""
    reasons = [
        (cell, f"{cell.asked - cell.scored} of {cell.asked} questions were not scored, left out")
        for cell in compared.left_out
    ]
    if not compared.n:
        reasons += [(cell, "no question was scored under all conditions") for cell in compared.cells]
    for index, (cell, reason) in enumerate(reasons):
        words: AdviceRow = {} if compared.n or index else _spoken(sentences)
        yield {**_names(compared, cell), "n": 0, "is_advised": False, "reason": reason, **words}


def _spoken(sentences: Sequence[str]) -> "AdviceRow":
    headline, *details = sentences
    return {"advice": headline, "advice_details": " ".join(details) or None}


def _names(compared: Compared, cell: Cell) -> "AdviceRow":
    condition = cell.condition
    return {
        "model": compared.model,
        "remedies_of": compared.study,
        "experiment": condition.experiment,
        "size": cell.documents,
        "condition": cell.name,
        "order": condition.order,
        "reranker": condition.reranker,
        "cut": condition.cut,
        "prompt": condition.prompt,
    }
