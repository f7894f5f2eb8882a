"""Write the JSON schemas of the configuration and its reference page, from the classes that read it."""

import argparse
from pathlib import Path

from litm.cli import run
from litm.config.reference import reference_files


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--project", type=Path, default=Path(), help="the folder with config/ and docs/")
    args = parser.parse_args()
    for path, text in reference_files().items():
        (args.project / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    run(main)
