"""The summary at the end of a run, and the answers that come first there and in the report."""

import pytest

from litm.analysis.run_summary import MOST_TABLES, compared_lines, run_summary
from litm.analysis.sentences import able_sentences, compared, more_pairs, silenced, to_know_first, uninformative
from litm.analysis.shapes import MEANINGS, TWO_POSITIONS


def cell(position: int | None, accuracy: float, **others) -> dict:
    """A row of the accuracy table."""
    return {
        "model": "m", "experiment": "qa", "task": "multi_document_qa", "size": 20, "target": "gold",
        "placement": f"gold_at_{position}",
        "position": position, "n": 40, "metric": "exact_code", "accuracy": accuracy, "ci_low": 0.1, "ci_high": 0.9,
        "n_left_out": 0, "n_failed": 0, "n_not_recorded": None, **others,
    }  # fmt: skip


#: A row of position_bias.csv.
SHAPE = {
    "model": "m", "experiment": "qa", "size": 20, "placement": None,
    "verdict": "measured", "reason": None, "n_positions": 3, "shape": "U", "n": 60,
}  # fmt: skip


def summary(rows, shapes=()) -> list[str]:
    return list(run_summary(rows, shapes, dict.fromkeys([row["experiment"] for row in rows], "documents")))


def test_a_curve_is_its_accuracies_with_intervals_by_position_and_its_shape():
    assert summary([cell(0, 0.6), cell(9, 0.025), cell(19, 1)], [SHAPE]) == [
        "qa, 20 documents, n = 40",
        "  position       1st      10th      20th",
        "  accuracy      60 %       2 %     100 %",
        "  95 %      [10, 90]  [10, 90]  [10, 90]",
        "  shape     U (start and end are above the middle)",
    ]


def test_a_graded_metric_is_named_where_accuracies_stand():
    title, _, line, _ = summary([cell(position, 0.6, n=2655, metric="token_f1") for position in (0, 9)])
    assert title == "qa, 20 documents, n = 2,655, Token F1" and line.startswith("  token f1      60 % ")


def test_models_are_one_below_another():
    models = {"m": 0.6, "other": 1}
    rows = [cell(position, accuracy, model=model) for model, accuracy in models.items() for position in (0, 9)]
    assert summary(rows, [SHAPE, SHAPE | {"model": "other"}]) == [
        "qa, 20 documents, n = 40",
        "  position       1st      10th",
        "  m             60 %      60 %",
        "  95 %      [10, 90]  [10, 90]",
        "  other        100 %     100 %",
        "  95 %      [10, 90]  [10, 90]",
        "  U (start and end are above the middle): m, other",
    ]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        *(({"shape": word}, f"{word} ({meaning})") for word, meaning in MEANINGS.items()),
        ({"verdict": "no_information", "reason": "floor", "shape": None}, "no information on position (floor)"),
        ({"shape": None, "n_positions": 2}, TWO_POSITIONS),
        ({"shape": None, "reason": "floor at start, middle and end"}, "no shape: floor at start, middle and end"),
    ],
)
def test_a_shape_is_said_with_its_meaning_and_where_there_is_none_why(changes, said):
    assert summary([cell(0, 0.6), cell(9, 0.5)], [SHAPE | changes])[-1].split(maxsplit=1)[1] == said


def test_an_experiment_without_positions_is_one_line_and_its_sizes_are_columns():
    rows = [cell(None, 0.95, experiment="oracle", size=1)]
    assert summary(rows) == ["oracle, n = 40: 95 % [10, 90]"]
    rows.append(rows[0] | {"model": "other"})
    assert summary(rows) == ["oracle, n = 40: m 95 % [10, 90], other 95 % [10, 90]"]
    assert summary([cell(None, 0.08, size=1), cell(None, 0.125, size=10)]) == [
        "qa, n = 40",
        "  documents         1        10",
        "  accuracy        8 %      12 %",
        "  95 %       [10, 90]  [10, 90]",
    ]


