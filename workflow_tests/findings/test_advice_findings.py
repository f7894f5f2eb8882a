"""The advice as a finding; workflow_tests/analysis/test_advice.py has its decisions and its sentences."""

import pandas as pd
import pytest
from score_frames import first_right, score_rows

from litm.analysis.advice import read_compared
from litm.findings.advice import advice_finding
from litm.findings.advice_words import advice_sentences
from litm.findings.record import Finding, Number, Strength
from litm.records.conditions import Condition

PLAIN, REVERSED = Condition("s", "s"), Condition("s", "s-reversed", order="reversed")


def advice(by_documents, condition=PLAIN, prices=None, **more) -> Finding:
    frames = [
        score_rows({None: right}, size=documents, model="m", experiment=condition.experiment).assign(
            prompt_tokens=40 + 100 * documents, response_tokens=10, **more
        )
        for documents, right in by_documents.items()
    ]
    (compared,) = read_compared([pd.concat(frames)], [PLAIN, REVERSED], prices or {})
    return advice_finding(compared)


def test_an_advice_has_its_accuracy_cost_and_the_most_that_it_may_lose():
    finding = advice({1: first_right(0.4), 5: first_right(0.7), 20: first_right(0.71)})
    assert (finding.models, finding.experiments, finding.n) == (("m",), ("s",), 200)
    assert finding.strength is Strength.SHOWN and finding.facts["reason"] is None
    assert finding.facts["condition"] == "5 documents, best first" and finding.facts["documents"] == 5
    numbers = finding.numbers
    assert numbers["accuracy"].value == pytest.approx(0.7) and 0.01 < numbers["may_lose"].value <= 0.05
    assert (numbers["tokens"], numbers["dollars"]) == (Number(550.0), Number(None))
    best = next(other for other in finding.facts["compared"] if other["role"] == "best")
    assert (best["documents"], best["difference"], best["is_shown"]) == (20, pytest.approx(0.01), False)
    assert best["times"] == pytest.approx(2050 / 550)


@pytest.mark.parametrize(("condition", "is_said"), [(PLAIN, False), (REVERSED, True)])
def test_an_advised_order_says_that_made_up_answers_were_not_checked(condition, is_said):
    finding = advice({5: first_right(0.7), 20: first_right(0.4)}, condition)
    assert (finding.facts["reason"], finding.facts["order"]) == (None, condition.order)
    assert (advice_sentences(finding)[-1].endswith("was not checked.")) == is_said


def test_without_an_advice_the_cheapest_that_may_lose_over_5_points_is_named_with_the_questions_needed():
    finding = advice({1: first_right(0.5, 30), 5: first_right(0.6, 30)})
    assert (finding.strength, finding.facts["reason"]) == (Strength.CANNOT_TELL, "may lose")
    assert finding.facts["documents"] == 1 and not finding.facts["is_best"]
    assert finding.numbers["may_lose"].value > 0.05 and finding.facts["needed"] > 30
    assert finding.facts["assumed"][0] == pytest.approx(0.55)


def test_at_the_floor_the_best_condition_is_named_not_the_cheapest():
    finding = advice({1: [False] * 60, 5: [True] + [False] * 59})
    assert (finding.strength, finding.facts["reason"]) == (Strength.UNINFORMATIVE, "floor")
    assert finding.facts["documents"] == 5 and finding.facts["needed"] is None


def test_one_condition_a_doubt_and_nothing_scored_have_no_advice():
    alone = advice({5: first_right(0.6)})
    assert (alone.strength, alone.facts["reason"]) == (None, "one condition")
    doubtful = advice({1: first_right(0.4), 5: first_right(0.7)}, doubt="empty")
    assert (doubtful.strength, doubtful.facts["reason"]) == (Strength.UNINFORMATIVE, "empty")
    assert doubtful.facts["in_doubt"] == ["1 document", "5 documents, best first"]
    assert {*doubtful.numbers.values()} == {Number(None)} and doubtful.facts["condition"] is None
