"""Read a user's own questions, and find the passages that they name by file, page or words."""

import argparse
from pathlib import Path

from litm.base.cli import run
from litm.base.messages import note
from litm.base.records import read_json
from litm.corpora.passages import corpus_passages
from litm.questions.own_questions import read_own_questions
from litm.questions.released_format import write_question_records
from litm.retrieval.gold import find_named


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", required=True, type=Path, help="a table: .csv, .tsv, .json or .jsonl")
    parser.add_argument("--passages", required=True, help="the manifest of the corpus")
    parser.add_argument("--output", required=True, help="output: the questions in the released format")
    args = parser.parse_args()
    questions = read_own_questions(args.questions)
    passages = corpus_passages(args.passages, read_json(args.passages))
    named = find_named(questions, passages, args.questions)
    records = [question.to_record(places) for question, places in zip(questions, named, strict=True)]
    write_question_records(args.output, records)
    note(f"{args.output}: {len(questions)} questions, {sum(map(bool, named))} of them name their passage")


if __name__ == "__main__":
    run(main)
