"""The paper's claims on the page: those that this study tests, and those that it cannot test."""

from collections.abc import Mapping

import pandas as pd

#: Beginning of the table's sentence for a claim that was not tested.
NOT_ASKED = "Not asked: "


def claims_told(summary: pd.DataFrame | None) -> dict | None:
    """{asked, others} from claims_summary.csv; None if it is empty.

    asked: tested claims {statement, section, finding, status}; others: claims not tested {statement, needs}.
    """
    if summary is None or summary.empty:
        return None
    asked, others = [], []
    for row in summary.to_dict("records"):
        if row["finding"].startswith(NOT_ASKED):
            others.append({"statement": row["statement"], "needs": row["finding"].removeprefix(NOT_ASKED)})
            continue
        asked.append(
            {
                "statement": row["statement"],
                "section": row["section"],
                "finding": row["finding"],
                "status": _status(row),
            }
        )
    return {"asked": asked, "others": others}


def _status(row: Mapping) -> str:
    said = [row.get(name) for name in ("status", "contested_by")]
    return " by ".join(str(one) for one in said if one is not None and not pd.isna(one))
