"""The effect of position in a curve, accuracies without one, and what tells nothing on positions."""

import pytest
from table_rows import accuracy_row, bias_row, row_of, silent_row

from litm.analysis import shapes
from litm.analysis.shapes import MEANINGS
from litm.findings.curves import (
    SILENT,
    accuracy_findings,
    curve_findings,
    differs,
    doubtful_sweeps,
    no_information_findings,
    silent_sweeps,
    strength_of,
    study_finding,
)
from litm.findings.record import Number, Strength

SHOWN, NOT_SHOWN, CANNOT_TELL, UNINFORMATIVE = Strength


def curve(row, accuracy=(), wrong=(), stand_ins=()):
    (finding,) = curve_findings(accuracy, [row], wrong, stand_ins)
    return finding


def points(*accuracies, **more):
    return [accuracy_row(accuracy=value, position=place * 9, **more) for place, value in enumerate(accuracies)]


@pytest.mark.parametrize("word", MEANINGS)
def test_a_word_that_names_a_difference_shows_an_effect(word):
    is_shown = word not in (shapes.FLAT, shapes.NONE)
    assert differs(bias_row(shape=word)) == is_shown == (strength_of(bias_row(shape=word), None) is SHOWN)
    # The test of all positions at once does not overrule the word.
    assert differs(bias_row(shape=word, cochran_p_holm=0.5)) == is_shown


def test_without_a_word_the_test_of_all_positions_decides():
    assert [differs(bias_row(shape=None, cochran_p_holm=p)) for p in (0.049, 0.05)] == [True, False]
    assert strength_of(bias_row(shape=None, cochran_p_holm=0.049), None) is SHOWN


def test_a_flat_curve_has_no_effect_however_few_questions_it_has():
    assert strength_of(bias_row(shape=shapes.FLAT), None) is NOT_SHOWN
    assert strength_of(bias_row(shape=shapes.FLAT), 10_000) is NOT_SHOWN


def test_without_a_shown_effect_enough_questions_show_none_and_fewer_cannot_tell():
    row = bias_row(shape=shapes.NONE, n=100, pbi_n_for_5_points=600, primacy_n_for_5_points=50)
    assert [strength_of(row, needed) for needed in (99, 100, 101, None)] == [
        NOT_SHOWN, NOT_SHOWN, CANNOT_TELL, CANNOT_TELL
    ]  # fmt: skip
    finding = curve(row)
    assert (finding.strength, finding.facts["needed"]) == (CANNOT_TELL, 600)


@pytest.mark.parametrize("reason", ["floor", "ceiling", "too few questions", "empty", "prompts_cut: 1024"])
def test_floor_ceiling_and_doubts_are_uninformative_but_more_questions_would_tell(reason):
    finding = curve(silent_row(reason, pbi_n_for_5_points=40), points(0.8, 0.5, 0.6))
    assert finding.strength is (CANNOT_TELL if reason == "too few questions" else UNINFORMATIVE)
    # Neither bounds nor few questions say how many are enough.
    assert finding.facts["needed"] is None and not finding.facts["is_differing"] and finding.facts["effect"] is None
    assert finding.remedy == SILENT.get(reason)


def test_a_curve_in_doubt_has_no_number_and_its_doubtful_points_no_accuracy():
    accuracy = [*points(0.8, 0.5), accuracy_row(accuracy=0.0, position=18, doubt="empty")]
    finding = curve(silent_row("empty"), accuracy)
    assert {*finding.numbers.values()} == {Number(None)}
    assert [point[2:] for point in finding.facts["points"]] == [
        [0.8, 0.8 - 0.1, 0.8 + 0.1],
        [0.5, 0.4, 0.6],
        [None] * 3,
    ]
    sound = curve(bias_row(), points(0.8, 0.5, 0.6))
    assert sound.numbers["overall"] == Number(*map(pytest.approx, (1.9 / 3, 1.9 / 3 - 0.05, 1.9 / 3 + 0.05)))
    assert sound.numbers["pbi"] == Number(*map(pytest.approx, (0.2, 0.15, 0.25)))
    assert sound.numbers["gap"].p == 0.001 and sound.numbers["cochran"] == Number(9.0, p=0.01)
    assert sound.facts["points"][0][:3] == [0, 0.0, 0.8]


def test_points_are_those_of_the_curve_s_size_and_placement_in_the_order_of_positions():
    several = [
        accuracy_row(placement="gold_at_0_9", position=place, accuracy=value)
        for place, value in ((9, 0.4), (0, 0.6))
    ]  # fmt: skip
    others = [accuracy_row(placement="gold_at_3_5", position=3), accuracy_row(size=40), accuracy_row(model="b")]
    without_place = accuracy_row(position=None)
    assert len(curve(bias_row(), [*points(0.8, 0.5), without_place]).facts["points"]) == 2
    finding = curve(bias_row(placement="gold_at_0_9"), [*several, *others])
    assert [(point[0], point[2]) for point in finding.facts["points"]] == [(0, 0.6), (9, 0.4)]


@pytest.mark.parametrize(
    ("word", "effect"),
    [(shapes.U, "pbi"), (shapes.INVERTED, "pbi"), (shapes.PRIMACY, "primacy"), (shapes.END_LOWER, "recency"),
     (shapes.RISING, "tilt"), (shapes.UNEVEN, "gap"), (shapes.W, "gap"), (None, "gap"), (shapes.NONE, None)],
)  # fmt: skip
def test_the_effect_is_the_number_that_the_word_is_about(word, effect):
    assert curve(bias_row(shape=word)).facts["effect"] == effect


