"""The advice as a finding; workflow_tests/analysis/test_advice.py has its decisions and its sentences."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from score_frames import first_right, score_rows

from litm.analysis.advice import advice_rows, read_compared
from litm.analysis.statistics import contrast_interval
from litm.findings.advice import advice_finding
from litm.findings.advice_words import advice_sentences
from litm.findings.record import Finding, Number, Strength
from litm.records.conditions import Condition
from litm.scoring.wrong_answers import EMPTY, OTHER_ITEM, REFUSAL
from litm.tables.table import tables

BOTH = PLAIN, REVERSED = Condition("s", "s"), Condition("s", "s-reversed", order="reversed")


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
    line = "was not checked; this line of the config does: define: {experiments: {s: {absent: true}}}."
    assert advice_sentences(finding)[-1].endswith(line) == is_said


#: Whether a reader makes up an answer to each of 100 questions without the documents that have it.
RANKED_MAKES_UP, REVERSED_MAKES_UP = first_right(0.12, 100), [index < 2 or index >= 88 for index in range(100)]


def without_answer(condition, makes_up, doubt=None, documents=5) -> pd.DataFrame:
    """Score rows of abstentions and of made-up answers, one of the latter right from memory and one empty."""
    name = f"s-absent{condition.experiment.removeprefix('s')}"
    rows = score_rows({None: [False] * 100}, size=documents, model="m", experiment=name).assign(doubt=doubt)
    kinds = [OTHER_ITEM if is_so else REFUSAL for is_so in makes_up]
    kinds[50:52] = [None, EMPTY]
    return rows.assign(wrong_kind=kinds, correct=[float(kind is None) for kind in kinds], response_tokens=1)


def checked(condition, *sweeps) -> Finding:
    conditions = [replace(c, experiment=c.experiment.replace("s", "s-absent", 1), lacks_answer=True) for c in BOTH]
    given = pd.concat(
        score_rows({None: first_right(share, 100)}, size=size, model="m", experiment=condition.experiment)
        for size, share in ((5, 0.9), (20, 0.4))
    )
    (compared,) = read_compared([given, *sweeps], [*BOTH, *conditions], {})
    tables()["advice"].frame([*advice_rows(compared, advice_sentences(advice_finding(compared)))])
    return advice_finding(compared)


def test_made_up_answers_of_an_advised_order_are_compared_with_those_as_retrieved_question_by_question():
    finding = checked(REVERSED, without_answer(PLAIN, RANKED_MAKES_UP), without_answer(REVERSED, REVERSED_MAKES_UP))
    # Of questions, 10 are made up as retrieved alone, and 12 reversed alone.
    pair = np.array([RANKED_MAKES_UP, REVERSED_MAKES_UP], dtype=int).T
    assert finding.facts["n_without_answer"] == 100 and not finding.facts["is_made_up_shown"]
    more = finding.numbers["made_up_more"]
    assert (more.value, more.low, more.high) == pytest.approx(tuple(vars(contrast_interval(pair, [-1, 1])).values()))
    (sentence,) = [text for text in advice_sentences(finding) if text.startswith("Made-up")]
    assert sentence.startswith(
        "Made-up answers where no document has the answer: 12.0 % as retrieved → 14.0 %, +2.0 points [-"
    )
    assert sentence.endswith("], not shown, n = 100.")


def test_an_order_with_made_up_answers_alone_is_shown_to_bring_more_and_documents_as_retrieved_have_a_share():
    never, always = [False] * 100, [index not in (50, 51) for index in range(100)]
    worse = advice_sentences(checked(REVERSED, without_answer(PLAIN, never), without_answer(REVERSED, always)))
    assert "0.0 % as retrieved → 98.0 %, +98.0 points [" in worse[-1] and "not shown" not in worse[-1]
    plain = advice_sentences(checked(PLAIN, without_answer(PLAIN, RANKED_MAKES_UP)))
    assert plain[-1].startswith("Made-up answers where no document has the answer: 12.0 % [") and "→" not in plain[-1]


@pytest.mark.parametrize("changes", [{"doubt": "empty"}, {"documents": 3}])
def test_made_up_answers_in_doubt_or_of_another_number_of_documents_are_no_check(changes):
    plain = without_answer(PLAIN, RANKED_MAKES_UP, **changes)
    finding = checked(REVERSED, plain, without_answer(REVERSED, REVERSED_MAKES_UP))
    assert finding.facts["n_without_answer"] is None and "was not checked" in advice_sentences(finding)[-1]


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
