"""Write the reference of all tables and their columns into a page, such as results/README.md."""

from pathlib import Path

from litm.base.cli import program
from litm.base.files import write_text

README = Path(__file__).resolve().parents[2] / "results" / "README.md"


@program
def main(page: Path = README) -> None:
    from litm.analysis.table import tables, with_reference

    write_text(page, with_reference(page.read_text(encoding="utf-8"), tables().values()))
