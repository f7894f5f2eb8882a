"""Read the hits of an existing retrieval system, and check that the corpus has their documents."""

import argparse
from pathlib import Path

from litm.base.cli import run
from litm.base.messages import note
from litm.base.records import read_json, write_json
from litm.base.store import digest
from litm.corpora.passages import corpus_passages
from litm.corpora.retrieved import check_known, hits_of_questions
from litm.questions.released_format import read_question_records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", required=True, type=Path, help="JSON with the texts, or a TREC run")
    parser.add_argument("--questions", required=True, help="the questions in the released format")
    parser.add_argument("--passages", required=True, help="the manifest of the corpus")
    parser.add_argument("--output", required=True, help="output: the hits by question")
    args = parser.parse_args()
    hits = hits_of_questions(args.run, list(read_question_records(args.questions)))
    known = {passage.id for passage in corpus_passages(args.passages, read_json(args.passages))}
    check_known(hits, known, args.run)
    write_json(args.output, {"entry": digest(hits), "hits": hits})
    numbers = sorted(map(len, hits.values()))
    note(f"{args.output}: {numbers[0]} to {numbers[-1]} documents for each of {len(hits)} questions")


if __name__ == "__main__":
    run(main)
