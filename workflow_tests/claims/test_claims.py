"""The table of claims: families, columns, literature, summary and readings."""

import pandas as pd
import pytest
from claim_evidence import BOOK, LENGTHS, NOTHING, POSITIONS, about, evidence_of, exactly, rows_of, without_position
from conftest import ROOT
from programs import run_program
from score_frames import first_right, of_matrix, of_shares, random_matrix

from litm.analysis.published import ClaimStatus, Literature, PublishedStatement
from litm.base.messages import UserError
from litm.base.table_files import read_csv
from litm.claims.evidence import Relations, scored_evidence
from litm.claims.tables import CLAIMS, as_markdown, claims_table
from litm.claims.verdicts import CONTRADICTED, NOT_ENOUGH, SUPPORTED
from litm.tables.table import tables


def test_models_of_one_experiment_are_corrected_together_and_the_reason_mentions_it():
    weak = exactly([0.6, 0.55, 0.6], 200, model="weak")
    others = [about([0.6, 0.55, 0.6], 40, seed, model=f"m{seed}") for seed in range(1, 50)]
    elsewhere = [about([0.6, 0.55, 0.6], 40, seed, model=f"m{seed}", experiment="f") for seed in range(1, 50)]
    assert rows_of("u_shape", evidence_of(weak, *elsewhere))[0]["verdict"] == SUPPORTED
    row = rows_of("u_shape", evidence_of(weak, *others))[0]
    # Of 50 cases, and to contradict the claim either of two ends is enough.
    assert (row["verdict"], row["confidence"], row["family_size"]) == (NOT_ENOUGH, pytest.approx(0.9995), 50)
    assert row["reason"].endswith("(at 95 %, if nothing else were asked: supported)")


def test_cells_with_several_gold_items_are_left_out():
    together = of_matrix(random_matrix([0.9, 0.2, 0.9], 5), POSITIONS).assign(placement="gold_at_0_4_8")
    assert scored_evidence([together]).cells == []


def test_a_question_that_occurs_twice_is_an_error():
    scores = of_matrix(random_matrix([0.9, 0.2, 0.9], 5), POSITIONS)
    with pytest.raises(UserError, match="m, e, size 9: question q0 occurs twice at placement gold_at_0"):
        scored_evidence([pd.concat([scores, scores])])


def test_the_table_has_every_claim_once_at_least_and_its_columns():
    table = claims_table(evidence_of(about([0.8, 0.5, 0.8])), NOTHING)
    assert list(table.columns) == list(tables()["claims"].columns)
    assert list(dict.fromkeys(table["claim"])) == [claim.name for claim in CLAIMS]
    assert table["section"].notna().all() and table["reason"].notna().all()


def test_a_row_tells_measured_answers_from_recorded_ones():
    evidence = evidence_of(about([0.8, 0.5, 0.8]), about([0.8, 0.5, 0.8], seed=1, model="theirs"))
    rows = rows_of("u_shape", evidence, Relations({}, {}, ["theirs"]))
    assert [(row["models"], row["evidence"]) for row in rows] == [("m", "measured"), ("theirs", "recorded")]
    assert {row["verdict"] for row in rows} == {SUPPORTED}


def test_a_row_has_the_papers_statements_on_its_case_alone_and_all_works_that_contest_its_claim():
    def says(models: tuple[str, ...], size: int, answer: str, text: str) -> PublishedStatement:
        return PublishedStatement("u_shape", models, ("e",), (size,), answer, "", None, text, "Section 1")

    said = [says(("m", "n"), 9, SUPPORTED, "a U"), says(("other",), 9, "", "a number")]
    said.append(says(("third",), 8, SUPPORTED, ""))
    contested = {"u_shape": [ClaimStatus("u_shape", "contested", work) for work in ("one work", "another")]}
    evidence = evidence_of(*(about([0.8, 0.5, 0.8], model=name) for name in ("m", "other", "third")))
    rows = claims_table(evidence, NOTHING, Literature(said, contested)).to_dict("records")[:3]
    assert [(row["experiment"], row["size"]) for row in rows] == [("e", 9)] * 3
    told = [[None if pd.isna(row[name]) else row[name] for row in rows] for name in ("paper_says", "paper_text")]
    assert told == [[SUPPORTED, None, None], ["a U (Section 1)", "a number (Section 1)", None]]
    assert {(row["status"], row["contested_by"]) for row in rows} == {("contested", "one work; another")}


