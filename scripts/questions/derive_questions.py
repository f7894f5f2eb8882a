"""Derive questions with gold paragraphs from NQ-Open and the annotations of NaturalQuestions, and count the questions
that pass each step.
"""

import argparse

from litm.base.cli import run

# isort: split
import pandas as pd

from litm.base.messages import UserError, note
from litm.base.records import write_csv
from litm.questions.natural_questions import derive, located_records
from litm.questions.released_format import write_question_records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nq-open", required=True, help="NQ-open.*.jsonl, the questions and answers of NQ-Open")
    parser.add_argument("--annotations", required=True, nargs="+", help="files of NaturalQuestions, or the oracle file")
    parser.add_argument("--output", required=True, help="output: questions in the format of the oracle file")
    parser.add_argument("--funnel", required=True, help="output: how many questions are left at each step")
    args = parser.parse_args()
    records, funnel = derive(located_records([args.nq_open]), located_records(args.annotations))
    for step, count in funnel:
        note(f"{count:6,} {step}")
    if not records:
        raise UserError(
            f"{args.nq_open}: no question is left; are {', '.join(args.annotations)} about other questions?"
        )
    write_question_records(args.output, records)
    write_csv(args.funnel, pd.DataFrame(funnel, columns=["step", "n"]))


if __name__ == "__main__":
    run(main)