def test_a_cell_without_an_answer_has_no_accuracy_and_questions_without_one_are_said():
    lines = summary([cell(0, 0.6), {**cell(9, 0), "n": 0, "accuracy": None, "ci_low": None, "ci_high": None}])
    assert lines[0] == "qa, 20 documents, n = 40" and lines[2].split() == ["accuracy", "60", "%", "-"]
    lines = summary([cell(0, 0.6, n_left_out=3), cell(9, 0.5, n_left_out=3, n_failed=2)])
    assert lines[-1] == "  without   3 questions that do not fit, 2 questions that failed"
    several = [cell(at, 0.6, model=model, n_not_recorded=n) for model, n in (("a", 0), ("b", 5)) for at in (0, 9)]
    assert summary(several)[-1] == "  without   5 questions that are not recorded (b 5)"


def test_gold_items_of_one_placement_are_a_curve():
    rows = [cell(at, accuracy, target=str(at), placement="gold_at_0_9") for at, accuracy in ((0, 0.6), (9, 0.5))]
    title, positions, accuracies, _, shape = summary(rows, [SHAPE | {"placement": "gold_at_0_9"}])
    assert title == "qa, 20 documents, n = 40" and positions.split() == ["position", "1st", "10th"]
    assert accuracies.split() == ["accuracy", "60", "%", "50", "%"] and shape.startswith("  shape     U (")


def test_prompts_with_several_gold_items_and_placements_have_one_line():
    rows = [cell(0, 0.5, target="a"), cell(9, 0.7, target="b")]
    nothing = {"accuracy": None, "ci_low": None, "ci_high": None, "n": 0, "n_left_out": 40}
    for changes, said in (({}, "n = 40: 60 %"), (nothing, "n = 0: -")):
        assert summary([row | changes for row in rows]) == [
            f"qa, 20 documents, {said} of the items; by position in tables/accuracy.csv"
        ]


def test_curves_that_are_not_printed_are_counted_and_experiments_that_are_not_asked_for_are_left_out():
    rows = [cell(None, 0.5, experiment=f"e{number}") for number in range(MOST_TABLES + 7)]
    lines = summary(rows)
    assert len(lines) == MOST_TABLES + 1 and lines[-1] == "and 7 more: tables/accuracy.csv"
    assert len(list(run_summary(rows, [], {"e3": "documents"}))) == 1 and summary([]) == []


def pair(quantity: str, place: str, difference: float, p_holm: float) -> dict:
    """A row of model_pairs.csv."""
    values = {"value_a": 0.5 + difference, "value_b": 0.5, "difference": difference, "p_holm": p_holm}
    limits = {"ci_low": difference - 0.1, "ci_high": difference + 0.1}
    names = {"experiment": "qa", "n_sizes": 2, "model_a": "m", "model_b": "other", "n": 60, "place": place}
    return {**names, "quantity": quantity, **values, **limits}


def test_of_many_pairs_of_models_the_largest_shown_differences_come_first_and_the_others_are_counted():
    differences = [0.9, *(0.1 * number for number in range(8))]
    rows = [pair("accuracy", "middle", value, 0.5 * (not number)) for number, value in enumerate(differences)]
    told = compared([{**row, "model_b": f"m{number}"} for number, row in enumerate(rows)], {"qa"})
    assert [own[0]["model_b"] for own, _ in told] == ["m8", "m7", "m6", "m5", "m4", "m3", "m2", "m0", "m1"]
    assert more_pairs(told) == ["and 3 more comparisons: tables/model_pairs.csv"] and more_pairs(told[:6]) == []


