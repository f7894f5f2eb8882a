"""The table of claims for people: what it comes to for each claim, and Markdown."""

from collections.abc import Mapping

import pandas as pd

from litm.claims.table import CLAIMS
from litm.claims.verdicts import CONTRADICTED, NOT_ENOUGH, SUPPORTED
from litm.wording import percent

VERDICTS = (SUPPORTED, CONTRADICTED, NOT_ENOUGH)
#: What is said of at most so many cases of a verdict is said of each.
NAMED = 3
#: Columns of `claim_summary`, and their headings.
SUMMARY_COLUMNS = {
    "statement": "Claim",
    "section": "Section",
    "supported": "Supported",
    "contradicted": "Contradicted",
    "not_enough": "Not enough data",
    "finding": "What was found",
}
#: Columns of claims.md, and their headings.
MARKDOWN_COLUMNS = {
    "claim": "Claim",
    "models": "Models",
    "experiment": "Experiment",
    "size": "Size",
    "verdict": "Verdict",
    "statistic": "Statistic",
    "value": "Value",
    "ci_low": "From",
    "ci_high": "To",
    "confidence": "Confidence",
    "n": "n",
    "reason": "Reason",
}


def claim_summary(table: pd.DataFrame) -> pd.DataFrame:
    """A row a claim, in the paper's order: statement, section, counts of verdicts, and a sentence."""
    rows = []
    for claim in CLAIMS:
        own = table[table["claim"] == claim.name]
        asked = own[own["experiment"].notna()]
        counts = {verdict: int((asked["verdict"] == verdict).sum()) for verdict in VERDICTS}
        rows.append([claim.statement, claim.section, *counts.values(), _finding(asked, counts, claim.needs)])
    return pd.DataFrame(rows, columns=list(SUMMARY_COLUMNS))


def _finding(asked: pd.DataFrame, counts: dict[str, int], needs: str) -> str:
    if asked.empty:
        return f"Not asked: it needs {needs}."
    parts = [f"{verdict} in {count}{_cases(asked, verdict)}" for verdict, count in counts.items() if count]
    sentence = f"Of {len(asked)}: {', '.join(parts)}." if len(asked) > 1 else f"{parts[0]}."
    return sentence[0].upper() + sentence[1:]


def _cases(asked: pd.DataFrame, verdict: str) -> str:
    """Which cases they are, where they are few."""
    rows = asked[asked["verdict"] == verdict]
    if len(rows) > NAMED:
        return ""
    names = [_case(row) for row in rows.to_dict("records")]
    return f" ({'; '.join(dict.fromkeys(names))})"


def _case(row: Mapping) -> str:
    size = "" if pd.isna(row["size"]) else f" {int(row['size'])}"
    return f"{row['models']} on {row['experiment']}{size}"


def as_markdown(table: pd.DataFrame) -> str:
    """What each claim comes to, and all rows, as Markdown; fractions in per cent, missing values empty."""
    shown = table[list(MARKDOWN_COLUMNS)].astype(object).where(table[list(MARKDOWN_COLUMNS)].notna(), "")
    for name in ("value", "ci_low", "ci_high", "confidence"):
        shown[name] = ["" if value == "" else percent(value) for value in shown[name]]
    summary = claim_summary(table).rename(columns=SUMMARY_COLUMNS)
    rows = shown.rename(columns=MARKDOWN_COLUMNS)
    both = [one.to_markdown(index=False, disable_numparse=True) for one in (summary, rows)]
    return "\n\n".join(both) + "\n"
