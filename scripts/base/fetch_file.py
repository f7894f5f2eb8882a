"""Fetch a remote file from the mirror folder or the network, and check it."""

import argparse
from pathlib import Path

from litm.base.cli import run
from litm.base.download import fetch, note_fetched
from litm.base.messages import note
from litm.base.store import checksum_kind


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--checksum", required=True, help="what the file must have: a sha256 or a git blob id")
    parser.add_argument("--mirror", nargs="?", help="a folder to look in first, by base name")
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    source = fetch(args.url, args.checksum, args.mirror, args.output)
    note_fetched(Path(args.output), args.checksum)
    note(f"{args.output}: from {source}, {checksum_kind(args.checksum)} is right")


if __name__ == "__main__":
    run(main)
