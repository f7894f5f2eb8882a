"""Export candidates in the form of the paper's data: one file per number of documents and position of the gold one."""

import argparse

from litm.base.cli import run
from litm.base.messages import note
from litm.questions.released_format import read_question_records, write_question_records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--candidates", required=True, help="a file in the released format, distractors in their order")
    parser.add_argument("--size", required=True, type=int, help="documents of a context, gold document included")
    parser.add_argument("--position", required=True, type=int, help="of the gold document, from 0")
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    records = [record.exported(args.size, args.position) for record in read_question_records(args.candidates)]
    write_question_records(args.output, records)
    note(f"{args.output}: {len(records)} questions")


if __name__ == "__main__":
    run(main)
