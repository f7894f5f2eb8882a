"""The generated parts of docs/claims.md: error rates, words, and the verdicts on the published numbers."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from litm.analysis.claims import error_rates
from litm.analysis.claims.meanings import MEANINGS
from litm.analysis.claims.table import CLAIMS
from litm.analysis.published.statements import ClaimStatus, Explanation, of_row
from litm.base.files import with_part
from litm.base.messages import percent, points

#: Lines around a part of the page that `write_claims_page.py` writes.
BEGIN, END = (
    "<!-- {part}: from here on written by scripts/config/write_claims_page.py -->",
    "<!-- {part}: up to here -->",
)


def with_parts(page: str, parts: Mapping[str, str]) -> str:
    """The page with each part in its place; `ValueError` if the page has no place for a part."""
    for part, text in parts.items():
        page = with_part(page, BEGIN.format(part=part), END.format(part=part), text)
    return page


def page_parts(
    published: pd.DataFrame, statuses: Mapping[str, Sequence[ClaimStatus]], explanations: Iterable[Explanation]
) -> dict[str, str]:
    """The parts by name; published: the table of claims on the published accuracies; statuses: by claim."""
    return {
        "error rates": (error_rates.__doc__ or "").partition("\n\n")[2].strip(),
        "words": _table(["word", "what is shown"], list(map(list, MEANINGS.items()))),
        "verdicts": verdicts(published, statuses, list(explanations)),
    }


def verdicts(
    published: pd.DataFrame, statuses: Mapping[str, Sequence[ClaimStatus]], explanations: list[Explanation]
) -> str:
    """One table per claim: each case with this workflow's verdict, the paper's, and the reason if they differ."""
    sections = []
    for claim in CLAIMS:
        rows = published[published["claim"] == claim.name].to_dict("records")
        cells = [
            [
                _case(row),
                row["verdict"],
                _text(row["shape"]),
                _value(row),
                _text(row["paper_says"]),
                _why(row, explanations),
            ]
            for row in rows
        ]
        heading = ["case", "verdict", "shape", "deciding statistic", "the paper", "why they differ"]
        told = f"**`{claim.name}`** ({claim.section}): {claim.statement} {_status(statuses.get(claim.name, ()))}"
        sections.append(f"{told}\n\n{_table(heading, cells)}")
    return "\n\n".join(sections)


def _status(statuses: Sequence[ClaimStatus]) -> str:
    if not statuses:
        return "No status is recorded."
    by = "; and ".join(f"by {one.by}: {one.finding}" for one in statuses if one.by)
    return f"Status: {statuses[0].status}{' ' if by else ''}{by}."


def disagrees(row: Mapping[str, Any]) -> bool:
    """Whether the paper's statement on a case differs from the verdict."""
    return bool(_text(row["paper_says"])) and not pd.isna(row["experiment"]) and row["paper_says"] != row["verdict"]


def _case(row: Mapping) -> str:
    if pd.isna(row["experiment"]):
        return "none"
    size = "" if pd.isna(row["size"]) else f", {int(row['size'])}"
    role = ", exploratory" if row["role"] == "exploratory" else ""
    return f"{row['models']}, {row['experiment']}{size}{role}"


def _value(row: Mapping) -> str:
    if pd.isna(row["value"]):
        return ""
    is_difference = not row["quantity"].startswith("accuracy at")
    written = points(row["value"]) if is_difference else f"{percent(row['value'])} %"
    if pd.isna(row["ci_low"]):
        return f"{row['quantity']}: {written}, as printed"
    interval = f"[{percent(row['ci_low'])}, {percent(row['ci_high'])}]"
    return f"{row['quantity']} {written} {interval} at {percent(row['confidence'])} %, n = {row['n']:,}"


def _why(row: Mapping, explanations: list[Explanation]) -> str:
    if not disagrees(row):
        return ""
    found = of_row(explanations, {**row, "size": None if pd.isna(row["size"]) else int(row["size"])})
    return found[0].text if found else "NOT EXPLAINED"


def _text(value: Any) -> str:
    return "" if pd.isna(value) else str(value)


def _table(heading: list[str], rows: list[list[str]]) -> str:
    return pd.DataFrame(rows, columns=heading).to_markdown(index=False, disable_numparse=True)
