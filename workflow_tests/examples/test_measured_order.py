"""The measured order: what follows from a known curve, held out questions, a reader without an effect of position."""

from random import Random

import pandas as pd
import pytest
from scipy.stats import binomtest

from litm.base.messages import UserError
from litm.base.table_files import write_parquet
from litm.examples.examples import choose_questions
from litm.examples.measured_order import best_where_highest, curve_over, is_held_out, read_curve
from litm.examples.orders import in_order
from litm.examples.task import ExampleSettings
from litm.placements import depth_of
from litm.records.questions import Question


def score_rows(right, size=5, **columns) -> pd.DataFrame:
    """Score rows of a reader: right: by question and position, whether the answer is right."""
    rows = [
        {"id": name, "size": size, "depth": depth_of(place, size), "correct": is_right, "excluded": False, **columns}
        for name, by_place in right.items()
        for place, is_right in by_place.items()
    ]
    return pd.DataFrame(rows).astype({"correct": "boolean", "depth": "Float64"})


def test_the_best_documents_are_where_a_known_curve_is_highest():
    # Last, first, and the middle the worst: 0 is the best document.
    u_shaped = [(0.0, 0.8), (0.5, 0.2), (1.0, 0.9)]
    assert in_order("measured", "01234", Random(0), u_shaped) == list("13420")
    # A curve that falls is the order best first, one that rises the order best last.
    assert in_order("measured", "01234", Random(0), [(0.0, 0.9), (1.0, 0.1)]) == list("01234")
    assert in_order("measured", "01234", Random(0), [(0.0, 0.1), (1.0, 0.9)]) == list("43210")


@pytest.mark.parametrize("number", range(8))
def test_a_flat_curve_leaves_the_documents_best_first(number):
    third = 1 / 3
    flat = [(0.0, third), (0.21, third), (0.7, third), (1.0, third)]
    assert best_where_highest(range(number), flat) == list(range(number))


def test_a_reader_that_finds_the_gold_document_in_the_last_place_gets_the_best_document_there():
    scores = score_rows({f"q{n}": {place: place == 4 for place in (0, 2, 4)} for n in range(20)})
    curve = curve_over(scores, 5, seed=3)
    assert curve == [(0.0, 0.0), (0.5, 0.0), (1.0, 1.0)]
    # Between the middle and the end the line rises.
    assert best_where_highest("01234", curve) == list("23410")


def test_no_question_that_judges_an_order_is_in_the_curve_that_gives_it():
    rng = Random(1)
    right = {f"q{n}": {place: rng.random() < 0.5 for place in range(5)} for n in range(40)}
    before = curve_over(score_rows(right), 5, seed=7)
    for name in right:
        changed = right | {name: {place: not is_right for place, is_right in right[name].items()}}
        assert (curve_over(score_rows(changed), 5, seed=7) == before) == is_held_out(name, 7)


def test_an_experiment_with_a_measured_order_asks_the_held_out_questions_alone_as_many_as_it_names():
    questions = [Question(f"q{n}", "what?", (), ()) for n in range(40)]
    asked = ExampleSettings(examples=10, seed=7, distractor_order="ranked", held_out=True)
    chosen, _ = choose_questions(questions, asked, None)
    assert [one.id for one in chosen] == [f"q{n}" for n in range(40) if is_held_out(f"q{n}", 7)][:10]
    # Nothing is left out before the split.
    assert asked.limit is None


def test_questions_of_a_cluster_are_on_one_side():
    right = {f"q{n}": {0: n % 2 == 0, 4: n % 2 == 1} for n in range(20)}
    over = [curve_over(score_rows(right, cluster="all"), 5, seed) for seed in range(8)]
    assert [bool(curve) for curve in over] == [not is_held_out("all", seed) for seed in range(8)]
    assert [] in over and [(0.0, 0.5), (1.0, 0.5)] in over


def test_another_seed_splits_the_questions_otherwise_and_about_in_the_middle():
    sides = [[is_held_out(f"q{n}", seed) for n in range(400)] for seed in (0, 1)]
    assert sides[0] != sides[1] and all(160 < sum(side) < 240 for side in sides)


def test_the_curve_of_the_nearest_size_counts_the_larger_of_two_and_no_question_that_does_not_fit():
    sized = {size: score_rows({f"q{n}": {0: size == 20, size - 1: False} for n in range(9)}, size) for size in (5, 20)}
    both = pd.concat(sized.values())
    assert curve_over(both, 10, seed=0) == [(0.0, 1.0), (1.0, 0.0)]
    assert curve_over(both, 6, seed=0) == [(0.0, 0.0), (1.0, 0.0)]
    without = pd.concat([sized[5], sized[20].assign(excluded=True)])
    assert curve_over(without, 20, seed=0) == curve_over(sized[5], 5, seed=0)


def test_a_curve_without_a_scored_answer_is_an_error_with_the_file(tmp_path):
    (name,) = [f"q{n}" for n in range(9) if is_held_out(f"q{n}", 0)][:1]
    write_parquet(tmp_path / "scores.parquet", score_rows({name: {0: True, 4: False}}))
    with pytest.raises(UserError, match=r"scores.parquet: no scored answer to the questions that the curve of"):
        read_curve(tmp_path / "scores.parquet", 5, 0)


def test_a_reader_without_an_effect_of_position_gains_nothing_but_would_by_the_same_questions():
    # Each answer is drawn once for a question and a place, as of a greedy model; the gold document is the best one.
    gains, leaking, rejected, studies = [], [], 0, 200
    for study in range(studies):
        rng = Random(study)
        right = {f"{study}/{n}": {place: rng.random() < 0.5 for place in range(5)} for n in range(60)}
        curve = curve_over(score_rows(right), 5, seed=0)
        place = in_order("measured", range(5), rng, curve).index(0)
        sides = {
            is_judging: [by for name, by in right.items() if is_held_out(name, 0) == is_judging]
            for is_judging in (True, False)
        }
        won, lost = (sum(by[a] > by[b] for by in sides[True]) for a, b in ((place, 0), (0, place)))
        gains.append((won - lost) / len(sides[True]))
        leaking.append(sum(by[place] - by[0] for by in sides[False]) / len(sides[False]))
        rejected += won + lost > 0 and binomtest(won, won + lost).pvalue < 0.05
    error = (pd.Series(gains).var() / studies) ** 0.5
    assert abs(sum(gains) / studies) < 3 * error < 0.04
    assert rejected <= 0.05 * studies
    assert sum(leaking) / studies > 0.05
