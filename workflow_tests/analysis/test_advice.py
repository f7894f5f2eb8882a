"""Advice: the cheapest condition not shown to be worse than the best, or none if the data do not support one."""

import numpy as np
import pandas as pd
import pytest
from score_frames import assert_plain, score_rows
from score_frames import first_right as graded

from litm.analysis.advice import Cell, Compared, advice_rows, read_compared
from litm.analysis.grid import CORRECT, Grid
from litm.analysis.power import n_for_five_points, needed_in_words, observed, questions_needed
from litm.analysis.significance import holm, mcnemar_p
from litm.analysis.statistics import contrast_interval, moments
from litm.findings.advice import advice_finding
from litm.findings.advice_words import advice_sentences
from litm.records.conditions import Condition
from litm.tables.table import tables

PLAIN = Condition("s", "s")
REVERSED = Condition("s", "s-reversed", order="reversed")
RERANKED = Condition("s", "s-mine", reranker="mine")
#: Tokens of a document, and of the rest of a prompt.
DOCUMENT, REST = 100, 40


def sweep(condition: Condition, by_documents: dict[int, list], model="m", **more) -> pd.DataFrame:
    """Scores of a condition by number of documents; prompts have 100 tokens per document."""
    frames = []
    for documents, right in by_documents.items():
        rows = score_rows({None: right}, size=documents, model=model, experiment=condition.experiment)
        frames.append(rows.assign(prompt_tokens=REST + DOCUMENT * documents, response_tokens=10, **more))
    return pd.concat(frames)


def mixed(share: float, n: int, seed: int) -> list[bool]:
    return (np.random.default_rng(seed).random(n) < share).tolist()


def said(compared: Compared) -> list[dict]:
    return [*advice_rows(compared, advice_sentences(advice_finding(compared)))]


def rows_of(*sweeps, conditions=(PLAIN, REVERSED, RERANKED), prices=None) -> list[dict]:
    found = [row for one in read_compared(sweeps, conditions, prices or {}) for row in said(one)]
    for row in found:
        assert_plain(row)
    tables()["advice"].frame(found)
    return found


def advised(rows) -> list[tuple[str, int]]:
    return [(row["experiment"], row["size"]) for row in rows if row["is_advised"]]


def told(rows) -> str:
    (text,) = [f"{row['advice']} {row.get('advice_details') or ''}".rstrip() for row in rows if row.get("advice")]
    return text


def test_the_cheapest_condition_that_is_not_told_from_the_best_is_advised():
    rows = rows_of(sweep(PLAIN, {1: graded(0.4), 3: graded(0.6), 5: graded(0.7), 20: graded(0.71)}))
    assert advised(rows) == [("s", 5)]
    assert [row["size"] for row in rows if row["in_best_set"]] == [5, 20]
    assert [row["size"] for row in rows if row["is_best"]] == [20]
    # Nothing is better for less than any of these, unless a cheaper one is better.
    assert all(row["on_frontier"] for row in rows)
    falling = rows_of(sweep(PLAIN, {1: graded(0.5), 5: graded(0.4), 10: graded(0.8)}))
    assert [row["on_frontier"] for row in falling] == [True, False, True]
    text = told(rows)
    assert text.startswith("m: pass 5 documents, best first. 70.0 % right [")
    assert "n = 200, 550 tokens a question. It is the cheapest of 2 not shown to be worse than the best of 4" in text
    assert "With 3 documents: -10.0 points [" in text and "With 20 documents: +1.0 points [" in text
    assert "] at 3.7 times the cost, not shown. These answers also chose the condition" in text


def test_differences_are_paired_with_the_best_and_corrected_by_holm():
    matrix = {1: mixed(0.5, 80, 1), 3: mixed(0.7, 80, 2), 5: mixed(0.9, 80, 3)}
    rows = rows_of(sweep(PLAIN, matrix))
    best = np.array(matrix[5], dtype=int)
    p_values = []
    for row, right in zip(rows[:2], (np.array(matrix[1]), np.array(matrix[3])), strict=True):
        expected = contrast_interval(np.column_stack([right, best]).astype(int), [1, -1])
        assert (row["difference"], row["difference_ci_low"]) == pytest.approx((expected.value, expected.low))
        corrected = moments(np.column_stack([right, best]), [1, -1]).estimate(1 - 0.05 / 2, of_small=True)
        assert row["difference_ci_low_bonferroni"] == pytest.approx(corrected.low)
        p_values.append(mcnemar_p(int((right > best).sum()), int((best > right).sum())))
    assert [row["p_holm"] for row in rows[:2]] == pytest.approx(holm(p_values))
    assert rows[2]["p_holm"] is None and rows[2]["difference"] == 0


