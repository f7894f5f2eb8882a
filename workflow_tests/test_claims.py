"""The paper's claims on made-up scores whose truth is known, and on what the paper published."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT
from score_frames import of_matrix, random_matrix, score_rows

from litm.claims import u_shape
from litm.claims.criteria import ABOVE_ZERO
from litm.claims.evidence import Cell
from litm.claims.measures import Measure, largest, lowest, minus
from litm.claims.published_evidence import published_evidence
from litm.claims.relations import About, Related, Relations
from litm.claims.scored_evidence import ScoredEvidence, scored_evidence
from litm.claims.table import CLAIM_COLUMNS, CLAIMS, claims_table
from litm.claims.verdicts import CONTRADICTED, NOT_ENOUGH, SUPPORTED, Question, decide
from litm.claims.words import as_markdown, claim_summary
from litm.errors import UserError
from litm.published import PublishedAccuracy, read_published
from litm.statistics import contrast_interval, holm

POSITIONS = (0, 4, 8)
NOTHING = Relations({}, {})
QA = Related("multi_document_qa", closed_book="closed")


def accuracies(values: Sequence[float], n: int = 1000, seed: int = 0, **names) -> pd.DataFrame:
    """Score rows of a curve with these accuracies."""
    return of_matrix(random_matrix(values, n, seed), POSITIONS[: len(values)], **names)


def exactly(values: Sequence[float], n: int = 1000, **names) -> pd.DataFrame:
    """Score rows with exactly these accuracies, each question as easy at one position as at the other."""
    right = np.column_stack([np.arange(n) < round(value * n) for value in values])
    return of_matrix(right.astype(int), POSITIONS[: len(values)], **names)


def rows_of(
    claim: str, scores: pd.DataFrame | Sequence[pd.DataFrame], relations: Relations = NOTHING, recalls=None
) -> list[dict]:
    """The rows of one claim."""
    if not isinstance(scores, pd.DataFrame):
        scores = pd.concat(scores)
    table = claims_table(scored_evidence(scores, recalls), relations)
    return table[table["claim"] == claim].to_dict("records")


def verdicts_of(claim: str, *args, **keys) -> list[str]:
    return [row["verdict"] for row in rows_of(claim, *args, **keys)]


# --- Each claim: supported, contradicted, not enough data ---


@pytest.mark.parametrize(
    ("scores", "verdict"),
    [
        (accuracies([0.8, 0.5, 0.8]), SUPPORTED),
        (accuracies([0.5, 0.8, 0.5]), CONTRADICTED),
        # As sure as can be that the position does nothing: no U either.
        (exactly([0.5, 0.5, 0.5]), CONTRADICTED),
        (accuracies([0.6, 0.55, 0.6], n=40), NOT_ENOUGH),
    ],
)
def test_a_u_is_seen_where_there_is_one(scores, verdict):
    (row,) = rows_of("u_shape", scores)
    assert (row["verdict"], row["statistic"], row["n"], row["models"], row["size"]) == (
        verdict, "pbi", scores["id"].nunique(), "m", 9
    )  # fmt: skip
    start, middle, end = (scores[scores["position"] == position]["correct"].mean() for position in POSITIONS)
    assert row["value"] == pytest.approx((start + end) / 2 - middle)
    assert row["ci_low"] <= row["value"] <= row["ci_high"]


@pytest.mark.parametrize(("accuracy", "limit"), [(0.0, "floor"), (1.0, "ceiling")])
def test_at_the_floor_and_the_ceiling_nothing_is_said_about_the_shape(accuracy, limit):
    (row,) = rows_of("u_shape", exactly([accuracy] * 3))
    assert (row["verdict"], pd.isna(row["value"])) == (NOT_ENOUGH, True)
    assert row["reason"].endswith(limit)


def test_a_curve_that_rises_at_one_end_alone_is_said_to():
    (row,) = rows_of("u_shape", accuracies([0.9, 0.5, 0.5]))
    assert row["verdict"] == SUPPORTED and "only the start is shown to be above the middle" in row["reason"]
    (row,) = rows_of("u_shape", accuracies([0.9, 0.5, 0.9]))
    assert "only" not in row["reason"]


LONGER = Relations({"long": About(longer_context_of="short")}, {})


@pytest.mark.parametrize(
    ("long", "n", "verdict"),
    [([0.7, 0.5, 0.6], 2000, SUPPORTED), ([0.9, 0.7, 0.8], 500, CONTRADICTED), ([0.7, 0.5, 0.6], 40, NOT_ENOUGH)],
)
def test_a_longer_context_is_no_better(long, n, verdict):
    scores = [accuracies(long, n, 1, model="long"), accuracies([0.7, 0.5, 0.6], n, 2, model="short")]
    (row,) = rows_of("extended_context_no_better", scores, LONGER)
    assert (row["verdict"], row["models"], row["n"]) == (verdict, "long, short", n)


def test_models_with_other_contexts_are_compared_where_the_prompt_fits_both():
    short = accuracies([0.7, 0.5, 0.6], 500, model="short")
    short.loc[short["id"].isin([f"q{index}" for index in range(100)]), "excluded"] = True
    long = accuracies([0.7, 0.5, 0.6], 500, 1, model="long")
    (row,) = rows_of("extended_context_no_better", [long, short], LONGER)
    assert row["n"] == 400
    (row,) = rows_of("extended_context_no_better", [long, short.assign(excluded=True)], LONGER)
    assert (row["verdict"], row["reason"]) == (NOT_ENOUGH, "no question has prompts that fit short too")


@pytest.mark.parametrize(
    ("closed", "n", "verdict"), [(0.7, 500, SUPPORTED), (0.3, 500, CONTRADICTED), (0.53, 40, NOT_ENOUGH)]
)
def test_the_middle_falls_below_closed_book(closed, n, verdict):
    book = score_rows({None: exactly([closed], n)["correct"].tolist()}, experiment="closed")
    relations = Relations({}, {"e": QA})
    (row,) = rows_of("below_closed_book", [accuracies([0.8, 0.5, 0.8], n), book], relations)
    assert (row["verdict"], row["models"]) == (verdict, "m")


def test_one_size_at_which_the_middle_falls_below_closed_book_is_enough():
    book = score_rows({None: exactly([0.6])["correct"].tolist()}, experiment="closed")
    curves = [accuracies([0.9, 0.8, 0.9]), accuracies([0.9, 0.4, 0.9], size=30)]
    (row,) = rows_of("below_closed_book", [*curves, book], Relations({}, {"e": QA}))
    assert (row["verdict"], row["size"]) == (SUPPORTED, 30)
    assert "at size 9" in row["reason"] and "at size 30" in row["reason"]


T5 = Relations({"m": About(architecture="encoder_decoder", training_length=500)}, {})


@pytest.mark.parametrize(
    ("within", "n", "verdict"),
    [([0.6, 0.6, 0.6], 1000, SUPPORTED), ([0.9, 0.6, 0.6], 1000, CONTRADICTED), ([0.6, 0.55, 0.6], 40, NOT_ENOUGH)],
)
def test_an_encoder_decoder_is_robust_within_its_training_length(within, n, verdict):
    (row,) = rows_of("encoder_decoder_robust", exactly(within, n, prompt_tokens=400), T5)
    assert (row["verdict"], row["statistic"]) == (verdict, "best-worst gap")
    assert row["value"] == pytest.approx(max(within) - min(within), abs=0.5 / n)


@pytest.mark.parametrize(
    ("beyond", "n", "verdict"),
    [([0.9, 0.5, 0.9], 1000, SUPPORTED), ([0.6, 0.6, 0.6], 4000, CONTRADICTED), ([0.6, 0.52, 0.6], 40, NOT_ENOUGH)],
)
def test_an_encoder_decoder_is_less_robust_beyond_its_training_length(beyond, n, verdict):
    scores = [exactly([0.6, 0.6, 0.6], n, prompt_tokens=400), exactly(beyond, n, prompt_tokens=900, size=20)]
    _, row = rows_of("encoder_decoder_robust", scores, T5)
    assert (row["verdict"], row["size"], row["statistic"]) == (verdict, 20, "gap minus that within the training length")


def test_lengths_that_are_not_known_or_all_beyond_decide_nothing():
    (row,) = rows_of("encoder_decoder_robust", exactly([0.6] * 3, prompt_tokens=None), T5)
    assert row["verdict"] == NOT_ENOUGH and "not known" in row["reason"]
    (row,) = rows_of("encoder_decoder_robust", exactly([0.6] * 3, prompt_tokens=900), T5)
    assert row["verdict"] == NOT_ENOUGH and "no size within" in row["reason"]
    decoder = Relations({"m": About(architecture="decoder", training_length=500)}, {})
    (row,) = rows_of("encoder_decoder_robust", exactly([0.6] * 3, prompt_tokens=400), decoder)
    assert row["reason"].startswith("nothing that was run can be asked")


@pytest.mark.parametrize(
    ("aware", "n", "verdict"),
    [([1.0, 1.0, 0.99], 500, SUPPORTED), ([1.0, 0.8, 1.0], 500, CONTRADICTED), ([1.0, 1.0, 1.0], 30, NOT_ENOUGH)],
)
def test_query_aware_key_value_retrieval_is_near_perfect(aware, n, verdict):
    relations = Relations({}, {"aware": Related("kv_retrieval", query_aware_of="e")})
    (row,) = rows_of("query_aware", exactly(aware, n, experiment="aware"), relations)
    assert (row["verdict"], row["value"]) == (verdict, min(aware))


@pytest.mark.parametrize(
    ("aware", "n", "verdict"),
    [([0.8, 0.5, 0.8], 2000, SUPPORTED), ([0.5, 0.3, 0.5], 500, CONTRADICTED), ([0.8, 0.5, 0.8], 30, NOT_ENOUGH)],
)
def test_query_aware_question_answering_is_changed_little(aware, n, verdict):
    relations = Relations({}, {"aware": Related("multi_document_qa", query_aware_of="e")})
    scores = [accuracies([0.8, 0.5, 0.8], n), accuracies(aware, n, 1, experiment="aware")]
    (row,) = rows_of("query_aware", scores, relations)
    assert (row["verdict"], row["n"], row["experiment"]) == (verdict, n, "aware")


@pytest.mark.parametrize(
    ("values", "n", "verdict"),
    [([0.8, 0.5, 0.8], 1000, SUPPORTED), ([0.5, 0.8, 0.5], 1000, CONTRADICTED), ([0.6, 0.5, 0.6], 30, NOT_ENOUGH)],
)
def test_base_models_are_asked_for_the_u_and_others_are_not(values, n, verdict):
    relations = Relations({"tuned": About(tuned_from="base")}, {})
    scores = [accuracies(values, n, model="base"), accuracies([0.9, 0.2, 0.9], n, model="tuned")]
    (row,) = rows_of("base_models_too", scores, relations)
    assert (row["models"], row["verdict"]) == ("base", verdict)


LLAMA = Relations({name: About(family="llama", parameters=size) for name, size in (("7b", 7), ("13b", 13))}, {})


@pytest.mark.parametrize(
    ("small", "large", "n", "verdicts"),
    [
        ([0.4, 0.5, 0.8], [0.8, 0.5, 0.8], 1000, [SUPPORTED] * 3),
        ([0.8, 0.5, 0.5], [0.4, 0.5, 0.8], 1000, [CONTRADICTED] * 3),
        ([0.5, 0.5, 0.55], [0.55, 0.5, 0.6], 40, [NOT_ENOUGH] * 3),
    ],
)
def test_primacy_is_for_models_of_13_billion_parameters(small, large, n, verdicts):
    small_scores = exactly(small, n, model="7b") if verdicts[0] == CONTRADICTED else accuracies(small, n, model="7b")
    rows = rows_of("primacy_from_13b", [small_scores, accuracies(large, n, 1, model="13b")], LLAMA)
    asked = [("7b", "primacy"), ("7b", "recency"), ("13b", "primacy")]
    assert [(row["models"], row["statistic"]) for row in rows] == asked
    assert [row["verdict"] for row in rows] == verdicts


def test_a_family_of_small_models_alone_is_not_asked_for_primacy():
    small = Relations({"7b": About(family="llama", parameters=7)}, {})
    (row,) = rows_of("primacy_from_13b", accuracies([0.4, 0.5, 0.8], model="7b"), small)
    assert row["reason"].startswith("nothing that was run can be asked")


def retrieved(first: float, last: float, n: int) -> list[pd.DataFrame]:
    """Scores of an open-domain experiment with 20 and with 50 documents."""
    names = {"placement": "as_retrieved", "position": None, "depth": None}
    return [exactly([value], n, size=size, **names) for value, size in ((first, 20), (last, 50))]


@pytest.mark.parametrize(
    ("last", "recall", "n", "verdicts"),
    [
        (0.51, 0.9, 2000, [SUPPORTED, SUPPORTED]),
        (0.6, 0.9, 2000, [CONTRADICTED, CONTRADICTED]),
        (0.53, 0.85, 50, [NOT_ENOUGH, NOT_ENOUGH]),
    ],
)
def test_readers_saturate_before_the_retriever(last, recall, n, verdicts):
    recalls = {"e": {20: (0.8, n), 50: (recall, n)}}
    rows = rows_of("readers_saturate", retrieved(0.5, last, n), recalls=recalls)
    assert [row["verdict"] for row in rows] == verdicts
    assert rows[0]["value"] == pytest.approx(last - 0.5, abs=1 / n)
    assert rows[1]["value"] == pytest.approx(last - 0.5 - (recall - 0.8) / 2, abs=1 / n)


def test_without_the_recall_only_the_reader_is_judged():
    rows = rows_of("readers_saturate", retrieved(0.5, 0.5, 2000))
    assert [row["verdict"] for row in rows] == [SUPPORTED, NOT_ENOUGH]
    assert "recall at these sizes is not known" in rows[1]["reason"]


# --- How verdicts come about ---


def evidence_of(matrices: Mapping[str, np.ndarray]) -> ScoredEvidence:
    """Evidence of a curve for each model, without the detour by score rows."""
    verdicts = {
        Cell(model, "e", 9, position, f"gold_at_{position}", position / 8): pd.Series(column)
        for model, matrix in matrices.items()
        for position, column in zip(POSITIONS, matrix.T, strict=True)
    }
    return ScoredEvidence(verdicts, {})


def test_flat_data_are_seldom_said_to_have_a_u_also_where_many_models_are_asked():
    samples = range(100)
    alone = many = 0
    for sample in samples:
        flat = {f"m{index}": random_matrix([0.6] * 3, 100, 10 * sample + index) for index in range(6)}
        questions = list(u_shape.ask(evidence_of(flat), NOTHING))
        alone += decide(questions[:1])[0].verdict == SUPPORTED
        many += any(decision.verdict == SUPPORTED for decision in decide(questions))
    assert alone <= 0.05 * len(samples) and many <= 0.05 * len(samples)


def normal(value: float, error: float = 1.0) -> Measure:
    from scipy.stats import norm

    return Measure(value, 10, lambda c: (value - norm.ppf((1 + c) / 2) * error, value + norm.ppf((1 + c) / 2) * error))


def test_deciding_by_intervals_is_holms_correction():
    from scipy.stats import norm

    rng = np.random.default_rng(0)
    for _ in range(50):
        values = rng.normal(1.8, 1.5, size=7)
        questions = [Question(("m",), "e", 1, "s", ABOVE_ZERO, normal(value), "") for value in values]
        corrected = holm([2 * norm.sf(abs(value)) for value in values])
        expected = [p < 0.05 and value > 0 for p, value in zip(corrected, values, strict=True)]
        assert [decision.verdict == SUPPORTED for decision in decide(questions)] == expected


def test_what_cannot_be_measured_does_not_count_among_the_tests():
    question = Question(("m",), "e", 1, "s", ABOVE_ZERO, normal(2.0), "")
    unknown = Question(("m",), "e", 1, "s", ABOVE_ZERO, None, "why not")
    assert [one.verdict for one in decide([question, *[unknown] * 9])] == [SUPPORTED, *[NOT_ENOUGH] * 9]
    assert [one.verdict for one in decide([question] * 10)] == [NOT_ENOUGH] * 10


def test_models_of_one_experiment_are_corrected_together_and_the_reason_says_so():
    weak = exactly([0.5, 0.463, 0.5], model="weak")
    (alone,) = rows_of("u_shape", weak)
    others = [accuracies([0.6, 0.55, 0.6], 40, seed, model=f"m{seed}") for seed in range(1, 40)]
    of_other_experiments = [one.assign(experiment="other") for one in others]
    assert alone["verdict"] == SUPPORTED
    assert rows_of("u_shape", [weak, *of_other_experiments])[0]["verdict"] == SUPPORTED


def test_intervals_of_extremes_and_of_differences_hold_the_truth():
    rng = np.random.default_rng(1)
    true = np.array([0.0, 0.1, 0.1, 0.3])
    held = {"lowest": 0, "largest": 0, "minus": 0}
    for _ in range(1000):
        measures = [normal(value, 0.2) for value in rng.normal(true, 0.2)]
        for name, measure, truth in (
            ("lowest", lowest(measures), 0.0),
            ("largest", largest(measures), 0.3),
            ("minus", minus(measures[3], measures[0]), 0.3),
        ):
            low, high = measure.interval(0.95)
            held[name] += low <= truth <= high
    assert min(held.values()) >= 940


def test_cells_with_several_gold_items_are_left_out():
    together = accuracies([0.9, 0.2, 0.9]).assign(placement="gold_at_0_4_8")
    assert scored_evidence(together).cells == []


def test_a_question_that_is_there_twice_is_an_error():
    scores = accuracies([0.9, 0.2, 0.9], 10)
    with pytest.raises(UserError, match="m, e, size 9, gold_at_0: question q0 is there twice"):
        scored_evidence(pd.concat([scores, scores]))


# --- What the paper published ---

PUBLISHED = ROOT / "resources" / "published" / "accuracy.csv"
OF_THE_PAPER = Relations(
    {
        "gpt-3.5-turbo-16k-0613": About(longer_context_of="gpt-3.5-turbo-0613"),
        "claude-1.3-100k": About(longer_context_of="claude-1.3"),
        **{f"llama-2-{size}b-chat": About(family="llama-2", parameters=size) for size in (7, 13, 70)},
    },
    {
        "multi_document_qa": Related("multi_document_qa", closed_book="closed_book_qa"),
        "kv_retrieval_query_aware": Related("kv_retrieval", query_aware_of="kv_retrieval"),
    },
)


@pytest.fixture(scope="module")
def published() -> pd.DataFrame:
    return claims_table(published_evidence(read_published(PUBLISHED)), OF_THE_PAPER)


def test_the_papers_numbers_support_its_claims(published):
    measured = published[published["value"].notna()].set_index("claim")
    for claim in ("u_shape", "extended_context_no_better", "query_aware", "primacy_from_13b"):
        assert set(measured.loc[[claim], "verdict"]) == {SUPPORTED}, claim
    assert len(measured.loc["u_shape"]) == 22 and len(measured.loc["extended_context_no_better"]) == 5


def test_among_the_papers_models_the_middle_is_shown_to_fall_below_closed_book_for_gpt_alone(published):
    rows = published[published["claim"] == "below_closed_book"].set_index("models")
    assert (rows.loc["gpt-3.5-turbo-16k-0613", ["verdict", "size"]] == [SUPPORTED, 30]).all()
    # 2.3 points below at 20 documents, which 2,655 questions do not show unless they are paired.
    assert rows.loc["gpt-3.5-turbo-0613", "verdict"] == NOT_ENOUGH
    others = rows.drop(["gpt-3.5-turbo-16k-0613", "gpt-3.5-turbo-0613"])
    assert set(others["verdict"]) == {CONTRADICTED} and len(others) == 5


def test_published_rows_name_their_sources(published):
    (row,) = published[published["models"].eq("claude-1.3") & published["size"].eq(10)].to_dict("records")
    assert row["reason"].endswith("(not paired; from Table 5)") and row["n"] == 2655


def test_what_was_published_of_no_model_has_a_row_that_says_what_it_takes(published):
    rows = published.set_index("claim")
    for claim in ("encoder_decoder_robust", "base_models_too", "readers_saturate"):
        assert rows.loc[claim, "verdict"] == NOT_ENOUGH
        assert rows.loc[claim, "reason"].startswith("nothing that was run can be asked; needed: ")


def published_of(matrix: np.ndarray, model: str = "m") -> list[PublishedAccuracy]:
    """What a paper would print of these answers."""
    return [
        PublishedAccuracy(model, "e", 9, f"gold_at_{p}", p, "exact", len(matrix), column.mean(), "Table 1")
        for p, column in zip(POSITIONS, matrix.T, strict=True)
    ]


def test_an_interval_from_accuracies_alone_is_no_narrower_than_the_paired_one():
    matrix = random_matrix([0.7, 0.5, 0.6], 500, 3)
    evidence = published_evidence(published_of(matrix))
    for weights in ([0.5, -1, 0.5], [1, -1, 0], [1, 0, -1]):
        measure = evidence.contrast(dict(zip(evidence.cells, weights, strict=True)))
        paired = contrast_interval(matrix, weights)
        low, high = measure.interval(0.95)
        assert measure.value == pytest.approx(paired.value)
        assert high - low >= 0.99 * (paired.high - paired.low)


def test_a_mean_over_positions_is_no_surer_than_one_position_if_the_answers_may_all_be_the_same():
    same = np.repeat(random_matrix([0.6], 400), 3, axis=1)
    evidence = published_evidence([*published_of(same), *published_of(1 - same, "other")])
    first, other = evidence.cells[:3], evidence.cells[3:]

    def width(cells):
        low, high = evidence.contrast(
            {cell: 1 / len(cells) for cell in cells[0]} | dict.fromkeys(cells[1], -1)
        ).interval(0.95)
        return high - low

    three = evidence.contrast({**dict.fromkeys(first, 1 / 3), **dict.fromkeys(other, -1 / 3)}).interval(0.95)
    one = evidence.contrast({first[0]: 1, other[0]: -1}).interval(0.95)
    assert three[1] - three[0] == pytest.approx(one[1] - one[0])


# --- The table ---


def test_the_table_has_every_claim_once_at_least_and_its_columns():
    table = claims_table(scored_evidence(accuracies([0.8, 0.5, 0.8])), NOTHING)
    assert list(table.columns) == list(CLAIM_COLUMNS)
    assert list(dict.fromkeys(table["claim"])) == [claim.name for claim in CLAIMS]
    assert table["section"].notna().all() and table["reason"].notna().all()


def test_the_summary_has_a_sentence_for_each_claim():
    scores = pd.concat([accuracies([0.8, 0.5, 0.8]), accuracies([0.5, 0.8, 0.5], model="other")])
    summary = claim_summary(claims_table(scored_evidence(scores), NOTHING))
    assert list(summary["finding"][:2]) == [
        "Of 2: supported in 1 (m on e 9), contradicted in 1 (other on e 9).",
        "Not asked: it needs a model and its counterpart with a longer context (`about.longer_context_of`).",
    ]
    assert list(summary.loc[0, ["supported", "contradicted", "not_enough"]]) == [1, 1, 0]


def test_markdown_shows_the_summary_and_then_every_row():
    scores = accuracies([0.8, 0.5, 0.8])
    table = claims_table(scored_evidence(scores), NOTHING)
    summary, rows = as_markdown(table).split("\n\n")
    assert len(summary.splitlines()) == 2 + len(CLAIMS)
    assert len(rows.splitlines()) == 2 + len(table) and "<NA>" not in rows
