"""Warnings about answers as findings: what they count, and from which number on there is one."""

import pytest

from litm.findings.answer_warnings import (
    Limit,
    announced_findings,
    cut_findings,
    doubt_findings,
    empty_findings,
    half_width_with_labels,
    inside_findings,
    judge_findings,
    lacking_findings,
    limits_of,
    position_findings,
    reading_findings,
    reasoning_findings,
    recorded_findings,
    refused_findings,
    stops_of,
)
from litm.findings.record import Number, Strength


def counted(experiment="kv", placement="gold_at_0", size=10, n=5, model="m", **counts) -> dict:
    """A row of the accuracy table."""
    cell = {"model": model, "experiment": experiment, "size": size, "placement": placement, "n": n}
    return {**cell, "accuracy": None, "accuracy_completed": None, **counts}


def manifest(model="m", experiment="kv", request=None, stop="end_token", **more) -> dict:
    """The manifest of answers that were asked."""
    fields = {"model": {"request": request}, "decoding": {"max_new_tokens": 30, "stop": stop}}
    return {"model": model, "experiment": experiment, "identity_fields": fields, **more}


def recorded(experiment="kv", **more) -> dict:
    """The manifest of recorded answers."""
    return {"model": "m", "experiment": experiment, "identity_fields": {}, **more}


def counts_of(findings) -> list[tuple]:
    return [(*one.models, *one.experiments, one.facts["count"], one.n, one.facts["sizes"]) for one in findings]


# Cut answers and their limit


def test_cut_answers_are_counted_over_the_cells_of_a_sweep_and_none_gives_no_finding():
    rows = [
        counted(n_cut=4), counted(placement="gold_at_9", n=10, n_cut=7), counted(size=20, n_cut=0),
        counted("qa", n_cut=0),
    ]  # fmt: skip
    (cut,) = cut_findings(rows, {("m", "kv"): Limit(30, "max_new_tokens")})
    assert counts_of([cut]) == [("m", "kv", 11, 20, [10])]
    assert cut.numbers == {"share": Number(0.55)}
    assert (cut.facts["limit"], cut.facts["key"], cut.remedy) == (30, "max_new_tokens", "raise_max_new_tokens")


def test_right_answers_that_were_not_cut_are_counted_where_all_are_known():
    cells = [counted(n=10, n_cut=4, accuracy=0.5, accuracy_completed=5 / 6), counted(size=20, n_cut=0, accuracy=0.2)]
    (cut,) = cut_findings(cells)
    assert (cut.n, cut.facts["count"], cut.facts["right"]) == (15, 4, 6)
    (cut,) = cut_findings([*cells, counted(size=30, n=3, n_cut=3, accuracy=0.0)])
    assert cut.facts["right"] == 6
    (cut,) = cut_findings([*cells, counted(size=30, n_cut=0)])
    assert cut.facts["right"] is None


def test_an_answer_to_several_gold_items_counts_once():
    rows = [counted(target=target, n=8, n_cut=2) for target in ("first", "second", "third")]
    assert counts_of(cut_findings(rows)) == [("m", "kv", 2, 8, [10])]


def test_cells_of_which_recorded_answers_do_not_say_how_they_ended_are_skipped():
    rows = [counted(n_cut=3), counted(placement="gold_at_9", n_cut=None), counted("none", n_cut=None)]
    (cut,) = cut_findings(rows)
    assert counts_of([cut]) == [("m", "kv", 3, 5, [10])]
    # The limit of recorded answers is not known, nor which key would raise it.
    assert (cut.facts["limit"], cut.facts["key"], cut.remedy) == (None, None, None)


@pytest.mark.parametrize(
    ("request_fields", "limit", "remedy"),
    [
        (None, Limit(30, "max_new_tokens"), "raise_max_new_tokens"),
        ({"max_completion_tokens": 700, "max_tokens": None}, Limit(700, "max_completion_tokens"), "raise_request"),
        ({"max_tokens": 9}, Limit(9, "max_tokens"), "raise_request"),
    ],
)
def test_the_limit_of_a_model_and_the_key_to_raise_are_those_of_its_request_or_of_the_experiment(
    request_fields, limit, remedy
):
    limits = limits_of([manifest(request=request_fields), recorded("qa")])
    assert limits == {("m", "kv"): limit}
    (cut,) = cut_findings([counted(n_cut=1)], limits)
    assert (cut.facts["limit"], cut.facts["key"], cut.remedy) == (*limit, remedy)


