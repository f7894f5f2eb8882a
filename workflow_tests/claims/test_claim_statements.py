"""Each claim is supported, contradicted, or has not enough data."""

import pandas as pd
import pytest
from claim_evidence import BOOK, LENGTHS, POSITIONS, Verdicts, about, evidence_of, exactly, rows_of, without_position
from score_frames import of_matrix, random_matrix

from litm.claims.evidence import Relations, ScoredEvidence, scored_evidence
from litm.claims.verdicts import CONTRADICTED, NOT_ENOUGH, SUPPORTED
from litm.placements import AS_RETRIEVED


@pytest.mark.parametrize(
    ("verdicts", "verdict"),
    [
        (about([0.8, 0.5, 0.8]), SUPPORTED),
        (about([0.5, 0.8, 0.5]), CONTRADICTED),
        # As sure as can be that the position does nothing: no U either.
        (exactly([0.5, 0.5, 0.5]), CONTRADICTED),
        (about([0.6, 0.55, 0.6], n=40), NOT_ENOUGH),
    ],
)
def test_a_u_has_a_verdict_by_its_truth_and_n(verdicts, verdict):
    (row,) = rows_of("u_shape", evidence_of(verdicts))
    start, middle, end = (column.mean() for column in verdicts.values())
    contrasts = {"primacy": start - middle, "recency": end - middle}
    assert (row["verdict"], row["models"], row["size"]) == (verdict, "m", 9)
    assert (row["value"], row["n"]) == (pytest.approx(contrasts[row["quantity"]]), len(next(iter(verdicts.values()))))
    assert row["ci_low"] <= row["value"] <= row["ci_high"]


@pytest.mark.parametrize(("accuracy", "limit"), [(0.0, "floor"), (1.0, "ceiling")])
def test_at_the_floor_and_the_ceiling_a_curve_has_no_word_for_its_shape(accuracy, limit):
    (row,) = rows_of("u_shape", evidence_of(exactly([accuracy] * 3)))
    assert (row["verdict"], pd.isna(row["value"])) == (NOT_ENOUGH, True)
    assert row["reason"].endswith(limit)


def test_a_curve_that_rises_at_one_end_alone_is_no_u_and_its_row_names_the_other_end():
    (row,) = rows_of("u_shape", evidence_of(exactly([0.9, 0.5, 0.5])))
    assert (row["verdict"], row["quantity"], row["shape"]) == (CONTRADICTED, "recency", "primacy alone")
    assert row["reason"].startswith("primacy alone: the start is above the middle")


LONGER = Relations({"long": {"longer_context_of": "short"}}, {})


@pytest.mark.parametrize(
    ("long", "n", "verdict"),
    [([0.7, 0.5, 0.6], 2000, SUPPORTED), ([0.9, 0.7, 0.8], 500, CONTRADICTED), ([0.7, 0.5, 0.6], 40, NOT_ENOUGH)],
)
def test_a_longer_context_is_no_better(long, n, verdict):
    evidence = evidence_of(about(long, n, 1, model="long"), about([0.7, 0.5, 0.6], n, 2, model="short"))
    (row,) = rows_of("extended_context_no_better", evidence, LONGER)
    assert (row["verdict"], row["models"], row["n"]) == (verdict, "long, short", n)


def test_models_with_other_contexts_are_compared_where_the_prompt_fits_both():
    short = of_matrix(random_matrix([0.7, 0.5, 0.6], 50), POSITIONS, model="short")
    short.loc[short["id"].isin(["q0", "q1"]), "excluded"] = True
    long = of_matrix(random_matrix([0.7, 0.5, 0.6], 50, 1), POSITIONS, model="long")
    (row,) = rows_of("extended_context_no_better", scored_evidence([long, short]), LONGER)
    assert row["n"] == 48
    nothing_fits = scored_evidence([long, short.assign(excluded=True)])
    (row,) = rows_of("extended_context_no_better", nothing_fits, LONGER)
    assert (row["verdict"], row["reason"]) == (NOT_ENOUGH, "no question has prompts that fit short too")


