"""Write the generated parts of docs/claims.md: error rates, words, and the verdicts on the published numbers."""

from pathlib import Path

from litm.base.cli import program
from litm.base.files import with_parts, write_text
from litm.config import conditions
from litm.config.catalogue import read_catalogue

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "resources" / "published"


@program
def main(page: Path = ROOT / "docs" / "claims.md") -> None:
    from litm.analysis.published import read_explanations, read_literature, read_published
    from litm.claims.evidence import Relations, published_evidence
    from litm.claims.tables import claims_table, page_parts

    relations = conditions.read_relations(read_catalogue("models", ROOT), read_catalogue("experiments", ROOT))
    literature = read_literature(PUBLISHED / "statements.csv", PUBLISHED / "claims.csv")
    evidence = published_evidence(read_published(PUBLISHED / "accuracy.csv"))
    table = claims_table(evidence, Relations(**relations), literature)
    parts = page_parts(table, literature.statuses, read_explanations(PUBLISHED / "disagreements.csv"))
    write_text(page, with_parts(page.read_text(encoding="utf-8"), parts))
