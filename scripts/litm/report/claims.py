"""The paper's claims as the page tells them: those that this study can be asked, and those that it cannot."""

from collections.abc import Mapping

import pandas as pd

#: How the table's sentence begins where a claim was not asked.
NOT_ASKED = "Not asked: "


def claims_told(summary: pd.DataFrame | None) -> dict | None:
    """{asked, others}, of claims_summary.csv; None without claims.

    A claim asked is {statement, section, finding, status}; one of the others {statement, needs}.
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
