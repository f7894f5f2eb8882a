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
    """What later works say of the paper's claim; it is no verdict on this study's models."""
    status, works = (None if pd.isna(row.get(name)) else row[name] for name in ("status", "contested_by"))
    if works:
        return f"Later works contest the paper's claim: {works}."
    return "Later works support the paper's claim." if status == "supported" else ""
