"""Page of fidelity: it has all figures and tables of the paper and experiments of the suite, and names what exists."""

import re

import yaml
from conftest import ROOT

from litm.analysis.paper_tables import LAYOUTS
from litm.tables.table import tables

PAGE = (ROOT / "docs" / "fidelity.md").read_text(encoding="utf-8")
#: The cells of each row: item, what makes it, public material, values, what differs.
ROWS = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in PAGE.splitlines() if line.startswith("| ")]
MADE_BY = [row[1].strip("`") for row in ROWS[1:]]
FIGURES, EXPERIMENTS, DATASETS = (
    yaml.safe_load((ROOT / "config" / f"{kind}.yaml").read_text(encoding="utf-8"))
    for kind in ("figures", "experiments", "datasets")
)
PAPER_TABLES = {f"paper/table{number}.csv" for number in LAYOUTS}
TABLES = {f"{name}.csv" for name in tables()}


def test_each_row_names_what_makes_it():
    assert len(MADE_BY) > 20
    assert set(MADE_BY) <= {*FIGURES, *EXPERIMENTS, *PAPER_TABLES, *TABLES}


def test_each_name_in_the_text_exists():
    named = set(re.findall(r"`([^`]+)`", PAGE)) - set(MADE_BY)
    files = {one for one in named if (ROOT / one).exists()}
    assert named - files - {*TABLES, *EXPERIMENTS, *DATASETS, "results/tables", "<s>"} == set()


def test_every_figure_and_table_of_the_paper_and_experiment_of_the_suite_has_a_row():
    assert {one for one in FIGURES if one[6:].isdigit() or one == "figure_llama2"} <= set(MADE_BY)
    assert set(MADE_BY) >= PAPER_TABLES
    suite = yaml.safe_load((ROOT / "config" / "suite.yaml").read_text(encoding="utf-8"))
    assert [one for one in MADE_BY if one in EXPERIMENTS] == suite["experiments"]
