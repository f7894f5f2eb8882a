"""Keep the written questions that a model answers with their passage and not without it.

name: name of the questions
pairs: output of make_checking_prompts.py
replies: the responses to its prompts
writer: the model that wrote the questions
checker: the model that answered them
output: output: the kept questions with their passages, in the released format
kept: output: the kept questions as a table, which can be edited and named as `questions` of `my_data`
table: output: all questions, and what is against them
"""

from litm.base.cli import program
from litm.base.messages import note
from litm.base.table_files import write_csv
from litm.examples.written_questions import (
    Outcome,
    check_kept,
    checked_pairs,
    outcomes_in_words,
    question_rows,
    read_pairs,
    table_rows,
)
from litm.questions.released_format import write_question_records
from litm.records.responses import read_responses


@program
def main(name: str, pairs: str, replies: str, writer: str, checker: str, output: str, kept: str, table: str) -> None:
    checked = list(checked_pairs(read_pairs(pairs), read_responses(replies)))
    check_kept(name, checked)
    right = [pair for pair in checked if pair.outcome == Outcome.KEPT]
    write_question_records(output, [pair.record for pair in right])
    write_csv(kept, list(question_rows(right, writer)))
    write_csv(table, list(table_rows(name, checked, writer, checker)))
    note(f"{name}: {len(checked)} questions written by {writer}: {outcomes_in_words(pair.outcome for pair in checked)}")
    note(f"{name}: to edit the questions, copy {kept}, and name the copy as 'questions' of 'my_data'")
