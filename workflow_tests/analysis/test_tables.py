"""Declarations of tables, and the program that makes them."""

import inspect
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from configs import DEFAULT
from conftest import ROOT
from plans import inputs_of
from programs import load_program
from score_frames import score_rows

from litm.analysis import grid
from litm.analysis.statistics import with_holm
from litm.analysis.table import Column, Table, cell_text, load, read_tables, tables, with_reference
from litm.answers import CHECKS
from litm.base.formats import read_result_rows, write_csv
from litm.base.messages import UserError
from litm.config.study import Study, load_study
from litm.examples.checks import answer_check_row
from litm.prompting.token_counts import PromptTokens, token_count_row
from litm.questions.released_format import Document, QuestionRecord
from litm.retrieval.candidates import CandidateSettings, candidate_row
from litm.retrieval.search import recall_rows
from litm.scoring.scores import accuracy_rows

make_table = load_program("make_table")


def small_study(models: list[str], experiments: list[str]) -> Study:
    """A study of the default config's catalogues with these models and experiments."""
    config = DEFAULT
    second = {"engine": "transformers", "path": str(ROOT / "resources" / "reference_model")}
    define = {"models": {"second": second}} if "second" in models else {}
    return load_study({**config, "models": models, "experiments": experiments, "define": define}, ROOT)


def tables_of(study: Study) -> list[str]:
    return list(inputs_of(study).tables.tables)


# --- What is written ---


def test_a_p_value_keeps_its_size_in_the_csv_file_and_other_numbers_have_six_decimals(tmp_path):
    table = tables()["position_pairs"]
    rows = [{"p_value": 1.3042123e-174, "p_holm": 0.04999951, "difference": 0.5}, {"p_value": 1.0}]
    write_csv(tmp_path / "pairs.csv", table.frame(rows), p_values=table.p_values)
    written = pd.read_csv(tmp_path / "pairs.csv", dtype=str, keep_default_na=False)
    assert written.loc[0, ["p_value", "p_holm", "difference"]].tolist() == ["1.30421e-174", "0.0499995", "0.500000"]
    assert written.loc[1, ["p_value", "p_holm"]].tolist() == ["1", ""]


@pytest.mark.parametrize("name", ["position_bias", "position_pairs", "model_differences"])
def test_every_p_value_of_a_table_has_significant_digits(name):
    columns, p_values = tables()[name].columns, tables()[name].p_values
    assert set(p_values) == {column for column in columns if "p" in column.split("_")}


def test_a_correction_over_a_table_is_holms_over_the_rows_that_have_a_p_value():
    rows = with_holm([{"p": 0.01}, {"p": None}, {"p": 0.04}, {}], "p", "corrected")
    assert [row.get("corrected") for row in rows] == [0.02, None, 0.04, None]


# --- Declarations ---


@pytest.mark.parametrize("table", tables().values(), ids=lambda table: table.name)
def test_a_table_says_what_it_is_and_its_rows_take_its_inputs_and_settings(table):
    assert table.title and table.doc.endswith(".")
    assert all(column.doc for column in table.columns.values())
    if table.rows:
        assert tuple(inspect.signature(load(table.rows)).parameters) == (*table.inputs, *table.settings)
    else:
        assert len(table.inputs) <= 1 and not table.settings
    of_study = inputs_of(small_study(["reference"], ["kv_retrieval_small"])).tables
    assert set(table.inputs) <= set(of_study.inputs) and set(table.settings) <= set(of_study.settings)


@pytest.mark.parametrize("table", [table for table in tables().values() if table.report], ids=lambda table: table.name)
def test_what_the_report_shows_has_a_note_and_headings(table):
    assert table.note
    assert all(table.columns[name].heading for name in table.report)


def test_declarations_need_no_pandas_because_the_rules_read_them_at_each_start():
    code = "import sys; from litm.analysis.table import tables; tables(); sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT / "scripts", check=False).returncode == 0


def test_tables_written_by_other_programs_have_the_declared_columns():
    declared = {name: list(table.columns) for name, table in tables().items()}
    assert list(accuracy_rows(score_rows({0: [True]}))[0]) == declared["accuracy"]
    record = QuestionRecord.of("who", ["he"], []).retrieved([Document.of("", "", id="1", has_answer=True)], "1")
    (recall,) = recall_rows({"questions": "q", "corpus": "c", "retriever": "r"}, [record], 1, None, 0)
    assert list(recall) == declared["retrieval"]
    candidates = candidate_row("c", CandidateSettings("ranked", 2, "dpr", "error", None), [], 0, CHECKS)
    assert list(candidates) == declared["candidates"]
    assert list(answer_check_row("e", 1, [])) == declared["answer_checks"]
    assert list(token_count_row("m", "e", 1, "no_gold", [PromptTokens(5, (), 0)])) == declared["token_counts"]


