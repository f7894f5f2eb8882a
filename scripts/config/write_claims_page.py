"""Write the generated parts of docs/claims.md: error rates, words, and the verdicts on the published numbers."""

import argparse
from pathlib import Path
from typing import Literal

import yaml

from litm.analysis.claims.page import page_parts, with_parts
from litm.analysis.claims.published_evidence import published_evidence
from litm.analysis.claims.relations import read_relations
from litm.analysis.claims.table import claims_table
from litm.analysis.published.statements import read_explanations, read_literature
from litm.analysis.published.values import read_published
from litm.base.cli import run
from litm.base.files import write_text
from litm.config import conditions
from litm.config.catalogue import read_catalogue_entry, string_keys

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "claims.md")
    args = parser.parse_args()
    published = ROOT / "resources" / "published"
    declared = conditions.read_relations(_entries("models"), _entries("experiments"))
    literature = read_literature(published / "statements.csv", published / "claims.csv")
    table = claims_table(
        published_evidence(read_published(published / "accuracy.csv")),
        read_relations(declared),
        literature,
    )
    parts = page_parts(table, literature.statuses, read_explanations(published / "disagreements.csv"))
    write_text(args.page, with_parts(args.page.read_text(encoding="utf-8"), parts))


def _entries(kind: Literal["models", "experiments"]) -> dict:
    """The project's own checked entries of a catalogue."""
    own = yaml.safe_load((ROOT / "config" / f"{kind}.yaml").read_text(encoding="utf-8"))
    return {name: read_catalogue_entry(kind, name, entry) for name, entry in string_keys(own).items()}


if __name__ == "__main__":
    run(main)
