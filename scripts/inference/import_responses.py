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
from litm.base.messages import UserError, note
from litm.base.records import write_json
from litm.base.store import file_sha256
from litm.inference.recorded import (
    RecordedFile,
    check_any,
    identity,
    match_responses,
    prompt_notes,
    recorded_manifest,
    recorded_responses,
)
from litm.inference.sweep import sweep_fields
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
    files = [
        RecordedFile(path, tuple((size, placement) for size, placement in of_file))
        for path, of_file in zip(recorded, cells, strict=True)
    ]
    sweep = sweep_fields(model, experiment, identity(files, [file_sha256(path) for path in recorded], fields))
    asked = list(read_examples(*examples))
    try:
        matching = match_responses(asked, files, fields)
        check_any(asked, matching, files)
    except UserError as error:
        raise UserError(f"{model}/{experiment}: {error}") from error
    summary = recorded_manifest(sweep, asked, files, matching, fields)
    write_responses(
        responses, with_answers(recorded_responses(asked, sweep["identity"], matching), Reasoning.of(settings or {}))
    )
    write_json(manifest, summary)
    counts = (
        f"{summary['recorded']} of {len(asked)} prompts have a recorded response, {summary['not_recorded']} have none "
        f"and are not scored; {summary['unused']} recorded responses match no prompt"
    )
    for line in (*prompt_notes(matching), counts):
        note(f"{model}/{experiment}: {line}")
