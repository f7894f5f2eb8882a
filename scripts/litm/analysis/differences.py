"""Paired differences between conditions, sizes and models: rows of condition_differences, bias_by_size,
model_differences and model_pairs.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from litm.analysis.grid import (
    CELL,
    CORRECT,
    FIRST_LINE,
    FULL,
    NOWHERE,
    CurveGrid,
    Files,
    Grid,
    Grids,
    difference_columns,
    interval_columns,
    joined,
    limits,
    place_means,
    place_weights,
    read_grid,
    read_grids,
)
from litm.analysis.pbi import CONTRASTS, PLACES, unlike_places
from litm.analysis.significance import SIGNIFICANT, changes_sign, difference_in_words, paired_p, with_holm
from litm.analysis.statistics import (
    Estimate,
    as_answers,
    contrast_interval,
    gap_difference,
    moments,
    pooled_contrast,
    separate_difference,
)
from litm.base.messages import ordinal, percent
from litm.base.table_files import by_cell
from litm.records.conditions import MODEL, ORACLE, REFERENCE_TASKS, SIZE, Comparison

if TYPE_CHECKING:
    from litm.tables.accuracy import ModelPairsRow
    from litm.tables.differences import ConditionDifferencesRow, ModelDifferencesRow
    from litm.tables.sizes import BiasBySizeRow

ACCURACY, MEAN, GAP = "accuracy", "mean accuracy", "best-worst gap"
#: Columns of a place.
Columns = tuple[int, ...]
#: Contrasts of start, middle and end that are compared.
BIAS = ("primacy", "recency", "pbi")


@dataclass(frozen=True)
class Contrast:
    """Places in both grids, each with its columns, and their weights: the quantity of a side is the sum of weight times
    accuracy.

    For `GAP` it is the best minus the worst accuracy of the places instead.
    """

    quantity: str
    """`ACCURACY`, `MEAN`, `GAP` or one of `BIAS`."""
    place: str
    """The place in words, "" for a contrast of several."""
    a: Sequence[Columns]
    """Columns of each place in the grid of side a."""
    b: Sequence[Columns]
    """Columns of the same places in the grid of side b."""
    weights: list[float]
    """Weight of each place."""
    chosen_of: int = 1
    """Number of positions among which the place was chosen for its best or worst accuracy; 1 if it was not chosen."""


def condition_difference_rows(
    grids: Grids, comparisons: Iterable[Comparison], tuned: Iterable[Sequence[str]]
) -> "Iterator[ConditionDifferencesRow]":
    """One row per model, comparison, size and place; for curves also the quantities of `_contrasts`.

    comparisons: of experiments, for each model that has both. tuned: (tuned model, base model), compared in each
    experiment that both have. Equal positions are matched; otherwise start, middle and end, see `_contrasts`. All
    values are computed on the questions that both sides scored there. `p_holm` is corrected over a family: all
    accuracies, or all contrasts, of one comparison and model. Two sides without a common question have one row with a
    sentence.
    """
    models = list(dict.fromkeys(model for model, _, _ in grids))
    for comparison in comparisons:
        for model in models:
            yield from _family(comparison, _pairs(grids, comparison, model, model))
    for tuned_model, base in tuned:
        for experiment in dict.fromkeys(name for model, name, _ in grids if model == tuned_model):
            comparison = Comparison(MODEL, experiment, experiment, tuned_model, base)
            yield from _family(comparison, _pairs(grids, comparison, tuned_model, base))


def _pairs(grids: Grids, comparison: Comparison, model_a: str, model_b: str) -> list[tuple[CurveGrid, CurveGrid]]:
    """Pairs of grids to compare, size by size."""
    a, b = (
        [grid for (of_model, of_experiment, _), grid in grids.items() if (of_model, of_experiment) == side]
        for side in ((model_a, comparison.experiment_a), (model_b, comparison.experiment_b))
    )
    if comparison.condition == SIZE:
        return [(larger, smaller) for smaller, larger in combinations(sorted(a, key=lambda grid: grid.size), 2)]
    if comparison.condition in REFERENCE_TASKS:
        return [(grid, reference) for grid in a for reference in b]
    sizes = comparison.sizes
    return [(grid, other) for grid in a for other in b if grid.size == other.size and (not sizes or grid.size in sizes)]


def _family(
    comparison: Comparison, pairs: Sequence[tuple[CurveGrid, CurveGrid]]
) -> "Iterator[ConditionDifferencesRow]":
    """Rows of one comparison and model with corrected p values; accuracies and contrasts are separate families."""
    rows = [row for a, b in pairs for row in _rows(comparison, a, b)]
    for name, are_levels in (("accuracy", True), ("position bias", False)):
        family = [
            row
            for row in rows
            if row["p_value"] is not None
            and row["chosen_of"] == 1
            and (row["quantity"] in (ACCURACY, MEAN)) == are_levels
        ]
        for row in with_holm(family):
            row["family"] = f"{len(family)} of {name}, this comparison and model"
    for row in rows:
        if row["p_value"] is not None and row["chosen_of"] > 1:
            row["p_holm"] = min(1.0, row["chosen_of"] * row["p_value"])
            row["family"] = f"the {row['chosen_of']} positions that it was chosen among"
    return ({**row, "in_words": _in_words(row)} for row in rows)


def _rows(comparison: Comparison, a: CurveGrid, b: CurveGrid) -> "Iterator[ConditionDifferencesRow]":
    condition = comparison.condition
    # Without a differing key a setting is the size or the experiment.
    settings = [
        str(grid.size) if condition == SIZE else setting or grid.names["experiment"]
        for grid, setting in ((a, comparison.setting_a), (b, comparison.setting_b))
    ]
    names: ConditionDifferencesRow = {
        "condition": condition,
        "metric": ", ".join(dict.fromkeys(grid.names["metric"] for grid in (a, b))),
        "setting_a": settings[0],
        "model_a": a.names["model"],
        "experiment_a": a.names["experiment"],
        "size_a": a.size,
        "setting_b": settings[1],
        "model_b": b.names["model"],
        "experiment_b": b.names["experiment"],
        "size_b": b.size,
    }
    both = joined(a, b)
    if both.ids.empty:
        yield {
            **names,
            "quantity": ACCURACY,
            "n": 0,
            "n_scored_only_a": len(a.ids),
            "n_scored_only_b": len(b.ids),
            "p_value": None,
            "chosen_of": 1,
        }
        return
    for contrast in _contrasts(condition, a, b):
        yield {**names, **_row(contrast, a, b, both)}


# --- What is compared ------------------------------------------------------------------------------------------


def _contrasts(condition: str, a: CurveGrid, b: CurveGrid) -> Iterator[Contrast]:
    """Contrasts at equal positions, or at start, middle and end if sizes differ or no position is equal.

    Curves also have the mean of these places and, with a middle, primacy, recency and PBI; those of a tuned and a base
    model also the best-worst gap. A reference of one cell is compared with every position, and with the best (oracle)
    or the worst (closed book).
    """
    if condition in REFERENCE_TASKS:
        yield from _against_reference(condition, a, b)
        return
    places = _matched(a, b)
    for name, (columns_a, columns_b) in places.items():
        yield Contrast(ACCURACY, name, [columns_a], [columns_b], [1.0])
    if len(places) < 2:
        return
    of_a, of_b = ([columns[side] for columns in places.values()] for side in (0, 1))
    shares = [1 / len(places)] * len(places)
    yield Contrast(MEAN, f"mean of {len(places)} places", of_a, of_b, shares)
    if condition == MODEL:
        yield Contrast(GAP, f"of {len(places)} places", of_a, of_b, shares)
    if a.has_middle and b.has_middle:
        for name in BIAS:
            used = {place: weight for place, weight in zip(PLACES, CONTRASTS[name], strict=True) if weight}
            of_a, of_b = ([grid.places[place] for place in used] for grid in (a, b))
            yield Contrast(name, "", of_a, of_b, [*used.values()])


def _matched(a: CurveGrid, b: CurveGrid) -> dict[str, tuple[Columns, Columns]]:
    """Columns of a and b at each common place."""
    shared = [position for position in a.positions if position in b.positions]
    if a.size == b.size and shared:
        return {
            _place(position): ((a.positions.index(position),), (b.positions.index(position),)) for position in shared
        }
    if len(a.positions) == len(b.positions) == 1:
        return {"": ((0,), (0,))}
    return {name: (columns, b.places[name]) for name, columns in a.places.items() if name in b.places}


def _place(position: int) -> str:
    return "" if position == NOWHERE else ordinal(position + 1)


def _against_reference(condition: str, a: CurveGrid, b: CurveGrid) -> Iterator[Contrast]:
    """The reference is side b, or side a where a notebook asks for that order."""
    is_first = a.names["task"] == REFERENCE_TASKS[condition]
    curve = b if is_first else a
    columns = [(column,) for column in range(len(curve.positions))]
    sides = [([(0,)], [place]) if is_first else ([place], [(0,)]) for place in columns]
    for position, side in zip(curve.positions, sides, strict=True):
        yield Contrast(ACCURACY, _place(position), *side, [1.0])
    if len(sides) > 1 and not curve.cases.ids.empty:
        best, right = condition == ORACLE, curve.cases.right.sum(axis=0)
        column = int(right.argmax() if best else right.argmin())
        word = f"{'best' if best else 'worst'}: {_place(curve.positions[column])}"
        yield Contrast(ACCURACY, word, *sides[column], [1.0], chosen_of=len(sides))


# --- One difference --------------------------------------------------------------------------------------------


def _row(contrast: Contrast, a: CurveGrid, b: CurveGrid, both: Grid) -> "ConditionDifferencesRow":
    of_b = [tuple(len(a.columns) + column for column in columns) for columns in contrast.b]
    shared = both.at([*contrast.a, *of_b])
    n = len(shared.ids)
    row: ConditionDifferencesRow = {
        "quantity": contrast.quantity,
        "place": contrast.place,
        "chosen_of": contrast.chosen_of,
        "n": n,
        "n_scored_only_a": len(a.at(contrast.a).ids) - n,
        "n_scored_only_b": len(b.at(contrast.b).ids) - n,
        "position_a": _position(a, contrast.a),
        "position_b": _position(b, contrast.b),
        "p_value": None,
    }
    if not n:
        return row
    matrices = {reading: as_answers(grid) for reading, grid in shared.answers.items()}
    confidence = 1 - SIGNIFICANT / contrast.chosen_of
    matrix, width, codes = shared.matrix, len(contrast.a), shared.clusters
    means = matrix.mean(axis=0).reshape(2, -1)
    if contrast.quantity == GAP:
        gaps = {
            name: gap_difference(answers, codes) for name, answers in (matrices | {CORRECT: shared.measured}).items()
        }
        estimates, p = {name: estimate for name, (estimate, _) in gaps.items()}, gaps[CORRECT][1]
        values = np.ptp(shared.right.mean(axis=0).reshape(2, -1), axis=1)
    else:
        weights = [*contrast.weights, *(-weight for weight in contrast.weights)]
        estimates = {name: contrast_interval(answers, weights, codes, confidence) for name, answers in matrices.items()}
        p = paired_p(matrix, codes) if width == 1 else moments(matrix, weights, codes).p_value
        values = means @ contrast.weights
        # The mean of two answers has no label, so these are of single columns.
        places = [*contrast.a, *of_b]
        whole, by_column = both.complete([*chain(*places)]), place_weights(places, weights)
        if whole.labelled is not None:
            corrected, products = whole.contrast(by_column), whole.right.mean(axis=0) * by_column
            estimates[CORRECT], p = corrected.estimate(confidence), corrected.p_value
            of_a = sum(map(len, contrast.a))
            values = np.array([products[:of_a].sum(), -products[of_a:].sum()])
    return {
        **row,
        "n_clusters": None if codes is None else int(codes.max()) + 1,
        "value_a": float(values[0]),
        "value_b": float(values[1]),
        **interval_columns("difference", estimates[CORRECT]),
        "p_value": p,
        **interval_columns("difference_first_line", estimates[FIRST_LINE]),
        **interval_columns("difference_full", estimates[FULL]),
        "changes_with_reading": changes_sign(estimates[FIRST_LINE], estimates[FULL]),
    }


def _position(grid: CurveGrid, places: Sequence[Columns]) -> int | None:
    """The position of a single place of one column; None where it is none."""
    position = grid.positions[places[0][0]] if [*map(len, places)] == [1] else NOWHERE
    return None if position == NOWHERE else position


def _in_words(row: Mapping) -> str:
    """The conclusion of a row after the correction, in words."""
    if not row["n"]:
        return "no question in common, not compared"
    words = difference_in_words(row["difference"], row["p_holm"])
    unmatched = row["n_scored_only_a"] + row["n_scored_only_b"]
    if unmatched:
        words += f"; {unmatched:,} questions of one side alone left out"
    if row["changes_with_reading"]:
        words += "; depends on how much of the answer is read"
    return words


def bias_by_size_rows(grids: Grids) -> "Iterator[BiasBySizeRow]":
    """A row for each size of a model and experiment except the smallest, which it is compared with.

    Sizes of one experiment with the same questions are compared question by question, with `contrast_interval`. Others
    have questions of their own, see `separate_difference`. `SIGNIFICANT` is the chance that `in_words` reports a
    difference of any model and size of an experiment where none differs.
    """
    groups: dict[tuple[str, str], dict[int, CurveGrid]] = {}
    for (model, experiment, size), grid in grids.items():
        if grid.has_middle:
            groups.setdefault((model, experiment), {})[size] = grid
    family: Counter[str] = Counter()
    for (_, experiment), sizes in groups.items():
        family[experiment] += len(sizes) - 1
    for (model, experiment), sizes in groups.items():
        smallest, *larger = sorted(sizes)
        for size in larger:
            yield {
                "model": model,
                "experiment": experiment,
                "size": size,
                "size_smallest": smallest,
                **_size_row(sizes[size], sizes[smallest], 1 - SIGNIFICANT / family[experiment]),
            }


def _size_row(grid: CurveGrid, smallest: CurveGrid, confidence: float) -> "BiasBySizeRow":
    """The comparison of a size with the smallest; without numbers where a side has no complete question."""
    cases, smallest_cases = (curve.complete([*chain(*curve.places.values())]) for curve in (grid, smallest))
    both, many = joined(cases, smallest_cases), len(cases.columns)
    if is_paired := not both.ids.empty:
        cases, smallest_cases = both.complete(range(many)), both.complete(range(many, len(both.columns)))
    row: BiasBySizeRow = {"is_paired": is_paired, "n": len(cases.ids), "n_smallest": len(smallest_cases.ids)}
    if cases.ids.empty or smallest_cases.ids.empty:
        return {**row, "in_words": "no question scored at start, middle and end, not compared"}

    def difference(contrast: str, confidence: float = 0.95) -> Estimate:
        of_grid, of_smallest = (place_weights(curve.places.values(), CONTRASTS[contrast]) for curve in (grid, smallest))
        if is_paired:
            return both.contrast(np.concatenate([of_grid, -of_smallest])).estimate(confidence)
        sides = (cases.contrast(of_grid), smallest_cases.contrast(of_smallest))
        return separate_difference(*(side.estimate(confidence) for side in sides))

    bias: dict = {}
    for name in BIAS:
        bias[name], bias[f"{name}_smallest"] = (
            float(side.right.mean(axis=0) @ place_weights(curve.places.values(), CONTRASTS[name]))
            for side, curve in ((cases, grid), (smallest_cases, smallest))
        )
        bias |= interval_columns(f"difference_{name}", difference(name))
    words = _bias_in_words(difference("pbi", confidence)), unlike_places(grid.depths, smallest.depths)
    return {**row, **bias, "in_words": "; ".join(filter(None, words))}


def _bias_in_words(difference: Estimate) -> str:
    if difference.low <= 0 <= difference.high:
        return "not shown to differ"
    side = "higher" if difference.value > 0 else "lower"
    return f"PBI {percent(abs(difference.value))} points {side} than at the smallest size"


# --- Models: cells, and all sizes of an experiment -------------------------------------------------------------

#: Place of an accuracy that is the mean of all positions of a size.
ALL = "all"
#: Grids of one model and experiment by size.
Sizes = Mapping[int, CurveGrid]


def model_difference_rows(scores: pd.DataFrame) -> "list[ModelDifferencesRow]":
    """One row per pair of models and cell, on the questions scored for both; scores: rows of any sweeps.

    `difference` is accuracy_a - accuracy_b;
    `p_holm` is corrected over the pairs of models of the cell. Without a common question all values except counts are
    None. Raises `UserError` for a question that occurs twice in a cell.
    """
    return [row for names, group in by_cell(scores, CELL) for row in with_holm(_model_pairs(names, group))]


def _model_pairs(names: dict, group: pd.DataFrame) -> "Iterator[ModelDifferencesRow]":
    grid = read_grid(group, "model")
    n_scored = grid.scored.sum(axis=0).tolist()
    for a, b in combinations(range(len(grid.columns)), 2):
        both = grid.complete([a, b])
        n = len(both.ids)
        row: ModelDifferencesRow = {
            **names,
            "model_a": grid.columns[a],
            "model_b": grid.columns[b],
            "n": n,
            "n_scored_only_a": n_scored[a] - n,
            "n_scored_only_b": n_scored[b] - n,
        }
        yield {**row, **difference_columns(both)} if n else row


def model_pair_rows(
    grids: Grids, is_compared: Callable[[str, str], bool] = lambda a, b: True
) -> "Iterator[ModelPairsRow]":
    """Rows of each pair of models and experiment, experiments in the order of the grids.

    is_compared: whether the rows, and so the corrections, include a pair.

    A row is a difference a - b of one quantity on the questions that both models scored at all positions, as the mean
    over the sizes that both have: those with a middle for start, middle and end, and for primacy, recency and PBI those
    where neither curve is at the floor, at the ceiling, empty or of too few questions. Sizes with the same questions
    are compared question by question; others are independent. `p_holm` is corrected over all accuracies, and over all
    of primacy, recency and PBI, of the experiment.
    """
    by_experiment: dict[str, dict[str, dict[int, CurveGrid]]] = {}
    for (model, experiment, size), grid in grids.items():
        by_experiment.setdefault(experiment, {}).setdefault(model, {})[size] = grid
    for experiment, models in by_experiment.items():
        telling = {model: {size for size, grid in by_size.items() if _tells(grid)} for model, by_size in models.items()}
        rows: list[ModelPairsRow] = [
            {"experiment": experiment, "model_a": a, "model_b": b, **row}
            for a, b in combinations(models, 2)
            if is_compared(a, b)
            for row in _pair_rows(models[a], models[b], telling[a] & telling[b])
        ]
        for is_bias in (False, True):
            for row in with_holm(row for row in rows if (row["quantity"] in BIAS) == is_bias):
                row["in_words"] = difference_in_words(row["difference"], row["p_holm"])
        yield from rows


def _tells(grid: CurveGrid) -> bool:
    """Whether a curve has a PBI that carries information, at all positions or at start, middle and end."""
    if grid.cases.ids.empty or (weights := grid.weights("pbi")) is None:
        return False
    return not (grid.missing_information or grid.cases.limit(np.flatnonzero(weights)))


def _pair_rows(a: Sizes, b: Sizes, telling: Container[int]) -> "Iterator[ModelPairsRow]":
    """telling: sizes for primacy, recency and PBI."""
    common = [size for size in sorted(a) if size in b and a[size].positions == b[size].positions]
    common = [size for size in common if not a[size].cases.ids.intersection(b[size].cases.ids).empty]
    with_middle = [size for size in common if a[size].has_middle]
    yield from _mean_rows(a, b, common, [(ACCURACY, ALL)])
    yield from _mean_rows(a, b, with_middle, [(ACCURACY, place) for place in PLACES])
    yield from _mean_rows(a, b, [size for size in common if size in telling], [(name, "") for name in BIAS])


def _mean_rows(a: Sizes, b: Sizes, sizes: Sequence[int], named: Iterable[tuple[str, str]]) -> "Iterator[ModelPairsRow]":
    """Rows of each quantity and place, as means over these sizes; none without a size."""
    if not sizes:
        return
    shared = joined(*(curves[size].cases for curves in (a, b) for size in sizes))
    is_paired = not shared.ids.empty
    groups = [sizes] if is_paired else [[size] for size in sizes]
    parts = [shared] if is_paired else [joined(a[size].cases, b[size].cases) for size in sizes]
    asked = [a[size].ids.union(b[size].ids) for size in sizes]
    n = sum(len(part.ids) for part in parts)
    left_out = (len(asked[0].append(asked[1:]).unique()) if is_paired else sum(map(len, asked))) - n
    about: ModelPairsRow = {
        "size": sizes[0] if len(sizes) == 1 else None,
        "n_sizes": len(sizes),
        "is_paired": is_paired,
        "n": n,
        "n_left_out": left_out,
    }
    for quantity, place in named:
        weights = [
            np.concatenate([_weights(a[size], quantity, place) for size in group]) / len(group) for group in groups
        ]
        yield {**about, "quantity": quantity, "place": place, **_difference(parts, weights)}


def _weights(grid: CurveGrid, quantity: str, place: str) -> np.ndarray:
    """The weight of each position in a quantity; place: of an accuracy."""
    if quantity in BIAS:
        return np.asarray(grid.weights(quantity))
    columns = range(len(grid.positions)) if place == ALL else grid.places[place]
    return place_means(np.eye(len(grid.positions)), [columns])[:, 0]


def _difference(parts: Sequence[Grid], weights: Sequence[np.ndarray]) -> "ModelPairsRow":
    both = [np.concatenate([weight, -weight]) for weight in weights]
    pooled = pooled_contrast([part.contrast(weight) for part, weight in zip(parts, both, strict=True)])
    values = np.mean(
        [part.right.mean(axis=0).reshape(2, -1) @ weight for part, weight in zip(parts, weights, strict=True)], axis=0
    )
    estimate = pooled.estimate()
    return {
        "value_a": float(values[0]),
        "value_b": float(values[1]),
        "difference": estimate.value,
        **limits(estimate),
        "p_value": pooled.p_value,
    }


# --- Tables ----------------------------------------------------------------------------------------------------


def condition_differences_table(
    condition_scores: Files, comparisons: Sequence[Mapping], tuned_models: Sequence
) -> "Iterator[ConditionDifferencesRow]":
    """One row per comparison, model, size and place: comparisons in their order, then tuned models."""
    grids = read_grids(condition_scores.scores())
    return condition_difference_rows(grids, map(Comparison.from_json, comparisons), tuned_models)


def bias_by_size_table(sized_scores: Files) -> "Iterator[BiasBySizeRow]":
    """A row a model, experiment and size, in the order of the score files."""
    return bias_by_size_rows(read_grids(sized_scores.scores()))


def model_differences_table(compared_scores: Files) -> "list[ModelDifferencesRow]":
    """One row per pair of models and cell, experiment by experiment in the order of the score files."""
    rows = (row for scores in compared_scores.by_experiment() for row in model_difference_rows(scores))
    return with_holm(rows, "p_value", "p_holm_all")


def model_pairs_table(model_scores: Files) -> "Iterator[ModelPairsRow]":
    """Rows of each experiment, pair of models, quantity and place, in the order of the score files."""
    return model_pair_rows(read_grids(model_scores.scores()))
