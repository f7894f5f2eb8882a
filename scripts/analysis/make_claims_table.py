"""Make the table of the paper's claims, from scores or from published accuracies, as CSV and as Markdown."""

import argparse
from collections.abc import Iterable, Iterator, Mapping

from litm.analysis.claims.evidence import Evidence
from litm.analysis.claims.published_evidence import published_evidence
from litm.analysis.claims.relations import read_relations
from litm.analysis.claims.scored_evidence import COLUMNS, scored_evidence
from litm.analysis.claims.summary import as_markdown, claim_summary
from litm.analysis.claims.table import claims_table
from litm.analysis.families import FIRST_LINE, FULL
from litm.analysis.files import Files
from litm.analysis.published.statements import read_literature
from litm.analysis.published.values import read_published
from litm.base.cli import json_object, run
from litm.base.files import write_text
from litm.base.records import read_csv, write_csv


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--scores", nargs="+", help="score files of sweeps")
    source.add_argument("--published", help="a file of published accuracies")
    parser.add_argument("--relations", required=True, type=json_object, help="JSON: see litm.analysis.claims.relations")
    parser.add_argument("--statements", required=True, help="what the paper says of the cases of its claims")
    parser.add_argument("--statuses", required=True, help="what became of each claim")
    parser.add_argument("--recall", nargs="*", default=[], help="recall of the retriever of some experiments")
    parser.add_argument("--recall-of", nargs="*", default=[], help="the experiment of each of these files")
    parser.add_argument("--csv", required=True)
    parser.add_argument("--summary", required=True, help="a CSV file with a row a claim")
    parser.add_argument("--markdown", required=True)
    args = parser.parse_args()
    literature = read_literature(args.statements, args.statuses)
    if args.published:
        evidence: Evidence = published_evidence(read_published(args.published))
        readings: Iterable[tuple[str, Evidence]] = ()
    else:
        files = Files(args.scores)
        recalls = {name: recall_by_size(path) for name, path in zip(args.recall_of, args.recall, strict=True)}
        evidence = scored_evidence(files.scores(COLUMNS), recalls)
        readings = by_reading(files, recalls, evidence)
    table = claims_table(evidence, read_relations(args.relations), literature, readings)
    write_csv(args.csv, table)
    write_csv(args.summary, claim_summary(table))
    write_text(args.markdown, as_markdown(table))


def by_reading(
    files: Files, recalls: Mapping[str, Mapping[int, tuple[float, int]]], evidence: Evidence
) -> Iterator[tuple[str, Evidence]]:
    """The evidence by first lines and by whole answers; `evidence` itself where that is the same of every answer."""
    for reading in (FIRST_LINE, FULL):
        column = f"correct_{reading}"
        if all((sweep["correct"] == sweep[column]).all() for sweep in files.scores(["correct", column])):
            yield reading, evidence
        else:
            sweeps = (sweep.assign(correct=sweep[column]) for sweep in files.scores([*COLUMNS, column]))
            yield reading, scored_evidence(sweeps, recalls)


def recall_by_size(path: str) -> dict[int, tuple[float, int]]:
    """Recall and number of questions by number of passages, of a file that measure_recall.py wrote."""
    return {int(row["k"]): (row["recall"], int(row["n"])) for row in read_csv(path).to_dict("records")}


if __name__ == "__main__":
    run(main)