# Empty, refused and lacking answers


@pytest.mark.parametrize(("findings", "column"), [(empty_findings, "n_empty"), (refused_findings, "n_refused")])
def test_empty_and_refused_answers_of_more_than_a_twentieth_of_a_sweep_are_many(findings, column):
    rows = [counted(name, n=10, **{column: count}) for name in "ab" for count in ({"a": 1, "b": 2}[name], 0)]
    rows = [row | {"placement": f"gold_at_{place}"} for place, row in enumerate(rows)]
    (many,) = findings([*rows, counted("c", n=20, **{column: None})])
    assert counts_of([many]) == [("m", "b", 2, 20, [10])]
    assert many.kind == column.removeprefix("n_")


def test_each_question_that_is_not_counted_is_a_finding_with_its_reason():
    lacking = [("left_out", 1, None), ("failed", 2, 3), ("not_recorded", 0, 4), ("failed", 0, 0)]
    rows = [
        counted(f"{kind} {place}", f"gold_at_{at}", n=6, size=size, **{f"n_{kind}": count})
        for place, (kind, *both) in enumerate(lacking)
        for at, (size, count) in enumerate(zip((10, 20), both, strict=True))
    ]
    told = list(lacking_findings(rows))
    assert [one.kind for one in told] == ["left_out", "failed", "not_recorded"]
    # n: the answers that were wanted, counted ones and lacking ones.
    assert counts_of(told) == [
        ("m", "left_out 0", 1, 7, [10]),
        ("m", "failed 1", 5, 17, [10, 20]),
        ("m", "not_recorded 2", 4, 16, [20]),
    ]
    assert [one.facts["most"] for one in told] == [1, 3, 4]
    assert told[1].numbers["share"].value == pytest.approx(5 / 17)


def test_positions_without_a_recorded_answer_are_named_with_those_to_compare():
    partly = (("e", 10, 0, 9), ("e", 10, 4, 0), ("e", 10, 9, 5), ("e", 20, 0, 0), ("e", 20, 9, 9), ("f", 10, 0, 0))
    rows = [counted(name, f"gold_at_{at}", size, n=n, n_not_recorded=9 - n) for name, size, at, n in partly]
    # A question may be lacking, or not asked, for other reasons than a record.
    rows += [counted("g", f"gold_at_{at}", n=n, n_not_recorded=None) for at, n in ((0, 9), (4, 0), (9, 9))]
    # A prompt with several gold items is at no single position.
    several = (("gold_at_0_4", 9), ("gold_at_4_9", 0), ("gold_at_9_10", 9), ("no_gold", 0))
    rows += [counted("h", placement, n=n, n_not_recorded=9 - n) for placement, n in several]
    (one,) = position_findings(rows)
    assert (one.kind, one.models, one.experiments) == ("unrecorded_positions", ("m",), ("e",))
    # A size without two recorded positions cannot be compared, whatever is left out.
    assert one.facts == {"sizes": [10], "without": [[10, [4]]], "kept": [[10, [0, 9]], [20, [0, 9]]]}
    assert one.remedy == "set_positions"


# Answers in doubt and recorded ones


def test_a_doubt_is_a_finding_for_each_sweep_with_its_sizes():
    accuracy = [
        counted(doubt="prompts_cut: 1024"), counted(size=20, doubt=None), counted("qa", doubt="error"),
        counted("qa", "gold_at_9", doubt="same_answer: No: none"), counted("sound", doubt=None),
    ]  # fmt: skip
    bias = [counted(size=20, reason="prompts_cut: 1024"), counted("sound", reason="floor"), counted("x", reason=None)]
    kv, *of_qa = doubt_findings(accuracy, [*bias, counted(size=5, reason="error")])
    assert (kv.kind, kv.models, kv.experiments, kv.strength) == ("doubt", ("m",), ("kv",), Strength.UNINFORMATIVE)
    assert kv.facts == {"doubt": "prompts_cut", "detail": "1024", "sizes": [10, 20], "is_whole": True}
    assert kv.remedy == "doubt_prompts_cut"
    named = [(*one.experiments, one.facts["doubt"], one.facts["detail"], one.facts["is_whole"]) for one in of_qa]
    assert named == [("qa", "error", "", True), ("qa", "same_answer", "No: none", True), ("kv", "error", "", False)]
    # Only the answers can say what to do about one text for all.
    assert [one.remedy for one in of_qa] == ["doubt_error", None, "doubt_error"]


