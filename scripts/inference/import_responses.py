"""Write recorded responses as those of a sweep: one line per prompt, including prompts without a recorded response."""

import argparse
import json

from litm.base.cli import json_object, run
from litm.base.messages import UserError, note
from litm.base.records import write_json
from litm.base.store import file_sha256
from litm.domain.example import read_examples
from litm.domain.response import write_responses
from litm.inference.manifest import sweep_fields
from litm.inference.recorded_files import RecordedFile
from litm.inference.recorded_manifest import (
    check_any,
    identity,
    prompt_notes,
    recorded_manifest,
    recorded_responses,
)
from litm.inference.recorded_matching import asked_prompts, match_responses
from litm.prompting.reasoning import Reasoning, with_answers


def main() -> None:
    args = parse_args()
    files = [
        RecordedFile(path, tuple((size, placement) for size, placement in cells))
        for path, cells in zip(args.recorded, args.cells, strict=True)
    ]
    fields = identity(files, [file_sha256(path) for path in args.recorded], args.fields)
    sweep = sweep_fields(args.model, args.experiment, fields)
    asked = asked_prompts(read_examples(*args.examples), sweep["identity"], args.fields)
    what = f"{args.model}/{args.experiment}"
    try:
        matching = match_responses(asked, files, args.fields)
        check_any(asked, matching, files)
    except UserError as error:
        raise UserError(f"{what}: {error}") from error
    summary = recorded_manifest(sweep, asked, files, matching, args.fields)
    responses = recorded_responses(asked, matching)
    write_responses(args.responses, with_answers(responses, Reasoning.of(args.settings)))
    write_json(args.manifest, summary)
    for line in prompt_notes(matching):
        note(f"{what}: {line}")
    note(
        f"{what}: {summary['recorded']} of {len(asked)} prompts have a recorded response, {summary['not_recorded']} "
        f"have none and are not scored; {summary['unused']} recorded responses match no prompt"
    )


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="the model's name")
    parser.add_argument("--experiment", required=True, help="the experiment's name")
    parser.add_argument("--fields", required=True, type=json_object, help="JSON: our names of fields to the files'")
    parser.add_argument("--settings", default={}, type=json_object, help="JSON: reasoning settings")
    parser.add_argument("--recorded", required=True, nargs="+", help="files of recorded responses")
    parser.add_argument(
        "--cells", required=True, type=json.loads, help="JSON: for each file a list of [size, placement]"
    )
    parser.add_argument("--examples", required=True, nargs="+")
    parser.add_argument("--responses", required=True, help="output: one line per prompt")
    parser.add_argument("--manifest", required=True, help="output: identity and counts")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
