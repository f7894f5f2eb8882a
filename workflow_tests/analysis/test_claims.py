"""The paper's claims on made-up answers whose truth is known by construction."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import pytest
from conftest import ROOT
from programs import run_program
from scipy.stats import norm
from score_frames import of_matrix, random_matrix

from litm.analysis.claims.evidence import Cell
from litm.analysis.claims.measures import Measure, largest, lowest, minus
from litm.analysis.claims.relations import About, Related, Relations
from litm.analysis.claims.scored_evidence import ScoredEvidence, scored_evidence
from litm.analysis.claims.summary import as_markdown, claim_summary
from litm.analysis.claims.table import CLAIMS, claims_table
from litm.analysis.claims.verdicts import CONTRADICTED, NOT_ENOUGH, SUPPORTED
from litm.analysis.published.statements import ClaimStatus, Literature, PublishedStatement
from litm.analysis.tables import claims
from litm.base.csv_files import read_csv
from litm.base.errors import UserError
from litm.domain.placement import AS_RETRIEVED, NO_GOLD, depth_of

POSITIONS = (0, 4, 8)
NOTHING = Relations({}, {})

Verdicts = dict[Cell, pd.Series]


def curve(matrix: np.ndarray, model: str = "m", experiment: str = "e", size: int = 9) -> Verdicts:
    """The verdicts on a curve of three positions: one row of the matrix a question."""
    return {
        Cell(model, experiment, size, position, f"gold_at_{position}", depth_of(position, size)): pd.Series(column)
        for position, column in zip(POSITIONS, matrix.T, strict=True)
    }


def about(accuracies: Sequence[float], n: int = 1000, seed: int = 0, **names) -> Verdicts:
    """A curve drawn with these accuracies."""
    return curve(random_matrix(accuracies, n, seed), **names)


def right(accuracy: float, n: int) -> np.ndarray:
    """As many right answers as this accuracy is, to the first questions."""
    return (np.arange(n) < round(accuracy * n)).astype(int)


def exactly(accuracies: Sequence[float], n: int = 1000, **names) -> Verdicts:
    """A curve with these accuracies, on which a question is as easy at one position as at another."""
    return curve(np.column_stack([right(accuracy, n) for accuracy in accuracies]), **names)


def without_position(accuracy: float, n: int, experiment: str, size: int, placement: str) -> Verdicts:
    """The verdicts on a cell whose context has no gold item of ours."""
    return {Cell("m", experiment, size, None, placement, None): pd.Series(right(accuracy, n))}


def evidence_of(*verdicts: Verdicts, lengths: Mapping[int, float] | None = None, recalls=None) -> ScoredEvidence:
    """Evidence; lengths: tokens of the prompts by size."""
    every = {cell: column for some in verdicts for cell, column in some.items()}
    return ScoredEvidence(every, {cell: (lengths or {}).get(cell.size) for cell in every}, recalls or {})


def rows_of(claim: str, evidence: ScoredEvidence, relations: Relations = NOTHING) -> list[dict]:
    """The rows of one claim."""
    table = claims_table(evidence, relations)
    return table[table["claim"] == claim].to_dict("records")


# --- Each claim: supported, contradicted, not enough data ---


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
def test_a_u_is_seen_where_there_is_one(verdicts, verdict):
    (row,) = rows_of("u_shape", evidence_of(verdicts))
    start, middle, end = (column.mean() for column in verdicts.values())
    contrasts = {"primacy": start - middle, "recency": end - middle}
    assert (row["verdict"], row["models"], row["size"]) == (verdict, "m", 9)
    assert (row["value"], row["n"]) == (pytest.approx(contrasts[row["statistic"]]), len(next(iter(verdicts.values()))))
    assert row["ci_low"] <= row["value"] <= row["ci_high"]


@pytest.mark.parametrize(("accuracy", "limit"), [(0.0, "floor"), (1.0, "ceiling")])
def test_at_the_floor_and_the_ceiling_nothing_is_said_about_the_shape(accuracy, limit):
    (row,) = rows_of("u_shape", evidence_of(exactly([accuracy] * 3)))
    assert (row["verdict"], pd.isna(row["value"])) == (NOT_ENOUGH, True)
    assert row["reason"].endswith(limit)


def test_a_curve_that_rises_at_one_end_alone_is_no_u_and_its_row_names_the_other_end():
    (row,) = rows_of("u_shape", evidence_of(exactly([0.9, 0.5, 0.5])))
    assert (row["verdict"], row["statistic"], row["shape"]) == (CONTRADICTED, "recency", "primacy alone")
    assert row["reason"].startswith("primacy alone: the start is above the middle")


LONGER = Relations({"long": About(longer_context_of="short")}, {})


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


BOOK = Relations({}, {"e": Related("multi_document_qa", closed_book="closed")})


@pytest.mark.parametrize(
    ("closed", "n", "verdict"), [(0.7, 500, SUPPORTED), (0.3, 500, CONTRADICTED), (0.55, 40, NOT_ENOUGH)]
)
def test_the_middle_falls_below_closed_book(closed, n, verdict):
    book = without_position(closed, n, "closed", 0, NO_GOLD)
    (row,) = rows_of("below_closed_book", evidence_of(about([0.8, 0.5, 0.8], n), book), BOOK)
    assert (row["verdict"], row["models"], row["experiment"]) == (verdict, "m", "e")


def test_what_is_said_of_gpt_alone_is_exploratory_for_others_and_they_do_not_count_for_it():
    gpt = "gpt-3.5-turbo-0613"
    books = [{Cell(model, "closed", 0, None, NO_GOLD, None): pd.Series(right(0.6, 500))} for model in (gpt, "m", "o")]
    curves = [about([0.8, 0.5, 0.8], 500, model=model) for model in (gpt, "m", "o")]
    rows = {row["models"]: row for row in rows_of("below_closed_book", evidence_of(*curves, *books), BOOK)}
    assert [rows[model]["role"] for model in (gpt, "m", "o")] == ["claim", "exploratory", "exploratory"]
    assert [rows[model]["family_size"] for model in (gpt, "m", "o")] == [1, 2, 2]


def test_one_size_at_which_the_middle_falls_below_closed_book_is_enough():
    book = without_position(0.6, 1000, "closed", 0, NO_GOLD)
    curves = [about([0.9, 0.8, 0.9]), about([0.9, 0.4, 0.9], size=30)]
    (row,) = rows_of("below_closed_book", evidence_of(*curves, book), BOOK)
    assert (row["verdict"], row["size"]) == (SUPPORTED, 30)
    assert "at size 9" in row["reason"] and "at size 30" in row["reason"]


T5 = Relations({"m": About(architecture="encoder_decoder", training_length=500)}, {})
LENGTHS = {9: 400.0, 20: 900.0}


@pytest.mark.parametrize(
    ("within", "n", "verdict"),
    [([0.6, 0.6, 0.6], 1000, SUPPORTED), ([0.9, 0.6, 0.6], 1000, CONTRADICTED), ([0.6, 0.55, 0.6], 40, NOT_ENOUGH)],
)
def test_an_encoder_decoder_is_robust_within_its_training_length(within, n, verdict):
    (row,) = rows_of("encoder_decoder_robust", evidence_of(exactly(within, n), lengths=LENGTHS), T5)
    assert (row["verdict"], row["statistic"]) == (verdict, "best-worst gap")
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
        assert (row["size"], row["statistic"]) == (20, "gap minus that within the training length")
    assert "size 9: prompts of 400 tokens" in row["reason"] and "size 20: prompts of 900 tokens" in row["reason"]


def test_lengths_that_are_not_known_or_all_beyond_decide_nothing():
    (row,) = rows_of("encoder_decoder_robust", evidence_of(exactly([0.6] * 3)), T5)
    assert row["verdict"] == NOT_ENOUGH and "not known" in row["reason"]
    (row,) = rows_of("encoder_decoder_robust", evidence_of(exactly([0.6] * 3, size=20), lengths=LENGTHS), T5)
    assert row["verdict"] == NOT_ENOUGH and "no size within" in row["reason"]
    decoder = Relations({"m": About(architecture="decoder", training_length=500)}, {})
    (row,) = rows_of("encoder_decoder_robust", evidence_of(exactly([0.6] * 3), lengths=LENGTHS), decoder)
    assert row["reason"].startswith("nothing that was run can be asked")


@pytest.mark.parametrize(
    ("aware", "n", "verdict"),
    [([1.0, 1.0, 0.99], 500, SUPPORTED), ([1.0, 0.8, 1.0], 500, CONTRADICTED), ([1.0, 1.0, 1.0], 30, NOT_ENOUGH)],
)
def test_query_aware_key_value_retrieval_is_near_perfect(aware, n, verdict):
    relations = Relations({}, {"aware": Related("kv_retrieval", query_aware_of="e")})
    (row,) = rows_of("query_aware", evidence_of(exactly(aware, n, experiment="aware")), relations)
    assert (row["verdict"], row["value"]) == (verdict, min(aware))


@pytest.mark.parametrize(
    ("aware", "n", "verdict"),
    [([0.8, 0.5, 0.8], 2000, SUPPORTED), ([0.5, 0.3, 0.5], 500, CONTRADICTED), ([0.8, 0.5, 0.8], 30, NOT_ENOUGH)],
)
def test_query_aware_question_answering_is_changed_little(aware, n, verdict):
    relations = Relations({}, {"aware": Related("multi_document_qa", query_aware_of="e")})
    evidence = evidence_of(about([0.8, 0.5, 0.8], n), about(aware, n, 1, experiment="aware"))
    (row,) = rows_of("query_aware", evidence, relations)
    assert (row["verdict"], row["n"], row["experiment"]) == (verdict, n, "aware")


@pytest.mark.parametrize(
    ("values", "n", "verdict"),
    [([0.8, 0.5, 0.8], 1000, SUPPORTED), ([0.5, 0.8, 0.5], 1000, CONTRADICTED), ([0.6, 0.5, 0.6], 30, NOT_ENOUGH)],
)
def test_base_models_are_asked_for_the_u_and_others_are_not(values, n, verdict):
    relations = Relations({"tuned": About(tuned_from="base")}, {})
    evidence = evidence_of(about(values, n, model="base"), about([0.9, 0.2, 0.9], n, model="tuned"))
    (row,) = rows_of("base_models_too", evidence, relations)
    assert (row["models"], row["verdict"]) == ("base", verdict)


LLAMA = Relations({name: About(family="llama-2", parameters=size) for name, size in (("7b", 7), ("13b", 13))}, {})


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
    assert [(row["models"], row["verdict"], row["role"]) for row in rows] == [
        ("7b", verdict, "claim"),
        ("13b", verdict, "claim"),
    ]


def test_another_family_is_asked_for_primacy_for_its_own_sake():
    relations = Relations({name: About(family="f", parameters=size) for name, size in (("s", 1), ("l", 30))}, {})
    evidence = evidence_of(about([0.4, 0.5, 0.8], model="s"), about([0.8, 0.5, 0.8], model="l"))
    assert [row["role"] for row in rows_of("primacy_from_13b", evidence, relations)] == ["exploratory"] * 2


def test_a_family_of_small_models_alone_is_not_asked_for_primacy():
    small = Relations({"7b": About(family="llama", parameters=7)}, {})
    (row,) = rows_of("primacy_from_13b", evidence_of(about([0.4, 0.5, 0.8], model="7b")), small)
    assert row["reason"].startswith("nothing that was run can be asked")


def reader(accuracy_of_20: float, accuracy_of_50: float, n: int, recalls=None) -> ScoredEvidence:
    """A reader of 20 and of 50 retrieved documents."""
    cells = [
        without_position(accuracy, n, "e", size, AS_RETRIEVED)
        for accuracy, size in ((accuracy_of_20, 20), (accuracy_of_50, 50))
    ]
    return evidence_of(*cells, recalls=recalls)


@pytest.mark.parametrize(
    ("last", "recall", "n", "verdict"),
    [(0.51, 0.9, 2000, SUPPORTED), (0.6, 0.9, 2000, CONTRADICTED), (0.54, 0.86, 50, NOT_ENOUGH)],
)
def test_readers_saturate_before_the_retriever(last, recall, n, verdict):
    evidence = reader(0.5, last, n, recalls={"e": {20: (0.8, n), 50: (recall, n)}})
    (row,) = rows_of("readers_saturate", evidence)
    values = {
        "accuracy gained": last - 0.5,
        "accuracy gained minus half the recall gained": last - 0.5 - (recall - 0.8) / 2,
    }
    assert (row["verdict"], row["value"]) == (verdict, pytest.approx(values[row["statistic"]]))


def test_without_the_recall_a_reader_can_only_contradict_that_it_saturates():
    (row,) = rows_of("readers_saturate", reader(0.5, 0.5, 2000))
    assert row["verdict"] == NOT_ENOUGH and "recall at these sizes is not known" in row["reason"]
    assert row["reason"].endswith("not measured: accuracy gained minus half the recall gained")
    (row,) = rows_of("readers_saturate", reader(0.5, 0.8, 2000))
    assert (row["verdict"], row["statistic"]) == (CONTRADICTED, "accuracy gained")


@pytest.mark.parametrize(
    ("largest", "n", "verdict"), [(0.5, 1000, SUPPORTED), (0.75, 1000, CONTRADICTED), (0.6, 40, NOT_ENOUGH)]
)
def test_accuracy_falls_as_the_context_grows(largest, n, verdict):
    evidence = evidence_of(exactly([0.7] * 3, n), exactly([0.6] * 3, n, size=20), exactly([largest] * 3, n, size=30))
    (row,) = rows_of("longer_context_worse", evidence)
    assert (row["verdict"], row["size"], row["statistic"]) == (verdict, 30, "mean minus that at size 9")
    assert (row["value"], row["test"]) == (pytest.approx(largest - 0.7), "paired by question")
    assert "60.0 % at size 20" in row["reason"]


def test_sizes_with_questions_of_their_own_are_compared_without_pairs():
    other = {cell: column.rename(lambda number: number + 10**6) for cell, column in exactly([0.5] * 3, size=30).items()}
    (row,) = rows_of("longer_context_worse", evidence_of(exactly([0.7] * 3), other))
    assert (row["verdict"], row["n"], row["test"]) == (SUPPORTED, 1000, "not paired")


def test_the_suite_asks_whether_200_keys_are_worse_than_100():
    relations = Relations({}, {"e": Related("kv_retrieval")})
    hundred, more = exactly([0.9, 0.8, 0.9], size=100), exactly([0.7, 0.5, 0.6], size=200)
    (row,) = rows_of("more_keys_worse", evidence_of(hundred, more), relations)
    assert (row["verdict"], row["size"]) == (SUPPORTED, 200)
    (row,) = rows_of("more_keys_worse", evidence_of(hundred), relations)
    assert row["reason"].startswith("nothing that was run can be asked")


# --- How verdicts come about ---


def test_models_of_one_experiment_are_corrected_together_and_the_reason_says_so():
    weak = exactly([0.6, 0.55, 0.6], 200, model="weak")
    others = [about([0.6, 0.55, 0.6], 40, seed, model=f"m{seed}") for seed in range(1, 50)]
    elsewhere = [about([0.6, 0.55, 0.6], 40, seed, model=f"m{seed}", experiment="f") for seed in range(1, 50)]
    assert rows_of("u_shape", evidence_of(weak, *elsewhere))[0]["verdict"] == SUPPORTED
    row = rows_of("u_shape", evidence_of(weak, *others))[0]
    # Of 50 cases, and to contradict the claim either of two ends is enough.
    assert (row["verdict"], row["confidence"], row["family_size"]) == (NOT_ENOUGH, pytest.approx(0.9995), 50)
    assert row["reason"].endswith("(at 95 %, if nothing else were asked: supported)")


def normal(value: float, error: float = 1.0) -> Measure:
    """A quantity with a normal interval."""

    def interval(confidence: float) -> tuple[float, float]:
        half = error * float(norm.ppf((1 + confidence) / 2))
        return value - half, value + half

    return Measure(value, 10, interval)


def test_intervals_of_extremes_and_of_differences_hold_the_truth():
    rng = np.random.default_rng(1)
    true, repeats = np.array([0.0, 0.1, 0.1, 0.3]), 300
    held = {"lowest": 0, "largest": 0, "minus": 0}
    for _ in range(repeats):
        measures = [normal(value, 0.2) for value in rng.normal(true, 0.2)]
        for name, measure, truth in (
            ("lowest", lowest(measures), 0.0),
            ("largest", largest(measures), 0.3),
            ("minus", minus(measures[3], measures[0]), 0.3),
        ):
            low, high = measure.interval(0.95)
            held[name] += low <= truth <= high
    assert min(held.values()) >= 0.94 * repeats


# --- From score rows, to tables ---


def test_cells_with_several_gold_items_are_left_out():
    together = of_matrix(random_matrix([0.9, 0.2, 0.9], 5), POSITIONS).assign(placement="gold_at_0_4_8")
    assert scored_evidence([together]).cells == []


def test_a_question_that_is_there_twice_is_an_error():
    scores = of_matrix(random_matrix([0.9, 0.2, 0.9], 5), POSITIONS)
    with pytest.raises(UserError, match="m, e, size 9, gold_at_0: question q0 occurs twice"):
        scored_evidence([pd.concat([scores, scores])])


def test_the_table_has_every_claim_once_at_least_and_its_columns():
    table = claims_table(evidence_of(about([0.8, 0.5, 0.8])), NOTHING)
    assert list(table.columns) == list(claims.TABLE.columns)
    assert list(dict.fromkeys(table["claim"])) == [claim.name for claim in CLAIMS]
    assert table["section"].notna().all() and table["reason"].notna().all()


def test_a_row_says_whether_the_answers_were_measured_here_or_recorded_elsewhere():
    evidence = evidence_of(about([0.8, 0.5, 0.8]), about([0.8, 0.5, 0.8], seed=1, model="theirs"))
    rows = rows_of("u_shape", evidence, Relations({}, {}, frozenset({"theirs"})))
    assert [(row["models"], row["evidence"], row["verdict"]) for row in rows] == [
        ("m", "measured", SUPPORTED),
        ("theirs", "recorded", SUPPORTED),
    ]


def test_what_the_paper_says_of_a_case_stands_beside_it_and_the_nearest_statement_counts():
    def says(models: str, answer: str, text: str) -> PublishedStatement:
        return PublishedStatement("u_shape", models, "", None, answer, "", None, text, "Section 1")

    literature = Literature(
        [says("", "supported", "all"), says("other", "contradicted", "not this one"), says("other", "", "a number")],
        {"u_shape": ClaimStatus("u_shape", "contested", "somebody")},
    )
    evidence = evidence_of(about([0.8, 0.5, 0.8]), about([0.8, 0.5, 0.8], seed=1, model="other"))
    rows = claims_table(evidence, NOTHING, literature).to_dict("records")[:2]
    assert [(row["paper_says"], row["paper_text"]) for row in rows] == [
        (SUPPORTED, "all (Section 1)"),
        (CONTRADICTED, "not this one (Section 1); a number (Section 1)"),
    ]
    assert {(row["status"], row["contested_by"]) for row in rows} == {("contested", "somebody")}


def test_one_run_has_one_verdict_a_case_whatever_is_declared_of_its_models():
    relations = Relations(
        {
            "m": About(family="llama-2", parameters=7, architecture="encoder_decoder", training_length=500),
            "large": About(family="llama-2", parameters=13, tuned_from="m"),
        },
        {},
    )
    for start in (0.3, 0.5, 0.8):
        evidence = evidence_of(exactly([start, 0.5, 0.8], 2000), exactly([0.6] * 3, size=20), lengths=LENGTHS)
        table = claims_table(evidence, relations)
        cases = table[table["experiment"].notna() & (table["claim"] != "encoder_decoder_robust")]
        assert not cases.duplicated(["claim", "models", "experiment", "size"]).any()
        assert (table["claim"] == "encoder_decoder_robust").sum() == 1


def test_the_summary_has_a_sentence_for_each_claim():
    evidence = evidence_of(about([0.8, 0.5, 0.8]), about([0.5, 0.8, 0.5], model="other"))
    summary = claim_summary(claims_table(evidence, NOTHING))
    assert list(summary["finding"][:2]) == [
        "Of 2: supported in 1 (m on e 9), contradicted in 1 (other on e 9).",
        "Not asked: it needs an experiment of two sizes or more, with two positions or more at each.",
    ]
    assert list(summary.loc[0, ["supported", "contradicted", "not_enough"]]) == [1, 1, 0]


def test_the_summary_keeps_exploratory_cases_apart():
    gpt, book = "gpt-3.5-turbo-0613", pd.Series(right(0.6, 500))
    cells = [{Cell(model, "closed", 0, None, NO_GOLD, None): book} for model in (gpt, "m")]
    curves = [about([0.8, 0.4, 0.8], 500, model=gpt), about([0.9, 0.8, 0.9], 500, model="m")]
    row = claim_summary(claims_table(evidence_of(*curves, *cells), BOOK)).loc[3]
    assert list(row[["supported", "contradicted", "not_enough"]]) == [1, 0, 0]
    assert row["finding"] == (
        "Supported in 1 (gpt-3.5-turbo-0613 on e 9). "
        "Exploratory, of what it is not about: contradicted in 1 (m on e 9)."
    )
    row = claim_summary(claims_table(evidence_of(curves[1], cells[1]), BOOK)).loc[3]
    assert row["finding"].startswith("Not asked of what it is about. Exploratory")


def test_markdown_shows_the_summary_and_then_every_row():
    table = claims_table(evidence_of(about([0.8, 0.5, 0.8])), NOTHING)
    summary, rows = as_markdown(table).split("\n\n")
    assert len(summary.splitlines()) == 2 + len(CLAIMS)
    assert len(rows.splitlines()) == 2 + len(table) and "<NA>" not in rows


def test_a_verdict_that_depends_on_how_much_of_an_answer_is_read_says_so(tmp_path):
    """A chatty model whose first lines announce the answer wherever it is, and whose whole answers have a U."""
    whole = np.column_stack([right(accuracy, 400) for accuracy in (0.8, 0.5, 0.8)])
    announced = np.column_stack([right(0.3, 400)] * 3)
    scores = of_matrix(whole, (0, 4, 8))
    by_position = dict(zip((0, 4, 8), announced.T, strict=True))
    scores["correct_full"] = scores["correct"]
    scores["correct_first_line"] = [
        bool(by_position[position][int(id_[1:])])
        for position, id_ in zip(scores["position"], scores["id"], strict=True)
    ]
    scores.to_parquet(tmp_path / "scores.parquet")
    options = {
        "--scores": tmp_path / "scores.parquet",
        "--relations": '{"models": {}, "experiments": {}, "recorded": []}',
    }
    published = ROOT / "resources/published"
    options |= {"--statements": published / "statements.csv", "--statuses": published / "claims.csv"}
    options |= {f"--{name}": tmp_path / name for name in ("csv", "summary", "markdown")}
    done = run_program("make_claims_table", *(word for pair in options.items() for word in pair))
    assert done.returncode == 0, done.stderr
    row = read_csv(tmp_path / "csv", claims.TABLE.dtypes).iloc[0]
    assert (row["verdict"], row["verdict_full"], row["verdict_first_line"]) == (SUPPORTED, SUPPORTED, CONTRADICTED)
    assert row["changes_with_reading"]
    assert row["reason"].endswith("; by the first line: contradicted, by the whole answer: supported")
    finding = read_csv(tmp_path / "summary")["finding"][0]
    assert finding.endswith("contradicted by the first line, supported by the whole answer.")


def test_published_accuracies_have_one_reading():
    row = claims_table(evidence_of(about((0.8, 0.5, 0.8))), NOTHING).iloc[0]
    assert pd.isna(row["changes_with_reading"]) and "first line" not in row["reason"]