def test_a_condition_differs_from_the_best_only_by_the_corrected_test():
    best = graded(0.6, 100)
    # Eight questions are right in the best alone, and one in the other alone: p = 0.039.
    others = [[not right if start <= index < start + 8 or index == 99 else right for index, right in enumerate(best)]
              for start in (0, 20)]  # fmt: skip
    rows = rows_of(sweep(PLAIN, {1: others[0], 3: others[1], 5: best}))
    assert all(row["p_value"] < 0.05 < row["p_holm"] for row in rows[:2])
    assert all(row["in_best_set"] for row in rows) and not advised(rows)


def test_of_conditions_that_cost_the_same_the_most_accurate_is_advised_and_one_without_a_reranker():
    plain = sweep(PLAIN, {1: graded(0.3), 5: graded(0.68)})
    rows = rows_of(plain, sweep(REVERSED, {5: graded(0.7)}), sweep(RERANKED, {1: graded(0.31), 5: graded(0.71)}))
    assert advised(rows) == [("s-reversed", 5)]


def test_the_largest_difference_of_a_remedy_is_reported_with_its_interval_as_shown_or_not():
    plain = sweep(PLAIN, {1: graded(0.3), 5: graded(0.5)})
    rows = rows_of(plain, sweep(REVERSED, {5: graded(0.7)}), sweep(RERANKED, {1: graded(0.31), 5: graded(0.52)}))
    text = told(rows)
    assert "m: pass 5 documents, best last. 70.0 % right" in text and "All 4 other conditions are shown to be" in text
    assert "Against best first with 5 documents: best last +20.0 points [" in text
    # The single document of the plain condition is that of every order.
    assert "With 1 document: -40.0 points [" in text
    text = told(rows_of(plain, sweep(REVERSED, {5: graded(0.51)})))
    assert "No remedy is shown to help; the largest effect: best last +1.0 points [" in text


def test_without_shown_differences_there_is_no_advice_but_the_number_of_questions_needed():
    rows = rows_of(sweep(PLAIN, {1: mixed(0.5, 30, 1), 5: mixed(0.6, 30, 2)}))
    text = told(rows)
    assert advised(rows) == [] and "It may lose up to" in text
    assert text.startswith("m: no advice yet: 30 questions cannot tell the 2 conditions apart; ")
    assert {row["reason"] for row in rows} == {"", "the cheapest may lose over 5 points"}
    needed, assumed = rows[0]["n_for_5_points"], observed(np.array([mixed(0.5, 30, 1), mixed(0.6, 30, 2)], int).T)
    assert needed == n_for_five_points(assumed) > 500 and needed_in_words(needed, assumed) in text


def test_the_number_of_questions_needed_is_corrected_for_the_comparisons_with_one_condition():
    right = [mixed(0.6, 30, seed) for seed in range(4)]
    rows = rows_of(sweep(PLAIN, dict(zip((1, 5, 10, 20), right, strict=True))))
    needed = questions_needed("primacy", 0.05, observed(np.array(right, int).T), 1 - 0.2 / 3, 1 - 0.05 / 3)
    assert rows[0]["n_for_5_points"] == needed
    assert f"the 4 conditions apart; {needed:,} would show 5 points in all 3 comparisons with a chance" in told(rows)


def test_the_number_of_questions_needed_counts_clusters():
    once = {size: mixed(0.6, 200, size) for size in (1, 5)}
    copied = {size: np.repeat(right, 4).tolist() for size, right in once.items()}
    rows = rows_of(sweep(PLAIN, copied, cluster=np.repeat([f"article {i}" for i in range(200)], 4)))
    single = rows_of(sweep(PLAIN, once))[0]["n_for_5_points"]
    assert rows[0]["n_for_5_points"] == pytest.approx(4 * single, rel=0.02) and ", design effect 4.0)" in told(rows)


def test_a_hopeless_cheaper_condition_makes_no_advice():
    rising = {3: mixed(0.5, 60, 1), 5: mixed(0.55, 60, 2), 20: mixed(0.6, 60, 3)}
    assert "cannot tell the 3 conditions apart" in told(rows_of(sweep(PLAIN, rising)))
    text = told(rows_of(sweep(PLAIN, {1: graded(0.0, 60), **rising})))
    assert text.startswith("m: no advice yet: 60 questions cannot tell the 4 conditions apart")
    assert "Shown to be worse than the best: 1 condition, among them documents as retrieved (1: -" in text


