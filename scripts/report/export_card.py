"""Write the card of a study's exported tasks, by which `datasets` reads them, and the project file for installers.

sources: JSON: a list of {name, source, version} of the questions and documents
tasks: folders that export_task.py wrote
template: the card's
project: the project file's
output: the card
pyproject: output: the project file
"""

import json
from pathlib import Path
from typing import Annotated

from litm.base.cli import program
from litm.base.files import read_text, write_text
from litm.base.json_files import read_json
from litm.report.task_export import FACTS, card


@program
def main(
    sources: Annotated[tuple, json.loads],
    tasks: tuple[Path, ...],
    template: str,
    project: str,
    output: str,
    pyproject: str,
) -> None:
    facts = {folder.name: read_json(folder / FACTS) for folder in tasks}
    write_text(output, card(read_text(template), facts, sources))
    write_text(pyproject, read_text(project))
