"""Log-probabilities of the right answer: rows of prompts, means of cells, effects of position, sentences, figure."""

import json
from math import exp, log

import numpy as np
import pandas as pd
import pytest
from drawn_answers import rng
from record_makers import example, response
from scipy import stats

from litm.analysis.grid import Files
from litm.analysis.log_probability import log_probability_table, questions_needed
from litm.analysis.statistics import Moments, mean_of_numbers
from litm.base.messages import UserError
from litm.claims.log_probability import log_probability_effects_table
from litm.figures.chart import Rows
from litm.figures.curves import log_probabilities
from litm.findings.probability import probability_findings
from litm.findings.record import Finding
from litm.findings.words import sentence
from litm.records.examples import Example
from litm.records.responses import OVERFLOW
from litm.scoring.log_probabilities import log_probability_rows
from litm.scoring.scores import Sweep
from litm.tables.table import tables

SWEEP = Sweep("m", "e", "oracle_qa")
PLACES = (0, 4, 9)
ANSWERS = ["Paris", "Paris, France", "the city"]


def prompts(n: int, cluster: int | None = None, answers: list[str] = ANSWERS) -> list:
    def one(question: int, place: int) -> Example:
        target = {"position": place, "depth": place / 9, "answers": answers}
        more = {"cluster": f"c{question // cluster}"} if cluster else {}
        return example(id=f"q{question}", size=10, placement=f"gold_at_{place}", targets=[target], **more)

    return [one(question, place) for question in range(n) for place in PLACES]


def measured(one, *pairs: tuple[float, int], **fields):
    same = {"id": one.id, "size": 10, "placement": one.placement, "finish_reason": "measured"}
    return response(**same | {"response": json.dumps(pairs)} | fields)


def rows_of(nats: np.ndarray, cluster: int | None = None) -> pd.DataFrame:
    """The rows of (questions, positions) log-probabilities of answers of two tokens."""
    asked = prompts(len(nats), cluster, ["Paris"])
    found = [measured(one, (value, 2)) for one, value in zip(asked, nats.ravel().tolist(), strict=True)]
    return log_probability_rows(SWEEP, asked, found)


@pytest.fixture
def files(tmp_path):
    def write(rows: pd.DataFrame) -> Files:
        rows.to_parquet(tmp_path / "rows.parquet")
        return Files([str(tmp_path / "rows.parquet")])

    return write


def drawn(means: tuple[float, ...], n: int = 40) -> np.ndarray:
    return rng(3).normal(-60, 10, (n, 1)) + np.array(means) + rng(4).normal(0, 1, (n, len(means)))


def test_a_prompt_has_its_best_answer_its_best_token_and_the_sum_of_answers_that_begin_with_no_other():
    (one, *_) = asked = prompts(1)
    pairs = [(-2.0, 2), (-2.5, 4), (-3.0, 1)]
    rows = log_probability_rows(SWEEP, asked, [measured(each, *pairs) for each in asked])
    first = rows.iloc[0]
    assert (first["id"], first["answer"], first["per_token"], first["answer_tokens"]) == (one.id, -2.0, -2.5 / 4, 2)
    assert first["any_answer"] == pytest.approx(log(exp(-2) + exp(-3)))
    # An answer that is accepted twice counts once.
    asked = prompts(1, answers=["Paris", "Paris"])
    rows = log_probability_rows(SWEEP, asked, [measured(each, (-2.0, 2), (-2.0, 2)) for each in asked])
    assert rows["any_answer"][0] == -2.0


def test_a_question_too_long_at_one_position_is_left_out_at_all_and_one_without_a_number_at_its_own(files):
    asked = prompts(4)
    found = [measured(one, (-1.0, 1), (-2.0, 1), (-3.0, 1)) for one in asked]
    found[0] = measured(asked[0], response=None, finish_reason=OVERFLOW)
    found[4] = measured(asked[4], response=None, finish_reason="failed")
    # A cut may leave different numbers of documents in a cell.
    rows = log_probability_rows(SWEEP, asked, found).assign(items=range(12))
    table = tables()["log_probability"].frame(log_probability_table(files(rows)))
    assert table["items"].isna().all()
    assert table[["n", "n_left_out", "n_failed"]].to_numpy().tolist() == [[3, 1, 0], [2, 1, 1], [3, 1, 0]]


def test_no_limit_of_a_log_probability_is_that_of_a_probability_above_1(files):
    table = tables()["log_probability"].frame(log_probability_table(files(rows_of(np.array([[-0.1] * 3, [-9.0] * 3])))))
    assert (table["answer_ci_high"] == 0).all() and (table["answer_ci_low"] < -9).all()


def test_a_missing_prompt_is_named():
    asked = prompts(2, answers=["Paris"])
    with pytest.raises(UserError, match="no response to question q1, size 10, gold_at_9"):
        log_probability_rows(SWEEP, asked, [measured(one, (-1.0, 1)) for one in asked[:-1]])