def test_the_cheapest_has_no_advice_by_being_the_best_of_few_answers():
    rows = rows_of(sweep(PLAIN, {1: [True] * 7 + [False] * 15, 5: [False] * 17 + [True] * 5}))
    assert advised(rows) == [] and [row["is_best"] for row in rows] == [True, False]
    text = told(rows)
    assert "The best, also the cheapest of those like it: 1 document, 31.8 % right" in text
    assert "points to 5 documents, best first" in text and rows[0]["n_for_5_points"] > 500
    assert advised(rows_of(sweep(PLAIN, {1: [True, True], 5: [True, False]}))) == []


def test_a_condition_is_called_best_only_if_all_others_are_shown_to_be_worse():
    others = [*graded(0.7, 2000)[:1370], *[False] * 30, *[True] * 20, *[False] * 580]
    text = told(rows_of(sweep(PLAIN, {1: graded(0.7, 2000), 5: others})))
    assert "m: pass 1 document. 70.0 % right" in text and "loses at most 0.2 points." in text
    text = told(rows_of(sweep(PLAIN, {1: graded(0.7, 2000), 5: graded(0.6, 2000)})))
    assert "m: pass 1 document. 70.0 % right" in text and "loses at most" not in text


def test_the_cheapest_of_all_is_advised_where_it_is_shown_to_lose_little():
    few = graded(0.7, 2000)
    # Other answers to 65 of the questions, and five more right ones.
    many = [*few[:1370], *[False] * 30, *[True] * 35, *few[1435:]]
    rows = rows_of(sweep(PLAIN, {1: few, 5: many}))
    assert advised(rows) == [("s", 1)] and rows[0]["difference_ci_low_bonferroni"] > -0.05


def test_a_condition_with_too_long_prompts_is_left_out_with_a_reason_and_few_questions_leave_all_conditions():
    right: list = [*graded(0.7, 20)]
    most: list = [None, *right[1:]]
    few: list = [None] * 10 + right[10:]
    rows = rows_of(sweep(PLAIN, {1: graded(0.1, 20), 5: right, 10: most, 20: few}))
    assert [row["n"] for row in rows] == [19, 19, 19, 0] and {row.get("n_left_out") for row in rows[:3]} == {1}
    assert rows[3]["reason"] == "10 of 20 questions were not scored, left out"


