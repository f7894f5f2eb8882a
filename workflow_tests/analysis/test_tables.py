"""Declarations of tables, and the program that makes them."""

import csv
import inspect
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, TypedDict

import pandas as pd
import pytest
from configs import define, study
from conftest import ROOT, WRITE_ANEW
from plans import inputs_of
from programs import run_program
from score_frames import score_rows

from litm.analysis import grid
from litm.analysis.cells import wrong_answer_rows
from litm.answer_words import CHECKS
from litm.base.files import with_parts
from litm.base.messages import UserError
from litm.base.table_files import write_csv
from litm.examples.checks import answer_check_row
from litm.prompting.token_counts import PromptTokens, token_count_row
from litm.questions.released_format import Document, QuestionRecord
from litm.retrieval.candidates import CandidateSettings, candidate_row
from litm.retrieval.search import recall_rows
from litm.scoring.scores import accuracies, accuracy_rows
from litm.tables.columns import High, Low, Percent
from litm.tables.table import MODULES, Column, Table, cell_text, declare, reference, shown, tables
from litm.workflow.table_files import TableFiles

KV = ["kv_retrieval_small"]
#: Of one passage collection: the gold document among others, no document, and the gold document alone.
THREE = ["mini_encyclopedia_qa", "mini_encyclopedia_closed_book", "mini_encyclopedia_oracle"]


def of_study(experiments: list[str], models: tuple[str, ...] = ("reference",)) -> TableFiles:
    """The tables of a study of the default config's catalogues with these models and experiments."""
    second = {"engine": "transformers", "path": str(ROOT / "resources" / "reference_model")}
    more = define("models", second=second) if "second" in models else {}
    return inputs_of(study(models=list(models), experiments=experiments, **more)).tables


@pytest.mark.parametrize("table", tables().values(), ids=lambda table: table.name)
def test_a_table_says_what_it_is_and_its_rows_take_its_inputs_and_settings(table):
    assert table.title and table.doc.endswith(".")
    assert list(table.docs) == list(table.columns) and all(table.docs.values())
    assert table.row.__name__ == f"{table.name.title().replace('_', '')}Row"
    assert set(table.p_values) == {name for name in table.columns if "p" in name.split("_")}
    if table.rows:
        signature = inspect.signature(table.load())
        assert tuple(signature.parameters) == (*table.inputs, *table.settings)
        # As text, so that a type checker compares rows with the declaration.
        assert signature.return_annotation in (f"Iterator[{table.row.__name__}]", f"list[{table.row.__name__}]")
    else:
        assert len(table.inputs) <= 1 and not table.settings
    made = of_study(KV)
    assert set(table.inputs) <= set(made.inputs) and set(table.settings) <= set(made.settings)


@pytest.mark.parametrize("table", [table for table in tables().values() if table.report], ids=lambda table: table.name)
def test_what_the_report_shows_has_a_note_and_headings(table):
    assert table.note
    assert all(table.columns[name].heading for name in table.report)


def test_every_module_beside_the_table_s_class_declares_tables_and_is_listed():
    beside = {path.stem for path in (ROOT / "scripts" / "litm" / "tables").glob("*.py")}
    assert beside - {"__init__", "table", "columns"} == {*MODULES}


def test_declarations_need_no_pandas_because_the_rules_read_them_at_each_start():
    heavy = "{'pandas', 'numpy', 'yaml'} & {*sys.modules}"
    code = f"import sys; from litm.tables.table import tables; tables(); sys.exit(bool({heavy}))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT / "scripts", check=False).returncode == 0


def test_tables_written_by_other_programs_have_the_declared_columns():
    declared = {name: list(table.columns) for name, table in tables().items()}
    assert set(accuracy_rows(score_rows({0: [True]}))[0]) == set(declared["accuracy"])
    assert list(accuracies(score_rows({}))) == declared["accuracy"]
    record = QuestionRecord.from_documents("who", ["he"], []).retrieved(
        [Document.from_fields("", "", id="1", has_answer=True)], "1"
    )
    (recall,) = recall_rows({"questions": "q", "corpus": "c", "retriever": "r"}, [record], 1, None, 0)
    assert list(recall) == declared["retrieval"]
    candidates = candidate_row("c", CandidateSettings("ranked", 2, "dpr", "error", None), [], 0, CHECKS)
    assert list(candidates) == declared["candidates"]
    assert list(answer_check_row("e", 1, [])) == declared["answer_checks"]
    assert list(token_count_row("m", "e", 1, "no_gold", [PromptTokens(5, (), 0)])) == declared["token_counts"]


