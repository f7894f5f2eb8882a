"""Take a sample of an experiment's questions for the report: prompts, answers and verdicts of all models."""

import argparse

from litm.base.cli import run

# isort: split
import pandas as pd

from litm.base.messages import note
from litm.base.records import read_parquet, write_jsonl
from litm.domain.example import read_examples
from litm.domain.response import read_responses
from litm.examples.tasks import load_task
from litm.report.question_samples import question_records, sampled_ids


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", required=True, nargs="+", help="in the order of --responses")
    parser.add_argument("--task", required=True, help="a module of scripts/litm/examples/tasks")
    parser.add_argument("--examples", required=True, nargs="+")
    parser.add_argument("--responses", required=True, nargs="+")
    parser.add_argument("--scores", required=True, nargs="+")
    parser.add_argument("--questions", required=True, type=int, help="of each size")
    parser.add_argument("--seed", required=True, type=int)
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    scores = pd.concat([read_parquet(path) for path in args.scores])
    ids = sampled_ids(scores, args.questions, args.seed)
    responses = {model: read_responses(path) for model, path in zip(args.models, args.responses, strict=True)}
    other_items = getattr(load_task(args.task), "other_items", None)
    write_jsonl(args.output, question_records(read_examples(*args.examples), responses, scores, ids, other_items))
    note(f"{args.output}: {sum(map(len, ids.values()))} questions")


if __name__ == "__main__":
    run(main)