@pytest.mark.parametrize(
    ("closed", "n", "verdict"), [(0.7, 500, SUPPORTED), (0.3, 500, CONTRADICTED), (0.55, 40, NOT_ENOUGH)]
)
def test_the_middle_falls_below_closed_book(closed, n, verdict):
    evidence = evidence_of(about([0.8, 0.5, 0.8], n), without_position(closed, n))
    (row,) = rows_of("below_closed_book", evidence, BOOK)
    assert (row["verdict"], row["models"], row["experiment"]) == (verdict, "m", "e")


def test_a_claim_about_gpt_is_exploratory_for_other_models_and_they_do_not_count_for_it():
    gpt = "gpt-3.5-turbo-0613"
    books = [without_position(0.6, 500, model=model) for model in (gpt, "m", "o")]
    curves = [about([0.8, 0.5, 0.8], 500, model=model) for model in (gpt, "m", "o")]
    rows = {row["models"]: row for row in rows_of("below_closed_book", evidence_of(*curves, *books), BOOK)}
    assert [rows[model]["role"] for model in (gpt, "m", "o")] == ["claim", "exploratory", "exploratory"]
    assert [rows[model]["family_size"] for model in (gpt, "m", "o")] == [1, 2, 2]


def test_one_size_at_which_the_middle_falls_below_closed_book_is_enough():
    curves = [about([0.9, 0.8, 0.9]), about([0.9, 0.4, 0.9], size=30)]
    (row,) = rows_of("below_closed_book", evidence_of(*curves, without_position(0.6, 1000)), BOOK)
    assert (row["verdict"], row["size"]) == (SUPPORTED, 30)
    assert "at size 9" in row["reason"] and "at size 30" in row["reason"]


T5 = Relations({"m": {"architecture": "encoder_decoder", "training_length": 500}}, {})


@pytest.mark.parametrize(
    ("within", "n", "verdict"),
    [([0.6, 0.6, 0.6], 1000, SUPPORTED), ([0.9, 0.6, 0.6], 1000, CONTRADICTED), ([0.6, 0.55, 0.6], 40, NOT_ENOUGH)],
)
def test_an_encoder_decoder_is_robust_within_its_training_length(within, n, verdict):
    (row,) = rows_of("encoder_decoder_robust", evidence_of(exactly(within, n), lengths=LENGTHS), T5)
    assert (row["verdict"], row["quantity"]) == (verdict, "best-worst gap")
    assert row["value"] == pytest.approx(max(within) - min(within))


@pytest.mark.parametrize(
    ("beyond", "n", "verdict"),
    [([0.9, 0.5, 0.9], 1000, SUPPORTED), ([0.6, 0.6, 0.6], 4000, CONTRADICTED), ([0.6, 0.52, 0.6], 40, NOT_ENOUGH)],
)
def test_an_encoder_decoder_is_less_robust_beyond_its_training_length(beyond, n, verdict):
    evidence = evidence_of(exactly([0.6, 0.6, 0.6], n), exactly(beyond, n, size=20), lengths=LENGTHS)
    (row,) = rows_of("encoder_decoder_robust", evidence, T5)
    assert row["verdict"] == verdict
    if verdict != SUPPORTED:
        assert (row["size"], row["quantity"]) == (20, "gap minus that within the training length")
    assert "size 9: prompts of 400 tokens" in row["reason"] and "size 20: prompts of 900 tokens" in row["reason"]


def test_lengths_that_are_not_known_or_all_beyond_decide_nothing():
    (row,) = rows_of("encoder_decoder_robust", evidence_of(exactly([0.6] * 3)), T5)
    assert row["verdict"] == NOT_ENOUGH and "not known" in row["reason"]
    (row,) = rows_of("encoder_decoder_robust", evidence_of(exactly([0.6] * 3, size=20), lengths=LENGTHS), T5)
    assert row["verdict"] == NOT_ENOUGH and "no size within" in row["reason"]
    decoder = Relations({"m": {"architecture": "decoder", "training_length": 500}}, {})
    (row,) = rows_of("encoder_decoder_robust", evidence_of(exactly([0.6] * 3), lengths=LENGTHS), decoder)
    assert row["reason"].startswith("nothing that was run can be asked")


