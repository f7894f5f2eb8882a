"""Findings as sentences."""

import pytest
from table_rows import accuracy_row, bias_row, pair_rows, probability_rows, silent_row, utilisation_row

from litm.analysis import shapes
from litm.findings.curves import accuracy_findings, curve_findings, no_information_findings, study_finding
from litm.findings.pairs import pair_findings
from litm.findings.probability import probability_findings
from litm.findings.record import Number
from litm.findings.references import no_benefit_findings, reference_findings
from litm.findings.words import about, difference, remedy, sentence, share, warning_sentence

EXPERIMENTS = [{"name": "qa", "closed_book": "book", "oracle": "best"}]


def curve(row, needed=None):
    return sentence(next(curve_findings([], [row | {"pbi_n_for_5_points": needed}])))


def test_a_curve_says_its_best_and_worst_position_its_shape_and_its_index():
    assert curve(bias_row(n_left_out=2)) == (
        "a on kv, size 20: best with the answer in the 1st (80.0 %), worst in the 10th (50.0 %), gap 30.0 points "
        "[25.0, 35.0], n = 100, 2 left out. Shape: U (start and end are above the middle; primacy +30.0 points "
        "[25.0, 35.0], recency +10.0 points [5.0, 15.0]). PBI +20.0 points [15.0, 25.0]: moderate."
    )
    even = bias_row(places=(0.5, 0.5, 0.5), shape=shapes.FLAT, position_best=None, position_worst=None)
    assert curve(even).startswith("a on kv, size 20: 50.0 % at each of the 3 positions, n = 100. Shape: flat (all")


def test_a_curve_without_a_shown_effect_says_what_its_questions_show_and_how_many_would_show_more():
    row = bias_row(shape=shapes.NONE)
    assert (
        "no difference shown (cannot tell yet: 100 questions show a PBI from 10.0 points on, about 590 would"
        in curve(row, 587)
    )
    assert "(100 questions would show a PBI of 5 points; primacy" in curve(row, 100)
    assert "(cannot tell yet: use more questions; primacy" in curve(row | {"pbi_mde": None})


def test_a_curve_without_a_word_or_an_index_says_why():
    two = bias_row(shape=None, pbi=None, cochran_p_holm=0.03)
    assert ". The positions differ by more than chance (Cochran's Q, p = 0.030 by Holm)." in curve(two)
    misplaced = two | {"reason": "no position is near the middle", "cochran_p_holm": 0.5}
    assert curve(misplaced).endswith("(Cochran's Q, p = 0.500 by Holm). No PBI: no position is near the middle.")
    bounded = bias_row(pbi_class=None, reason="floor at start, middle and end")
    assert curve(bounded).endswith(" The PBI carries no information (floor at start, middle and end).")


@pytest.mark.parametrize(
    ("reason", "words"),
    [("floor", "hardly any answer is right at any position"), ("ceiling", "nearly every answer is right"),
     ("too few questions", "there are too few questions"), ("empty", "most answers are empty")],
)  # fmt: skip
def test_a_curve_that_tells_nothing_says_why(reason, words):
    assert curve(silent_row(reason)).startswith(f"a on kv, size 20: no information on position, {words}")


def test_accuracies_and_the_study_are_said_in_a_sentence():
    (plain,) = accuracy_findings([accuracy_row(position=None)], [])
    assert sentence(plain) == "a on kv, size 20: 50.0 % [40.0, 60.0], n = 100."
    (doubtful,) = accuracy_findings([accuracy_row(position=None, doubt="empty")], [])
    assert sentence(doubtful).startswith("a on kv, size 20: in doubt, because most answers are empty")
    told = sentence(study_finding([accuracy_row()], [bias_row(), silent_row("empty")], [{"verdict": "agrees"}]))
    assert told == (
        "1 model, 1 experiment, 1 cell with 100 answers counted. Positions are shown to differ in 1 of 2 curves, "
        "and to "
        "be within 5 points of one another in 0; neither is shown in 0, and 1 have no information on position (floor, "
        "ceiling, or too few questions, or answers in doubt). Compared with 1 published value: 1 agrees."
    )


