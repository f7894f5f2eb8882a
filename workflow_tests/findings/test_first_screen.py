"""The first screen of a study: its tables, marks, pairs, and what the headline says."""

from dataclasses import replace

import pytest
from table_rows import accuracy_row, bias_row, pair_rows, silent_row, utilisation_row

from litm.analysis import shapes
from litm.findings.first_screen import first_screen
from litm.findings.record import Finding, Number, Strength
from litm.findings.study import findings_of
from litm.findings.words import headline

EXPERIMENTS = [
    {"name": "kv"},
    {"name": "qa", "closed_book": "book", "oracle": "best"},
    {"name": "book"},
    {"name": "best"},
]


def curve_rows(model, level, experiment="kv", shape="U", **more):
    places = (level + 0.1, level - 0.1, level)
    cells = [accuracy_row(model, experiment, value, place * 9) for place, value in enumerate(places)]
    return cells, bias_row(model, experiment, places, shape, **more)


def findings(*curves, accuracy=(), experiments=EXPERIMENTS, plain=None, stand_ins=(), advice=(), **tables):
    rows = {
        "accuracy": [*(cell for cells, _ in curves for cell in cells), *accuracy],
        "position_bias": [row for _, row in curves],
        **tables,
    }
    return findings_of(lambda name: rows.get(name, []), experiments, plain=plain, stand_ins=stand_ins, advice=advice)


def screen(*curves, **options):
    return first_screen(findings(*curves, **options))


def rows_of(*curves, **options):
    return screen(*curves, **options).tables[0].sizes[0].rows


def test_rows_are_ordered_by_accuracy_and_ties_are_those_whose_difference_is_not_shown():
    curves = [curve_rows(model, level) for model, level in (("a", 0.5), ("b", 0.7), ("c", 0.3))]
    pairs = [*pair_rows((-0.2, 0.01)), *pair_rows((0.2, 0.2), a="a", b="c"), *pair_rows((0.4, 0.01), a="b", b="c")]
    assert [(row.model, row.is_tied) for row in rows_of(*curves, model_pairs=pairs)] == [
        ("b", False), ("a", False), ("c", True)
    ]  # fmt: skip
    # Without a comparison no difference is shown; nor by one of all sizes where this size is the other way round.
    assert [row.is_tied for row in rows_of(*curves)] == [False, True, True]
    against = [row | {"difference": 0.2} for row in pair_rows((-0.2, 0.01))]
    assert [row.is_tied for row in rows_of(*curves, model_pairs=against)][1]


def test_a_row_without_an_accuracy_is_last():
    doubtful = silent_row("empty", model="b")
    rows = rows_of(([accuracy_row("b", accuracy=0.9, doubt="empty")], doubtful), curve_rows("a", 0.2))
    assert [(row.model, row.overall.value is None, row.is_tied, row.shape) for row in rows] == [
        ("a", False, False, "U"), ("b", True, False, "in doubt")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "shape"),
    [
        (bias_row(shape=shapes.RISING), "rising"),
        (silent_row("floor"), "floor"),
        (silent_row("ceiling"), "ceiling"),
        (silent_row("too few questions"), "too few questions"),
        (silent_row("prompts_cut: 1024"), "in doubt"),
        (bias_row(shape=None, reason="no position is near the middle"), "positions differ"),
        (bias_row(shape=None, cochran_p_holm=0.5), "no difference shown"),
    ],
)
def test_a_row_has_the_word_for_its_curve_or_why_there_is_none(row, shape):
    assert rows_of(([accuracy_row()], row))[0].shape == shape


def test_the_floor_of_cut_answers_is_a_floor():
    cut = [accuracy_row(accuracy=0.0, n_cut=100)]
    assert rows_of((cut, silent_row("floor")))[0].shape == "floor"


def test_the_number_of_questions_is_given_where_these_do_not_suffice_to_tell():
    for needed, shown in ((600, 600), (100, None)):
        assert rows_of(curve_rows("a", 0.5, shape=shapes.NONE, pbi_n_for_5_points=needed))[0].needed == shown
    assert rows_of(curve_rows("a", 0.5, pbi_n_for_5_points=600))[0].needed is None


def test_references_are_columns_and_have_no_table():
    cells, row = curve_rows("a", 0.5, "qa")
    accuracy = [accuracy_row("a", "book", 0.1, None), accuracy_row("a", "best", 0.9, 0, task="oracle_qa")]
    made = screen((cells, row), curve_rows("a", 0.6), accuracy=accuracy, utilisation=[utilisation_row(0.2, 0.8, 0.5)])
    assert [table.experiment for table in made.tables] == ["kv", "qa"]
    of_kv, of_qa = (table.sizes[0].rows[0] for table in made.tables)
    assert (of_qa.closed_book.value, of_qa.oracle.value) == (0.2, 0.8) and of_kv.closed_book is of_kv.oracle is None
    # A study of references alone shows these.
    alone = screen(accuracy=accuracy)
    assert [table.experiment for table in alone.tables] == ["book", "best"]
    assert alone.tables[0].sizes[0].rows[0].curve == () and alone.tables[0].sizes[0].rows[0].shape == ""


