"""The tables that the report shows: titles, notes, headings, and cells as text."""

from collections.abc import Mapping, Sequence

import pandas as pd

from litm.analysis.columns import EXPERIMENT, MODEL
from litm.analysis.table import FLOAT, INTEGER, PERCENT, TEXT, Column, Table
from litm.analysis.tables import all_tables

_ALL = [table for table in all_tables() if table.report]
#: Tables of the section `Tables`, in their order.
SHOWN = tuple(table for table in _ALL if not table.section)
#: Tables with a section of their own.
COMPARISONS = tuple(table for table in _ALL if table.section)

#: Names of the tables that are shown unfolded, and the number of rows up to which they are.
OPEN, FEW_ROWS = ("advice",), 24
#: Characters: a longer text counts as a sentence.
SENTENCE = 80

_TOKENS_USED = {
    "model": MODEL,
    "experiment": EXPERIMENT,
    "answers": Column(INTEGER, "answers in the journal", "Answers"),
    "prompt_tokens": Column(INTEGER, "tokens of their prompts", "Prompt tokens"),
    "response_tokens": Column(INTEGER, "their tokens", "Answer tokens"),
    "last_asked": Column(INTEGER, "prompts of the last run of the sweep", "Asked last"),
    "last_prompt_tokens": Column(INTEGER, "their tokens", "Their prompt tokens"),
    "last_computed_tokens": Column(INTEGER, "computed tokens of these prompts", "Computed"),
    "saved": Column(FLOAT, "share of tokens that shared prefixes saved", "Saved", PERCENT),
    "dollars": Column(FLOAT, "cost by the prices in the config", "US$"),
}
#: Cost of each sweep; the report computes it from the manifests.
TOKENS_USED = Table(
    name="tokens_used",
    title="Tokens and cost of each sweep",
    doc="Tokens and cost of each sweep, from its manifest.",
    order=0,
    note=(
        "Answers in the journal and their tokens. Asked last: the prompts of the sweep's last run, their tokens, the "
        "computed tokens, and the share that shared prefixes saved, in per cent. Empty: nothing was asked, or only the "
        "server knows. US$: by the prices in the config."
    ),
    columns=_TOKENS_USED,
    report=tuple(_TOKENS_USED),
)


def shown_tables(frames: Mapping[str, pd.DataFrame], tables: Sequence[Table] = SHOWN) -> list[dict]:
    """Tables with rows, each as {name, section, title, note, headings, rows, is_open, is_wordy}.

    Headings and cells are pairs: a text, and whether its column has words. is_open: whether the table is unfolded.
    is_wordy: whether it has sentences, so that a narrow screen shows its cells one below another. Columns that a table
    lacks are left out.
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
