"""The figure of the questions that a model does not know without documents."""

import configs
import pandas as pd
from conftest import qa_record, write_lines
from programs import refused
from score_frames import score_rows

from litm.figures.chart import Rows
from litm.figures.curves import not_known
from litm.scoring.scores import accuracies

FIGURE = {
    "name": "f", "title": "F", "experiments": ["qa"], "references": {"cb": "closed book"}, "panel_title": "{size}",
    "x_label": "x", "kind": "accuracy_of_not_known", "places": {}, "models": None, "sizes": None, "published": False,
}  # fmt: skip


def scores_of(model: str, known: list[int]) -> list[pd.DataFrame]:
    """Scores of four questions at three positions, and whether the model knows them without documents."""
    right = {0: [True, True, False, True], 4: [False, False, False, True], 8: [True, True, False, True]}
    of_curve = score_rows(right, model=model, experiment="qa")
    return [of_curve, score_rows({None: [bool(value) for value in known]}, model=model, experiment="cb")]


def test_points_are_of_the_questions_that_are_wrong_closed_book_with_their_numbers():
    frames = [*scores_of("a", [1, 0, 0, 1]), *scores_of("b", [1, 1, 1, 1])]
    accuracy = pd.concat(map(accuracies, frames), ignore_index=True)
    chart = not_known(FIGURE, Rows(accuracy, scores=frames))
    (panel,) = chart.panels
    (series,) = panel.series
    assert series.model == "a"
    assert [(point.n, point.value) for point in series.points] == [(2, 0.5), (2, 0.0), (2, 0.5)]
    assert panel.absent == ("b",)
    assert "(a 2 of 4; b 0 of 4)" in chart.note and "chosen by one answer each" in chart.note


def study(folder, figure: dict, experiments: list[str]):
    data = {"path": str(write_lines(folder / "d.jsonl", [qa_record(0, 4)]))}
    qa = {"task": "multi_document_qa", "dataset": "d", "positions": {3: [0, 2]}, "closed_book": "cb"}
    define = {"datasets": {"d": data}, "experiments": {"qa": qa, "cb": {"task": "closed_book_qa", "dataset": "d"}}}
    define["figures"] = {"f": {"kind": "accuracy_of_not_known", "experiments": ["qa"], **figure}}
    return configs.study(models=["reference"], experiments=experiments, define=define, figures=["f"])


def test_the_figure_needs_a_selected_experiment_without_documents(tmp_path):
    references = {"references": {"cb": "closed book"}}
    assert [*study(tmp_path, references, ["qa", "cb"]).figures] == ["f"]
    assert "needs 'references'" in refused(study, tmp_path, {}, ["qa", "cb"])
    assert "it shows nothing of the selection" in refused(study, tmp_path, references, ["qa"])
