"""The table of the Position Bias Index across experiments."""

import pandas as pd

from litm.analysis.grid import Files
from litm.analysis.positions import pbi_table
from litm.analysis.table import tables
from litm.base.records import write_csv

POSITION_BIAS = tables()["position_bias"]

MEASURED = {
    "pbi": 0.123456, "pbi_ci_low": 0.05, "pbi_ci_high": 0.2, "accuracy_edge": 0.9, "accuracy_middle": 0.776544,
    "pbi_class": "weak", "class_certain": False,
}  # fmt: skip


def table_of(folder, *curves: dict) -> pd.DataFrame:
    """The table of curves of three positions, but for these values."""
    named = {"model": "m", "experiment": "e", "size": 10, "items": 10, "n_positions": 3, "n": 100}
    write_csv(folder / "position_bias.csv", POSITION_BIAS.frame([named | curve for curve in curves]))
    return tables()["pbi"].frame(pbi_table(Files([str(folder / "position_bias.csv")])))


def test_curves_without_a_middle_are_left_out_and_those_without_information_say_why(tmp_path):
    table = table_of(tmp_path, MEASURED, {"n_positions": 2}, {"pbi": 0.0, "reason": "floor"})
    assert table["reason"].fillna("").to_list() == ["", "floor"]


def test_the_markdown_has_three_decimals_and_nothing_where_nothing_is(tmp_path):
    table = table_of(tmp_path, MEASURED, {"pbi": 0.0, "reason": "floor"})
    lines = tables()["pbi"].markdown(table).splitlines()
    assert [cell.strip() for cell in lines[2].split("|")[1:-1]] == [
        "m", "e", "10", "10", "", "100", "0.123", "0.050", "0.200", *[""] * 6, "0.900", "0.777", "weak", "no", ""
    ]  # fmt: skip
    assert [cell.strip() for cell in lines[3].split("|")[1:-1]][6:] == ["0.000", *[""] * 12, "floor"]
