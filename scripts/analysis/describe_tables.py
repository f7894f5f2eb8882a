"""Write the reference of all tables and their columns into a page, such as results/README.md."""

import argparse
from pathlib import Path

from litm.analysis.reference import with_reference
from litm.analysis.tables import all_tables
from litm.base.cli import run
from litm.base.files import write_text

README = Path(__file__).resolve().parents[2] / "results" / "README.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, default=README)
    args = parser.parse_args()
    write_text(args.page, with_reference(args.page.read_text(encoding="utf-8"), all_tables()))


if __name__ == "__main__":
    run(main)