def test_the_reference_of_columns_is_that_of_the_tables():
    page = (ROOT / "results" / "README.md").read_text()
    assert page == with_reference(page, tables().values()), "run: python scripts/analysis/describe_tables.py"


def test_a_table_with_one_interval_has_plain_limits_and_one_with_several_names_whose_they_are():
    for table in tables().values():
        owners = [name.removesuffix("ci_low").removesuffix("_") for name in table.columns if name.endswith("ci_low")]
        assert (owners in ([], [""])) or ("" not in owners and len(owners) > 1), table.name
        for owner in filter(None, owners):
            assert {owner, f"{owner}_ci_high"} <= set(table.columns), table.name


def test_a_name_of_a_column_has_the_same_type_in_every_table():
    kinds: dict[str, set] = {}
    for table in tables().values():
        for name, column in table.columns.items():
            kinds.setdefault(name, set()).add(column.dtype)
    assert {name for name, found in kinds.items() if len(found) > 1} == set()


def test_counts_begin_with_n_and_the_quantity_comes_before_which_one():
    first = ["start", "middle", "end", "edge", "best", "worst", "smallest", "strict", "published", "mean", "first_line"]
    names = {name for table in tables().values() for name in table.columns}
    assert not [name for name in names if name.startswith(tuple(f"{one}_" for one in first))]
    assert not names & {*first, "n_complete", "n_incomplete", "n_excluded", "documents_shown", "changes"}
    assert not names & {"questions_needed", "statistic"}


def test_the_caption_of_the_claims_is_what_their_table_says():
    caption = (ROOT / "resources" / "captions" / "claims.rst").read_text()
    assert caption.split() == tables()["claims"].doc.split()


def test_an_entry_and_a_function_are_all_that_a_new_table_takes(tmp_path, monkeypatch):
    (tmp_path / "tables.yaml").write_text(
        "hard_questions:\n"
        "  title: Hard questions\n  doc: What nobody knows.\n  inputs: [curve_scores]\n"
        "  rows: analysis.grid.hard_questions\n  columns:\n    share: percent + ± | Share | their share\n"
    )
    monkeypatch.setitem(tables(), "hard_questions", read_tables(tmp_path / "tables.yaml")["hard_questions"])
    monkeypatch.setattr(
        grid, "hard_questions", lambda curve_scores: [{"share": len(curve_scores.paths) / 4}], raising=False
    )
    study = small_study(["reference"], ["kv_retrieval_small"])
    assert "results/tables/hard_questions.csv" in inputs_of(study).tables.files
    page = with_reference((ROOT / "results" / "README.md").read_text(), tables().values())
    assert "| `share` | their share |\n| `share_ci_low` | lower 95 % limit of `share` |" in page
    make("hard_questions", tmp_path, monkeypatch, curve_scores=["one.parquet"])
    assert (tmp_path / "made.csv").read_text() == "share,share_ci_low,share_ci_high\n0.250000,,\n"


# --- Which tables a study has ---


def test_a_study_has_the_tables_whose_inputs_it_has():
    whole = tables_of(small_study(["reference"], ["kv_retrieval_small"]))
    assert whole == [
        "accuracy", "position_bias", "pbi", "position_pairs", "detectable_effects", "effective_length",
        "bias_by_size", "reading_sensitivity", "wrong_answers", "published_comparison", "token_counts",
        "answer_checks", "audit",
    ]  # fmt: skip
    assert not {"effective_length", "bias_by_size"} & {*tables_of(small_study(["reference"], ["mini_gazetteer_qa"]))}
    assert "model_differences" in tables_of(small_study(["reference", "second"], ["kv_retrieval_small"]))
    closed_book = tables_of(small_study(["reference"], ["mini_encyclopedia_closed_book"]))
    assert closed_book == [
        "accuracy", "reading_sensitivity", "wrong_answers", "published_comparison", "token_counts", "answer_checks",
        "audit",
    ]  # fmt: skip
    three = ["mini_encyclopedia_qa", "mini_encyclopedia_closed_book", "mini_encyclopedia_oracle"]
    assert "utilisation" in tables_of(small_study(["reference"], three))
    assert "utilisation" not in tables_of(small_study(["reference"], three[:2]))
    assert "condition_differences" in tables_of(small_study(["reference"], three[:2]))


def test_a_table_that_is_only_made_when_asked_for_is_no_part_of_all():
    files = inputs_of(small_study(["reference"], ["kv_retrieval_small"])).tables.files
    assert "results/tables/accuracy.csv" in files and "results/tables/pbi.md" in files
    assert not {"results/tables/audit.csv", "results/tables/accuracy.md"} & set(files)


