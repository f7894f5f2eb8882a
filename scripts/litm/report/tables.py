"""The tables that the report shows: titles, notes, headings, and cells as text."""

from collections.abc import Mapping, Sequence

import pandas as pd

from litm.analysis.columns import EXPERIMENT, MODEL
from litm.analysis.table import FLOAT, INTEGER, PERCENT, TEXT, Column, Table
from litm.analysis.tables import all_tables

_ALL = [table for table in all_tables() if table.report]
#: The tables that the report shows in their order, one after another.
SHOWN = tuple(table for table in _ALL if not table.section)
#: Those with sections of their own.
COMPARISONS = tuple(table for table in _ALL if table.section)

#: Tables that everybody needs; the others are folded, and so are these where they have more rows than this.
OPEN, FEW_ROWS = ("advice",), 24
#: A text longer than this is a sentence.
SENTENCE = 80

_TOKENS_USED = {
    "model": MODEL,
    "experiment": EXPERIMENT,
    "answers": Column(INTEGER, "answers in the journal", "Answers"),
    "prompt_tokens": Column(INTEGER, "tokens of their prompts", "Prompt tokens"),
    "response_tokens": Column(INTEGER, "their tokens", "Answer tokens"),
    "last_asked": Column(INTEGER, "prompts of the last run of the sweep", "Asked last"),
    "last_prompt_tokens": Column(INTEGER, "their tokens", "Their prompt tokens"),
    "last_computed_tokens": Column(INTEGER, "those that were computed", "Computed"),
    "saved": Column(FLOAT, "share that common beginnings of prompts saved", "Saved", PERCENT),
    "dollars": Column(FLOAT, "cost by the prices in the config", "US$"),
}
#: What each sweep has cost; the report makes it of the manifests.
TOKENS_USED = Table(
    name="tokens_used",
    title="Tokens and cost of each sweep",
    doc="Tokens and cost of each sweep, from its manifest.",
    order=0,
    note=(
        "Answers and their tokens, as the journal has them. Asked last: the prompts of the last run of the sweep, "
        "their tokens, those that were computed, and what the common beginnings of prompts saved, in per cent. Empty: "
        "nothing was asked, or only the server knows. US$ by the prices in the config."
    ),
    columns=_TOKENS_USED,
    report=tuple(_TOKENS_USED),
)


def shown_tables(frames: Mapping[str, pd.DataFrame], tables: Sequence[Table] = SHOWN) -> list[dict]:
    """The tables that there are, each as {name, section, title, note, headings, rows, is_open, is_wordy}; headings and
    cells are pairs of a text and whether its column is one of words. is_open: whether it is shown unfolded;
    is_wordy: whether it has sentences, so that a narrow screen shows its cells one below another.

    Columns that a table lacks are left out, and so are tables without rows.
    """
    return [_table(table, frames[table.name]) for table in tables if table.name in frames and len(frames[table.name])]


def _table(table: Table, frame: pd.DataFrame) -> dict:
    names = [name for name in table.report if name in frame]
    columns = [table.columns[name] for name in names]
    is_text = [column.dtype == TEXT for column in columns]
    cells = table.cells(frame, names)
    return {
        "name": table.name,
        "section": table.section,
        "title": table.title,
        "note": table.note,
        "headings": list(zip((column.heading for column in columns), is_text, strict=True)),
        "rows": [list(zip(row, is_text, strict=True)) for row in cells],
        "is_open": table.name in OPEN and len(cells) <= FEW_ROWS,
        "is_wordy": any(len(cell) > SENTENCE for row in cells for cell in row),
    }