def test_one_run_has_one_verdict_per_case_for_any_declarations_about_its_models():
    small = {"family": "llama-2", "parameters": 7, "architecture": "encoder_decoder", "training_length": 500}
    large = {"family": "llama-2", "parameters": 13, "tuned_from": "m"}
    relations = Relations({"m": small, "large": large}, {})
    for start in (0.3, 0.5, 0.8):
        evidence = evidence_of(exactly([start, 0.5, 0.8], 2000), exactly([0.6] * 3, size=20), lengths=LENGTHS)
        table = claims_table(evidence, relations)
        cases = table[table["experiment"].notna() & (table["claim"] != "encoder_decoder_robust")]
        assert not cases.duplicated(["claim", "models", "experiment", "size"]).any()
        assert (table["claim"] == "encoder_decoder_robust").sum() == 1


def counts_of(table: pd.DataFrame, place: int) -> list[str]:
    """The numbers of cases of a claim in claims.md: supported, contradicted, not enough data."""
    return [cell.strip() for cell in as_markdown(table).splitlines()[2 + place].split("|")[3:6]]


def finding_of(table: pd.DataFrame, place: int) -> str:
    """The sentence of a claim, which all of its rows have."""
    (text,) = {*table.loc[table["claim"] == CLAIMS[place].name, "finding"]}
    return text


def test_each_claim_has_a_sentence_in_all_of_its_rows():
    evidence = evidence_of(about([0.8, 0.5, 0.8]), about([0.5, 0.8, 0.5], model="other"))
    table = claims_table(evidence, NOTHING)
    assert table["statement"].nunique() == len(CLAIMS)
    assert [finding_of(table, place) for place in (0, 1)] == [
        "Of 2: supported in 1 (m on e 9), contradicted in 1 (other on e 9).",
        "Not asked: it needs an experiment of two sizes or more, with two positions or more at each.",
    ]
    assert counts_of(table, 0) == ["1", "1", "0"]


def test_the_sentence_and_the_numbers_of_a_claim_keep_exploratory_cases_apart():
    gpt = "gpt-3.5-turbo-0613"
    cells = [without_position(0.6, 500, model=model) for model in (gpt, "m")]
    curves = [about([0.8, 0.4, 0.8], 500, model=gpt), about([0.9, 0.8, 0.9], 500, model="m")]
    table = claims_table(evidence_of(*curves, *cells), BOOK)
    assert counts_of(table, 3) == ["1", "0", "0"]
    assert finding_of(table, 3) == (
        "Supported in 1 (gpt-3.5-turbo-0613 on e 9). "
        "Exploratory, for other models and conditions: contradicted in 1 (m on e 9)."
    )
    finding = finding_of(claims_table(evidence_of(curves[1], cells[1]), BOOK), 3)
    assert finding.startswith("Not asked of the models and conditions that the paper names. Exploratory")


def test_markdown_shows_the_summary_and_then_every_row():
    table = claims_table(evidence_of(about([0.8, 0.5, 0.8])), NOTHING)
    summary, rows = as_markdown(table).split("\n\n")
    assert len(summary.splitlines()) == 2 + len(CLAIMS)
    assert len(rows.splitlines()) == 2 + len(table) and "<NA>" not in rows


def test_a_verdict_that_depends_on_the_reading_of_answers_is_marked(tmp_path):
    """A model whose first lines announce the answer at all positions, and whose whole answers have a U."""
    scores = of_matrix(of_shares((0.8, 0.5, 0.8), 400), POSITIONS)
    scores["correct_full"] = scores["correct"]
    scores["correct_first_line"] = 3 * first_right(0.3, 400)
    scores.to_parquet(tmp_path / "scores.parquet")
    published = ROOT / "resources/published"
    done = run_program(
        "make_claims_table", "--scores", tmp_path / "scores.parquet", "--statements", published / "statements.csv",
        "--relations", '{"models": {}, "experiments": {}, "recorded": []}', "--statuses", published / "claims.csv",
        *(word for name in ("csv", "markdown") for word in (f"--{name}", tmp_path / name)),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    row = read_csv(tmp_path / "csv", tables()["claims"].dtypes).iloc[0]
    assert (row["verdict"], row["verdict_full"], row["verdict_first_line"]) == (SUPPORTED, SUPPORTED, CONTRADICTED)
    assert row["changes_with_reading"]
    assert row["reason"].endswith("; by the first line: contradicted, by the whole answer: supported")
    assert row["finding"].endswith("contradicted by the first line, supported by the whole answer.")


def test_published_accuracies_have_one_reading():
    row = claims_table(evidence_of(about((0.8, 0.5, 0.8))), NOTHING).iloc[0]
    assert pd.isna(row["changes_with_reading"]) and "first line" not in row["reason"]
