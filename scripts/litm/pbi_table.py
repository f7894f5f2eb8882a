"""The Position Bias Index across experiments: what of position_bias.csv one looks at first."""

import pandas as pd

#: Columns of pbi.csv, and their headings in Markdown.
PBI_COLUMNS = {
    "model": "Model",
    "experiment": "Experiment",
    "size": "Size",
    "items": "Items",
    "placement": "Placement",
    "n_complete": "n",
    "pbi": "PBI",
    "pbi_ci_low": "95 % from",
    "pbi_ci_high": "to",
    "edge_accuracy": "Edge accuracy",
    "middle_accuracy": "Middle accuracy",
    "pbi_class": "Class",
    "class_certain": "Certain",
    "reason": "No information",
}
FRACTIONS = ("pbi", "pbi_ci_low", "pbi_ci_high", "edge_accuracy", "middle_accuracy")


def pbi_table(position_bias: pd.DataFrame) -> pd.DataFrame:
    """The columns `PBI_COLUMNS` of the curves that have a PBI, or would have one if they had questions."""
    rows = position_bias[(position_bias["positions"] > 2)]
    return rows[list(PBI_COLUMNS)].reset_index(drop=True)


def as_markdown(table: pd.DataFrame) -> str:
    """The table as Markdown, fractions to three decimals; missing values are empty."""
    shown = table.astype(object).where(table.notna(), "")
    for name in FRACTIONS:
        shown[name] = [f"{value:.3f}" if value != "" else "" for value in shown[name]]
    shown["class_certain"] = shown["class_certain"].map({True: "yes", False: "no", "": ""})
    return shown.rename(columns=PBI_COLUMNS).to_markdown(index=False, disable_numparse=True) + "\n"