def test_inputs_of_tables_are_the_files_of_the_sweeps_they_need():
    three = ["mini_encyclopedia_qa", "mini_encyclopedia_closed_book", "mini_encyclopedia_oracle"]
    inputs = inputs_of(small_study(["reference"], three)).tables.inputs
    assert inputs["accuracies"] == [f"results/accuracy/reference/{name}.csv" for name in three]
    assert inputs["curve_scores"] == ["results/scores/reference/mini_encyclopedia_qa.parquet"]
    assert inputs["gold_scores"] == inputs["curve_scores"]
    assert inputs["closed_book"] == ["results/scores/reference/mini_encyclopedia_closed_book.parquet"]
    assert inputs["oracle"] == ["results/scores/reference/mini_encyclopedia_oracle.parquet"]


# --- Making one ---


def make(name: str, folder: Path, monkeypatch, settings: str = "{}", **inputs: list[str]) -> None:
    """Make a table of these files: `made.csv`."""
    words = [word for given, paths in inputs.items() for word in ("--input", given, *paths)]
    monkeypatch.setattr(
        sys,
        "argv",
        ["make_table.py", "--table", name, *words, "--settings", settings, "--output", f"{folder}/made.csv"],
    )
    make_table.main()


def test_files_of_sweeps_become_one_table_in_their_order_with_every_value_as_it_was(tmp_path, monkeypatch):
    rows = accuracy_rows(
        pd.concat([score_rows({1: [True, False, False]}, model="NA"), score_rows({None: [None]}, excluded=True)])
    )
    rows[0] |= {"n_cut": None, "accuracy_strict": 1 / 3}
    paths = [tmp_path / f"{number}.csv" for number in range(len(rows))]
    for path, row in zip(paths, rows, strict=True):
        write_csv(path, pd.DataFrame([row], dtype=object), None)
    make("accuracy", tmp_path, monkeypatch, accuracies=map(str, paths))
    first, second = read_result_rows(tmp_path / "made.csv")
    assert (first["model"], first["position"], first["accuracy"], first["n_cut"]) == ("NA", "1", "0.333333", "")
    assert (second["model"], second["position"], second["accuracy"], second["n_left_out"]) == ("m", "", "", "1")
    joined = [tables()["accuracy"].read(path)["accuracy_strict"].to_list() for path in paths]
    assert joined == [[1 / 3], [pd.NA]]


def test_a_file_with_other_columns_than_its_table_is_named_with_them(tmp_path):
    (row,) = accuracy_rows(score_rows({0: [True]}))
    write_csv(tmp_path / "a.csv", [{**row, "n_new": 1}])
    with pytest.raises(UserError, match="a.csv: table accuracy has undeclared columns n_new, "):
        tables()["accuracy"].read(tmp_path / "a.csv")
    del row["n_cut"]
    write_csv(tmp_path / "a.csv", [row])
    with pytest.raises(UserError, match="a.csv: table accuracy has no n_cut, "):
        tables()["accuracy"].read(tmp_path / "a.csv")


def test_a_table_says_what_it_is_made_of(tmp_path, monkeypatch):
    with pytest.raises(UserError, match="table position_bias: its inputs are curve_scores, given none"):
        make("position_bias", tmp_path, monkeypatch)
    with pytest.raises(UserError, match="table position_bias: its settings are seed, base_models, given none"):
        make("position_bias", tmp_path, monkeypatch, curve_scores=["a.parquet"])
    assert not (tmp_path / "made.csv").exists()


def test_a_row_lacks_values_but_has_no_columns_of_its_own():
    table = Table("t", "T", "A table.", {"a": Column("integer", "a"), "b": Column("number", "b")}, 0)
    assert table.frame([{"b": 0.5}, {"a": 1}]).to_csv(index=False) == "a,b\n,0.5\n1,\n"
    assert table.frame([]).to_csv(index=False) == "a,b\n"
    with pytest.raises(ValueError, match="table t has undeclared columns c$"):
        table.frame([{"a": 1, "c": 2}])
    assert table.frame([{"a": 1, "b": 1}], is_whole=True).shape == (1, 2)
    with pytest.raises(ValueError, match="table t has undeclared columns c and no b$"):
        table.frame([{"a": 1, "c": 2}], is_whole=True)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("percent", 0.1234, "12.3"),
        ("index", 0.1234, "0.123"),
        ("nats", 0.1234, "0.12"),
        ("p_value", 0.0001, "< 0.001"),
        ("p_value", 0.0421, "0.042"),
        ("number", 1234.56, "1,234.6"),
        ("integer", 1234.0, "1,234"),
        ("boolean", False, "no"),
        ("text", "a", "a"),
        ("percent", pd.NA, ""),
        ("text", None, ""),
    ],
)
def test_cells_are_written_by_kind(kind, value, text):
    assert cell_text(Column(kind, ""), value) == text
