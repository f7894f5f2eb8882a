"""Write the JSON schemas of the configuration and its reference pages, from the classes that read it.

project: the folder with config/ and docs/
"""

from pathlib import Path

from litm.base.cli import program
from litm.base.files import write_text
from litm.config.reference import reference_files
from litm.reference_model.recipe import Recipe


@program
def main(project: Path = Path()) -> None:
    for path, text in reference_files(Recipe, project).items():
        write_text(project / path, text)