def test_means_effects_and_pairs_are_student_s_paired_by_question(files):
    nats = drawn((0.8, -0.3, 0.4))
    own = files(rows_of(nats))
    cells = tables()["log_probability"].frame(log_probability_table(own))
    assert cells["answer"].to_numpy(dtype=float) == pytest.approx(nats.mean(axis=0))
    assert cells["per_token"].to_numpy(dtype=float) == pytest.approx(nats.mean(axis=0) / 2)

    effects = tables()["log_probability_effects"].frame(log_probability_effects_table(own))
    assert effects[effects["effect"] != "pair"]["position_a"].isna().all()
    pbi = effects[(effects["quantity"] == "answer") & (effects["effect"] == "pbi")].iloc[0]
    expected = stats.ttest_1samp((nats[:, 0] + nats[:, 2]) / 2 - nats[:, 1], 0)
    assert pbi["p_value"] == pytest.approx(expected.pvalue)
    assert [pbi["ci_low"], pbi["ci_high"]] == pytest.approx([*expected.confidence_interval()])

    first = effects[(effects["quantity"] == "answer") & (effects["effect"] == "pair")].iloc[0]
    assert (first["position_a"], first["position_b"]) == (0, 4)
    assert first["value"] == pytest.approx(nats[:, 0].mean() - nats[:, 1].mean())
    assert first["p_value"] == pytest.approx(stats.ttest_rel(nats[:, 0], nats[:, 1]).pvalue)
    assert first["p_holm"] >= first["p_value"]


@pytest.mark.parametrize("effect", [2.0, 0.5])
def test_questions_needed_are_those_that_show_the_effect_in_four_of_five_studies(effect):
    nats = drawn((effect, 0.0, 0.0), 2_000)
    differences = nats[:, 0] - nats[:, 1]
    found, count = mean_of_numbers(differences), len(differences)
    needed = questions_needed(found, count)
    copies = mean_of_numbers(np.repeat(differences, 4), np.repeat(np.arange(count), 4))
    assert 4 * needed - 4 < questions_needed(copies, 4 * count) <= 4 * needed
    for n, is_enough in ((needed, True), (needed - 1, False)):
        samples = rng(9).choice(differences, (20_000, n))
        shown = np.mean(stats.ttest_1samp(samples, 0, axis=1).pvalue < 0.05)
        assert shown > 0.79 if is_enough else shown < 0.81


def test_an_effect_of_0_and_one_without_an_error_need_no_number_of_questions():
    for value, error in ((0.0, 0.5), (1.0, 0.0)):
        assert questions_needed(Moments(*map(np.array, (value, value, error)), df=9, most=np.inf), 10) is None


def test_clusters_widen_the_interval_of_answers_that_vary_together(files):
    nats = drawn((0.0, 0.0, 0.0)) + np.repeat(rng(7).normal(0, 3, (8, 3)), 5, axis=0)

    def width(rows: pd.DataFrame) -> float:
        pbi = next(row for row in log_probability_effects_table(files(rows)) if row["effect"] == "pbi")
        return pbi["ci_high"] - pbi["ci_low"]

    assert width(rows_of(nats, cluster=5)) > 1.3 * width(rows_of(nats))


@pytest.mark.parametrize(("values", "clusters"), [([1.0], None), ([], None), ([1.0, 2.0], [0, 0])])
def test_a_single_question_or_cluster_has_no_interval(values, clusters):
    assert mean_of_numbers(np.array(values), None if clusters is None else np.array(clusters)) is None


@pytest.mark.parametrize(
    ("means", "reason", "words"),
    [
        ((1.0, 0.0, 1.0), "floor", "accuracy shows nothing here (hardly any answer is right at any position); by log"),
        ((1.0, 0.0, 1.0), None, "times as probable at the start as in the middle (primacy +"),
        ((9.0, 0.0, 9.0), None, "00 times as probable at the end as in the middle (recency +"),
        ((-1.0, 0.5, -1.0), None, "times as probable in the middle as at the end (recency -"),
        ((0.0, 0.0, 0.0), "ceiling", "its probability is not shown to differ between start, middle and end (PBI "),
    ],
)
def test_a_sentence_says_what_the_log_probability_shows(files, means, reason, words):
    effects = log_probability_effects_table(files(rows_of(drawn(means))))
    curve = Finding("curve", ("m",), ("e",), 10, facts={"reason": reason})
    (said,) = map(sentence, probability_findings(effects, [curve]))
    assert words in said and said.startswith("m on e, size 10: ")
    assert ("accuracy shows nothing" in said) == (reason is not None)


def test_the_figure_has_the_geometric_mean_of_the_probability_of_a_token(files):
    nats = drawn((1.0, 0.0, 0.5)) / 20
    cells = tables()["log_probability"].frame(log_probability_table(files(rows_of(nats))))
    figure = {"title": "", "experiments": ["e"], "references": {}, "panel_title": "{size}", "x_label": "", "places": {}}
    (panel,) = log_probabilities(figure, Rows(log_probability=cells)).panels
    (curve,) = panel.series
    assert [point.value for point in curve.points] == pytest.approx(np.exp(nats.mean(axis=0) / 2))
    assert all(point.low < point.value < point.high for point in curve.points)


@pytest.mark.parametrize(
    ("means", "verdict", "why"),
    [
        ((1.0, 0.0, 1.0), "supported", "above 0, and the other parts are as claimed"),
        ((1.0, 0.0, -1.0), "contradicted", "the whole interval of recency is below 0"),
        ((0.0, 0.0, 0.0), "not enough data", "neither all above 0 nor all below 0"),
    ],
)
def test_the_u_is_decided_by_log_probability_beside_the_effects(files, means, verdict, why):
    table = tables()["log_probability_effects"].frame(log_probability_effects_table(files(rows_of(drawn(means)))))
    decided = table[table["u_verdict"].notna()]
    assert decided[["quantity", "effect", "u_verdict", "u_family_size"]].values.tolist() == [
        ["answer", "pbi", verdict, 1]
    ]
    assert why in decided["u_reason"].iloc[0]