def test_two_models_are_compared_by_place_and_the_conclusion_says_who_is_better():
    rows = [pair("accuracy", "middle", -0.3, 0.001), pair("pbi", "", 0.25, 0.2)]
    assert list(compared_lines(rows, {"qa"}, [])) == [
        "m minus other on qa, mean of 2 sizes, n = 60",
        "                    middle           PBI",
        "  points            -30.0*        +25.0",
        "  95 %      [-40.0, -20.0]  [15.0, 35.0]",
        "  p                  0.001         0.200",
        "  other is better in the middle by 30.0 points [20.0, 40.0]; no difference in PBI is shown (m minus "
        "other: +25.0 points [15.0, 35.0], p = 0.200).",
        "* shown: p < 0.05; p is corrected for all comparisons of the experiment, the intervals are not",
    ]
    rows[1] = pair("pbi", "", 0.25, 0.01)
    # The lower index is not the more even curve: it may have the other sign, and a slope has 0.
    assert "m has the higher PBI (edges minus middle: 75.0 against 50.0)" in "".join(compared_lines(rows, {"qa"}, []))
    opposite = rows[1] | {"value_a": 0.14, "value_b": -0.145}
    lines = "".join(compared_lines([rows[0], opposite], {"qa"}, []))
    assert "m has the higher PBI (edges minus middle: 14.0 against -14.5)" in lines and "even" not in lines
    # A model that is right nowhere is even, and useless.
    lines = "".join(compared_lines(rows, {"qa"}, [], {("other", "qa")}))
    assert "PBIs are not compared, because positions show nothing about other" in lines and "PBI " not in lines
    # An index on fewer sizes, and none.
    *table, told, _ = compared_lines([rows[0], rows[1] | {"n_sizes": 1}], {"qa"}, [])
    assert table[-1].split() == ["sizes", "2", "1"] and "75.0 against 50.0, from 1 of 2 sizes)" in told
    lines = "".join(compared_lines([rows[0], rows[0]], {"qa"}, []))
    assert "PBIs are not compared, because positions show nothing about one of the two at each common size." in lines
    assert list(compared_lines(rows, {"qa"}, ["m"])) == list(compared_lines(rows, {"other"}, [])) == []
    # Without a curve only a shown difference is worth a table.
    assert list(compared_lines([pair("accuracy", "all", 0.1, 0.2)], {"qa"}, [])) == []


REFERENCES = {
    "model": "m", "experiment": "qa", "n": 16, "utilisation": None, "accuracy_oracle": 0.125,
    "accuracy_oracle_ci_low": 0.03, "accuracy_oracle_ci_high": 0.36, "accuracy_closed_book": 0.125,
    "accuracy_closed_book_ci_low": 0.03, "accuracy_closed_book_ci_high": 0.36,
}  # fmt: skip


def test_a_model_that_the_document_helps_is_told_with_its_references_once():
    helped = REFERENCES | {"utilisation": 0.4, "accuracy_oracle": 0.9}
    other = helped | {"experiment": "rag"}
    # Another cell of the experiment, without the questions that have no answer there.
    fewer = helped | {"n": 15, "accuracy_oracle": 0.8}
    assert able_sentences([fewer, helped, fewer, other, REFERENCES | {"model": "useless"}]) == [
        "m on qa, rag: the document with the answer helps, so its position and the number and order of documents can "
        "matter. Right with the document alone: 90.0 % [3.0, 36.0]; without any: 12.5 % [3.0, 36.0] (n = 16)."
    ]


def test_a_model_that_the_document_does_not_help_is_told_first_and_has_no_advice():
    told = uninformative([REFERENCES, REFERENCES], [], [])
    (sentence,) = told.values()
    assert sentence.startswith("m on qa: these answers cannot show an effect of position, number or order. Right with ")
    assert sentence.endswith("the document alone is not shown to help. Use easier questions or another model.")
    assert silenced(told, {"qa": "book", "rag": "book", "other": "else", "none": None}) == {("m", "qa"), ("m", "rag")}
    # With one closed book in the study, it is that of questions on documents as retrieved too.
    assert silenced(told, {"qa": "book", "retrieved": None}) == {("m", "qa"), ("m", "retrieved")}
    # Few questions may hide a benefit.
    hinted = uninformative([REFERENCES | {"accuracy_oracle": 0.25}], [], [])["m", "qa"]
    assert hinted.endswith("Use more questions, easier questions or another model.")
    (clustered,) = uninformative([REFERENCES | {"accuracy_oracle": 0.25}], [], [], {"qa": "topic"}).values()
    assert clustered.endswith("Use more clusters (topic), easier questions or another model.")
    known = REFERENCES | {"accuracy_closed_book": 0.9, "accuracy_oracle": 0.95}
    by_heart = uninformative([known], [], [])["m", "qa"]
    assert by_heart.endswith("Use more questions or questions that need the documents.")
    assert uninformative([REFERENCES, REFERENCES | {"utilisation": 0.4}], [], []) == {}