@pytest.mark.parametrize(
    ("aware", "n", "verdict"),
    [([1.0, 1.0, 0.99], 500, SUPPORTED), ([1.0, 0.8, 1.0], 500, CONTRADICTED), ([1.0, 1.0, 1.0], 30, NOT_ENOUGH)],
)
def test_query_aware_key_value_retrieval_is_near_perfect(aware, n, verdict):
    relations = Relations({}, {"aware": {"task": "kv_retrieval", "query_aware_of": "e"}})
    (row,) = rows_of("query_aware", evidence_of(exactly(aware, n, experiment="aware")), relations)
    assert (row["verdict"], row["value"]) == (verdict, min(aware))


@pytest.mark.parametrize(
    ("aware", "n", "verdict"),
    [([0.8, 0.5, 0.8], 2000, SUPPORTED), ([0.5, 0.3, 0.5], 500, CONTRADICTED), ([0.8, 0.5, 0.8], 30, NOT_ENOUGH)],
)
def test_query_aware_question_answering_is_changed_little(aware, n, verdict):
    relations = Relations({}, {"aware": {"task": "multi_document_qa", "query_aware_of": "e"}})
    evidence = evidence_of(about([0.8, 0.5, 0.8], n), about(aware, n, 1, experiment="aware"))
    (row,) = rows_of("query_aware", evidence, relations)
    assert (row["verdict"], row["n"], row["experiment"]) == (verdict, n, "aware")


@pytest.mark.parametrize(
    ("values", "n", "verdict"),
    [([0.8, 0.5, 0.8], 1000, SUPPORTED), ([0.5, 0.8, 0.5], 1000, CONTRADICTED), ([0.6, 0.5, 0.6], 30, NOT_ENOUGH)],
)
def test_base_models_are_asked_for_the_u_and_others_are_not(values, n, verdict):
    relations = Relations({"tuned": {"tuned_from": "base"}}, {})
    evidence = evidence_of(about(values, n, model="base"), about([0.9, 0.2, 0.9], n, model="tuned"))
    (row,) = rows_of("base_models_too", evidence, relations)
    assert (row["models"], row["verdict"]) == ("base", verdict)


LLAMA = Relations({name: {"family": "llama-2", "parameters": size} for name, size in (("7b", 7), ("13b", 13))}, {})


@pytest.mark.parametrize(
    ("small", "large", "verdict"),
    [
        (exactly([0.4, 0.5, 0.8], model="7b"), about([0.8, 0.5, 0.8], model="13b"), SUPPORTED),
        (exactly([0.8, 0.5, 0.5], model="7b"), about([0.4, 0.5, 0.8], model="13b"), CONTRADICTED),
        # One of the two things that are said of small models is not so: no verdict for each, but one for the claim.
        (exactly([0.8, 0.5, 0.8], model="7b"), about([0.4, 0.5, 0.8], model="13b"), CONTRADICTED),
        (about([0.5, 0.5, 0.55], 40, model="7b"), about([0.55, 0.5, 0.6], 40, model="13b"), NOT_ENOUGH),
    ],
)
def test_primacy_is_for_models_of_13_billion_parameters(small, large, verdict):
    rows = rows_of("primacy_from_13b", evidence_of(small, large), LLAMA)
    assert [(row["models"], row["verdict"]) for row in rows] == [("7b", verdict), ("13b", verdict)]
    assert {row["role"] for row in rows} == {"claim"}


def test_another_family_is_asked_for_primacy_for_its_own_sake_and_small_models_alone_are_not():
    relations = Relations({name: {"family": "f", "parameters": size} for name, size in (("s", 1), ("l", 30))}, {})
    evidence = evidence_of(about([0.4, 0.5, 0.8], model="s"), about([0.8, 0.5, 0.8], model="l"))
    assert [row["role"] for row in rows_of("primacy_from_13b", evidence, relations)] == ["exploratory"] * 2
    small = Relations({"s": {"family": "llama", "parameters": 7}}, {})
    (row,) = rows_of("primacy_from_13b", evidence, small)
    assert row["reason"].startswith("nothing that was run can be asked")


