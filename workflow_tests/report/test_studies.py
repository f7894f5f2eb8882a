"""`litm studies`: which numbers share a table, what is said where they do not, the files, and the page in a browser."""

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import jsonschema
import pandas as pd
import pytest
from browser import Browser, find_browser
from conftest import ROOT
from programs import run_command
from record_makers import change_first

from litm.analysis.studies import ANSWER, check_verdicts, lettered, letters
from litm.base.messages import UserError
from litm.studies import SOURCES
from litm.tables.table import tables

PROGRAM = find_browser()
#: The first table, in the page.
BODY = "document.querySelector('figure').querySelector('tbody')"


@pytest.fixture(scope="module")
def folder(finished):
    """The results of a finished study, not to be changed."""
    return finished.path("results")


@pytest.fixture
def other(folder, tmp_path):
    """Another study with the same numbers, to edit."""
    return shutil.copytree(folder, tmp_path / "other" / "results")


def made(output: Path, *results: str | Path) -> dict:
    """The content of studies.json over these folders."""
    done = run_command("studies", "--results", *results, "--output", output)
    assert done.returncode == 0, done.stderr
    return json.loads((output / "studies.json").read_text())


def of_kv(found: dict) -> list[dict]:
    """The tables of one curve."""
    return [one for one in found["tables"] if (one["rows"][0]["experiment"], one["rows"][0]["size"]) == ("kv", 4)]


def edited(path: Path, change) -> None:
    change(pd.read_csv(path)).to_csv(path, index=False)


def other_metric(results: Path) -> None:
    for name in ("accuracy", "position_bias"):
        edited(results / f"tables/{name}.csv", lambda table: table.assign(metric="token_f1"))


def other_prompt(results: Path) -> None:
    for path in results.glob("responses/*/kv.jsonl.gz"):
        change_first(path, prompt_sha256="of another prompt")


def study_json(results: Path, change) -> None:
    """The record of a study, changed."""
    path = results / "tables/study.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))


def other_settings(results: Path) -> None:
    study_json(results, lambda one: one | {"experiments": [{**of, "on_overflow": "x"} for of in one["experiments"]]})


def unsaid_prompts(results: Path) -> None:
    path = results / "responses/dummy/kv.manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"not_compared": 3}))


def other_template(results: Path) -> None:
    path = results / "responses/dummy/kv.manifest.json"
    made = json.loads(path.read_text())
    made["identity_fields"]["model"]["prompt_template"] = "chat"
    made["identity_fields"]["source"]["files"] = {"chat_template.jinja": "1234567890abcdef"}
    path.write_text(json.dumps(made))


def without(name: str):
    return lambda results: shutil.rmtree(results / name)


def test_rows_of_two_studies_with_the_same_prompts_share_a_table_and_models_of_one_name_stay_apart(
    folder, other, tmp_path
):
    (table,) = of_kv(made(tmp_path / "out", folder, other))
    first = folder.parent.name
    assert [(row["study"], row["model"]) for row in table["rows"]] == [
        (study, model) for study in (first, "other") for model in ("dummy", "reference")
    ]
    pairs = {(row["model_a"], row["model_b"]): row for row in table["pairs"][::-1]}
    same = pairs[f"{first}: dummy", "other: dummy"]
    assert (same["difference"], same["p_holm"], same["n"]) == (0, 1, table["rows"][0]["n"])
    assert table["notes"] == ["Rows of this table differ in number format (auto | float32)."]


def test_values_are_those_of_the_study_s_own_tables(other, tmp_path):
    """The curves of this study have no middle: one is written into its table."""
    values = {"position_middle": 3, "primacy": 0.25, "primacy_ci_low": -0.5, "pbi": 0.125, "pbi_ci_high": 0.75}
    edited(other / "tables/position_bias.csv", lambda table: table.assign(**values))
    (table,) = of_kv(made(tmp_path / "out", other))
    cells = tables()["accuracy"].read(other / "tables/accuracy.csv")
    for row in table["rows"]:
        assert {name: row.get(name, 3) for name in values} == values
        own = cells[(cells["model"] == row["model"]) & (cells["experiment"] == "kv") & (cells["size"] == 4)]
        for place, position in (("start", 0), ("middle", 3), ("end", 3)):
            cell = own[own["position"] == position].iloc[0]
            assert (row[f"accuracy_{place}"], row[f"accuracy_{place}_ci_high"]) == (cell["accuracy"], cell["ci_high"])
        assert (row["n_cut"], row["n_empty"]) == (own["n_cut"].sum(), own["n_empty"].sum())
        assert row["noted"].startswith(f"{own['n'].sum()}")


