"""What people read: the report's words."""

import pandas as pd

from litm.csv_tables import read_csv, write_csv
from litm.report import BIAS_COLUMNS, findings, table_cells
from litm.wording import ordinal


def cell(model: str, experiment: str, size: int, position: int | None, accuracy: float, n: int = 50) -> dict:
    return {
        "model": model, "experiment": experiment, "size": size, "position": position, "n": n,
        "accuracy": accuracy, "ci_low": max(0, accuracy - 0.1), "ci_high": min(1, accuracy + 0.1),
    }  # fmt: skip


def table(*cells: dict) -> pd.DataFrame:
    return pd.DataFrame(cells).astype({"position": "Int64"})


def test_findings_name_the_best_and_the_worst_position_and_whether_they_are_apart():
    apart = table(cell("a", "qa", 10, 0, 0.9), cell("a", "qa", 10, 4, 0.5))
    near = table(cell("a", "qa", 10, 0, 0.6), cell("a", "qa", 10, 4, 0.5))
    flat = table(cell("a", "qa", 10, 0, 0.5), cell("a", "qa", 10, 4, 0.5))
    assert findings(apart) == [
        "a on qa, 10 items: best with the answer in the 1st (90.0 %), worst in the 5th (50.0 %), n = 50; "
        "their intervals do not overlap."
    ]
    assert findings(near)[0].endswith("their intervals overlap.")
    too_long = pd.concat([table(cell("a", "qa", 10, p, float("nan"), n=0)) for p in (0, 4)]).assign(n_excluded=7)
    assert findings(too_long) == ["a on qa, 10 items: no question fits the model's context (7 left out)."]
    assert findings(flat) == ["a on qa, 10 items: 50.0 % at each of the 2 positions (n = 50)."]


def test_ordinals():
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "111th"
    ]  # fmt: skip


def test_the_report_says_yes_and_no_and_leaves_what_is_missing_empty(tmp_path):
    row = dict.fromkeys(BIAS_COLUMNS)
    rows = [{**row, "pbi": 0.1234, "class_certain": True, "cochran_p": 0.0001}, {**row, "class_certain": False}, row]
    write_csv(tmp_path / "bias.csv", pd.DataFrame(rows).astype({"class_certain": "boolean"}))
    cells_of_rows = table_cells(read_csv(tmp_path / "bias.csv"), BIAS_COLUMNS)
    shown = [dict(zip(BIAS_COLUMNS, cells, strict=True)) for cells in cells_of_rows]
    assert [cells["class_certain"] for cells in shown] == ["yes", "no", ""]
    assert (shown[0]["pbi"], shown[0]["cochran_p"], shown[1]["pbi"]) == ("12.3", "< 0.001", "")
