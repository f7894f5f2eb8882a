"""Words for the shape of a curve, on simulated answers; claims and words on one curve do not contradict each other."""

import numpy as np
import pandas as pd
import pytest
from score_frames import of_matrix

from litm.analysis.grid import Files
from litm.analysis.positions import position_bias_row
from litm.analysis.shapes import FLAT, INVERTED, MEANINGS, NONE, UNEVEN, U, W
from litm.claims.curve_words import OF_ENDS, position_bias_table, words_of_scores
from litm.claims.evidence import Relations, scored_evidence
from litm.claims.tables import claims_table
from litm.claims.verdicts import CONTRADICTED, NOT_ENOUGH, SUPPORTED

FIVE = (0, 2, 4, 6, 8)


def answers(accuracies: list[float], n: int, seed: int = 0) -> np.ndarray:
    """Right and wrong of n questions, correlated .85 between positions of the same accuracy."""
    rng = np.random.default_rng(seed)
    shared, own = rng.random((n, 1)), rng.random((n, len(accuracies)))
    return (np.where(rng.random((n, 1)) < 0.85, shared, own) < accuracies).astype(int)


def rows(*curves: tuple[str, list[float], int]) -> dict[str, dict]:
    """The rows of the U by model."""
    scores = [of_matrix(answers(accuracies, n), FIVE, model=model) for model, accuracies, n in curves]
    table = claims_table(scored_evidence(scores), Relations({}, {}))
    return {row["models"]: row for row in table[table["claim"] == "u_shape"].to_dict("records")}


@pytest.mark.parametrize(
    ("accuracies", "n", "word", "verdict"),
    [
        ([0.76, 0.57, 0.54, 0.55, 0.63], 2655, U, SUPPORTED),
        ([0.09, 0.2, 0.31, 0.6, 0.9], 500, "rising", CONTRADICTED),
        ([0.91, 0.6, 0.32, 0.27, 0.22], 500, "falling", CONTRADICTED),
        ([0.4, 0.55, 0.6, 0.55, 0.4], 500, INVERTED, CONTRADICTED),
        ([0.37, 0.38, 0.354, 0.66, 0.89], 500, "recency alone", NOT_ENOUGH),
        ([0.5, 0.5, 0.5, 0.66, 0.89], 2655, "recency alone", CONTRADICTED),
        ([0.8, 0.6, 0.5, 0.5, 0.5], 2655, "primacy alone", CONTRADICTED),
        ([0.6] * 5, 2655, FLAT, CONTRADICTED),
        ([0.6] * 5, 60, NONE, NOT_ENOUGH),
        ([0.6, 0.4, 0.6, 0.4, 0.6], 2655, W, CONTRADICTED),
        ([0.8, 0.4, 0.6, 0.4, 0.8], 1000, W, SUPPORTED),
        ([0.6, 0.9, 0.6, 0.6, 0.6], 2655, UNEVEN, CONTRADICTED),
        ([0.3, 0.45, 0.6, 0.6, 0.6], 1000, "start lower", CONTRADICTED),
        ([0.6, 0.6, 0.6, 0.45, 0.3], 1000, "end lower", CONTRADICTED),
    ],
)
def test_a_curve_has_the_right_word_and_only_a_u_is_called_one(accuracies, n, word, verdict):
    row = rows(("m", accuracies, n))["m"]
    assert (row["shape"], row["verdict"]) == (word, verdict)
    assert row["reason"].startswith(f"{word}: {MEANINGS[word]}; ")


@pytest.mark.parametrize("accuracies", [[0.75, 0.5, 0.75, 0.75], [0.6, 0.4, 0.7, 0.9], [0.4, 0.9, 0.5, 0.6]])
def test_mirrored_curves_of_four_positions_have_mirrored_words(accuracies):
    matrix, other_end = answers(accuracies, 1000), {"primacy alone": "recency alone", "rising": "falling"}
    scores = [of_matrix(matrix[:, ::step], (0, 3, 5, 8), model=f"m{step}") for step in (1, -1)]
    table = claims_table(scored_evidence(scores), Relations({}, {}))
    curve, mirrored = table[table["claim"] == "u_shape"].to_dict("records")
    assert mirrored["shape"] == other_end.get(curve["shape"], curve["shape"]) != ""
    assert mirrored["verdict"] == curve["verdict"]


def test_a_word_has_alone_only_if_a_single_interval_does_not_show_the_other_end():
    """Among many curves primacy is not shown for this one, but its single interval is above 0, so it is not denied."""
    curve = ("weak", [0.53, 0.5, 0.5, 0.6, 0.8], 2655)
    flat = [(f"flat{number}", [0.5] * 5, 100) for number in range(40)]
    assert rows(curve)["weak"]["shape"] == U
    assert rows(curve, *flat)["weak"]["shape"] in (U, "recency, primacy unclear")


