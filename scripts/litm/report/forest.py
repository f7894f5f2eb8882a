"""The Position Bias Index of every curve as rows of a picture that needs no script: a line and a dot on one scale."""

from collections.abc import Iterator

import pandas as pd

from litm.wording import percent

#: The scale ends at a multiple of this, beyond all intervals.
STEP = 0.25


def forest(position_bias: pd.DataFrame | None) -> dict | None:
    """{limit: where the scale ends on both sides, rows}, or None if no curve has a Position Bias Index.

    A row is {experiment, model, what (size and placement), n, text, class, certain, left, dot, right}: the last three
    in per cent of the scale's width, from its left end. Rows are in the order of experiments, then models. Curves
    without an index, or where it says nothing, are left out.
    """
    if position_bias is None:
        return None
    shown = position_bias[position_bias["pbi"].notna() & position_bias["pbi_class"].notna()]
    if shown.empty:
        return None
    widest = shown[["pbi_ci_low", "pbi_ci_high"]].astype(float).abs().max().max()
    limit = STEP * max(1, -(-widest // STEP))
    order = {name: index for index, name in enumerate(dict.fromkeys(position_bias["experiment"]))}
    shown = shown.sort_values("experiment", key=lambda names: names.map(order), kind="stable")
    return {"limit": percent(limit).removesuffix(".0"), "rows": list(_rows(shown, limit))}


def _rows(curves: pd.DataFrame, limit: float) -> Iterator[dict]:
    for row in curves.to_dict("records"):
        placement = "" if pd.isna(row["placement"]) else f", {row['placement']}"
        low, value, high = (float(row[name]) for name in ("pbi_ci_low", "pbi", "pbi_ci_high"))
        left, dot, right = (round(50 + 50 * number / limit, 2) for number in (low, value, high))
        yield {
            "experiment": row["experiment"],
            "model": row["model"],
            "what": f"size {row['size']}{placement}",
            "n": f"{int(row['n_complete']):,}",
            "text": f"{percent(value)} [{percent(low)}, {percent(high)}]",
            "class": row["pbi_class"],
            "certain": bool(row["class_certain"]),
            "left": left,
            "dot": dot,
            "right": right,
        }
