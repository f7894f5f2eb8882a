"""A study with other models beside it, in a run of the workflow."""

import json

import pandas as pd
import pytest
import yaml
from conftest import write_lines
from reruns import with_keys
from workbench import FINISHED, Workbench

import litm
from litm.base.json_files import read_json

THEIRS = yaml.safe_load("""
engine: recorded
responses: {qa: theirs.jsonl}
fields: {response: answer, question: question, position: at}
position_scale: from_0
origin: {max_new_tokens: 32, differs: of last year}
""")
#: Tables that a study has on account of models beside it.
BESIDE = {"beside", "beside_accuracy"}


@pytest.fixture(scope="module")
def finished(finished_project, tmp_path_factory) -> Workbench:
    """A workbench with answers of others to questions 0 to 2 of 4 beside its model, right at the first position."""
    bench = finished_project.moved_to(tmp_path_factory.mktemp("beside"))
    records = [
        {"question": f"what is number {number}", "answer": f"It is answer{number if at == 0 else 9}.", "at": at}
        for number in range(3)
        for at in (0, 2)
    ]
    write_lines(bench.path("theirs.jsonl"), records)
    bench.configure(with_keys(FINISHED, {"beside": ["theirs"], "define.models.theirs": THEIRS}))
    bench.run()
    return bench


def test_no_table_and_no_finding_of_the_study_changes(finished, finished_project):
    before, after = finished_project.path("results/tables"), finished.path("results/tables")
    names = {path.name for path in before.glob("*.csv")}
    assert {path.name for path in after.glob("*.csv")} - names == {f"{name}.csv" for name in BESIDE}
    for name in names:
        assert (after / name).read_bytes() == (before / name).read_bytes(), name
    assert read_json(finished.path("results/findings.json")) == read_json(
        finished_project.path("results/findings.json")
    )


def test_the_same_questions_are_compared_in_pairs_and_what_differs_is_said(finished):
    table = pd.read_csv(finished.path("results/tables/beside.csv"))
    assert set(zip(table["model_a"], table["model_b"], strict=True)) == {("dummy", "theirs")}
    assert set(table["n"]) == {3}
    start = table.query("quantity == 'accuracy' and place == 'start'")
    assert start["value_b"].eq(1).all()
    (words,) = set(table["differs"])
    assert words == "the same questions, prompts not recorded; at most 32 new tokens, not 10; of last year"
    accuracy = pd.read_csv(finished.path("results/tables/beside_accuracy.csv"))
    assert list(accuracy["accuracy"]) == [1, 0] and list(accuracy["n_not_recorded"]) == [1, 1]


def test_the_figure_and_the_report_show_them_with_what_differs(finished):
    study = litm.read(finished.path("results"))
    figure = study.plot("qa")
    (legend,) = figure.legends
    note = " ".join(legend.get_title().get_text().split())
    assert "recorded by others: theirs (the same questions, prompts not recorded;" in note
    assert note.endswith("; n = 3, not 4)")
    assert "theirs (recorded)" in [text.get_text() for text in legend.get_texts()]
    page = finished.path("results/report.html").read_text()
    charts = json.loads(page.partition('id="charts">')[2].partition("</script>")[0])
    assert charts["models"] == [*FINISHED["models"], "theirs"]
    (chart,) = [chart for chart in charts["charts"] if chart["name"] == "qa"]
    assert "theirs" in {series["model"] for panel in chart["panels"] for series in panel["series"]}
    assert '<section id="beside">' in page and "recorded by others: theirs" in page
    (headline,) = [line for line in page.splitlines() if line.startswith("<h1>")]
    assert "theirs" not in headline
