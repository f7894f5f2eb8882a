"""Pairs of models over all sizes of an experiment."""

import numpy as np
import pandas as pd
import pytest
from score_frames import assert_plain, of_matrix, random_matrix

from litm.analysis.differences import model_pair_rows
from litm.analysis.grid import read_grids
from litm.analysis.significance import holm
from litm.analysis.statistics import contrast_interval, moments, pooled_contrast
from litm.tables.table import tables

TABLE = tables()["model_pairs"]

SIZES = {10: (0, 4, 9), 20: (0, 9, 19)}
U, EVEN = (0.9, 0.4, 0.9), (0.9, 0.7, 0.9)


def sweep(model: str, accuracies, own_questions: bool = False, sizes=SIZES, seed: int = 0) -> pd.DataFrame:
    frames = []
    for size, positions in sizes.items():
        frame = of_matrix(random_matrix(accuracies, 200, seed + size), positions, size=size, model=model)
        frames.append(frame.assign(id=frame["id"] + f"/{size}") if own_questions else frame)
    return pd.concat(frames, ignore_index=True)


def rows_of(*sweeps: pd.DataFrame) -> dict[tuple[str, str], dict]:
    rows = list(model_pair_rows(read_grids(sweeps)))
    return {(row["quantity"], row["place"]): row for row in rows}


def right(scores: pd.DataFrame, size: int) -> np.ndarray:
    of_size = scores[scores["size"] == size].astype({"correct": int})
    return of_size.pivot(index="id", columns="position", values="correct").to_numpy()


@pytest.mark.parametrize("own_questions", [False, True])
def test_each_place_and_contrast_is_the_mean_over_the_sizes(own_questions):
    a, b = sweep("a", U, own_questions), sweep("b", EVEN, own_questions, seed=5)
    rows = rows_of(a, b)
    assert list(rows) == [
        *(("accuracy", place) for place in ("all", "start", "middle", "end")),
        *((name, "") for name in ("primacy", "recency", "pbi")),
    ]
    middle = np.mean([right(a, size)[:, 1].mean() - right(b, size)[:, 1].mean() for size in SIZES])
    assert rows["accuracy", "middle"]["difference"] == pytest.approx(middle)
    assert rows["accuracy", "middle"]["in_words"].endswith("points lower")
    assert rows["pbi", ""]["in_words"].endswith("higher") and rows["accuracy", "start"]["p_holm"] > 0.05
    for row in rows.values():
        assert (row["n"], row["is_paired"]) == ((400, False) if own_questions else (200, True))
        assert (row["n_left_out"], row["n_sizes"]) == (0, 2)
        assert row["difference"] == pytest.approx(row["value_a"] - row["value_b"])
        assert row["ci_low"] < row["difference"] < row["ci_high"]
        assert (row["p_value"] < 0.05) == (row["ci_low"] > 0 or row["ci_high"] < 0)
        assert_plain(row)
        assert set(row) == set(TABLE.columns)


def test_a_single_size_has_the_interval_and_the_p_of_its_contrast():
    a, b = sweep("a", U, sizes={10: (0, 4, 9)}), sweep("b", EVEN, sizes={10: (0, 4, 9)})
    row = rows_of(a, b)["accuracy", "middle"]
    pair = np.column_stack([right(a, 10)[:, 1], right(b, 10)[:, 1]])
    plain = contrast_interval(pair, [1, -1], None)
    assert (row["size"], row["ci_low"], row["ci_high"]) == (10, pytest.approx(plain.low), pytest.approx(plain.high))
    assert row["p_value"] == pytest.approx(moments(pair, [1, -1]).p_value)


def test_accuracies_and_bias_are_corrected_as_families_of_the_experiment():
    rows = list(model_pair_rows(read_grids([sweep(m, U, seed=seed) for m, seed in (("a", 0), ("b", 3), ("c", 6))])))
    for is_bias in (False, True):
        family = [row for row in rows if (row["quantity"] != "accuracy") == is_bias]
        assert len(family) == (9 if is_bias else 12)
        assert [row["p_holm"] for row in family] == holm([row["p_value"] for row in family])


