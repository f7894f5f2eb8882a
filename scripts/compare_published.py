"""Compare the accuracies measured here with the published ones, as CSV and as Markdown."""

import argparse

from litm.cli import json_object, run
from litm.csv_tables import read_csv, write_csv
from litm.published import read_published, read_published_models
from litm.published_comparison import as_markdown, comparison_rows, measured_cells
from litm.records import atomic_writer, read_json


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--accuracy", required=True, help="the table of accuracies measured here")
    parser.add_argument("--manifests", required=True, nargs="+", help="manifests of all sweeps")
    parser.add_argument(
        "--data-versions",
        required=True,
        type=json_object,
        metavar="JSON",
        help="version of the authors' data by experiment and size, null for other data",
    )
    parser.add_argument("--published", required=True, help="published accuracies")
    parser.add_argument("--models", required=True, help="the models that the published accuracies are of")
    parser.add_argument("--csv", required=True)
    parser.add_argument("--markdown", required=True)
    args = parser.parse_args()
    manifests = [read_json(path) for path in args.manifests]
    cells = measured_cells(read_csv(args.accuracy), manifests, args.data_versions)
    table = comparison_rows(cells, read_published(args.published), read_published_models(args.models))
    write_csv(args.csv, table)
    with atomic_writer(args.markdown) as target:
        target.write(as_markdown(table).encode())


if __name__ == "__main__":
    run(main)