ALMOST = graded(0.7, 20)
#: No question is scored with any number of documents: each number lacks two others.
GAPS = {size: [None if i // 2 == size else x for i, x in enumerate(ALMOST)] for size in range(10)}


@pytest.mark.parametrize(
    ("right", "n", "reason", "text"),
    [
        ({5: graded(0.7)}, 200, "one condition", "Only one condition was scored: 5 documents, best first, 70.0 %"),
        ({1: graded(0.0), 5: graded(0.01)}, 200, "floor", "Hardly any answer is right under any of the 2 conditions"),
        (dict.fromkeys((1, 5), [None] * 3 + graded(0.7, 17)), 0, "3 of 20 questions were not scored, left out",
         "No condition of s scored 90% of its questions"),
        (GAPS, 0, "no question was scored under all conditions",
         "No question was scored under all conditions of s."),
    ],
    ids=["a single condition", "nothing right", "too few scored questions", "no common question"],
)  # fmt: skip
def test_there_is_no_advice_and_the_text_says_why(right, n, reason, text):
    rows = rows_of(sweep(PLAIN, right))
    assert [(row["size"], row["n"], row["is_advised"]) for row in rows] == [(size, n, False) for size in right]
    assert {row["reason"] for row in rows} - {""} == {reason}
    assert told(rows).startswith(f"m: no advice. {text}")


def test_more_documents_are_called_worse_only_if_the_corrected_interval_shows_it():
    best = graded(0.9, 200)
    # Eight questions are right with 3 documents alone, and one with more alone: p = 0.039, by Holm 0.078.
    more = [*best[:172], *[False] * 8, True, *[False] * 19]
    few = {1: graded(0.01), 2: graded(0.02)}
    text = told(rows_of(sweep(PLAIN, {**few, 3: best, 10: more, 20: more})))
    assert "With 20 documents: -3.5 points [-6.7, -0.3] at 5.9 times the cost, not shown." in text
    text = told(rows_of(sweep(PLAIN, {**few, 3: best, 20: graded(0.6)})))
    assert "With 20 documents: -30.0 points [" in text and "not shown." not in text


def test_costs_are_dollars_where_prices_are_known_and_documents_where_nobody_counted_tokens():
    right = {1: graded(0.3), 5: graded(0.7)}
    rows = rows_of(sweep(PLAIN, right), prices={"m": {"input": 1.0, "output": 10.0}})
    # 140 and 540 tokens of prompts, and 10 tokens of an answer at ten times the price.
    assert [row["dollars"] for row in rows] == pytest.approx([0.24, 0.64])
    assert [row["cost_ratio"] for row in rows] == pytest.approx([1, 64 / 24])
    assert "US$ 0.64 for 1,000 questions" in told(rows)
    rows = rows_of(sweep(PLAIN, right).assign(prompt_tokens=None))
    assert [(row["tokens"], row["cost_ratio"]) for row in rows] == [(None, 1), (None, 5)]


def test_every_model_has_an_advice_of_its_own():
    one, other = {1: graded(0.2), 5: graded(0.7)}, {1: graded(0.9), 5: graded(0.5)}
    rows = rows_of(sweep(PLAIN, one, model="a"), sweep(PLAIN, other, model="b"))
    assert [(row["model"], row["size"]) for row in rows if row["is_advised"]] == [("a", 5), ("b", 1)]


def test_a_condition_in_words_names_what_is_done_and_one_document_has_no_order():
    answers = Grid([], pd.Index([]), {}, None)
    both = Condition("s", "e", "ends", "mine", "at most 3 below the best", "query_aware")
    assert Cell(PLAIN, 1, answers).name == "1 document"
    words = "best at both ends, the best first, reranked by mine, at most 3 below the best, prompt query_aware"
    assert Cell(both, 3, answers).name == f"3 documents, {words}"


def compared(right: np.ndarray, documents) -> Compared:
    """Conditions with these answers, of (questions, conditions)."""
    answers = Grid([*documents], pd.RangeIndex(len(right)), {CORRECT: right}, None)
    return Compared("m", "s", tuple(Cell(PLAIN, number, answers) for number in documents), answers, (), 0)


@pytest.mark.parametrize("accuracies", [[0.5] * 6, [0.5, 0.5, 0.5, 0.1, 0.1, 0.1], [0.5, 0.48, 0.46, 0.44, 0.2, 0.1]])
def test_the_truly_best_condition_is_among_those_not_told_from_the_best_in_95_of_100_samples(accuracies):
    """Seeded; the first condition is the truly best one, and which is chosen as best depends on the sample."""
    rng, missed, samples = np.random.default_rng(5), 0, 400
    for _ in range(samples):
        ability = rng.normal(0, 0.2, (60, 1))
        right = (rng.random((60, len(accuracies))) + ability < accuracies).astype(np.int64)
        drawn = compared(right, range(len(accuracies)))
        missed += 0 not in drawn.best_set
        assert drawn.advised in (None, *drawn.best_set)
    assert missed / samples <= 0.05


@pytest.mark.parametrize(
    ("n", "losses"),
    [
        (20, [0.3, 0.12, 0.08, 0.03, 0]),
        (100, [0.3, 0.12, 0.08, 0.03, 0]),
        (400, [0.3, 0.08, 0.06, 0.06, 0]),
        (200, [0.07, 0.07, 0.07, 0.07, 0]),
        (10, [0.08, 0.05, 0.03, 0, 0]),
    ],
)
def test_a_condition_that_truly_loses_over_5_points_is_advised_in_5_of_100_samples_at_most(n, losses):
    """Seeded; more documents are better, so that the cheaper conditions are the worse ones."""
    rng, wrong, samples = np.random.default_rng(8), 0, 100
    for _ in range(samples):
        easy = rng.uniform(0.3, 1, (n, 1))
        right = (rng.random((n, len(losses))) < easy - losses).astype(np.int64)
        index = compared(right, (1, 3, 5, 10, 20)).advised
        wrong += index is not None and losses[index] > 0.05
    assert wrong / samples <= 0.05


def test_a_condition_in_doubt_leaves_no_advice():
    cut_sweep = sweep(PLAIN, {5: graded(0.7), 20: graded(0.1)})
    doubtful = cut_sweep.assign(doubt=cut_sweep["size"].map({20: "prompts_cut: 1024"}).astype("string"))
    rows = rows_of(doubtful, sweep(REVERSED, {5: graded(0.6)}))
    assert advised(rows) == []
    assert told(rows).startswith(
        "m: no advice. With 20 documents, best first: the server cut the prompts to 1,024 tokens"
    )
    assert [row["reason"] for row in rows if row.get("reason")] == ["prompts_cut: 1024"]