def test_a_model_whose_positions_are_shown_to_differ_is_not_silent_where_the_document_alone_is_not_shown_to_help():
    advice = {"model": "m", "remedies_of": "qa", "advice": "pass 5 documents.", "advice_details": None}
    tables = {"utilisation": [REFERENCES], "advice": [advice]}
    for shape, is_shown in (("U", True), ("no difference shown", False)):
        bias = {"position_bias": [SHAPE | {"shape": shape}]}
        first = to_know_first(
            lambda name, own=tables | bias: own.get(name, []), [{"name": "qa", "closed_book": "b"}], []
        )
        (told,) = first.useless
        assert ("positions are shown to differ" in told, "cannot show" in told) == (is_shown, not is_shown)
        assert (first.advice, first.silent) == (
            ([("pass 5 documents.", "")], set()) if is_shown else ([], {("m", "qa")})
        )
    # Two positions have no word.
    pair_of_positions = SHAPE | {"shape": None, "n_positions": 2, "cochran_p_holm": 0.01}
    assert "positions are shown to differ" in uninformative([REFERENCES], [], [pair_of_positions])["m", "qa"]


def test_only_a_document_that_is_not_shown_to_help_silences_an_advice():
    advice = {"model": "m", "remedies_of": "retrieved", "advice": "no advice yet", "advice_details": None}
    books = [{"name": name, "closed_book": book} for name, book in (("qa", "b"), ("aware", "b"), ("retrieved", None))]

    def advised(utilisation, bias):
        tables = {"utilisation": utilisation, "position_bias": bias, "advice": [advice]}
        return to_know_first(lambda name: tables.get(name, []), books, []).advice == [("no advice yet", "")]

    limited = SHAPE | {"verdict": "no_information", "shape": None}
    for reason in ("too few questions", "ceiling"):
        assert advised([REFERENCES | {"utilisation": 0.9}], [limited | {"reason": reason}])
    # Of the same questions in two experiments one is enough.
    aware = {"experiment": "aware"}
    both = [REFERENCES, REFERENCES | aware]
    assert advised(both, [SHAPE, SHAPE | aware | {"shape": "no difference shown"}]) and not advised(both, [])


def test_an_oracle_without_a_right_answer_and_curves_at_the_floor_or_the_ceiling_are_told():
    oracle = cell(0, 0.0, experiment="oracle", task="oracle_qa")
    assert "check prompt_template" in uninformative([], [oracle], [])["m", "oracle"]
    assert uninformative([], [oracle | {"accuracy": 0.1}], []) == {}
    for reason, remedy in (
        ("floor", "at any position (n = 60): use fewer or shorter items"),
        ("ceiling", "(n = 60): use harder questions or longer contexts"),
        ("too few questions", "too few questions (n = 60): use more."),
    ):
        (told,) = uninformative([], [], [SHAPE | {"reason": reason}]).values()
        (clustered,) = uninformative([], [], [SHAPE | {"reason": reason}], {"qa": "topic"}).values()
        assert remedy in told and ("use more clusters (topic)." in clustered) == (reason == "too few questions")
    assert uninformative([], [], [SHAPE | {"reason": "floor"}, SHAPE]) == {}