def test_reasoning_in_more_than_a_twentieth_of_scored_answers_is_a_finding_with_its_remedy():
    counts = {"none": {}, "few": {"with_reasoning": 1}, "many": {"with_reasoning": 2}}
    (told,) = reasoning_findings([manifest(model, with_text=20, **one) for model, one in counts.items()])
    assert (told.kind, told.models, told.experiments, told.n) == ("reasoning_text", ("many",), ("kv",), 20)
    assert (told.facts, told.numbers["share"].value, told.remedy) == ({"count": 2}, 0.1, "strip_reasoning")


def test_recorded_answers_of_unknown_prompts_and_each_doubt_about_them_are_findings():
    manifests = [
        recorded("a", doubts=["counted from 1"], not_compared=3),
        recorded("b", doubts=["counted from 1", "all equal"], not_compared=0),
        manifest(),
    ]
    told = [(one.kind, *one.experiments, one.n, one.facts.get("doubt")) for one in recorded_findings(manifests)]
    assert told == [
        ("unknown_prompts", "a", 3, None), ("recorded_doubt", "a", None, "counted from 1"),
        ("recorded_doubt", "b", None, "counted from 1"), ("recorded_doubt", "b", None, "all equal"),
    ]  # fmt: skip


# How answers are read


def test_answers_inside_other_words_are_a_finding_from_three_and_a_fiftieth_on():
    def scored(experiment, n, inside, metric="whole_words", size=10):
        return counted(
            experiment, n=n, size=size, metric=metric, accuracy_full=0.5, accuracy_lenient=0.5 + inside / max(n, 1)
        )

    rows = [
        scored("many", 50, 3), scored("many", 50, 0, size=20), scored("two", 20, 2), scored("few", 150, 3),
        scored("other", 50, 3, "best_subspan_em"), scored("none", 0, 0) | {"accuracy_lenient": None},
    ]  # fmt: skip
    (inside,) = inside_findings(rows)
    assert counts_of([inside]) == [("m", "many", 3, 100, [10])]
    assert (inside.kind, inside.remedy) == ("inside_words", "accept_forms")


def reading(experiment="qa", quantity="accuracy", metric="best_subspan_em", model="m", size=10, **more) -> dict:
    """A row of reading_sensitivity.csv."""
    values = {
        f"value_{name}{end}": value
        for name, value in (("first_line", -0.24), ("full", 0.14))
        for end, value in (("", value), ("_ci_low", value - 0.1), ("_ci_high", value + 0.1))
    }
    names = {"model": model, "experiment": experiment, "size": size, "placement": None, "quantity": quantity}
    counts = {"n": 20, "n_preamble": None, "n_preamble_right": None}
    return {**names, "metric": metric, "changes_with_reading": None, **counts, **values, **more}


def test_a_conclusion_that_depends_on_the_reading_is_a_finding_if_the_metric_reads_the_first_line():
    changes = [
        reading(quantity="pbi", changes_with_reading=True), reading(quantity="tilt", changes_with_reading=False),
        reading(quantity="utilisation", placement="gold_at_4", size=5, changes_with_reading=True),
        reading("codes", "pbi", "exact_code", changes_with_reading=True), reading("same"),
    ]  # fmt: skip
    (told,) = reading_findings(changes)
    assert (told.kind, told.models, told.experiments) == ("reading", ("m",), ("qa",))
    assert told.facts == {"quantity": "pbi", "size": 10, "placement": None, "changes": 2, "sizes": [5, 10]}
    assert told.numbers["first_line"] == pytest.approx((-0.24, -0.34, -0.14, None))
    assert told.numbers["full"][:1] == (0.14,)


