"""Write recorded responses as those of a sweep: one line per prompt, including prompts without a recorded response.

model: the model's name
experiment: the experiment's name
fields: JSON: our names of fields to the files'
settings: JSON: reasoning settings
recorded: files of recorded responses
cells: JSON: for each file a list of [size, placement]
log: the framework that wrote the files, as logs of its own
rows: JSON: the values of the records to read, by names of fields in the files; if omitted, all are read
position_scale: the scale of the positions in the files; if omitted, their values tell
decoding: JSON: limit of new tokens and stop rule, by which the answers of a framework's log are cut here: they end at
the limit
responses: output: one line per prompt
manifest: output: identity and counts
"""

import json
from typing import Annotated

from litm.base.cli import program
from litm.base.json_files import write_json
from litm.base.messages import UserError, note
from litm.engines.interface import FIRST_LINE
from litm.engines.stopping import cut_at_line_end
from litm.inference.asked_sweep import sweep_fields
from litm.prompting.reasoning import Reasoning, scored_reasoning, with_answers
from litm.recorded.responses import RecordedFile, RecordedSweep
from litm.records.examples import read_examples
from litm.records.responses import write_responses


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
    log: str | None = None,
    position_scale: str | None = None,
    rows: dict | None = None,
    decoding: dict | None = None,
) -> None:
    files = [RecordedFile(path, [tuple(cell) for cell in some]) for path, some in zip(recorded, cells, strict=True)]
    limit, stop = (decoding or {}).get("max_new_tokens", 0), (decoding or {}).get("stop")
    try:
        imported = RecordedSweep(list(read_examples(*examples)), files, fields, log, limit, position_scale, rows)
        imported.check_any()
    except UserError as error:
        raise UserError(f"{model}/{experiment}: {error}") from error
    sweep = sweep_fields(model, experiment, {**imported.identity(), **({"stop": stop} if stop else {})})
    reasoning = Reasoning.from_settings(settings or {})
    whole = [*imported.sweep_responses(sweep["identity"])]
    summary = imported.manifest(sweep) | scored_reasoning(whole, reasoning)
    answers = cut_at_line_end(whole, reasoning) if stop == FIRST_LINE else whole
    write_responses(responses, with_answers(answers, reasoning))
    write_json(manifest, summary)
    counts = (
        f"{summary['recorded']} of {summary['prompts']} prompts have a recorded response, {summary['not_recorded']} "
        f"have none and are not scored; {summary['unused']} recorded responses match no prompt"
    )
    for line in (*imported.notes(), counts):
        note(f"{model}/{experiment}: {line}")
