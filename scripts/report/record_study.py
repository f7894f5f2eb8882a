"""Write down the selection of the tables: the digest of the config, the data, and the sha256 of each table."""

import argparse
from pathlib import Path

from litm.base.cli import json_object, run
from litm.base.records import write_json
from litm.base.store import file_sha256


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--selection", required=True, type=json_object, help="JSON: config (the digest), models, experiments, datasets"
    )
    parser.add_argument("--tables", required=True, nargs="+")
    parser.add_argument("--datasets", required=True, nargs="*", help="the files of the datasets, in their order")
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    selection = args.selection
    datasets = [
        {**dataset, "sha256": file_sha256(path)}
        for dataset, path in zip(selection["datasets"], args.datasets, strict=True)
    ]
    tables = {Path(path).name: file_sha256(path) for path in args.tables}
    write_json(args.output, {**selection, "datasets": datasets, "tables": tables})


if __name__ == "__main__":
    run(main)
