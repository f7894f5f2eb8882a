"""Claims of later work: what competes with the answer."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from claim_evidence import evidence_of, exactly, rows_of, without_position

from litm.analysis.grid import CORRECT, Grid
from litm.claims.evidence import Relations
from litm.claims.verdicts import CONTRADICTED, NOT_ENOUGH, SUPPORTED


def relations(task: str = "registered_codes", **models) -> Relations:
    levels = {"e": "neutral", "e-same_form": "same_form"}
    return Relations(models, {name: {"task": task, "fillers": level, "made_of": "e"} for name, level in levels.items()})


def levels(neutral: float, same: float, n: int = 400):
    return evidence_of(exactly([neutral] * 3, n), exactly([same] * 3, n, experiment="e-same_form"))


@pytest.mark.parametrize(
    ("neutral", "same", "verdict"),
    [(0.9, 0.5, SUPPORTED), (0.6, 0.6, CONTRADICTED), (0.5, 0.9, CONTRADICTED), (0.0, 0.0, NOT_ENOUGH)],
)
def test_same_form_costs_more_if_accuracy_is_lower_than_among_neutral_texts(neutral, same, verdict):
    (row,) = rows_of("same_form_costs_more", levels(neutral, same), relations())
    assert (row["verdict"], row["experiment"]) == (verdict, "e-same_form")
    assert verdict == NOT_ENOUGH or row["value"] == pytest.approx(same - neutral)
    (row,) = rows_of("related_worse_than_random", levels(neutral, same), relations("multi_document_qa"))
    assert row["verdict"] == verdict


def test_documents_and_generated_texts_are_claims_of_their_own():
    (row,) = rows_of("same_form_costs_more", levels(0.9, 0.5), relations("multi_document_qa"))
    assert "nothing that was run can be asked" in row["reason"]


@pytest.mark.parametrize(("longer", "verdict"), [(0.89, SUPPORTED), (0.5, CONTRADICTED)])
def test_neutral_text_costs_little_if_a_longer_context_loses_less_than_5_points(longer, verdict):
    evidence = evidence_of(exactly([0.9] * 3, 2000), exactly([longer] * 3, 2000, size=99))
    (row,) = rows_of("neutral_costs_little", evidence, relations())
    assert row["verdict"] == verdict
    assert row["value"] == pytest.approx(0.9 - longer)


def with_copies(copied: int, wrong: int):
    """A curve among fillers of the same form with this number of wrong answers in the middle, of which some copy."""
    evidence = evidence_of(exactly([0.9, 0.5, 0.9], 400, experiment="e-same_form"))
    (middle,) = [cell for cell in evidence.cells if cell.position == 4]
    column = np.array([1.0] * copied + [0.0] * (wrong - copied))[:, None]
    return replace(evidence, wrong={middle: Grid([4], pd.RangeIndex(wrong), {CORRECT: column}, None)})


@pytest.mark.parametrize(
    ("copied", "verdict"), [(152, SUPPORTED), (48, CONTRADICTED), (104, NOT_ENOUGH)]
)  # fmt: skip
def test_errors_copy_fillers_if_more_than_half_of_the_wrong_answers_in_the_middle_do(copied, verdict):
    (row,) = rows_of("errors_copy_fillers", with_copies(copied, 200), relations())
    assert (row["verdict"], row["n"]) == (verdict, 200)
    assert row["value"] == copied / 200


def test_errors_copy_fillers_without_a_wrong_answer_is_open():
    (row,) = rows_of("errors_copy_fillers", evidence_of(exactly([1, 1, 1], experiment="e-same_form")), relations())
    assert row["verdict"] == NOT_ENOUGH
    assert "no wrong answer in the middle" in row["reason"]


@pytest.mark.parametrize(
    ("within", "beyond", "verdict"),
    [
        ([0.9, 0.5, 0.7], [0.6, 0.5, 0.7], SUPPORTED),
        ([0.9, 0.5, 0.7], [0.9, 0.5, 0.7], CONTRADICTED),
        ([0.5, 0.5, 0.7], [0.5, 0.5, 0.7], CONTRADICTED),
    ],
)
def test_primacy_fades_if_it_is_there_within_half_the_window_and_weaker_beyond(within, beyond, verdict):
    evidence = evidence_of(exactly(within, 40000), exactly(beyond, 40000, size=99), lengths={9: 400, 99: 900})
    (row,) = rows_of("primacy_fades_beyond_half", evidence, relations(m={"training_length": 1000}))
    assert row["verdict"] == verdict
    assert "prompts of 0.40 and 0.90 of the training length" in row["reason"]
    (row,) = rows_of("primacy_fades_beyond_half", evidence, relations(m={"training_length": 9000}))
    assert "nothing that was run can be asked" in row["reason"]


def of_orders(measured: float = 0.0, **accuracies: float):
    """Evidence of experiments on 10 retrieved documents in these orders, and their relations."""
    everything = accuracies | {"measured": measured} if measured else accuracies
    names = {order: "e" if order == "ranked" else f"e-{order}" for order in everything}
    cells = [
        without_position(accuracy, 2000, names[order], size=10, placement="as_retrieved")
        for order, accuracy in everything.items()
    ]
    about = {name: {"task": "open_domain_qa", "order": order, "made_of": "e"} for order, name in names.items()}
    return evidence_of(*cells), Relations({}, about)


@pytest.mark.parametrize(
    ("best", "verdict"), [(0.6, SUPPORTED), (0.5, SUPPORTED), (0.75, CONTRADICTED), (0.65, NOT_ENOUGH)]
)  # fmt: skip
def test_no_order_beats_a_random_one_if_the_best_fixed_order_gains_less_than_5_points(best, verdict):
    (row,) = rows_of("no_order_beats_random", *of_orders(ranked=0.55, ends=best, random=0.6))
    assert (row["verdict"], row["experiment"], row["size"]) == (verdict, "e", 10)
    assert row["value"] == pytest.approx(max(best, 0.55) - 0.6)


def test_an_order_measured_on_the_model_is_no_fixed_one_and_without_a_random_one_nothing_is_asked():
    (row,) = rows_of("no_order_beats_random", *of_orders(measured=0.9, ranked=0.6, random=0.6))
    assert row["verdict"] == SUPPORTED
    (row,) = rows_of("no_order_beats_random", *of_orders(ranked=0.6, ends=0.9))
    assert "nothing that was run can be asked" in row["reason"]