def reader(accuracy_of_20: float, accuracy_of_50: float, n: int, recalls=None) -> ScoredEvidence:
    """A reader of 20 and of 50 retrieved documents."""
    accuracies = {20: accuracy_of_20, 50: accuracy_of_50}
    cells = (without_position(accuracy, n, "e", size, AS_RETRIEVED) for size, accuracy in accuracies.items())
    return evidence_of(*cells, recalls=recalls)


@pytest.mark.parametrize(
    ("last", "recall", "n", "verdict"),
    [(0.51, 0.9, 2000, SUPPORTED), (0.6, 0.9, 2000, CONTRADICTED), (0.54, 0.86, 50, NOT_ENOUGH)],
)
def test_readers_saturate_before_the_retriever(last, recall, n, verdict):
    evidence = reader(0.5, last, n, recalls={"e": {20: (0.8, n), 50: (recall, n)}})
    (row,) = rows_of("readers_saturate", evidence)
    gained, half = last - 0.5, "accuracy gained minus half the recall gained"
    values = {"accuracy gained": gained, half: gained - (recall - 0.8) / 2}
    assert (row["verdict"], row["value"]) == (verdict, pytest.approx(values[row["quantity"]]))


def test_without_the_recall_a_reader_can_only_contradict_that_it_saturates():
    (row,) = rows_of("readers_saturate", reader(0.5, 0.5, 2000))
    assert row["verdict"] == NOT_ENOUGH and "recall at these sizes is not known" in row["reason"]
    assert row["reason"].endswith("not measured: accuracy gained minus half the recall gained")
    (row,) = rows_of("readers_saturate", reader(0.5, 0.8, 2000))
    assert (row["verdict"], row["quantity"]) == (CONTRADICTED, "accuracy gained")


@pytest.mark.parametrize(
    ("largest", "n", "verdict"), [(0.5, 1000, SUPPORTED), (0.75, 1000, CONTRADICTED), (0.6, 40, NOT_ENOUGH)]
)
def test_accuracy_falls_as_the_context_grows(largest, n, verdict):
    evidence = evidence_of(exactly([0.7] * 3, n), exactly([0.6] * 3, n, size=20), exactly([largest] * 3, n, size=30))
    (row,) = rows_of("longer_context_worse", evidence)
    assert (row["verdict"], row["size"], row["quantity"]) == (verdict, 30, "mean minus that at size 9")
    assert (row["value"], row["test"]) == (pytest.approx(largest - 0.7), "paired by question")


#: Accuracy by position among 17 items: low but at the ends.
LOW = {0: 0.9, **dict.fromkeys(range(2, 16, 2), 0.2), 16: 0.9}


@pytest.mark.parametrize(
    ("smaller", "larger", "verdict", "difference", "depths"),
    [
        # As accurate at the same depths, with more positions between the ends.
        ({9: {0: 0.9, 4: 0.2, 8: 0.9}}, LOW, CONTRADICTED, 0, "0.00, 0.50, 1.00"),
        # The same positions are at other depths, where one U is lower.
        ({9: {0: 0.9, 4: 0.5, 8: 0.9}}, {0: 0.9, 4: 0.7, 8: 0.5}, CONTRADICTED, 0, "0.00, 0.50"),
        (
            {4: {0: 0.9, 1: 0.6, 2: 0.6, 3: 0.9}},
            {0: 0.9, 5: 0.3, 8: 0.1, 11: 0.3, 16: 0.9},
            SUPPORTED,
            -0.15,
            "0.00, 0.33, 0.67, 1.00",
        ),
        # Of sizes with two positions the others are asked.
        ({5: {0: 0.9, 4: 0.9}, 9: {0: 0.9, 4: 0.8, 8: 0.9}}, LOW, SUPPORTED, -0.2, "0.00, 0.50, 1.00"),
        ({5: {0: 0.9, 4: 0.9}}, LOW, CONTRADICTED, 0, "0.00, 1.00"),
    ],
)
def test_sizes_are_compared_at_positions_of_like_depths(smaller, larger, verdict, difference, depths):
    def of(by_position, size):
        return exactly([*by_position.values()], size=size, positions=[*by_position])

    curves = [of(accuracies, size) for size, accuracies in smaller.items()]
    (row,) = rows_of("longer_context_worse", evidence_of(*curves, of(larger, 17)))
    assert (row["verdict"], row["value"]) == (verdict, pytest.approx(difference))
    assert row["reason"].startswith(f"mean at about the depths {depths}: ")


