"""Pack an exported folder as a zip file, the same bytes for the same files."""

import argparse

from litm.cli import note, run
from litm.zips import write_zip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", required=True, help="what export_suite.py wrote")
    parser.add_argument("--name", required=True, help="what the folder is called in the zip file")
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    write_zip(args.output, args.folder, args.name)
    note(f"{args.output}: packed")


if __name__ == "__main__":
    run(main)
