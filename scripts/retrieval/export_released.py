"""Export candidates in the form of the paper's data: one file per number of documents and position of the gold one.

candidates: a file in the released format, distractors in their order
size: documents of a context, gold document included
position: of the gold document, from 0
"""

from litm.base.cli import program
from litm.base.messages import note
from litm.questions.released_format import read_question_records, write_question_records


@program
def main(candidates: str, size: int, position: int, output: str) -> None:
    records = [record.exported(size, position) for record in read_question_records(candidates)]
    write_question_records(output, records)
    note(f"{output}: {len(records)} questions")
