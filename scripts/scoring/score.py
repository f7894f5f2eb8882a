"""Score a sweep: one row a prompt and target, as Parquet, and one row a cell with its accuracy, as CSV.

manifest: the manifest of the responses
source: output of identify_model.py; none for recorded responses
settings: JSON: the model's settings that change an answer
decoding: JSON with max_new_tokens and stop
verdicts: the replies of a judge on these answers, if they are judged
labels: a table of answers that a person has judged
only_unclear: answers with an accepted answer as whole words are right without a verdict
output: a Parquet file, one row a prompt and target
accuracy: output: a CSV file, one row a cell, with all decimals
"""

from functools import partial

from litm.base.cli import program
from litm.base.json_files import read_json
from litm.base.messages import few_clusters, note
from litm.base.table_files import write_csv, write_parquet
from litm.examples.tasks import load_task
from litm.records.examples import read_examples
from litm.records.responses import read_responses


@program
def main(
    model: str,
    experiment: str,
    task: str,
    metric: str,
    examples: tuple[str, ...],
    responses: str,
    manifest: str,
    output: str,
    accuracy: str,
    source: str | None = None,
    settings: dict | None = None,
    decoding: dict | None = None,
    verdicts: str | None = None,
    labels: str | None = None,
    only_unclear: bool = False,
) -> None:
    from litm.scoring.doubts import few_errors
    from litm.scoring.judging import Judged, check_labels, label_key, read_labels, read_verdicts
    from litm.scoring.scores import Sweep, accuracies, check_origin, score_sweep, with_checked_keys
    from litm.servers.cut_prompts import cut_by_server

    made = read_json(manifest)
    if source:
        check_origin(responses, made, read_json(source), settings or {}, decoding or {})
    answers = list(read_responses(responses))
    sweep = Sweep(model, experiment, task, metric, load_task(task))
    asked = with_checked_keys(responses, made, read_examples(*examples), answers)
    cut_at = partial(cut_by_server, made.get("identity_fields", {}))
    judged = None
    if verdicts:
        judged = Judged(read_verdicts(read_responses(verdicts)), only_unclear, read_labels(labels) if labels else {})
    if judged and labels:
        keys = {label_key(model, experiment, answer.name, answer.scored_text or "") for answer in answers}
        check_labels(judged.labels, model, experiment, keys, labels)
    scores = score_sweep(sweep, asked, answers, responses, cut_at, judged)
    if errors := few_errors(scores):
        note(f"{model}/{experiment}: {errors}")
    if unknown := sum(answer.prompt_sha256 is None for answer in answers):
        note(
            f"{responses}: {unknown} responses have no prompt_sha256 (an earlier version wrote them), so it is not "
            "known whether they were made for these prompts"
        )
    write_parquet(output, scores)
    write_csv(accuracy, accuracies(scores), decimals=None)
    if "cluster" in scores:
        clusters = scores.drop_duplicates("id")["cluster"]
        counts = f"{len(clusters)} questions in {clusters.nunique()} clusters"
        note(f"{model}/{experiment}: {counts}{few_clusters(clusters)}")
    excluded = scores.loc[scores["excluded"], ["size", "id"]].drop_duplicates()
    for size, count in excluded.groupby("size").size().items():
        note(f"{model}/{experiment}, size {size}: {count} questions left out, too long at some position")