def test_experiments_that_differ_by_a_remedy_have_no_table_and_sizes_and_placements_have_their_own():
    curves = [curve_rows("a", 0.5), curve_rows("a", 0.4, size=40), curve_rows("a", 0.5, "kv-ends")]
    settings = [*EXPERIMENTS, {"name": "kv-ends"}]
    made = screen(*curves, experiments=settings, plain=["kv", "qa"])
    assert [(table.experiment, [size.size for size in table.sizes]) for table in made.tables] == [("kv", [20, 40])]
    several = [
        ([accuracy_row(placement=placement, position=0)], bias_row(placement=placement))
        for placement in ("gold_at_0_9", "gold_at_3_5")
    ]
    assert [size.placement for size in screen(*several).tables[0].sizes] == ["gold_at_0_9", "gold_at_3_5"]


def test_warnings_that_touch_a_row_are_numbered_and_marked_there():
    cells, row = curve_rows("a", 0.5)
    cut = [cell | {"n_cut": 3} for cell in cells]
    checks = [
        {"experiment": "elsewhere", "size": 1, "n": 10, "n_not_in_gold": 5, "n_in_distractors": 0, "n_choices": 0}
    ]
    made = screen((cut, row), curve_rows("b", 0.4), answer_checks=checks)
    assert [(group.number, group.kind) for group in made.warnings] == [(1, "cut"), (0, "answers_not_in_gold")]
    assert [(row.model, row.marks) for row in made.tables[0].sizes[0].rows] == [("a", (1,)), ("b", ())]


def test_a_warning_on_a_reference_marks_the_row_that_shows_it():
    cells, row = curve_rows("a", 0.5, "qa")
    accuracy = [accuracy_row("a", "book", 0.1, None, n_cut=9), accuracy_row("a", "best", 0.9, 0)]
    made = screen((cells, row), accuracy=accuracy)
    assert [group.kind for group in made.warnings] == ["cut"] and made.tables[0].sizes[0].rows[0].marks == (1,)


def test_warnings_of_one_kind_are_one_group_for_each_reason():
    silent = [
        ([accuracy_row(model)], silent_row(reason, model=model))
        for model, reason in (("a", "floor"), ("b", "ceiling"), ("c", "floor"))
    ]
    groups = [(group.kind, [one.models[0] for one in group.findings]) for group in screen(*silent).warnings]
    assert groups == [("no_information", ["a", "c"]), ("no_information", ["b"])]


def test_the_matrix_of_pairs_has_each_difference_both_ways_the_most_accurate_model_first():
    curves = [curve_rows(model, level) for model, level in (("a", 0.5), ("b", 0.7), ("c", 0.3))]
    (matrix,) = screen(*curves, model_pairs=[*pair_rows((-0.2, 0.01)), *pair_rows((0.2, 0.2), a="a", b="c")]).pairs
    assert matrix.models == ("b", "a", "c")
    (without,) = screen(*curves, model_pairs=[*pair_rows(), *pair_rows(b="c")], stand_ins=["b"]).pairs
    assert without.models == ("a", "c")
    (_, b_a, b_c), (a_b, _, a_c), (_, c_a, _) = matrix.cells
    assert a_b == Number(*map(pytest.approx, (-0.2, -0.26, -0.14, 0.01)))
    assert b_a == Number(*map(pytest.approx, (0.2, 0.14, 0.26, 0.01))) and b_c is None
    assert (a_c.value, c_a.value) == (0.2, -0.2) and all(matrix.cells[place][place] is None for place in range(3))


# --- The headline ----------------------------------------------------------------------------------------------


def test_the_headline_has_the_largest_loss_first_and_each_model_once():
    curves = [
        curve_rows("a", 0.5, shape=shapes.NONE, pbi_n_for_5_points=587),
        ([], bias_row("b", places=(0.6, 0.5, 0.5), shape=shapes.PRIMACY)),
        ([], bias_row("b", "qa", places=(0.9, 0.5, 0.5), shape=shapes.PRIMACY)),
        ([], bias_row("c", places=(0.5, 0.5, 0.7), shape=shapes.RECENCY)),
        ([], silent_row("floor", model="d")),
        ([], bias_row("e", shape=shapes.FLAT)),
    ]
    made = screen(*curves)
    assert [(one.models[0], one.experiments[0]) for one in made.headline] == [
        ("b", "qa"), ("c", "kv"), ("a", "kv"), ("e", "kv"), ("d", "kv")
    ]  # fmt: skip
    assert headline(made.headline) == (
        "b loses 40 points [33, 47] on qa when the answer is not at the start; c loses 20 points [13, 27] on kv when "
        "the answer is not at the end; for a the questions do not suffice to tell, about 590 would; e is not shown to "
        "lose by position, though the questions suffice to show 5 points; for d the answers say nothing on positions, "
        "because hardly any answer is right at any position."
    )