def test_references_say_that_the_document_helps_and_a_warning_what_to_do_where_it_is_not_shown_to():
    rows = [accuracy_row(experiment=name) for name in ("qa", "book", "best")]
    helped, not_helped = (
        next(reference_findings([utilisation_row(0.1, oracle, benefit)], rows, EXPERIMENTS, ()))
        for oracle, benefit in ((0.9, 0.5), (0.2, None))
    )
    assert sentence(helped) == (
        "a on qa: the document with the answer helps, so its position and the number and order of documents can "
        "matter. "
        "Right with the document alone: 90.0 % [80.0, 100.0]; without any: 10.0 % [0.0, 20.0] (n = 50)."
    )
    assert sentence(not_helped).startswith("a on qa: Right with the document alone: 20.0 %")
    (warning,) = no_benefit_findings([not_helped], [], (), {"qa": "topic"})
    assert sentence(warning) == (
        "The document alone is not shown to help a on qa (20.0 % [10.0, 30.0] right with it, 10.0 % [0.0, 20.0] "
        "without, "
        "n = 50), so positions and documents have nothing to show: use more clusters (topic), easier questions or "
        "another model."
    )
    (differing,) = no_benefit_findings([not_helped], [], {("a", "qa")}, {})
    assert "n = 50, though positions differ): use more questions" in sentence(differing)


def test_models_without_information_for_one_reason_are_in_one_sentence():
    rows = [silent_row("too few questions", model=model, n=n) for model, n in (("a", 4), ("b", 9))]
    group = [*no_information_findings(curve_findings([], rows), (), {"kv": "topic"})]
    assert warning_sentence(group) == (
        "a, b on kv: positions show nothing, because there are too few questions (n = 4 to 9): use more clusters "
        "(topic)."
    )


def pair(rows, silent=()):
    return sentence(next(pair_findings(rows, [accuracy_row()], (), silent)))


def test_a_pair_says_who_is_better_where_and_whose_index_is_higher():
    rows = pair_rows((-0.1, 0.5), pbi=(0.2, 0.01), n_sizes=2)
    rows[2] |= {"p_holm": 0.01}
    assert pair(rows) == (
        "a and b on kv, mean of 2 sizes, n = 80: b is better in the middle by 10.0 points [4.0, 16.0]; a has the "
        "higher "
        "PBI (a minus b: +20.0 points [14.0, 26.0])."
    )
    rows[-1] |= {"n_sizes": 1, "p_holm": 0.5}
    assert pair(rows).endswith(
        "no difference in PBI is shown (a minus b: +20.0 points [14.0, 26.0], p = 0.500, from 1 of 2 sizes)."
    )
    assert pair(pair_rows((0.1, 0.5)), {("b", "kv")}).endswith(
        "n = 80: no difference in accuracy is shown (a minus b: +10.0 points [4.0, 16.0], p = 0.500); PBIs are not "
        "compared, because positions show nothing about b."
    )


def test_an_effect_on_the_probability_is_a_factor():
    shown = sentence(next(probability_findings(probability_rows(primacy=0.012), [])))
    assert shown == (
        "a on kv, size 20: by log-probability, the right answer is 1.5 times as probable in the middle as at the start "
        "(primacy -0.40 nats [-0.70, -0.10], p = 0.012). n = 60."
    )
    floor = curve_findings([], [silent_row("floor")])
    assert sentence(next(probability_findings(probability_rows(), floor))).startswith(
        "a on kv, size 20: accuracy shows nothing here (hardly any answer is right at any position); by "
        "log-probability, "
        "of the right answer, its probability is not shown to differ between start, middle and end (PBI -0.40 nats"
    )


def test_numbers_have_their_limits_and_are_unknown_without_a_value():
    assert (share(Number(0.5)), share(Number(0.5, 0.4, 0.6)), share(Number(None))) == (
        "50.0 %", "50.0 % [40.0, 60.0]", "unknown"
    )  # fmt: skip
    assert (difference(Number(-0.05, -0.1, 0.0)), difference(Number(None))) == ("-5.0 points [-10.0, 0.0]", "unknown")
    assert [about(number) for number in (5, 99, 101, 587, 1234)] == [
        "about 5", "about 99", "about 110", "about 590", "about 1,300"
    ]  # fmt: skip
    assert remedy(study_finding([], [], [])) == ""
