"""Results of another selection in the same folder are put aside once everything of this one is there."""

from base64 import urlsafe_b64encode

import pytest

from litm.base.records import write_json
from litm.workflow.housekeeping import put_aside

OWN = {"results/tables/accuracy.csv", "results/tables/study.json"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of results with a table and a figure of another selection, and a file of the user's own."""
    monkeypatch.chdir(tmp_path)
    files = [*sorted(OWN), "results/tables/model_differences.csv", "results/figures/old.png"]
    files += ["results/summaries/old/master_summary.json", "results/tables/my_notes.csv"]
    for file in files:
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file)
    write_json(tmp_path / "results/tables/study.json", {"config": "mine"})
    records = tmp_path / ".snakemake/metadata"
    records.mkdir(parents=True)
    for made in [*files[:4], "results/summaries/old"]:
        (records / urlsafe_b64encode(made.encode()).decode()).touch()
    return tmp_path


def results(folder) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in (folder / "results").rglob("*") if path.is_file()}


def test_exactly_the_results_of_another_selection_are_put_aside(folder):
    said = put_aside("mine", OWN.__contains__)
    assert said == (
        "of another selection, put aside in results/other_selections: tables/model_differences.csv, figures/old.png, "
        "summaries/old"
    )
    aside = "results/other_selections"
    assert results(folder) == OWN | {
        "results/tables/my_notes.csv",
        f"{aside}/tables/model_differences.csv",
        f"{aside}/figures/old.png",
        f"{aside}/summaries/old/master_summary.json",
    }
    assert not (folder / "results/summaries/old").exists()
    assert (folder / aside / "figures/old.png").read_text() == "results/figures/old.png"
    assert put_aside("mine", OWN.__contains__) == ""


def test_nothing_is_moved_while_the_tables_are_of_another_selection(folder):
    before = results(folder)
    assert put_aside("another", OWN.__contains__) == "" and results(folder) == before
    (folder / "results/tables/study.json").unlink()
    assert put_aside("mine", OWN.__contains__) == ""


def test_nothing_is_moved_where_the_record_of_the_tables_is_cut_off(folder):
    (folder / "results/tables/study.json").write_text('{"config": "mi')
    assert put_aside("mine", OWN.__contains__) == ""
