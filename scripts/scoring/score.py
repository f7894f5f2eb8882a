"""Score a sweep: one row a prompt and target, as Parquet, and one row a cell with its accuracy, as CSV."""

import argparse

from litm.base.cli import json_object, run
from litm.base.files import atomic_writer
from litm.base.messages import note
from litm.base.records import read_json, write_csv
from litm.domain.example import read_examples
from litm.domain.response import read_responses
from litm.examples.tasks import load_task
from litm.scoring.accuracy import accuracy_table
from litm.scoring.origin import Origin, check_origin, with_checked_keys
from litm.scoring.score import Sweep, score_sweep

#: With fewer clusters than this, cluster-robust intervals are too narrow.
FEW_CLUSTERS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--task", required=True)
    parser.add_argument("--metric", required=True)
    parser.add_argument("--examples", required=True, nargs="+")
    parser.add_argument("--responses", required=True)
    parser.add_argument("--manifest", required=True, help="the manifest of the responses")
    parser.add_argument("--source", nargs="?", help="output of identify_model.py; none for recorded responses")
    parser.add_argument("--settings", type=json_object, help="JSON: the model's settings that change an answer")
    parser.add_argument("--decoding", type=json_object, help="JSON with max_new_tokens and stop")
    parser.add_argument("--output", required=True, help="output: a Parquet file, one row a prompt and target")
    parser.add_argument("--accuracy", required=True, help="output: a CSV file, one row a cell, with all decimals")
    args = parser.parse_args()
    manifest = read_json(args.manifest)
    if args.source:
        identity = read_json(args.source)["identity"]
        check_origin(args.responses, manifest, Origin(identity, args.settings, args.decoding))
    responses = list(read_responses(args.responses))
    scores = score_sweep(
        Sweep(args.model, args.experiment, args.task, args.metric, getattr(load_task(args.task), "other_items", None)),
        with_checked_keys(args.responses, manifest, read_examples(*args.examples), responses),
        responses,
        args.responses,
    )
    if unknown := sum(response.prompt_sha256 is None for response in responses):
        note(
            f"{args.responses}: {unknown} responses have no prompt_sha256 (an earlier version wrote them), so it is "
            "not known whether they were made for these prompts"
        )
    with atomic_writer(args.output) as raw:
        scores.to_parquet(raw, index=False)
    write_csv(args.accuracy, accuracy_table(scores), decimals=None)
    if "cluster" in scores:
        groups, questions = scores["cluster"].nunique(), scores["id"].nunique()
        few = f", fewer than {FEW_CLUSTERS}: intervals cover less than they say" if groups < FEW_CLUSTERS else ""
        note(f"{args.model}/{args.experiment}: {questions} questions in {groups} clusters{few}")
    excluded = scores.loc[scores["excluded"], ["size", "id"]].drop_duplicates()
    for size, count in excluded.groupby("size").size().items():
        note(f"{args.model}/{args.experiment}, size {size}: {count} questions left out, too long at some position")


if __name__ == "__main__":
    run(main)