@pytest.mark.parametrize(
    ("edit", "count", "words"),
    [
        (other_metric, 2, ["3 of its 3 questions have the same prompts; they differ in metric (token_f1 | value_in_"]),
        (other_prompt, 2, ["2 of its 3 questions", "they differ in nothing that the studies record"]),
        (unsaid_prompts, 1, ["The prompts of other: dummy could not be compared: recorded answers do not say"]),
        (without("responses"), 2, ["the prompts of one are not known", "test of other: dummy: responses: nothing of"]),
        (without("scores"), 2, ["the prompts of one are not known", "No paired test of other: dummy: "]),
        (other_template, 1, ["prompt format (raw | chat (template sha256 1234567890ab))"]),
        (other_settings, 1, ["Rows of this table differ in on overflow (leave_out | x)"]),
    ],
)  # fmt: skip
def test_numbers_that_are_not_comparable_have_tables_of_their_own_and_differences_are_named(
    folder, other, tmp_path, edit, count, words
):
    edit(other)
    found = of_kv(made(tmp_path / "out", folder, other))
    assert len(found) == count
    notes = " ".join(found[-1]["notes"])
    assert all(one in notes for one in words), notes
    if count == 2:
        assert {row["study"] for row in found[1]["rows"]} == {"other"}


def test_a_row_without_a_partner_is_not_said_to_lack_questions(other, tmp_path):
    path = other / "scores/reference/kv.parquet"
    (scores := pd.read_parquet(path)).assign(excluded=scores["excluded"] | (scores["size"] == 4)).to_parquet(path)
    (table,) = of_kv(made(tmp_path / "out", other))
    assert table["notes"][-2:] == [
        "No paired test of other: dummy: no other row has a question of it that was scored at all positions.",
        "No paired test of other: reference: no question was scored at all positions.",
    ]


def test_rows_in_doubt_are_not_tested_and_say_why(folder, other, tmp_path):
    path = other / "scores/dummy/kv.parquet"
    pd.read_parquet(path).assign(doubt="error").to_parquet(path)
    (table,) = of_kv(made(tmp_path / "out", folder, other))
    assert not [row for row in table["pairs"] if "other: dummy" in (row["model_a"], row["model_b"])]
    assert any(note.startswith("No paired test of other: dummy: most answers are") for note in table["notes"])


def test_folders_of_another_version_are_read_if_they_have_what_is_needed(folder, other, tmp_path):
    for path in (other / "tables").glob("*.csv"):
        edited(path, lambda table: table.assign(later=1).drop(columns=["class_words", "n_preamble"], errors="ignore"))
    for name in ("effective_length.csv", "token_counts.csv"):
        (other / "tables" / name).unlink()
    later = {"figures", "seed", "tables"}
    study_json(other, lambda record: {key: one for key, one in record.items() if key not in later})
    (table,) = of_kv(made(tmp_path / "out", folder, other))
    assert [row["pbi"] for row in table["rows"][:2]] == [row["pbi"] for row in table["rows"][2:]]


def test_a_package_brings_all_files_of_the_page():
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"]["resources"] == "lost_in_the_middle/resources"
    assert all((ROOT / "resources" / name).is_file() for name in SOURCES)


def test_files_have_their_schema_and_columns_are_equal_byte_for_byte_and_folders_are_not_changed(
    folder, other, tmp_path
):
    before = {path: path.read_bytes() for path in other.rglob("*") if path.is_file()}
    found = made(tmp_path / "out", folder, other)
    schema = json.loads((ROOT / "resources/studies/studies.schema.json").read_text())
    jsonschema.validate(found, schema)
    columns = schema["properties"]["tables"]["items"]["properties"]["rows"]["items"]["properties"]
    table = tables()["studies"]
    assert {name: one["description"] for name, one in columns.items()} == table.docs
    rows = table.read(tmp_path / "out/studies.csv")
    assert len(rows) == sum(len(one["rows"]) for one in found["tables"])
    made(tmp_path / "again", folder, other)
    for name in ("html", "csv", "json"):
        assert (tmp_path / f"out/studies.{name}").read_bytes() == (tmp_path / f"again/studies.{name}").read_bytes()
    assert before == {path: path.read_bytes() for path in other.rglob("*") if path.is_file()}


def test_verdicts_that_differ_in_their_last_digits_or_are_missing_are_equal():
    one = pd.DataFrame([dict.fromkeys(ANSWER, "a") | {"folder": "x"}])
    check_verdicts([one.assign(correct=value) for value in (0.3, 0.1 + 0.2, None)])
    with pytest.raises(UserError, match="unequal verdicts"):
        check_verdicts([one.assign(correct=value) for value in (0.3, 0.31)])


