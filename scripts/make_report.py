"""Make the report: one self-contained HTML file with summary, figures, tables and provenance."""

import argparse
from pathlib import Path

from litm.cli import json_object, run
from litm.csv_tables import read_csv
from litm.records import atomic_writer, read_json
from litm.report import render_report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--titles", required=True, type=json_object, help="JSON: title of each figure by its name")
    parser.add_argument("--accuracy", required=True)
    parser.add_argument("--token-counts", nargs="?", help="the table of token counts, if there is one")
    parser.add_argument("--answer-checks", required=True)
    parser.add_argument("--position-bias", nargs="?", help="the table of position bias, if there is one")
    parser.add_argument("--utilisation", nargs="?", help="the table of utilisation, if there is one")
    parser.add_argument("--retrieval", nargs="?", help="the table of the retrievers' recall, if there is one")
    parser.add_argument("--candidates", nargs="?", help="the table of candidates, if there is one")
    parser.add_argument("--figures", required=True, nargs="*", help="PNG files")
    parser.add_argument("--manifests", required=True, nargs="+")
    parser.add_argument("--template", required=True)
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    html = render_report(
        template=Path(args.template).read_text(encoding="utf-8"),
        accuracy=read_csv(args.accuracy),
        token_counts=read_csv(args.token_counts) if args.token_counts else None,
        answer_checks=read_csv(args.answer_checks),
        position_bias=read_csv(args.position_bias) if args.position_bias else None,
        utilisation=read_csv(args.utilisation) if args.utilisation else None,
        retrieval=read_csv(args.retrieval) if args.retrieval else None,
        candidates=read_csv(args.candidates) if args.candidates else None,
        figures=[(args.titles[Path(path).stem], Path(path).read_bytes()) for path in args.figures],
        manifests=[read_json(path) for path in args.manifests],
    )
    with atomic_writer(args.output) as target:
        target.write(html.encode())


if __name__ == "__main__":
    run(main)