def test_the_reference_of_columns_is_that_of_the_tables():
    page = (ROOT / "results" / "README.md").read_text()
    assert page == with_parts(page, {"Tables": reference(tables().values())}), WRITE_ANEW


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
    wrong = [name for name in names if name.startswith(tuple(f"{one}_" for one in first))]
    assert not wrong, "the quantity comes first: tokens_mean, not mean_tokens"
    assert not names & {*first, "n_complete", "n_incomplete", "n_excluded", "documents_shown", "changes"}
    assert not names & {"questions_needed", "statistic"}


def test_the_caption_of_the_claims_is_what_their_table_says():
    caption = (ROOT / "resources" / "captions" / "claims.rst").read_text()
    assert caption.split() == tables()["claims"].doc.split()


@declare("hard_questions", "Hard questions", inputs=("curve_scores",), rows="analysis.grid.hard_questions")
class HardQuestionsRow(TypedDict, total=False):
    """What nobody knows."""

    share: Annotated[Percent, shown("Share")]
    """their
    share"""
    share_ci_low: Low
    share_ci_high: High


def test_a_class_and_a_function_are_all_that_a_new_table_takes(tmp_path, monkeypatch):
    table: Table = HardQuestionsRow.__table__  # type: ignore[attr-defined]
    assert (table.doc, table.report, table.columns["share_ci_high"]) == (
        "What nobody knows.", ["share"], Column("percent", "to", "upper 95 % limit of `share`")
    )  # fmt: skip
    monkeypatch.setitem(tables(), "hard_questions", table)
    monkeypatch.setattr(grid, "hard_questions", lambda curve_scores: [{"share": len(curve_scores.paths) / 4}], False)
    assert "results/tables/hard_questions.csv" in of_study(KV).files
    page = reference(tables().values())
    assert "| `share` | their share |\n| `share_ci_low` | lower 95 % limit of `share` |" in page
    make("hard_questions", tmp_path, curve_scores=["one.parquet"])
    assert (tmp_path / "made.csv").read_text() == "share,share_ci_low,share_ci_high\n0.250000,,\n"


def test_a_study_has_the_tables_whose_inputs_it_has():
    assert list(of_study(KV).tables) == [
        "accuracy", "position_bias", "position_pairs", "effective_length", "published_effective_length",
        "bias_by_size", "reading_sensitivity", "wrong_answers", "published_comparison", "token_counts",
        "answer_checks", "audit",
    ]  # fmt: skip
    assert not {"effective_length", "bias_by_size"} & {*of_study(["mini_gazetteer_qa"]).tables}
    assert "model_differences" in of_study(KV, ("reference", "second")).tables
    assert list(of_study(THREE[1:2]).tables) == [
        "accuracy", "reading_sensitivity", "wrong_answers", "published_comparison", "token_counts", "answer_checks",
        "audit",
    ]  # fmt: skip
    assert "utilisation" in of_study(THREE).tables and "utilisation" not in of_study(THREE[:2]).tables
    assert "condition_differences" in of_study(THREE[:2]).tables


def test_a_table_that_is_only_made_when_asked_for_is_no_part_of_all():
    files = of_study(KV).files
    assert "results/tables/accuracy.csv" in files and "results/tables/position_bias.md" in files
    assert not {"results/tables/audit.csv", "results/tables/accuracy.md"} & set(files)


def test_inputs_of_tables_are_the_files_of_the_sweeps_they_need():
    inputs = of_study(THREE).inputs
    assert inputs["accuracies"] == [f"results/accuracy/reference/{name}.csv" for name in THREE]
    qa, closed_book, oracle = ([f"results/scores/reference/{name}.parquet"] for name in THREE)
    assert inputs["curve_scores"] == inputs["gold_scores"] == qa
    assert (inputs["closed_book"], inputs["oracle"]) == (closed_book, oracle)


