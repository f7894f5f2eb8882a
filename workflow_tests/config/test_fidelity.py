"""The table of fidelity: it has every figure and table of the paper and experiment of the suite, and is up to date."""

import csv

import pytest
import yaml
from conftest import ROOT, WRITE_ANEW
from programs import load_program

from litm.analysis.paper_tables import LAYOUTS
from litm.base.files import with_parts
from litm.base.messages import UserError
from litm.config.fidelity import fidelity_table

with (ROOT / "resources" / "published" / "fidelity.csv").open(encoding="utf-8") as file:
    ITEMS = list(csv.DictReader(file))


def named(kind: str) -> list[str]:
    return [one["entries"] for one in ITEMS if one["kind"] == kind]


def test_the_page_is_what_the_code_says():
    page = (ROOT / "docs" / "fidelity.md").read_text(encoding="utf-8")
    parts = load_program("write_reference").parts_of_pages(ROOT)["docs/fidelity.md"]
    assert with_parts(page, parts) == page, WRITE_ANEW


def test_every_figure_and_table_of_the_paper_and_experiment_of_the_suite_has_a_row():
    figures = yaml.safe_load((ROOT / "config" / "figures.yaml").read_text(encoding="utf-8"))
    assert set(named("figure")) == {one for one in figures if one[6:].isdigit() or one == "figure_llama2"}
    assert set(map(str, LAYOUTS)) <= set(named("table"))
    suite = yaml.safe_load((ROOT / "config" / "suite.yaml").read_text(encoding="utf-8"))
    assert named("experiment") == suite["experiments"]


@pytest.mark.parametrize("kind", ["figure", "table", "experiment"])
def test_an_item_whose_entry_does_not_exist_is_one_line(kind):
    with pytest.raises(UserError, match=f"Figure 1: there is no {kind} gone"):
        fidelity_table([{**ITEMS[0], "kind": kind, "entries": "gone"}], {"figures": {}, "experiments": {}}, (), ())