def rescored(results: Path) -> None:
    path = results / "scores/dummy/kv.parquet"
    (scores := pd.read_parquet(path)).assign(correct=~scores["correct"]).to_parquet(path)


def without_key(results: Path) -> None:
    study_json(results, lambda record: record | {"experiments": [{"name": "kv"}]})


@pytest.mark.parametrize(
    ("edit", "words", "line"),
    [
        (without("tables"), ["{other}"], "no folder 'tables': run the study"),
        (lambda results: (results / "tables/accuracy.csv").unlink(), ["{other}"], "tables/accuracy.csv"),
        (without_key, ["{other}"], "of a version of the project that this one cannot read (KeyError"),
        (rescored, ["x={folder}", "{other}"], "{folder} and {other}: equal answers to the same prompts have unequal"),
        (lambda _: None, ["{other}", "{other}"], "are both named 'other': name one as ANOTHER={other}"),
        (lambda _: None, ["x={other}", "x={folder}"], "are both named 'x'"),
        (lambda _: None, ["{other}", "--output", "{other}/x"], "in one of the results folders, which are only read"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line(folder, other, tmp_path, edit, words, line):
    edit(other)
    names = {"other": other, "folder": folder}
    done = run_command("studies", "--output", tmp_path / "out", "--results", *(word.format(**names) for word in words))
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert line.format(**names) in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_launcher_takes_the_command_and_a_name(folder, tmp_path):
    words = [ROOT / "litm", "studies", "--results", f"mine={folder}", "--output", tmp_path / "out"]
    subprocess.run(words, check=True, capture_output=True)
    assert {*tables()["studies"].read(tmp_path / "out/studies.csv")["study"]} == {"mine"}


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ([], {"a": "a", "b": "a", "c": "a"}),
        ([("a", "c")], {"a": "a", "b": "ab", "c": "b"}),
        ([("a", "b"), ("a", "c"), ("b", "c")], {"a": "a", "b": "b", "c": "c"}),
        ([("c", "a"), ("c", "b")], {"a": "a", "b": "a", "c": "b"}),
        ([("a", "b"), ("b", "c")], {"a": "a", "b": "b", "c": "a"}),
    ],
)  # fmt: skip
def test_two_names_share_a_letter_unless_they_are_shown_to_differ(shown, expected):
    assert letters("abc", shown) == expected


def test_letters_of_a_column_are_those_of_its_own_tests_and_a_row_without_tests_has_none():
    plain = dict.fromkeys(tables()["studies"].columns) | {"pbi": 0.1}
    starts = {"a": 0.2, "b": 0.9, "untested": 0.5}
    rows = [plain | {"label": label, "accuracy_start": start} for label, start in starts.items()]
    pair = {"model_a": "a", "model_b": "b"}
    shown = pair | {"quantity": "accuracy", "place": "start", "p_holm": 0.01}
    not_shown = pair | {"quantity": "pbi", "place": "", "p_holm": 0.5}
    rows = lettered(rows, [shown, not_shown])
    assert [(row["accuracy_start_letters"], row["pbi_letters"], row["accuracy_end_letters"]) for row in rows] == [
        ("b", "a", None), ("a", "a", None), (None, None, None)
    ]  # fmt: skip


@pytest.mark.skipif(PROGRAM is None, reason="no Chromium (Debian: apt-get install chromium)")
def test_columns_are_sorted_by_pointer_and_by_keyboard_and_the_page_fits_a_phone(folder, other, tmp_path):
    made(tmp_path / "out", folder, other)
    browser = Browser(str(PROGRAM), tmp_path / "profile")
    browser.open(tmp_path / "out/studies.html", 390)
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")

    def column(number: int) -> list[str]:
        return browser.run(f"[...{BODY}.rows].map(row => row.cells[{number}].dataset.sort)")

    browser.click("figure th:nth-child(1) button")
    assert column(0) == ["dummy", "dummy", "reference", "reference"]
    assert browser.run("document.querySelector('figure th').getAttribute('aria-sort')") == "ascending"
    headings = browser.run("[...document.querySelectorAll('figure:first-of-type th')].map(one => one.textContent)")
    start = headings.index("Start")
    browser.run(f"document.querySelectorAll('figure th button')[{start}].focus()")
    browser.press("Enter", text="\r", windowsVirtualKeyCode=13)
    values = [float(value) for value in column(start)]
    assert values == sorted(values, reverse=True) and len({*values}) > 1
    browser.click(f"figure th:nth-child({start + 1}) button")
    assert [float(value) for value in column(start)] == sorted(values)
    assert browser.problems == []
    browser.close()
