"""Write the generated parts of docs/claims.md: error rates, words, and the verdicts on the published numbers."""

from pathlib import Path
from typing import Literal

from litm.base.cli import program
from litm.base.files import write_text
from litm.config import conditions
from litm.config.catalogue import read_catalogue_entry, string_keys
from litm.config.yaml_files import read_yaml

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "resources" / "published"


def entries(kind: Literal["models", "experiments"]) -> dict:
    """The project's own checked entries of a catalogue."""
    own = string_keys(read_yaml(ROOT / "config" / f"{kind}.yaml"))
    return {name: read_catalogue_entry(kind, name, entry) for name, entry in own.items()}


@program
def main(page: Path = ROOT / "docs" / "claims.md") -> None:
    from litm.analysis.claims.evidence import published_evidence, read_relations
    from litm.analysis.claims.tables import claims_table, page_parts, with_parts
    from litm.analysis.published import read_explanations, read_literature, read_published

    declared = read_relations(conditions.read_relations(entries("models"), entries("experiments")))
    literature = read_literature(PUBLISHED / "statements.csv", PUBLISHED / "claims.csv")
    table = claims_table(published_evidence(read_published(PUBLISHED / "accuracy.csv")), declared, literature)
    parts = page_parts(table, literature.statuses, read_explanations(PUBLISHED / "disagreements.csv"))
    write_text(page, with_parts(page.read_text(encoding="utf-8"), parts))