def test_experiments_of_a_model_with_the_same_limit_are_one_sentence_and_those_with_cut_answers_another():
    bias = [SHAPE | {"experiment": name, "reason": "ceiling" if name == "b" else "floor"} for name in "abcdef"]
    told = uninformative([], [counted("a", n_cut=2), counted("c", n_cut=3)], bias)
    assert [sentence.partition(", because")[0] for sentence in told.values()] == [
        f"m on {names}: positions show nothing" for names in ("a, d, e and 1 more", "b", "c")
    ]
    assert (
        "most were cut (n = 60): raise max_new_tokens (or the limit in" in told["m", "c"]
        and "cut" not in told["m", "a"] + told["m", "b"]
    )
    wrong = [{"model": "m", "experiment": name, "n": 40, "n_wrong": 40, "share_refusal": 0.9} for name in "bc"]
    told = uninformative([], [counted("c", n_cut=3)], bias, wrong=[*wrong, wrong[0] | {"experiment": "a", "n": 80}])
    assert (
        "most are refusals (n = 60): use another" in told["m", "c"]
        and "refusals" not in told["m", "a"] + told["m", "b"]
    )


def test_few_questions_without_a_right_answer_are_told_as_refusals_or_cut_answers():
    few = SHAPE | {"reason": "too few questions", "verdict": "no_information", "n": 5, "accuracy_best": 0.0}
    accuracy = [counted("qa", n_cut=5)]
    wrong = [{"model": "m", "experiment": "qa", "n": 5, "n_wrong": 5, "share_refusal": 1.0}]
    assert "most were cut (n = 5): raise max_new_tokens" in uninformative([], accuracy, [few])["m", "qa"]
    assert "most are refusals (n = 5): use another" in uninformative([], accuracy, [few], wrong=wrong)["m", "qa"]
    some = few | {"accuracy_best": 0.4}
    assert "too few questions (n = 5): use more" in uninformative([], accuracy, [some], wrong=wrong)["m", "qa"]


def counted(experiment="kv", placement="gold_at_0", target="gold", n=5, n_cut=0, model="m"):
    names = {"model": model, "experiment": experiment, "size": 10, "placement": placement, "target": target}
    return names | {"task": "kv_retrieval", "n": n, "n_cut": n_cut}


CUT_BY_SERVER = (
    "the server cut the prompts to 1,024 tokens: raise its context length (num_ctx in Ollama) or use fewer or "
)
CUT_BY_SERVER += "shorter items"


def test_a_doubt_stands_in_place_of_the_shape_and_below_accuracies_without_one():
    shape = SHAPE | {"verdict": "no_information", "reason": "prompts_cut: 1024", "shape": None}
    doubtful = cell(0, 0.6, doubt="prompts_cut: 1024")
    assert summary([doubtful, cell(9, 0.2, doubt=None)], [shape])[-1] == f"  shape     no shape: {CUT_BY_SERVER}"
    assert summary([doubtful | {"position": None, "placement": "as_retrieved"}])[1:] == [
        f"  in doubt  size 20: {CUT_BY_SERVER}"
    ]


def test_a_doubt_is_told_first_and_nothing_is_concluded_from_what_it_touches():
    names = {"model": "m", "experiment": "qa", "size": 20, "n": 40}
    unhelped = names | {"utilisation": None, "accuracy_oracle": 0.0, "accuracy_closed_book": 0.0}
    unhelped |= {f"accuracy_{name}_{end}": 0.0 for name in ("oracle", "closed_book") for end in ("ci_low", "ci_high")}
    accuracy = [cell(0, 0.0, doubt="error"), cell(0, 0.0, doubt=None, size=10)]
    bias = [SHAPE | {"verdict": "no_information", "reason": "error", "shape": None}]
    rows = {"utilisation": [unhelped], "accuracy": accuracy, "position_bias": bias}
    first = to_know_first(lambda name: rows.get(name, []), [{"name": "qa", "closed_book": "book"}], ())
    assert first.useless == [
        "m on qa (size 20): no shape, no PBI and no advice, because most answers are a server's or a program's error "
        "messages: ask these again."
    ]
    assert first.able == [] and first.silent == {("m", "qa")}
    rows["accuracy"] = [cell(None, 0.0, experiment="book", size=0, doubt="error")]
    rows["position_bias"] = []
    first = to_know_first(lambda name: rows.get(name, []), [{"name": "qa", "closed_book": "book"}], ())
    assert [sentence.partition(":")[0] for sentence in first.useless] == ["m on book"]
