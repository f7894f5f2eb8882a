"""Write the table of docs/fidelity.md: each figure, table and experiment of the sources, and what makes it."""

from pathlib import Path
from typing import Any

from litm.base.cli import program
from litm.base.files import with_parts, write_text
from litm.base.formats import read_csv
from litm.config.catalogue import CATALOGUES, read_catalogue

ROOT = Path(__file__).resolve().parents[2]
PAGE, PUBLISHED = ROOT / "docs" / "fidelity.md", ROOT / "resources" / "published"


def fidelity() -> str:
    """The page with the table of the project's own catalogues."""
    from litm.analysis.published import read_published, read_published_tokens
    from litm.config.fidelity import fidelity_table

    rows: Any = read_csv(PUBLISHED / "fidelity.csv").fillna("").astype(str).to_dict("records")
    entries = {str(kind): read_catalogue(kind, ROOT) for kind in CATALOGUES}
    values = read_published(PUBLISHED / "accuracy.csv"), read_published_tokens(PUBLISHED / "token_counts.csv")
    return with_parts(PAGE.read_text(encoding="utf-8"), {"table": fidelity_table(rows, entries, *values)})


@program
def main(page: Path = PAGE) -> None:
    write_text(page, fidelity())
