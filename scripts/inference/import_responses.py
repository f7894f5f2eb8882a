"""Write recorded responses as those of a sweep: one line per prompt, including prompts without a recorded response.

model: the model's name
experiment: the experiment's name
fields: JSON: our names of fields to the files'
settings: JSON: reasoning settings
recorded: files of recorded responses
cells: JSON: for each file a list of [size, placement]
responses: output: one line per prompt
manifest: output: identity and counts
"""

import json
from typing import Annotated

from litm.base.cli import program
from litm.base.formats import write_json
from litm.base.messages import UserError, note
from litm.inference.recorded import RecordedFile, RecordedSweep
from litm.inference.setup import sweep_fields
from litm.prompting.reasoning import Reasoning, with_answers
from litm.records import read_examples, write_responses


@program
def main(
    model: str,
    experiment: str,
    fields: dict,
    recorded: tuple[str, ...],
    cells: Annotated[tuple, json.loads],
    examples: tuple[str, ...],
    responses: str,
    manifest: str,
    settings: dict | None = None,
) -> None:
    files = [RecordedFile(path, [tuple(cell) for cell in some]) for path, some in zip(recorded, cells, strict=True)]
    try:
        imported = RecordedSweep(list(read_examples(*examples)), files, fields)
        imported.check_any()
    except UserError as error:
        raise UserError(f"{model}/{experiment}: {error}") from error
    sweep = sweep_fields(model, experiment, imported.identity())
    summary = imported.manifest(sweep)
    write_responses(responses, with_answers(imported.sweep_responses(sweep["identity"]), Reasoning.of(settings or {})))
    write_json(manifest, summary)
    counts = (
        f"{summary['recorded']} of {summary['prompts']} prompts have a recorded response, {summary['not_recorded']} "
        f"have none and are not scored; {summary['unused']} recorded responses match no prompt"
    )
    for line in (*imported.notes(), counts):
        note(f"{model}/{experiment}: {line}")