def test_nothing_falls_from_the_floor():
    (row,) = rows_of("longer_context_worse", evidence_of(exactly([0] * 3), exactly([0] * 3, size=30)))
    assert row["verdict"] == NOT_ENOUGH and row["reason"].endswith("floor")


def test_indices_of_middles_at_other_depths_are_not_compared():
    thirds = exactly([0.9, 0.5, 0.5, 0.9], size=100, positions=(0, 30, 70, 99))
    (row,) = rows_of(
        "more_keys_more_bias", evidence_of(thirds, exactly([0.9, 0, 0.9], size=200, positions=(0, 100, 199))), KEYS
    )
    assert row["verdict"] == NOT_ENOUGH and "0.00, 0.30 and 0.71, 1.00 of the context at one size" in row["reason"]


def others(verdicts: Verdicts) -> Verdicts:
    """The same for other questions."""
    return {cell: column.rename(lambda number: number + 10**6) for cell, column in verdicts.items()}


def test_sizes_with_questions_of_their_own_are_compared_without_pairs():
    evidence = evidence_of(exactly([0.7] * 3), others(exactly([0.5] * 3, size=30)))
    (row,) = rows_of("longer_context_worse", evidence)
    assert (row["verdict"], row["n"], row["test"]) == (SUPPORTED, 1000, "not paired")


KEYS = Relations({}, {"e": {"task": "kv_retrieval"}})


def test_200_keys_are_asked_to_be_worse_than_100():
    hundred, more = exactly([0.9, 0.8, 0.9], size=100), exactly([0.7, 0.5, 0.6], size=200)
    (row,) = rows_of("more_keys_worse", evidence_of(hundred, more), KEYS)
    assert (row["verdict"], row["size"], row["section"]) == (SUPPORTED, 200, "this project's own")
    (row,) = rows_of("more_keys_worse", evidence_of(hundred), KEYS)
    assert row["reason"].startswith("nothing that was run can be asked")


@pytest.mark.parametrize(
    ("at_100", "at_200", "n", "verdict", "value"),
    [
        ([0.9, 0.8, 0.9], [0.8, 0.5, 0.8], 1000, SUPPORTED, 0.2),
        # Less accurate with more keys, with no more bias: the mean does not decide this claim.
        ([0.9, 0.6, 0.9], [0.6, 0.3, 0.6], 20_000, CONTRADICTED, 0.0),
        ([0.9, 0.6, 0.9], [0.7, 0.5, 0.7], 1000, CONTRADICTED, -0.1),
        ([0.9, 0.8, 0.9], [0.8, 0.5, 0.8], 20, NOT_ENOUGH, 0.2),
        # Nothing is right with 200: their index of 0 carries no information.
        ([0.9, 0.6, 0.9], [0.0, 0.0, 0.0], 1000, NOT_ENOUGH, -0.3),
    ],
)
@pytest.mark.parametrize("is_paired", [True, False])
def test_the_suite_asks_whether_200_keys_have_a_higher_index_than_100(at_100, at_200, n, verdict, value, is_paired):
    more = exactly(at_200, n, size=200)
    evidence = evidence_of(exactly(at_100, n, size=100), more if is_paired else others(more))
    (row,) = rows_of("more_keys_more_bias", evidence, KEYS)
    assert (row["verdict"], row["size"], row["section"]) == (verdict, 200, "the suite's experiment 1")
    if "floor" in row["reason"]:
        assert at_200 == [0, 0, 0]
    else:
        assert row["value"] == pytest.approx(value) and row["quantity"] == "pbi minus that at size 100"
        assert row["test"] == ("paired by question" if is_paired else "not paired")