# Answers that are all wrong, and all right.
@pytest.mark.parametrize("limit", [-1, 2])
def test_models_at_the_floor_or_the_ceiling_are_compared_in_accuracy_alone(limit):
    a, b, at_limit = sweep("a", U), sweep("b", EVEN, seed=5), sweep("limit", (limit,) * 3)
    rows = list(model_pair_rows(read_grids([a, b, at_limit])))
    assert {row["quantity"] for row in rows if row["model_b"] == "limit"} == {"accuracy"}
    assert [row["p_holm"] for row in rows if row["quantity"] == "pbi"] == [rows_of(a, b)["pbi", ""]["p_holm"]]


TEN, TWENTY, FIVE = (0, 4, 9), (0, 9, 19), (0, 10, 19, 30, 39)
FLOOR, HALF, NOT_FITTING = (-1, -1, -1), (0.6, 0.6, 0.6), (0, 0, 0)


@pytest.mark.parametrize(
    ("a", "b", "sizes"),
    [
        # With the 0 of size 10, a has the smaller index.
        ({(10, TEN): (2, 2, 2), (20, TWENTY): (0.9, 0.2, 0.9)}, {(10, TEN): U, (20, TWENTY): U}, (2, 2, 1)),
        ({(10, TEN): HALF, (20, TWENTY): FLOOR}, {(20, TWENTY): U}, (1, 1, 0)),
        ({(10, TEN): FLOOR, (20, TWENTY): NOT_FITTING}, {(10, TEN): U, (20, TWENTY): U}, (1, 1, 0)),
        ({(40, FIVE): (-1, 0.6, -1, 0.6, -1)}, {(40, FIVE): (0.9, 0.6, 0.2, 0.6, 0.9)}, (1, 1, 0)),
        ({(20, (0, 5, 9)): U, (40, (0, 20, 39)): U}, {(20, (0, 5, 9)): EVEN, (40, (0, 20, 39)): EVEN}, (2, 1, 1)),
    ],
    ids=["one at the ceiling", "the common one at the floor", "one too long", "floor at three", "one without an end"],
)
def test_each_quantity_is_the_mean_over_the_common_sizes_that_show_it(a, b, sizes):
    rows = rows_of(
        *(
            pd.concat(sweep(m, some, sizes=dict([at])).assign(excluded=some == NOT_FITTING) for at, some in of.items())
            for m, of in (("a", a), ("b", b))
        )
    )
    places = ("accuracy", "all"), ("accuracy", "middle"), ("pbi", "")
    assert tuple(rows[one]["n_sizes"] if one in rows else 0 for one in places) == sizes
    # The steeper U is a's.
    assert sizes[2] == 0 or rows["pbi", ""]["difference"] > 0.1


def test_only_questions_scored_for_both_models_everywhere_count():
    a, b = sweep("a", U), sweep("b", EVEN)
    missing = (a["id"].isin(["q0", "q1"]) & (a["position"] == 0)) | (a["id"] == "q2")
    rows = rows_of(a[~missing], b)
    assert {(row["n"], row["n_left_out"]) for row in rows.values()} == {(197, 3)}
    assert rows_of(a[a["id"] == "q0"], b[b["id"] == "q1"]) == {}


def test_without_a_middle_only_the_accuracy_over_all_positions_is_compared():
    a, b = sweep("a", (0.9, 0.5), sizes={2: (0, 1)}), sweep("b", (0.9, 0.9), sizes={2: (0, 1)})
    assert list(rows_of(a, b)) == [("accuracy", "all")]


def test_the_pooled_interval_of_sizes_with_other_questions_covers():
    rng, truth, covered = np.random.default_rng(1), 0.1, 0
    for _ in range(400):
        parts = [
            (rng.random((n, 2)) < (first, first - truth)).astype(int) for n, first in ((40, 0.9), (60, 0.6), (50, 0.3))
        ]
        estimate = pooled_contrast([moments(part, [1, -1]) for part in parts]).estimate()
        covered += estimate.low <= truth <= estimate.high
    assert covered / 400 > 0.92


def test_a_size_in_doubt_is_not_compared():
    a, b = sweep("a", U), sweep("b", EVEN)
    doubtful = a.assign(doubt=a["size"].map({20: "error"}).astype("string"))
    assert {row["size"] for row in rows_of(doubtful, b).values()} == {10}