def make(name: str, folder: Path, **inputs: Iterable[str]) -> str:
    """Make a table of these files: `made.csv`; what the program says."""
    words = [word for given, paths in inputs.items() for word in ("--input", given, *paths)]
    return run_program(
        "make_table", "--table", name, *words, "--settings", "{}", "--output", folder / "made.csv"
    ).stderr


def test_files_of_sweeps_become_one_table_in_their_order_with_every_value_as_it_was(tmp_path):
    rows = accuracy_rows(
        pd.concat([score_rows({1: [True, False, False]}, model="NA"), score_rows({None: [None]}, excluded=True)])
    )
    rows[0] |= {"n_cut": None, "accuracy_strict": 1 / 3}
    paths = [tmp_path / f"{number}.csv" for number in range(len(rows))]
    for path, row in zip(paths, rows, strict=True):
        write_csv(path, pd.DataFrame([row], dtype=object), None)
    make("accuracy", tmp_path, accuracies=map(str, paths))
    with (tmp_path / "made.csv").open(newline="") as made:
        first, second = csv.DictReader(made)
    assert (first["model"], first["position"], first["accuracy"], first["n_cut"]) == ("NA", "1", "0.333333", "")
    assert (second["model"], second["position"], second["accuracy"], second["n_left_out"]) == ("m", "", "", "1")
    joined = [tables()["accuracy"].read(path)["accuracy_strict"].to_list() for path in paths]
    assert joined == [[1 / 3], [pd.NA]]


def test_questions_that_a_cut_left_with_different_numbers_of_documents_are_one_cell():
    scores = score_rows({None: [True, False]}).assign(items=[2, 5])
    for rows in (accuracy_rows(scores), list(wrong_answer_rows(scores))):
        assert [row["n"] for row in rows] == [2] and pd.isna(rows[0]["items"])
    assert grid.read_curve(scores).names["items"] is None


def test_a_file_with_other_columns_than_its_table_is_named_with_them(tmp_path):
    (row,) = accuracy_rows(score_rows({0: [True]}))
    write_csv(tmp_path / "a.csv", [{**row, "n_new": 1}])
    with pytest.raises(UserError, match="a.csv: table accuracy has undeclared columns n_new; if the "):
        tables()["accuracy"].read(tmp_path / "a.csv")
    del row["n_cut"]
    write_csv(tmp_path / "a.csv", [row])
    with pytest.raises(UserError, match="a.csv: table accuracy has no n_cut; if .* run the target `tables` of"):
        tables()["accuracy"].read(tmp_path / "a.csv")


def test_a_table_says_what_it_is_made_of(tmp_path):
    assert "table position_bias: its inputs are curve_scores, given none" in make("position_bias", tmp_path)
    said = make("position_bias", tmp_path, curve_scores=["a.parquet"])
    assert "table position_bias: its settings are seed, base_models, given none" in said
    assert not (tmp_path / "made.csv").exists()


def test_a_row_lacks_values_but_has_no_columns_of_its_own():
    table = Table("t", "T", "A table.", {"a": Column("integer"), "b": Column("number")})
    assert table.frame([{"b": 0.5}, {"a": 1}]).to_csv(index=False) == "a,b\n,0.5\n1,\n"
    assert table.frame([]).to_csv(index=False) == "a,b\n"
    with pytest.raises(UserError, match="table t has undeclared columns c$"):
        table.frame([{"a": 1, "c": 2}])
    assert table.frame([{"a": 1, "b": 1}], is_whole=True).shape == (1, 2)
    with pytest.raises(UserError, match="table t has undeclared columns c and no b$"):
        table.frame([{"a": 1, "c": 2}], is_whole=True)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("percent", 0.1234, "12.3"), ("index", 0.1234, "0.123"), ("nats", 0.1234, "0.12"),
        ("p_value", 0.0001, "< 0.001"), ("p_value", 0.0421, "0.042"),
        ("number", 1234.56, "1,234.6"), ("integer", 1234.0, "1,234"), ("boolean", False, "no"), ("text", "a", "a"),
        ("text", None, ""),
    ],
)  # fmt: skip
def test_cells_are_written_by_kind(kind, value, text):
    assert cell_text(Column(kind), value) == text
