"""Scales of positions in files from elsewhere, told by all values together."""

import pytest
from programs import refused

from litm.recorded.position_scale import (
    DEPTH,
    FROM_0,
    FROM_1,
    PERCENT,
    Positions,
    inferred_scale,
    place_of,
    position_numbers,
)

FIVE = range(5)


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        *((one, (2.0,)) for one in (2, 2.0, "2", "2.0", " 2 ", "gold_at_2", "doc_2", "Document 2", "2/5", "2 of 5")),
        *((one, (0.0, 4.0)) for one in ([0, 4], "[0, 4]", "0_4", "gold_at_0_4")), ("0.25", (0.25,)), ("2 %", (2.0,)),
        *((one, ()) for one in (None, "", "first", -1, "-1", True, [None], [], "nan", "no_gold", {"a": 1})),
    ],
)  # fmt: skip
def test_the_numbers_of_a_position_are_read_in_the_usual_forms(value, numbers):
    assert position_numbers(value) == numbers


@pytest.mark.parametrize(
    ("scale", "places"),
    [
        (FROM_0, {0: 0, 4: 4, 5: None, 1.5: None}), (FROM_1, {0: None, 1: 0, 5: 4}),
        (DEPTH, {0: 0, 0.25: 1, 1: 4, 2: None}), (PERCENT, {0: 0, 50: 2, 100: 4, 140: None}),
    ],
)  # fmt: skip
def test_a_number_is_a_position_only_if_its_scale_has_an_item_there(scale, places):
    one = Positions(5, frozenset(), frozenset())
    assert {number: place_of(number, scale, one) for number in places} == places


@pytest.mark.parametrize(
    ("recorded", "asked", "items", "scale"),
    [
        (FIVE, FIVE, 5, FROM_0), (FIVE, [0, 2, 4], 5, FROM_0), ([0, 2], FIVE, 5, FROM_0), ([0], FIVE, 5, FROM_0),
        ([1, 2, 3, 4], [1, 2, 3, 4], 5, FROM_0), ([0, 5, 10, 15], [0, 10, 19], 20, FROM_0), ([0, 1], [0, 1], 5, FROM_0),
        ([1, 2, 3, 4, 5], FIVE, 5, FROM_1), ([1, 2, 3, 4, 5], [1, 2, 3, 4], 5, FROM_1), ([2, 5], FIVE, 5, FROM_1),
        ([5, 10, 20], [4, 9, 19], 20, FROM_1), ([0, 0.5, 1], [0, 2, 4], 5, DEPTH), ([0, 0.25, 1], [1, 2], 5, DEPTH),
        ([0, 50, 100], [0, 2, 4], 5, PERCENT), ([0, 1], [0, 1], 2, FROM_0), ([0, 50, 100], [0, 50, 100], 300, FROM_0),
    ],
)  # fmt: skip
def test_the_only_scale_that_has_all_numbers_is_taken(recorded, asked, items, scale):
    one = Positions(items, frozenset(map(float, recorded)), frozenset(asked))
    assert inferred_scale([one], "a.jsonl") == scale


@pytest.mark.parametrize(
    ("recorded", "asked", "items", "said"),
    [
        ([1, 2, 3, 4], FIVE, 5, "'position_scale' to from_0 or from_1"),
        ([1, 5, 10, 15], [0, 4, 9, 14], 20, "'position_scale' to from_0 or from_1"),
        ([0, 1], FIVE, 5, "'position_scale' to from_0 or depth"),
        ([0, 25, 50, 75, 100], [0, 75, 150, 224, 299], 300, "'position_scale' to from_0 or percent"),
        ([0, 0.2, 0.4, 0.6, 0.8], FIVE, 5, "on no scale"), ([0, 5], FIVE, 5, "on no scale"),
        ([0, 0.25, 0.5, 0.75], [0, 4, 9, 14, 19], 20, "on no scale"),
        ([0, 0.2, 0.4, 0.6, 0.8, 1], FIVE, 5, "on no scale"),
    ],
)  # fmt: skip
def test_numbers_on_several_scales_or_none_are_refused(recorded, asked, items, said):
    one = Positions(items, frozenset(map(float, recorded)), frozenset(asked))
    message = refused(inferred_scale, [one], "a.jsonl")
    assert message.startswith("a.jsonl: the positions ") and said in message and len(message) < 600


@pytest.mark.parametrize("asked", [[0, 4, 9, 14, 19], [0, 5, 10, 14, 19], range(20)], ids=str)
def test_nominal_depths_from_end_to_end_are_at_the_nearest_position_that_was_asked(asked):
    one = Positions(20, frozenset([0, 0.25, 0.5, 0.75, 1]), frozenset(asked))
    assert inferred_scale([one], "a") == DEPTH
    assert [place_of(depth, DEPTH, one) for depth in sorted(one.recorded)] == (
        [*asked] if len(asked) == 5 else [0, 5, 10, 14, 19]
    )


def test_a_scale_of_depths_that_is_given_must_have_all_numbers():
    one = Positions(5, frozenset([0, 0.2, 0.4, 0.6, 0.8]), frozenset(FIVE))
    assert "on no scale" in refused(inferred_scale, [one], "a", DEPTH)
    ends = Positions(5, frozenset([0.0, 1.0]), frozenset(FIVE))
    assert [inferred_scale([ends], "a", scale) for scale in (FROM_0, FROM_1, DEPTH)] == [FROM_0, FROM_1, DEPTH]


def test_depths_whose_scale_is_given_need_no_ends_if_they_are_all_positions_that_were_asked():
    one = Positions(20, frozenset([0.1, 0.5, 0.9]), frozenset([2, 10, 17]))
    assert inferred_scale([one], "a", DEPTH) == DEPTH and "on no scale" in refused(inferred_scale, [one], "a")
    assert [place_of(depth, DEPTH, one) for depth in sorted(one.recorded)] == [2, 10, 17]


def test_a_given_scale_of_depths_is_not_replaced_by_another_in_silence():
    one = Positions(5, frozenset([0.0, 2.0, 4.0]), frozenset([0, 2, 4]))
    for scale in (DEPTH, PERCENT):
        assert "without it they are counted from 0" in refused(inferred_scale, [one], "a", scale)


def test_the_sizes_of_a_file_have_one_scale():
    """The positions among ten do not tell, those among five do."""
    five, ten = (Positions(size, frozenset([1.0, 3.0, 5.0]), frozenset([0, 2, 4])) for size in (5, 10))
    assert inferred_scale([five, ten], "a") == FROM_1 and "from_0 or from_1" in refused(inferred_scale, [ten], "a")
