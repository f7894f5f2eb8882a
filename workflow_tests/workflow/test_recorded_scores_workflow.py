"""A study of recorded verdicts, in a run of the workflow."""

import json
import shutil

import pandas as pd
import pytest
import yaml
from programs import run_command
from workbench import Workbench

import litm

#: Which of ten questions are right, by depth.
RIGHT = {"theirs": {0: "1111111110", 0.5: "1110000100", 1: "1111011101"}, "pads": dict.fromkeys((0, 0.5, 1), "0" * 10)}
CONFIG = yaml.safe_load("""
models: [theirs, pads]
experiments: [needles]
define:
  experiments:
    needles: {task: recorded_scores, title: Needles of theirs}
  models:
    theirs: &theirs
      engine: recorded
      scores: {needles: verdicts.csv}
      columns: {answer: said}
    pads: *theirs
""")


@pytest.fixture(scope="module")
def finished(finished_project, tmp_path_factory) -> Workbench:
    bench = finished_project.moved_to(tmp_path_factory.mktemp("verdicts"))
    shutil.rmtree(bench.path("results"))
    rows = [
        {"model": model, "question": f"q{n}", "size": 4000, "depth": depth, "correct": verdict, "said": f"It is {n}."}
        for model, depths in RIGHT.items()
        for depth, verdicts in depths.items()
        for n, verdict in enumerate(verdicts)
    ]
    frame = pd.DataFrame(rows)
    frame.loc[frame["model"] == "pads", "said"] = "<pad>" * 50
    frame.to_csv(bench.path("verdicts.csv"), index=False)
    bench.configure(CONFIG)
    bench.run()
    return bench


def test_the_tables_of_a_study_are_those_of_the_same_verdicts_in_a_notebook(finished):
    study = litm.read(finished.path("results"))
    curves = litm.curves(finished.path("verdicts.csv"), columns={"answer": "said"})
    for name in ("accuracy", "position_bias", "position_pairs"):
        # The permutations of a gap are drawn by the names.
        theirs = getattr(curves, name).filter(regex="^(?!gap_)").assign(experiment="needles")
        ours = getattr(study, name)[theirs.columns]
        pd.testing.assert_frame_equal(ours, theirs, check_dtype=False, rtol=1e-5, atol=1e-6)


def test_nothing_is_said_that_needs_answers(finished):
    tables = {path.stem for path in finished.path("results/tables").glob("*.csv")}
    assert not tables & {"wrong_answers", "reading_sensitivity", "answer_checks", "token_counts", "tokens_used"}
    accuracy = pd.read_csv(finished.path("results/tables/accuracy.csv"))
    assert accuracy[["accuracy_first_line", "accuracy_full", "n_empty", "n_cut"]].isna().all(axis=None)
    assert not [*finished.path("results/question_samples").glob("needles*")]
    assert not [*finished.path("results/figures").glob("needles_wrong*")]


def test_a_model_whose_answers_are_none_has_no_word_and_the_report_says_why(finished):
    findings = json.loads(finished.path("results/findings.json").read_text())
    assert "pads" in json.dumps([entry for entry in findings["findings"] if entry["kind"] == "doubt"])
    page = finished.path("results/report.html").read_text()
    assert "most answers repeat one piece of text and hardly any is right" in page
    assert "recorded verdicts (1 hashed file)" in page


def test_a_page_over_studies_has_the_models_of_verdicts_in_one_table(finished, tmp_path):
    assert run_command("studies", "--results", finished.path("results"), "--output", tmp_path).returncode == 0
    page = (tmp_path / "studies.html").read_text()
    assert "nothing of model" not in page and "data not known" in page
    (table,) = json.loads((tmp_path / "studies.json").read_text())["tables"]
    assert {row["model"] for row in table["rows"]} == {"theirs", "pads"}
    assert "cut, empty, refused, failed, left out: not known" in page


def test_an_edited_table_of_verdicts_imports_its_scores_again(finished):
    assert finished.plan() == {}
    file = finished.path("verdicts.csv")
    text = file.read_text()
    file.write_text(text.replace("theirs,q0,4000,0.0,1", "theirs,q0,4000,0.0,0"))
    assert finished.plan()["import_scores"] == 2
    file.write_text(text)
    assert finished.plan() == {}