def test_many_first_lines_that_end_with_a_colon_are_a_finding():
    def announcing(experiment, count, n=100, placement="gold_at_0", **more):
        return reading(experiment, placement=placement, n=n, n_preamble=count, n_preamble_right=1, **more)

    rows = [
        announcing("qa", 4), announcing("qa", 8, placement="gold_at_4", size=20), announcing("few", 4, 8),
        announcing("fewer than a twentieth", 5), announcing("f1", 9, metric="token_f1"), reading("qa", "pbi"),
    ]  # fmt: skip
    told = list(announced_findings(rows, {("m", "qa"): "first_line", ("m", "f1"): "end_token"}))
    assert counts_of(told) == [("m", "qa", 12, 200, [10, 20]), ("m", "f1", 9, 100, [10])]
    of_qa, graded = (one.facts for one in told)
    assert (of_qa["right"], of_qa["is_graded"], of_qa["ends_early"]) == (2, False, True)
    assert (graded["right"], graded["is_graded"], graded["ends_early"]) == (1, True, False)
    assert [one.remedy for one in told] == ["record_all", None]


def test_where_answers_end_is_known_of_those_that_were_asked():
    assert stops_of([manifest(stop="first_line"), recorded("qa")]) == {("m", "kv"): "first_line"}


# Judged answers


def judged(experiment="kv", size=10, n=10, labels=0, accuracy=None, n_no_verdict=0) -> dict:
    """A row of judge.csv."""
    return {
        "model": "m", "experiment": experiment, "size": size, "n": n, "n_labels": labels, "accuracy": accuracy,
        "n_no_verdict": n_no_verdict,
    }  # fmt: skip


def test_a_judge_is_unchecked_without_labels_uncorrected_with_too_few_and_else_corrected():
    rows = [
        judged("none"), judged("few", labels=4, accuracy=0.5), judged("few", size=20, labels=3),
        judged("enough", labels=4, accuracy=0.5), judged("enough", size=20, labels=5, accuracy=0.4),
    ]  # fmt: skip
    experiments = [{"name": name, "judge": {"model": "j"}} for name in ("none", "few", "enough")]
    told = [(one.kind, *one.experiments, one.n, one.facts, one.remedy) for one in judge_findings(rows, experiments)]
    assert told == [
        (
            "judge_unchecked",
            "none",
            10,
            {"judge": "j", "with_labels": pytest.approx(0.325, abs=0.01)},
            "fill_in_labels",
        ),
        ("judge_uncorrected", "few", 20, {"judge": "j", "count": 7}, "label_more"),
        ("judge_corrected", "enough", 20, {"judge": "j", "count": 9}, None),
    ]


def test_labels_of_other_answers_are_told_from_none():
    experiments = [{"name": "kv", "judge": {"model": "j", "labels": "mine.csv"}}]
    (finding,) = judge_findings([judged()], experiments)
    assert (finding.kind, finding.remedy) == ("judge_unchecked", "other_labels")


def test_what_labels_would_bring_is_near_what_the_simulation_shows():
    # docs/judged.md: 200 questions at five positions, 50 labels, a judge that errs in 15 of 100.
    assert half_width_with_labels(200, 5) == pytest.approx(0.23, abs=0.01)
    assert half_width_with_labels(10_000, 1) == pytest.approx(1.96 * (0.1275 / 50) ** 0.5, abs=0.002)


def test_a_judge_of_its_own_answers_and_answers_without_a_verdict_are_told_apart():
    rows = [judged(n_no_verdict=2), judged(size=20), judged("qa", size=5)]
    experiments = [{"name": "kv", "judge": {"model": "j"}}, {"name": "qa", "judge": {"model": "m"}}]
    lacking, itself = (one for one in judge_findings(rows, experiments) if one.kind != "judge_unchecked")
    assert counts_of([lacking]) == [("m", "kv", 2, 22, [10])] and lacking.kind == "no_verdict"
    assert lacking.numbers["share"].value == pytest.approx(2 / 22)
    assert (itself.kind, itself.experiments, itself.facts) == ("judges_itself", ("qa",), {"judge": "m"})
    assert lacking.remedy == "another_judge"
    (alone,) = judge_findings([judged(n=0, n_no_verdict=5)], experiments[:1])
    assert alone.kind == "no_verdict", "without a verdict there is nothing to check"
