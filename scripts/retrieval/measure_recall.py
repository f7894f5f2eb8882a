"""Measure the recall of one retriever on one set of questions."""

import argparse

from litm.base.cli import run

# isort: split
import pandas as pd

from litm.base.records import read_json, write_csv
from litm.questions.released_format import read_question_records
from litm.retrieval.search import recall_rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", required=True, help="name of the questions")
    parser.add_argument("--corpus", required=True, help="name of the corpus")
    parser.add_argument("--retriever", required=True, help="name of the retriever")
    parser.add_argument("--retrieved", required=True, help="output of retrieve.py")
    parser.add_argument("--manifest", required=True, help="its manifest")
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    name = {"questions": args.questions, "corpus": args.corpus, "retriever": args.retriever}
    records = list(read_question_records(args.retrieved))
    manifest = read_json(args.manifest)
    rows = recall_rows(name, records, manifest["hits"], manifest["recall_against_exact"], manifest["measured_on"])
    write_csv(args.output, pd.DataFrame(rows))


if __name__ == "__main__":
    run(main)
