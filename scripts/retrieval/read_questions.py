"""Read a user's own questions, and find the passages that they name by file, page or words.

questions: a table: .csv, .tsv, .json, .jsonl or .parquet
passages: the manifest of the corpus
output: the questions in the released format
"""

from itertools import chain
from pathlib import Path

from litm.base.cli import program
from litm.base.messages import note
from litm.corpora.passages import copies_of, corpus_passages, left_out_of
from litm.questions.own_questions import read_own_questions
from litm.questions.released_format import write_question_records
from litm.retrieval.gold import find_named


@program
def main(questions: Path, passages: str, output: str) -> None:
    asked = read_own_questions(questions)
    known = chain(corpus_passages(passages), copies_of(passages), left_out_of(passages))
    named = find_named(asked, known, questions)
    write_question_records(output, [question.to_record(at) for question, at in zip(asked, named, strict=True)])
    note(f"{output}: {len(asked)} questions, {sum(map(bool, named))} of them name their passage")
