"""Differences of two models, and effects on log-probabilities."""

import pytest
from table_rows import accuracy_row, bias_row, pair_rows, probability_rows, silent_row

from litm.findings.curves import curve_findings
from litm.findings.pairs import pair_findings
from litm.findings.probability import probability_findings
from litm.findings.record import Number, Strength


def pair(rows, silent=(), stand_ins=()):
    return [*pair_findings(rows, [accuracy_row()], stand_ins, silent)]


def test_a_pair_is_shown_by_any_of_its_numbers():
    (finding,) = pair(pair_rows((0.1, 0.049)))
    assert finding.models == ("a", "b") and finding.strength is Strength.SHOWN
    assert finding.numbers["start"] == Number(0.1, pytest.approx(0.04), pytest.approx(0.16), 0.049)
    assert pair(pair_rows((0.1, 0.05)))[0].strength is Strength.CANNOT_TELL
    assert pair(pair_rows((0.1, 0.05), pbi=(0.2, 0.01)))[0].strength is Strength.SHOWN
    assert finding.facts == {
        "metric": "value_in_answer", "n_sizes": 1, "n_sizes_pbi": 1, "pbi_a": 0.5, "pbi_b": 0.5, "silent": []
    }  # fmt: skip


@pytest.mark.parametrize(
    ("low", "high", "strength"),
    [(-0.049, 0.049, Strength.NOT_SHOWN), (-0.05, 0.04, Strength.CANNOT_TELL), (-0.04, 0.05, Strength.CANNOT_TELL)],
)
def test_without_a_shown_difference_one_of_5_points_is_excluded_or_not(low, high, strength):
    rows = [row | {"ci_low": low, "ci_high": high} for row in pair_rows((0.0, 1.0))]
    assert pair(rows)[0].strength is strength


def test_a_model_whose_positions_tell_nothing_is_compared_in_accuracy_alone():
    (finding,) = pair(pair_rows((0.1, 0.5), pbi=(0.3, 0.001)), silent={("b", "kv"), ("a", "qa")})
    assert finding.facts["silent"] == ["b"] and finding.strength is Strength.CANNOT_TELL
    assert {finding.numbers[name] for name in ("primacy", "recency", "pbi")} == {Number(None)}
    assert finding.numbers["accuracy"].value == 0.1 and finding.facts["pbi_a"] is None
    (without,) = pair(pair_rows(pbi=None))
    assert without.numbers["pbi"] == Number(None) and without.facts["n_sizes_pbi"] is None


def test_pairs_keep_their_order_and_stand_ins_are_in_none():
    rows = [*pair_rows(), *pair_rows(a="a", b="c"), *pair_rows(experiment="qa")]
    assert [(one.models, one.experiments) for one in pair(rows)] == [
        (("a", "b"), ("kv",)), (("a", "c"), ("kv",)), (("a", "b"), ("qa",))
    ]  # fmt: skip
    assert [one.models for one in pair(rows, stand_ins=["c"])] == [("a", "b"), ("a", "b")]
    assert not pair(rows, stand_ins=["a"])


def test_the_ends_are_told_before_other_effects_on_the_probability():
    tell = lambda **p_values: next(probability_findings(probability_rows(**p_values), []))  # noqa: E731
    assert tell(primacy=0.01, pbi=0.01, tilt=0.01).facts["told"] == ["primacy"]
    assert tell(tilt=0.01, pbi=0.01).facts["told"] == ["tilt", "pbi"]
    assert (tell().facts["told"], tell().strength) == ([], Strength.CANNOT_TELL)
    assert tell(primacy=0.049).strength is Strength.SHOWN and tell(primacy=0.05).strength is Strength.CANNOT_TELL
    assert tell().numbers["pbi"] == Number(-0.4, -0.7, -0.1, 1.0) and tell().n == 60


def test_an_effect_on_the_probability_says_why_accuracy_tells_nothing():
    for row, reason in ((silent_row("floor"), "floor"), (bias_row(), None), (silent_row("empty"), None)):
        (finding,) = probability_findings(probability_rows(), curve_findings([], [row]))
        assert finding.facts["reason"] == reason
    assert not [*probability_findings(probability_rows(), [], ["a"])]
