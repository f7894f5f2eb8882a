"""Recorded scores: tables of somebody's verdicts, without prompts and answers, as curves."""

import json

import pandas as pd
import pytest

import litm
from litm.base.messages import UserError
from litm.recorded_scores import KNOWN

#: The verdicts on ten questions by position.
RIGHT = {0: "1111111110", 9: "1110000100", 19: "1111011101"}


def table(**columns) -> pd.DataFrame:
    rows = [
        {"model": "m", "question": f"q{number}", "size": 20, "position": position, "correct": int(verdict)}
        for position, verdicts in RIGHT.items()
        for number, verdict in enumerate(verdicts)
    ]
    return pd.DataFrame(rows).assign(**columns)


def accuracies(curves) -> dict:
    return dict(zip(curves.accuracy["position"], curves.accuracy["accuracy"], strict=True))


def test_verdicts_give_accuracies_contrasts_and_a_shape_but_nothing_that_needs_answers():
    curves = litm.curves(table())
    assert accuracies(curves) == {0: 0.9, 9: 0.4, 19: 0.8}
    (row,) = curves.position_bias.to_dict("records")
    assert (row["n"], round(row["primacy"], 9), round(row["recency"], 9), round(row["pbi"], 9)) == (10, 0.5, 0.4, 0.45)
    assert row["pbi_ci_low"] < 0.45 < row["pbi_ci_high"]
    assert [*curves.accuracy.columns] == [*KNOWN]
    assert len(curves.position_pairs) == 3
    assert curves.plot(title="Mine").get_axes()


def test_files_have_the_curves_of_their_frames(tmp_path):
    expected = accuracies(litm.curves(table()))
    table().to_csv(tmp_path / "a.csv", index=False)
    table().to_json(tmp_path / "a.jsonl", orient="records", lines=True)
    (tmp_path / "list.json").write_text(json.dumps(table().to_dict("records")))
    for name in ("a.csv", "a.jsonl", "list.json"):
        assert accuracies(litm.curves(tmp_path / name)) == expected, name


@pytest.mark.parametrize("words", [("yes", "no"), ("Right", "WRONG"), (True, False), ("1.0", "0.0"), (1.0, 0.0)])
def test_verdicts_are_words_or_numbers(words):
    assert accuracies(litm.curves(table(correct=table()["correct"].map({1: words[0], 0: words[1]})))) == {
        0: 0.9, 9: 0.4, 19: 0.8
    }  # fmt: skip


def test_depths_are_fractions_or_per_cent_and_keep_their_distances():
    depths = table()["position"].map({0: 0, 9: 50, 19: 100})
    for depth in (depths, depths / 100):
        curves = litm.curves(table(depth=depth, size=128_000).drop(columns="position"))
        assert curves.accuracy["depth"].tolist() == [0, 0.5, 1]
        assert curves.position_bias["pbi"].round(9).tolist() == [0.45]


def test_positions_from_one_are_converted_where_only_that_scale_is_possible():
    assert accuracies(litm.curves(table(position=table()["position"] + 1))) == {0: 0.9, 9: 0.4, 19: 0.8}
    inside = table(position=table()["position"].map({0: 1, 9: 9, 19: 15}))
    with pytest.raises(UserError, match="position_scale"):
        litm.curves(inside)
    assert [*accuracies(litm.curves(inside, position_scale="from_1"))] == [0, 8, 14]


def test_grades_up_to_a_full_score_are_means():
    graded = table(correct=table()["correct"] * 7)
    assert accuracies(litm.curves(graded, full_score=10))[0] == pytest.approx(0.63)
    with pytest.raises(UserError, match="^row 0: correct is 7, and a right answer has 1: give full_score"):
        litm.curves(graded)


def test_empty_and_skipped_verdicts_are_counted_and_not_wrong():
    absent = table(skipped=[True] + [False] * 29, correct=[None, None, *table()["correct"][2:]])
    row = litm.curves(absent).accuracy.iloc[0]
    assert (row["n"], row["n_not_recorded"], row["accuracy"]) == (8, 2, 7 / 8)


def test_answers_that_are_none_put_the_curve_of_their_model_alone_in_doubt():
    pads = table(model="pads", correct=0, text="<pad>" * 40)
    others = table(text=[f"The answer to number {number} is here." for number in range(30)])
    curves = litm.curves(pd.concat([pads, others]), columns={"answer": "text"})
    doubts = curves.accuracy.set_index("model")["doubt"]
    assert set(doubts["pads"]) == {"repetition"} and doubts["m"].isna().all()
    assert curves.position_bias.set_index("model")["reason"].fillna("").to_dict() == {"pads": "repetition", "m": ""}
    assert litm.curves(pads).accuracy["doubt"].isna().all()


def test_curves_of_questions_that_are_not_known_have_their_number_and_a_warning_in_the_figure():
    closed_book = table()[:10].assign(position=None, correct=[1, 1, 1, 1, 0, 0, 0, 0, 0, 0])
    curves = litm.curves(pd.concat([table(), closed_book])).not_known()
    assert accuracies(curves) == {0: 5 / 6, 9: 1 / 6, 19: 4 / 6}
    assert curves.accuracy["n"].tolist() == [6, 6, 6]
    assert "(m 6 of 10)" in curves.note and "compare positions, not models" in curves.note
    (legend,) = curves.plot().legends
    assert "m 6 of 10" in legend.get_title().get_text().replace("\n", " ")
    with pytest.raises(UserError, match="^m: no answers without documents are scored"):
        litm.curves(table()).not_known()


def test_models_are_compared_on_the_questions_that_both_have():
    both = pd.concat([table(), table(model="n", correct=1)])
    pairs = litm.curves(both).model_pairs
    of_all = pairs[(pairs["quantity"] == "accuracy") & (pairs["place"] == "all")]
    assert of_all["difference"].round(9).tolist() == [-0.3]


def test_a_question_may_be_named_by_columns_and_a_verdict_nested(tmp_path):
    rows = [
        {"needle": row["question"], "trial": 0, "at": row["position"], "n": 20, "result": {"ok": bool(row["correct"])}}
        for row in table().to_dict("records")
    ]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    names = {"question": ["needle", "trial"], "position": "at", "size": "n", "correct": "result.ok"}
    assert accuracies(litm.curves(tmp_path / "a.jsonl", columns=names)) == {0: 0.9, 9: 0.4, 19: 0.8}


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (table().drop(columns="question"), "the table: no column for question; there are model, size"),
        (table().drop(columns="position"), "the table: no column for position or depth"),
        (table(score=1), "the table: correct may be correct or score: say which with columns="),
        (table(correct="maybe"), "row 0: correct must be 1 or 0, yes or no, or a number, found 'maybe'"),
        (table(size="long"), "row 0: size must be a whole number above 0"),
        (table(position="near"), "row 0: position must be one number"),
        (table(question="q"), "row 1: m has a second verdict on question 'q', size 20, at 0 "),
        (table(model=None), "row 0: model is empty"),
        (table()[:0], "the table: no rows"),
    ],
)
def test_a_bad_table_is_refused_in_one_line(frame, message):
    with pytest.raises(UserError) as refused:
        litm.curves(frame)
    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)
