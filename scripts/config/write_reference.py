"""Write the JSON schemas of the configuration and of results/findings.json, and the generated parts of pages, from the
code and the published data.

project: the folder with config/, docs/, resources/ and results/
"""

from pathlib import Path

from litm.base.cli import program
from litm.base.files import with_parts, write_text
from litm.base.json_files import write_json
from litm.config.catalogue import CATALOGUES, read_catalogue
from litm.config.conditions import read_relations
from litm.config.reference import reference_files


def parts_of_pages(project: Path) -> dict[str, dict[str, str]]:
    """The parts, by name, of the pages on results, on numbers and on the paper."""
    from litm.analysis.published import read_explanations, read_literature, read_published
    from litm.claims.evidence import Relations, published_evidence
    from litm.claims.tables import claims_table, page_parts
    from litm.findings.kinds import findings_reference
    from litm.scoring.metrics import metrics_reference
    from litm.scoring.scores import score_reference
    from litm.tables.table import reference, tables

    published = project / "resources" / "published"
    accuracies = read_published(published / "accuracy.csv")
    literature = read_literature(published / "statements.csv", published / "claims.csv")
    entries = {str(kind): read_catalogue(kind, project) for kind in CATALOGUES}
    relations = Relations(**read_relations(entries["models"], entries["experiments"]))
    explanations = read_explanations(published / "disagreements.csv")
    claims = [claims_table(published_evidence(some), relations, literature) for some in (accuracies, accuracies[::-1])]
    return {
        "results/README.md": {
            "Tables": reference(tables().values()),
            "Findings": findings_reference(),
            "Scores": score_reference(),
        },
        "docs/numbers.md": {"Metrics": metrics_reference()},
        "docs/claims.md": page_parts(claims[0], claims[1], literature.statuses, explanations),
    }


@program
def main(project: Path = Path()) -> None:
    from litm.findings.schema import SCHEMA, findings_schema

    pages = parts_of_pages(project)
    written = {page: with_parts((project / page).read_text(encoding="utf-8"), parts) for page, parts in pages.items()}
    for path, text in (reference_files(project) | written).items():
        write_text(project / path, text)
    write_json(project / SCHEMA, findings_schema())