def test_the_largest_of_many_effects_has_limits_that_hold_for_all_curves_at_once():
    """The normal quantiles of 8 curves (2.734) and of 1 (1.960), and 0 for an effect that is shown."""
    names = [f"e{place}" for place in range(8)]
    curves = [([], bias_row("a", name, places=(0.7, 0.5, 0.5), shape=shapes.PRIMACY)) for name in names]
    experiments = [{"name": name} for name in names]
    told = [screen(*some, experiments=experiments).headline[0] for some in (curves[:1], curves)]
    for finding, half in zip(told, (0.05, 0.05 * 2.734 / 1.96), strict=True):
        assert finding.numbers["primacy"][:3] == pytest.approx((0.2, 0.2 - half, 0.2 + half), abs=1e-4)
    weak = ([], bias_row("b", "e0", places=(0.56, 0.5, 0.5), shape=shapes.PRIMACY))
    headline_findings = screen(weak, *curves, experiments=experiments).headline
    (number,) = [finding.numbers["primacy"] for finding in headline_findings if finding.models == ("b",)]
    assert number.low == 0.0 and number.high is not None and number.high > 0.12


def test_a_headline_on_one_experiment_names_it_first_and_counts_models():
    curves = [([], bias_row(f"m{number}", shape=shapes.NONE)) for number in range(3)]
    told = headline(screen(*curves).headline)
    assert told == "On kv, for 3 models the questions do not suffice to tell."
    shown = [([], bias_row(f"s{number}", places=(0.5 - number / 10, 0.6, 0.6))) for number in range(5)]
    assert headline(screen(*shown[:4]).headline).endswith("; 1 more loses accuracy by position.")
    told = headline(screen(*shown, *curves).headline)
    assert told.startswith("On kv, s4 loses 25 points [18, 32] when the answer is at the start or the end; s3 loses")
    assert told.endswith("; 2 more lose accuracy by position; for 3 other models the questions do not suffice to tell.")


def test_experiments_with_a_remedy_are_not_in_the_headline():
    curves = [curve_rows("a", 0.5), ([], bias_row(experiment="kv-ends", places=(0.9, 0.1, 0.9)))]
    assert [one.experiments for one in screen(*curves, plain=["kv"]).headline] == [("kv",)]
    rows = [accuracy_row("a", "kv-ends", position=None), accuracy_row("a", "kv", position=None)]
    assert [one.experiments for one in screen(accuracy=rows, plain=["kv"]).headline] == [("kv",)]


def test_that_a_document_does_not_help_is_told_in_place_of_a_curve_that_shows_nothing():
    cells, row = curve_rows("a", 0.5, "qa", shape=shapes.NONE)
    accuracy = [accuracy_row("a", "book", 0.1, None), accuracy_row("a", "best", 0.1, 0)]
    unhelped = {"accuracy": accuracy, "utilisation": [utilisation_row(0.1, 0.1)]}
    assert [one.kind for one in screen((cells, row), **unhelped).headline] == ["no_benefit"]
    assert [one.kind for one in screen((cells, row | {"shape": "U"}), **unhelped).headline] == ["curve"]


def test_without_curves_the_headline_is_the_advice_or_the_most_accurate_model():
    rows = [
        accuracy_row(model, "kv", value, None, size)
        for model, value, size in (("a", 0.4, 5), ("b", 0.6, 5), ("c", 0.9, 9))
    ]
    pairs = [*pair_rows((-0.2, 0.01)), *pair_rows((-0.5, 0.01), a="b", b="c")]
    made = screen(accuracy=rows, model_pairs=pairs).headline
    assert [(one.kind, one.models) for one in made] == [("accuracy", ("b",)), ("pair", ("a", "b"))]
    advice = Finding("advice", ("a",), ("kv",), strength=Strength.SHOWN, facts={"condition": "5 documents"})
    assert screen(accuracy=rows, advice=[advice]).headline == (advice,)
    assert screen(curve_rows("a", 0.5), advice=[advice]).headline[1:] == (advice,)
    # What is said of answers in doubt is a warning.
    doubtful = replace(advice, strength=Strength.UNINFORMATIVE, facts={"condition": None})
    assert len(screen(curve_rows("a", 0.5), advice=[doubtful]).headline) == 1
    assert [one.models for one in screen(accuracy=rows, stand_ins=["b"]).headline] == [("a",)]


def test_a_study_of_stand_ins_says_that_it_concludes_nothing():
    made = screen(curve_rows("a", 0.5), stand_ins=["a"]).headline
    assert headline(made) == "Nothing is concluded from a: no model gave these answers."
    assert [one.models for one in screen(curve_rows("a", 0.5), curve_rows("b", 0.4), stand_ins=["a"]).headline] == [
        ("b",)
    ]
