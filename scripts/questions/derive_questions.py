"""Derive questions with gold paragraphs from NQ-Open and the annotations of NaturalQuestions, and count the questions
that pass each step.

nq_open: NQ-open.*.jsonl, the questions and answers of NQ-Open
annotations: files of NaturalQuestions, or the oracle file
output: questions in the format of the oracle file
funnel: output: how many questions are left at each step
"""

from litm.base.cli import program
from litm.base.messages import UserError, note
from litm.base.table_files import write_csv
from litm.questions.natural_questions import derive, located_records
from litm.questions.released_format import write_question_records


@program
def main(nq_open: str, annotations: tuple[str, ...], output: str, funnel: str) -> None:
    records, steps = derive(located_records([nq_open]), located_records(annotations))
    for step, count in steps:
        note(f"{count:6,} {step}")
    if not records:
        raise UserError(f"{nq_open}: no question is left; are {', '.join(annotations)} about other questions?")
    write_question_records(output, records)
    write_csv(funnel, [{"step": step, "n": count} for step, count in steps])
