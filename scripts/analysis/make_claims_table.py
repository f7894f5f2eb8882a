"""Make the table of the paper's claims, from scores or from published accuracies, as CSV and as Markdown.

scores: score files of sweeps
published: a file of published accuracies, instead of scores
relations: JSON: see litm.claims.evidence
statements: what the paper says of the cases of its claims
statuses: what became of each claim
recall: recall of the retriever of some experiments
recall_of: the experiment of each of these files
"""

from typing import TYPE_CHECKING

from litm.base.cli import program
from litm.base.files import write_text
from litm.base.messages import UserError
from litm.base.table_files import write_csv

if TYPE_CHECKING:
    from litm.claims.evidence import Evidence


@program
def main(
    relations: dict,
    statements: str,
    statuses: str,
    csv: str,
    markdown: str,
    scores: tuple[str, ...] = (),
    published: str | None = None,
    recall: tuple[str, ...] = (),
    recall_of: tuple[str, ...] = (),
) -> None:
    from litm.analysis.grid import FIRST_LINE, FULL, Files
    from litm.analysis.published import read_literature, read_published
    from litm.claims.evidence import Relations, published_evidence, scored_evidence
    from litm.claims.tables import as_markdown, claims_table

    if bool(scores) == bool(published):
        raise UserError("give either --scores or --published")
    files = Files(scores)
    # Recall and number of questions by number of passages, of files that measure_recall.py wrote.
    recalls = {
        name: {int(k): (part, int(n)) for k, part, n in Files([path]).joined("retrieval")[["k", "recall", "n"]].values}
        for name, path in zip(recall_of, recall, strict=True)
    }

    def by_reading(reading: str) -> "Evidence":
        """The evidence by first lines or by whole answers."""
        column = f"correct_{reading}"
        if all((sweep["correct"] == sweep[column]).all() for sweep in files.scores()):
            return evidence
        sweeps = (sweep.assign(correct=sweep[column]) for sweep in files.scores())
        return scored_evidence(sweeps, recalls)

    if published:
        evidence: Evidence = published_evidence(read_published(published))
    else:
        evidence = scored_evidence(files.scores(), recalls)
    readings = [] if published else [(reading, by_reading(reading)) for reading in (FIRST_LINE, FULL)]
    table = claims_table(evidence, Relations(**relations), read_literature(statements, statuses), readings)
    write_csv(csv, table)
    write_text(markdown, as_markdown(table))
