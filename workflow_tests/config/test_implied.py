"""Cells, figures and comparisons that a config gets from its experiments and models."""

from dataclasses import asdict
from pathlib import Path

import pytest
import yaml
from configs import of_row, study
from conftest import ROOT

from litm.config.conditions import find_comparisons
from litm.config.study import load_study

TABLES = yaml.safe_load((Path(__file__).parent / "implied.yaml").read_text())


def rows(table: str):
    return pytest.mark.parametrize("row", TABLES[table], ids=[row["why"] for row in TABLES[table]])


def study_of(row: dict):
    return load_study(of_row({key: value for key, value in row.items() if key not in ("why", "gives")}), ROOT)


@rows("figures")
def test_a_study_has_the_figures_of_its_experiments_and_models(row):
    figures = {name: one for name, one in study_of(row).figures.items() if one.kind != "wrong_answers"}
    assert set(figures) == set(row["gives"])
    for name, facts in row["gives"].items():
        values = {key: getattr(figures[name], key) for key in facts}
        assert {key: list(one) if isinstance(one, tuple) else one for key, one in values.items()} == facts, name


@rows("comparisons")
def test_experiments_that_differ_in_one_condition_are_compared(row):
    found = [list(asdict(one).values()) for one in find_comparisons(study_of(row).experiments)]
    assert [[*one[:5], list(one[5])] for one in found if one[0] != "size"] == row["gives"]


@rows("cells")
def test_an_experiment_has_the_cells_of_its_sizes_and_places(row):
    (experiment,) = study_of(row).experiments.values()
    found: dict[int, list[str]] = {}
    for cell in experiment.cells:
        found.setdefault(cell.size, []).append(cell.placement)
    assert list(found.items()) == list(row["gives"].items())


def test_sizes_are_compared_unless_their_questions_are_generated_for_each():
    for name, conditions in (("mini_encyclopedia_qa", ["size"]), ("kv_retrieval_small", [])):
        found = find_comparisons(study(experiments=[name]).experiments)
        assert [one.condition for one in found] == conditions


def test_figures_of_published_values_do_not_depend_on_what_is_selected():
    figures = study().published_figures
    assert {"figure5", "figure6"} <= set(figures)
    assert all(figure.published and figure.models for figure in figures.values())


def test_several_needles_have_a_curve_for_each_placement():
    suite, spacing = study(experiments=["suite_multi_needle", "multi_needle_spacing"]).experiments.values()
    assert [curve.placement for curve in spacing.curves][:2] == ["gold_at_0_1_2", "gold_at_0_150_299"]
    assert spacing.curves[0].name == "multi_needle_spacing_gold_at_0_1_2"
    assert [curve.name for curve in suite.curves] == ["suite_multi_needle"]
