"""Edits of the code re-run the jobs with that code, and no others."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy

import pytest
from workbench import CONFIG, Workbench


@pytest.fixture(scope="module")
def finished(tmp_path_factory) -> Workbench:
    """A workbench in which all is made: figures by position, by size, a heatmap, wrong answers, and the forest."""
    bench = Workbench.create(tmp_path_factory.mktemp("finished"))
    config = deepcopy(CONFIG) | {"experiments": ["kv"]}
    config["define"]["figures"] = {
        "positions": {"experiments": ["kv"]},
        "means": {"kind": "mean_accuracy_by_size", "experiments": ["kv"]},
    }
    bench.configure(config)
    bench.run()
    return bench


@contextmanager
def comment_in(bench: Workbench, name: str) -> Iterator[None]:
    """A comment at the end of a file, which is taken out again: the file is as it was."""
    path = bench.path(name)
    before = path.read_bytes()
    path.write_bytes(before + b"# A comment.\n")
    try:
        yield
    finally:
        path.write_bytes(before)


def plan_after_comment_in(bench: Workbench, module: str) -> dict[str, int]:
    with comment_in(bench, f"scripts/litm/{module}"):
        return bench.plan()


@pytest.mark.parametrize(("module", "figures"), [("heatmap", 1), ("curves", 2), ("bars", 1)])
def test_an_edited_module_of_figures_draws_its_figures_again_and_makes_the_report(finished, module, figures):
    assert plan_after_comment_in(finished, f"figures/{module}.py") == {"plot_figure": figures, "make_report": 1}


def test_an_edited_forest_plot_is_drawn_again_and_the_report_is_not_made_again(finished):
    assert plan_after_comment_in(finished, "figures/forest.py") == {"plot_pbi_forest": 1}


@pytest.mark.parametrize(
    "module",
    [
        "figures/costs.py",
        "reference_model/export.py",
        "corpora/documents.py",
        "retrieval/bm25.py",
        "config/figures.py",
        "config/experiments.py",
        "inference/engines/vllm.py",
        "examples/tasks/question_answering.py",
    ],
)
def test_an_edit_of_code_that_nothing_was_made_with_makes_nothing_again(finished, module):
    assert plan_after_comment_in(finished, module) == {}


@pytest.mark.parametrize("module", ["chart", "style"])
def test_an_edit_of_common_drawing_code_redraws_all_figures(finished, module):
    assert plan_after_comment_in(finished, f"figures/{module}.py") == {
        "plot_figure": 4, "plot_pbi_forest": 1, "make_report": 1
    }  # fmt: skip


def test_an_edited_report_makes_the_report_alone_again(finished):
    assert plan_after_comment_in(finished, "report/page.py") == {"make_report": 1}


def test_an_edited_sample_of_questions_is_drawn_again_without_any_answer(finished):
    assert plan_after_comment_in(finished, "report/question_samples.py") == {"sample_questions": 1, "make_report": 1}
