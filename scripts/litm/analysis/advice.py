"""The advised condition of an experiment with remedies: rows of advice.csv.

All conditions of a study and model are compared on the same questions. The best of k conditions is chosen by the same
answers that judge it, so the result is a set: all conditions that exact McNemar tests against the best, corrected by
Holm over these k - 1, do not distinguish from it at 5 %. The set holds the truly best condition with a chance of at
least 95 % (docs/remedies.md). Its cheapest member is advised, if it is shown to lose little, see `Verdict`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from litm.analysis.grid import CORRECT, read_grid
from litm.analysis.pbi import limit_of
from litm.analysis.power import FIVE_POINTS, n_for_five_points, observed
from litm.analysis.statistics import SIGNIFICANT, Estimate, as_answers, contrast_interval, holm, paired_p
from litm.base.intervals import clustered_interval
from litm.records import BILL, Condition, Prices

#: Columns of score rows that are read.
COLUMNS = (
    "model", "experiment", "size", "id", "target", "correct", "excluded", "prompt_tokens", "response_tokens", "cluster",
    *BILL,
)  # fmt: skip
#: Fraction of its questions that a condition must have scored, because conditions are compared on their common
#: questions.
LEAST_SCORED = 0.9
#: Fraction: costs that differ by less count as equal, because orders of the same documents differ by a few tokens.
EQUAL_COST = 0.02
#: Fraction: the largest loss of an advised condition to any other.
MOST_LOST = FIVE_POINTS


@dataclass(frozen=True)
class Cell:
    """The answers of one model under one condition and number of documents.

    correct: by question id, NaN if not scored; tokens: mean prompt tokens and mean answer tokens, None if not counted;
    dollars: mean of an answer, as billed, None without prices; clusters: by question, None without.
    """

    condition: Condition
    documents: int
    correct: pd.Series
    tokens: tuple[float, float] | None
    clusters: pd.Series | None
    dollars: float | None = None

    @property
    def scored(self) -> int:
        """Number of scored questions."""
        return int(self.correct.notna().sum())


@dataclass(frozen=True)
class Difference:
    """A condition minus the best one (or another) on the same questions; worst, most: lower and upper limit of an
    interval corrected for all comparisons (Bonferroni).
    """

    estimate: Estimate
    worst: float
    most: float
    p_value: float
    only_first: int
    only_second: int


@dataclass(frozen=True)
class Compared:
    """Conditions of one model and study on the questions that all of them scored.

    correct: (questions, conditions), 1 if right; clusters: one number per question, None without; left_out: cells with
    too few scored questions; price: US dollars per million tokens of prompts and of answers, None if unknown.
    """

    model: str
    study: str
    cells: tuple[Cell, ...]
    correct: np.ndarray
    clusters: np.ndarray | None
    left_out: tuple[Cell, ...]
    n_left_out: int
    price: Mapping[str, float] | None

    @property
    def n(self) -> int:
        """Number of questions."""
        return len(self.correct)

    @cached_property
    def accuracies(self) -> list[Estimate]:
        """Accuracies of the conditions, with 95 % intervals."""
        found = []
        for column in self.correct.T:
            low, high = clustered_interval(column, self.clusters)
            found.append(Estimate(float(column.mean()), low, high, 0.0))
        return found

    def dollars(self, index: int) -> float | None:
        """Dollars per question under a condition, None if unknown."""
        return self.cells[index].dollars

    @cached_property
    def unit(self) -> str:
        """Unit of costs: `dollars`, `tokens`, or `documents` if tokens were not counted."""
        if any(cell.tokens is None for cell in self.cells):
            return "documents"
        return "dollars" if self.price and sum(self.price.values()) > 0 else "tokens"

    @cached_property
    def costs(self) -> list[float]:
        """Cost per question under each condition, in `unit`."""
        if self.unit == "documents":
            return [float(cell.documents) for cell in self.cells]
        if self.unit == "dollars":
            return [float(self.dollars(index) or 0) for index in range(len(self.cells))]
        return [sum(cell.tokens or ()) for cell in self.cells]

    @cached_property
    def best(self) -> int:
        """The condition with the most right answers; of equal ones the cheapest."""
        return min(range(len(self.cells)), key=lambda index: (-self.correct[:, index].sum(), self.costs[index], index))

    def difference(self, first: int, second: int) -> Difference:
        """One condition minus another."""
        pair, comparisons = self.correct[:, [first, second]], max(1, len(self.cells) - 1)
        corrected = contrast_interval(pair, [1, -1], self.clusters, 1 - SIGNIFICANT / comparisons)
        return Difference(
            estimate=contrast_interval(pair, [1, -1], self.clusters),
            worst=corrected.low,
            most=corrected.high,
            p_value=paired_p(pair, self.clusters),
            only_first=int((pair[:, 0] > pair[:, 1]).sum()),
            only_second=int((pair[:, 1] > pair[:, 0]).sum()),
        )

    @cached_property
    def to_best(self) -> dict[int, Difference]:
        """Every other condition minus the best one."""
        return {index: self.difference(index, self.best) for index in range(len(self.cells)) if index != self.best}

    @cached_property
    def p_holm(self) -> dict[int, float]:
        """The p values of `to_best`, corrected over all of them."""
        corrected = holm([one.p_value for one in self.to_best.values()])
        return dict(zip(self.to_best, corrected, strict=True))

    @cached_property
    def best_set(self) -> list[int]:
        """Conditions not distinguished from the best, including the best."""
        return [index for index in range(len(self.cells)) if self.p_holm.get(index, 1.0) >= SIGNIFICANT]

    @cached_property
    def cheapest(self) -> int:
        """The cheapest of the set; among equal costs one without a reranker, then the most accurate."""
        least = min(self.costs[index] for index in self.best_set)
        equal = [index for index in self.best_set if self.costs[index] <= least * (1 + EQUAL_COST)]
        return min(equal, key=self._preference)

    @cached_property
    def most_lost(self) -> tuple[float, int]:
        """The largest possible loss of the cheapest of the set, and to which condition: the largest corrected upper
        limit of another condition minus it. (0, itself) if the set has one member.
        """
        if len(self.best_set) == 1:
            return 0.0, self.cheapest
        others = [index for index in range(len(self.cells)) if index != self.cheapest]
        limits = {index: self.difference(index, self.cheapest).most for index in others}
        # The best condition wins among equal limits.
        other = max(others, key=lambda index: (limits[index], index == self.best))
        return max(0.0, limits[other]), other

    def _preference(self, index: int) -> tuple:
        condition = self.cells[index].condition
        return bool(condition.reranker), -self.correct[:, index].sum(), len(condition.differing), self.costs[index]

    @cached_property
    def frontier(self) -> list[int]:
        """Conditions on the frontier: no other is as accurate and cheaper, or more accurate and as cheap."""
        right = self.correct.sum(axis=0)
        points = list(zip(right, self.costs, strict=True))

        def is_beaten(index: int) -> bool:
            own = points[index]
            return any(a >= own[0] and cost <= own[1] and (a, cost) != own for a, cost in points)

        return [index for index in range(len(points)) if not is_beaten(index)]


@dataclass(frozen=True)
class Verdict:
    """Whether the data support an advice, and if not, why.

    They do if every other condition is shown to be worse than the best, or if the cheapest of the set is shown to lose
    at most 5 points to any other condition (upper limits of paired differences, corrected for k - 1 comparisons). By
    the second rule, a condition that truly loses more is advised in at most 2.5 % of samples, if the intervals cover:
    its difference to the truly best one is beyond a limit of level 0.025/(k - 1), for one of at most k - 1 conditions.
    It is not enough that cheaper conditions are shown to be worse, as dearer ones may be better.

    reason: `floor`, `one condition`, `the cheapest may lose over 5 points`, or "" with an advice. needed: questions
    that show a difference of 5 points between two conditions, see `power.n_for_five_points`; None if it is irrelevant.
    """

    advised: int | None
    reason: str
    needed: int | None


def verdict(compared: Compared) -> Verdict:
    """See `Verdict`."""
    best, cheapest = compared.best, compared.cheapest
    limits = [(one.low, one.high) for one in compared.accuracies]
    counts = compared.correct.sum(axis=0).tolist()
    if limit_of([max(counts)], compared.n, [limits[best]]) == "floor":
        return Verdict(None, "floor", None)
    if len(compared.cells) == 1:
        return Verdict(None, "one condition", None)
    loses, other = compared.most_lost
    needed = None if other == cheapest else n_for_five_points(observed(compared.correct))
    if loses <= MOST_LOST:
        return Verdict(cheapest, "", needed)
    return Verdict(None, "the cheapest may lose over 5 points", needed)


# --- From scores -----------------------------------------------------------------------------------------------


def read_compared(
    scores: Iterable[pd.DataFrame], conditions: Sequence[Condition], prices: Mapping[str, Mapping | None]
) -> list[Compared]:
    """The comparison of each study and model, from score rows, one sweep at a time."""
    by_experiment = {one.experiment: one for one in conditions}
    cells: dict[tuple[str, str], list[Cell]] = {}
    for sweep in scores:
        condition = by_experiment[str(sweep["experiment"].iloc[0])]
        model = str(sweep["model"].iloc[0])
        for size in sorted(sweep["size"].unique()):
            cell = _cell(condition, int(size), sweep[sweep["size"] == size], prices.get(model))
            cells.setdefault((condition.study, model), []).append(cell)
    places = {one.experiment: place for place, one in enumerate(conditions)}
    found = []
    for (study, model), own in cells.items():
        ordered = sorted(own, key=lambda cell: (places[cell.condition.experiment], cell.documents))
        found.append(_compared(study, model, ordered, prices.get(model)))
    return found


def _cell(condition: Condition, documents: int, rows: pd.DataFrame, price: Mapping | None) -> Cell:
    grid = read_grid(rows, "target", f"{condition.experiment}, size {documents}")
    counts = rows.loc[~rows["excluded"], ["prompt_tokens", "response_tokens"]].astype("Float64")
    is_counted = len(counts) > 0 and not counts.isna().any(axis=None)
    return Cell(
        condition=condition,
        documents=documents,
        correct=pd.Series(grid.answers[CORRECT][:, 0], index=grid.ids),
        tokens=(float(counts["prompt_tokens"].mean()), float(counts["response_tokens"].mean())) if is_counted else None,
        dollars=float(Prices.of(price).of_rows(rows[~rows["excluded"]]).mean()) if is_counted and price else None,
        clusters=None if grid.clusters is None else pd.Series(grid.clusters, index=grid.ids),
    )


def _compared(study: str, model: str, cells: Sequence[Cell], price: Mapping | None) -> Compared:
    asked = max(len(cell.correct) for cell in cells)
    kept = [cell for cell in cells if cell.scored >= LEAST_SCORED * asked]
    grid = pd.DataFrame({place: cell.correct for place, cell in enumerate(kept)})
    complete = grid.dropna()
    clusters = next((cell.clusters for cell in kept if cell.clusters is not None), None)
    return Compared(
        model=model,
        study=study,
        cells=tuple(kept),
        correct=as_answers(complete.to_numpy(dtype=float)),
        clusters=None if clusters is None else np.asarray(pd.factorize(clusters.reindex(complete.index))[0]),
        left_out=tuple(cell for cell in cells if cell.scored < LEAST_SCORED * asked),
        n_left_out=len(grid) - len(complete),
        price=price,
    )