def test_a_stand_in_s_curve_has_its_numbers_and_no_strength():
    finding = curve(bias_row(), stand_ins=["a"])
    assert finding.strength is None and finding.numbers["pbi"].value == pytest.approx(0.2)


def test_the_floor_of_an_experiment_with_most_answers_cut_or_refused_says_so():
    row, half, most = silent_row("floor"), points(0.0, 0.0, n_cut=50), points(0.0, 0.0, n_cut=51)
    assert [curve(row, accuracy).facts["reason"] for accuracy in (half, most)] == ["floor", "cut"]
    refused = [row_of("wrong_answers", model="a", experiment="kv", n=100, n_wrong=100, share_refusal=0.51)]
    assert curve(row, most, wrong=refused).facts["reason"] == "refused"
    few = [refused[0] | {"share_refusal": 0.5}]
    assert curve(row, half, wrong=few).facts["reason"] == "floor"
    # So are too few questions without a right answer, but not a ceiling, nor a floor of other reasons.
    assert curve(silent_row("too few questions", accuracy_best=0.0), most).facts["reason"] == "cut"
    assert curve(silent_row("too few questions"), most).facts["reason"] == "too few questions"
    assert curve(silent_row("ceiling"), most).facts["reason"] == "ceiling"
    # An answer to several gold items counts once.
    twice = [accuracy_row(placement="gold_at_0_9", position=place, n_cut=51) for place in (0, 9)]
    others = points(0.0, n_cut=0)
    assert curve(row, [*twice, *others]).facts["reason"] == "floor"


# --- Without a curve -------------------------------------------------------------------------------------------


def test_each_size_without_a_curve_has_its_accuracy_with_limits_where_it_is_one_cell():
    rows = [accuracy_row(position=None, accuracy=0.3, size=0), accuracy_row(size=9)]
    several = [
        accuracy_row(size=5, position=place, accuracy=value, n=n) for place, value, n in ((0, 0.2, 90), (4, 0.4, 80))
    ]
    of_one, of_several = accuracy_findings([*rows, *several], [bias_row(size=9)])
    assert of_one.numbers["overall"] == Number(0.3, pytest.approx(0.2), pytest.approx(0.4))
    assert of_several.numbers["overall"] == Number(pytest.approx(0.3)) and of_several.n == 80
    (doubtful,) = accuracy_findings([accuracy_row(position=None, doubt="empty")], [])
    assert doubtful.numbers["overall"] == Number(None) and doubtful.facts["doubt"] == "empty"


def curves_of(*rows):
    return [*curve_findings([], rows)]


def test_experiments_whose_curves_all_tell_nothing_are_told_by_model_and_reason():
    rows = [silent_row("floor", n=40), silent_row("floor", size=50, n=60), silent_row("floor", experiment="qa", n=50)]
    (finding,) = no_information_findings(curves_of(*rows), (), {"kv": "topic"})
    assert (finding.experiments, finding.n, finding.facts) == (
        ("kv", "qa"), 40, {"reason": "floor", "n_most": 60, "cluster": None}
    )  # fmt: skip
    assert finding.strength is UNINFORMATIVE and finding.remedy == "fewer_items"
    # One curve with another reason, or that tells something, is enough to say nothing of the experiment.
    for other in (bias_row(size=50), silent_row("ceiling", size=50), silent_row("empty", size=50)):
        assert not [*no_information_findings(curves_of(silent_row("floor"), other), (), {})]


def test_few_questions_name_their_clusters_and_models_told_otherwise_are_left_out():
    curves = curves_of(silent_row("too few questions"), silent_row("too few questions", experiment="qa"))
    with_clusters, without = no_information_findings(curves, (), {"kv": "topic"})
    assert with_clusters.strength is CANNOT_TELL and with_clusters.remedy == "more_questions"
    assert [with_clusters.facts["cluster"], without.facts["cluster"]] == ["topic", None]
    (left,) = no_information_findings(curves, {("a", "kv")}, {})
    assert left.experiments == ("qa",)
    assert not [*no_information_findings([curve(silent_row("floor"), stand_ins=["a"])], (), {})]


def test_the_study_is_counted():
    rows = [bias_row(), bias_row(shape=shapes.FLAT), bias_row(shape=shapes.NONE), silent_row("floor")]
    published = [row_of("published_comparison", verdict=word) for word in ("agrees", "differs", "agrees")]
    facts = study_finding([*points(0.1, 0.2), accuracy_row("b", "qa", n=7)], rows, published).facts
    assert facts == {
        "n_models": 2, "n_experiments": 2, "n_cells": 3, "n_answers": 207, "n_curves": 4, "n_differing": 1,
        "n_flat": 1, "n_silent": 1, "has_doubts": False, "published": {"agrees": 2, "differs": 1},
    }  # fmt: skip
    assert study_finding([], [silent_row("empty")], []).facts["has_doubts"]


def test_doubtful_and_silent_experiments_are_known_by_their_cells_and_curves():
    accuracy = [accuracy_row(doubt="empty"), accuracy_row("b")]
    assert doubtful_sweeps(accuracy, [bias_row(), silent_row("refused", model="c")]) == {("a", "kv"), ("c", "kv")}
    rows = [
        silent_row("floor"),
        bias_row(size=9),
        silent_row("floor", model="b"),
        silent_row("ceiling", model="b", size=9),
    ]
    assert silent_sweeps(rows) == {("b", "kv")}
