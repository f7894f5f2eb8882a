"""Summary of the table of claims: one row per claim, and Markdown."""

from collections.abc import Mapping

import pandas as pd

from litm.analysis.claims.table import CLAIMS
from litm.analysis.claims.verdicts import CONTRADICTED, EXPLORATORY, NOT_ENOUGH, SUPPORTED
from litm.analysis.tables import claims, claims_summary

VERDICTS = (SUPPORTED, CONTRADICTED, NOT_ENOUGH)
#: Number of cases of a verdict that are named one by one, at most.
NAMED = 3


def claim_summary(table: pd.DataFrame) -> pd.DataFrame:
    """One row per claim, in the paper's order: statement, section, counts of verdicts, a sentence, and its status.

    Only the sentence mentions exploratory cases.
    """
    rows = []
    for claim in CLAIMS:
        own = table[table["claim"] == claim.name]
        asked = own[own["experiment"].notna()]
        is_other = (asked["role"] == EXPLORATORY).fillna(False)
        counts = [int((asked["verdict"][~is_other] == verdict).sum()) for verdict in VERDICTS]
        finding = _finding(asked[~is_other], asked[is_other], claim.needs)
        status = own.iloc[0][["status", "contested_by"]].tolist()
        rows.append([claim.statement, claim.section, *counts, finding, *status])
    return pd.DataFrame(rows, columns=list(claims_summary.TABLE.columns))


def _finding(asked: pd.DataFrame, others: pd.DataFrame, needs: str) -> str:
    if asked.empty and others.empty:
        return f"Not asked: it needs {needs}."
    sentences = [_sentence(asked)] if len(asked) else ["Not asked of the models and conditions that the paper names."]
    if len(others):
        sentences.append(
            f"Exploratory, for other models and conditions: {_sentence(others)[0].lower()}{_sentence(others)[1:]}"
        )
    return " ".join(sentences)


def _sentence(asked: pd.DataFrame) -> str:
    counts = {verdict: int((asked["verdict"] == verdict).sum()) for verdict in VERDICTS}
    parts = [f"{verdict} in {count}{_cases(asked, verdict)}" for verdict, count in counts.items() if count]
    sentence = f"Of {len(asked)}: {', '.join(parts)}." if len(asked) > 1 else f"{parts[0]}."
    return sentence[0].upper() + sentence[1:] + _reading(asked[asked["changes_with_reading"].fillna(False)])


def _reading(changed: pd.DataFrame) -> str:
    """A sentence on the verdicts that differ between first lines and whole answers."""
    if changed.empty:
        return ""
    named = [
        f"{_case(row)}: {row['verdict_first_line']} by the first line, {row['verdict_full']} by the whole answer"
        for row in changed.head(NAMED).to_dict("records")
    ]
    more = f"; and {len(changed) - NAMED} more" if len(changed) > NAMED else ""
    return f" With the reading of the answers the verdict changes on {'; '.join(named)}{more}."


def _cases(asked: pd.DataFrame, verdict: str) -> str:
    """The cases by name, if they are few."""
    rows = asked[asked["verdict"] == verdict]
    if len(rows) > NAMED:
        return ""
    names = [_case(row) for row in rows.to_dict("records")]
    return f" ({'; '.join(dict.fromkeys(names))})"


def _case(row: Mapping) -> str:
    size = "" if pd.isna(row["size"]) else f" {int(row['size'])}"
    return f"{row['models']} on {row['experiment']}{size}"


def as_markdown(table: pd.DataFrame) -> str:
    """The summary of each claim, and all rows, as Markdown."""
    return f"{claims_summary.TABLE.markdown(claim_summary(table))}\n{claims.TABLE.markdown(table)}"
