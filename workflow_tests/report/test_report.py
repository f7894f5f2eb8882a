"""Tables of the report in words."""

from litm.base.messages import ordinal
from litm.base.table_files import write_csv
from litm.report.page_tables import shown_tables
from litm.tables.table import tables

POSITION_BIAS = tables()["position_bias"]


def test_ordinals():
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th"
    ]  # fmt: skip


def test_tables_show_percents_with_their_intervals_yes_and_no_and_empty_cells_for_missing_values(tmp_path):
    row = {
        "model": "a", "experiment": "e", "size": 20, "n": 2655, "pbi": 0.1234, "class_certain": True,
        "cochran_p_value": 0.0001, "primacy": 0.1, "primacy_ci_low": -0.05, "primacy_ci_high": 0.2, "gap": 0.3,
        "gap_ci_low": 0.0, "gap_ci_high": 0.5,
    }  # fmt: skip
    write_csv(tmp_path / "bias.csv", POSITION_BIAS.frame([row, {"model": "b", "class_certain": False}, {}]))
    (table,) = shown_tables({"position_bias": POSITION_BIAS.read(tmp_path / "bias.csv")})
    whole, *others = (dict(zip(POSITION_BIAS.report, (text for text, _ in one), strict=True)) for one in table["rows"])
    assert (whole["size"], whole["n"], whole["pbi"], whole["cochran_p_value"]) == ("20", "2,655", "12.3", "< 0.001")
    assert (whole["primacy"], whole["gap"], whole["tilt"]) == ("10.0 [-5.0, 20.0]", "30.0 [0.0, 50.0]", "")
    assert [cells["class_certain"] for cells in (whole, *others)] == ["yes", "no", ""]
    assert {cells[name] for cells in others for name in ("pbi", "primacy")} == {""}