@pytest.mark.parametrize("others", [0, 12])
@pytest.mark.parametrize("n", [100, 2655])
@pytest.mark.parametrize("accuracies", [[0.51, 0.5, 0.5, 0.6, 0.7], [0.55, 0.5, 0.5, 0.5, 0.55], [0.5] * 5])
def test_the_u_and_primacy_never_say_opposite_things_of_a_curve(accuracies, n, others):
    relations = Relations({f"{size}b": {"family": "llama-2", "parameters": size} for size in (7, 13)}, {})
    curves = [("7b", accuracies, n), ("13b", accuracies, n), *[(f"o{i}", [0.5] * 5, 50) for i in range(others)]]
    scores = [of_matrix(answers(values, size), FIVE, model=model) for model, values, size in curves]
    table = claims_table(scored_evidence(scores), relations)
    verdicts = table.set_index(["claim", "models"])["verdict"].to_dict()
    shape = table[table["claim"] == "u_shape"].set_index("models")["shape"].to_dict()
    # Said to have no primacy, and a U, which has it.
    assert not (verdicts["primacy_from_13b", "7b"] == SUPPORTED and verdicts["u_shape", "7b"] == SUPPORTED)
    if verdicts["primacy_from_13b", "13b"] == SUPPORTED:
        assert shape["13b"] not in ("recency alone", INVERTED, "rising", "start lower")


def test_the_curves_of_all_experiments_of_a_study_are_one_family():
    curve = of_matrix(answers([0.5, 0.5, 0.54], 500), (0, 4, 8), experiment="a")
    flat = [of_matrix(answers([0.5] * 3, 500, seed), (0, 4, 8), experiment=f"b{seed}") for seed in range(1, 9)]
    words = [words_of_scores(scores, [])["m", "a", 9, None] for scores in ([curve], [curve, *flat])]
    assert words == ["recency alone", NONE]


def test_every_pair_of_ends_has_a_word_and_every_word_a_meaning():
    assert set(OF_ENDS) == {(start, end) for start in (-1, 0, 1) for end in (-1, 0, 1)} - {(0, 0)}
    assert set(OF_ENDS.values()) <= set(MEANINGS)


def test_the_table_of_position_bias_has_the_words_of_the_claims(tmp_path):
    """Also the word of a base model, whose U is supported in a smaller family than that of all models."""
    curves = [("base", [0.567, 0.53, 0.53, 0.53, 0.57], 900), ("w", [0.6, 0.4, 0.6, 0.4, 0.6], 900)]
    curves += [(f"flat{number}", [0.5] * 5, 100) for number in range(6)]
    paths = []
    for model, accuracies, n in curves:
        paths.append(tmp_path / f"{model}.parquet")
        of_matrix(answers(accuracies, n), FIVE, model=model).to_parquet(paths[-1])
    evidence = scored_evidence(map(pd.read_parquet, paths))
    relations = Relations({"tuned": {"tuned_from": "base"}}, {})
    claims = claims_table(evidence, relations)
    of_shape = claims[claims["claim"].isin(["u_shape", "base_models_too"])]
    told = {(row["models"], row["shape"]) for row in of_shape.to_dict("records")}
    bias = position_bias_table(Files([*map(str, paths)]), 0, ["base"])
    assert {(row["model"], row["shape"]) for row in bias} == told
    assert ("base", U) in told and ("w", W) in told
    assert of_shape[of_shape["models"] == "base"]["verdict"].tolist() == [NOT_ENOUGH, SUPPORTED]


def test_several_gold_items_of_a_prompt_have_a_word_by_placement():
    def asked(placement: str, accuracies: list[float]) -> pd.DataFrame:
        frame = of_matrix(answers(accuracies, 900), FIVE, placement=placement)
        return frame.assign(target=frame["position"].map("item_{}".format))

    curves = asked("gold_at_0_2_4_6_8", [0.8, 0.5, 0.5, 0.5, 0.8]), asked("gold_at_1_2", [0.2, 0.2, 0.5, 0.8, 0.8])
    words = {"gold_at_0_2_4_6_8": U, "gold_at_1_2": "rising"}
    assert words_of_scores([pd.concat(curves)], []) == {("m", "e", 9, name): word for name, word in words.items()}


def test_a_curve_in_doubt_has_no_word_and_no_class():
    scores = of_matrix(answers([0.9, 0.3, 0.9], 200), (0, 4, 8))
    assert words_of_scores([scores], ()) == {("m", "e", 9, None): U}
    middle = scores["position"].eq(4).map({True: "error"}).astype("string")
    assert words_of_scores([scores.assign(doubt=middle)], ()) == {}
    row = position_bias_row(scores.assign(doubt=middle))
    assert (row["verdict"], row["reason"]) == ("no_information", "error") and "pbi_class" not in row
