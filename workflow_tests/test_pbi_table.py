"""The table of the Position Bias Index across experiments."""

import pandas as pd

from litm.pbi_table import PBI_COLUMNS, as_markdown, pbi_table
from litm.position_bias import POSITION_BIAS_COLUMNS


def bias(*rows: dict) -> pd.DataFrame:
    named = {"model": "m", "experiment": "e", "size": 10, "items": 10, "positions": 3, "n_complete": 100}
    return pd.DataFrame([named | row for row in rows], columns=list(POSITION_BIAS_COLUMNS)).astype(
        POSITION_BIAS_COLUMNS
    )


MEASURED = {
    "pbi": 0.123456, "pbi_ci_low": 0.05, "pbi_ci_high": 0.2, "edge_accuracy": 0.9, "middle_accuracy": 0.776544,
    "pbi_class": "weak", "class_certain": False,
}  # fmt: skip


def test_curves_without_a_middle_are_left_out_and_those_without_information_say_why():
    table = pbi_table(bias(MEASURED, {"positions": 2}, {"pbi": 0.0, "reason": "floor"}))
    assert list(table.columns) == list(PBI_COLUMNS)
    assert table["reason"].fillna("").to_list() == ["", "floor"]


def test_the_markdown_has_three_decimals_and_nothing_where_nothing_is():
    lines = as_markdown(pbi_table(bias(MEASURED, {"pbi": 0.0, "reason": "floor"}))).splitlines()
    assert [cell.strip() for cell in lines[2].split("|")[1:-1]] == [
        "m", "e", "10", "10", "", "100", "0.123", "0.050", "0.200", "0.900", "0.777", "weak", "no", ""
    ]  # fmt: skip
    assert [cell.strip() for cell in lines[3].split("|")[1:-1]][6:] == ["0.000", "", "", "", "", "", "", "floor"]
