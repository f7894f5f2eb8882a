"""Read the log-probabilities of the accepted answers of a sweep: one row a prompt, as Parquet.

manifest: the manifest of the log-probabilities
source: output of identify_model.py
settings: JSON: the model's settings that change an answer
decoding: JSON: what is measured in place of an answer
output: a Parquet file, one row a prompt
"""

from litm.base.cli import program
from litm.base.json_files import read_json
from litm.base.table_files import write_parquet
from litm.records.examples import read_examples
from litm.records.responses import read_responses


@program
def main(
    model: str,
    experiment: str,
    task: str,
    examples: tuple[str, ...],
    responses: str,
    manifest: str,
    output: str,
    source: str,
    settings: dict,
    decoding: dict,
) -> None:
    from litm.scoring.log_probabilities import log_probability_rows
    from litm.scoring.scores import Sweep, check_origin, with_checked_keys

    made = read_json(manifest)
    check_origin(responses, made, read_json(source), settings, decoding)
    answers = list(read_responses(responses))
    asked = with_checked_keys(responses, made, read_examples(*examples), answers)
    write_parquet(output, log_probability_rows(Sweep(model, experiment, task), asked, answers, responses))
