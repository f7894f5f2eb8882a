"""Placements: words for positions of gold items."""

import pytest

from litm.base.messages import UserError
from litm.placements import (
    depth_of,
    depth_placement,
    gold_depths,
    gold_placement,
    gold_places,
    gold_positions,
    positions_for,
)


def test_depth_goes_from_zero_to_one():
    assert [depth_of(position, 5) for position in range(5)] == [0, 0.25, 0.5, 0.75, 1]
    assert depth_of(0, 1) == 0


def test_positions_and_depths_are_read_back_from_the_word():
    assert gold_placement([0, 149]) == "gold_at_0_149" and gold_positions("gold_at_0_149") == (0, 149)
    assert depth_placement([0, 0.125, 1.0]) == "gold_at_depth_0_0.125_1"
    assert gold_depths("gold_at_depth_0_0.125_1") == (0, 0.125, 1)
    assert gold_places("gold_at_7") == (7,) and gold_places("gold_at_depth_0.5") == (0.5,)
    assert gold_positions("gold_at_depth_0.5") == gold_depths("gold_at_7") == gold_places("no_gold") == ()
    assert gold_depths("gold_at_depth_1.5") == ()
    assert depth_placement([1e-5, 0.9999999]) == "gold_at_depth_0.00001_1"


def test_a_depth_becomes_the_nearest_position_and_a_position_stays():
    assert [positions_for(f"gold_at_depth_{depth}", 101) for depth in ("0", "0.25", "0.5", "1")] == [
        "gold_at_0", "gold_at_25", "gold_at_50", "gold_at_100"
    ]  # fmt: skip
    assert positions_for("gold_at_depth_0_0.5_1", 4) == "gold_at_0_2_3"
    assert positions_for("gold_at_3", 100) == "gold_at_3" and positions_for("no_gold", 0) == "no_gold"


def test_two_gold_items_never_share_a_position():
    with pytest.raises(UserError, match="in a context of 4 items two gold items would be at the same position"):
        positions_for("gold_at_depth_0.5_0.6", 4)
