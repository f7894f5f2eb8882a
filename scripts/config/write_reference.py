"""Write the JSON schemas of the configuration and its reference page, from the classes that read it."""

import argparse
from pathlib import Path

from litm.base.cli import run
from litm.base.files import write_text
from litm.config.reference import reference_files
from litm.reference_model.recipe import RecipeEntry


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--project", type=Path, default=Path(), help="the folder with config/ and docs/")
    args = parser.parse_args()
    for path, text in reference_files(RecipeEntry).items():
        write_text(args.project / path, text)


if __name__ == "__main__":
    run(main)
