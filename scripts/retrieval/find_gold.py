"""Find the gold passage of each question; write the questions with one, and a table of all questions.

name: name of the questions
questions: output of read_questions.py, or the released format
retrieved: their output of retrieve.py
passages: the manifest of the corpus
corrections: a table of questions and passages
seed: of the questions that are printed
output: questions with their gold passage
table: output: how the passage of each question was found
"""

from collections import Counter
from pathlib import Path

from litm.answer_words import words_check
from litm.base.cli import program
from litm.base.messages import UserError, note, quoted
from litm.base.table_files import write_csv
from litm.corpora.passages import Passage, corpus_passages, find_passages
from litm.questions.own_questions import named_passages, with_gold
from litm.questions.released_format import read_question_records, write_question_records
from litm.retrieval.gold import (
    Gold,
    corrected,
    find_gold,
    gold_document,
    gold_frame,
    read_corrections,
    sample_to_judge,
    summary,
)


@program
def main(
    name: str,
    questions: str,
    retrieved: str,
    passages: str,
    seed: int,
    output: str,
    table: str,
    corrections: Path | None = None,
) -> None:
    records = list(read_question_records(questions))
    named = [named_passages(record) for record in records]
    by_question = read_corrections(corrections, {record.text for record in records}) if corrections else {}
    ids = {id_ for places in named if places for id_ in places.passages}
    of_corrections = [(correction.passage, correction.before_correction) for correction in by_question.values()]
    ids |= {id_ for pair in of_corrections for id_ in pair if id_}
    known = find_passages(corpus_passages(passages), ids=ids)
    golds: list[Gold] = []
    for record, places, result in zip(records, named, read_question_records(retrieved), strict=True):
        hits = [Passage(str(document.id), document.title, document.text) for document in result.documents]
        gold = find_gold(record, hits, places, known)
        if correction := by_question.get(record.text):
            if correction.passage and correction.passage not in known:
                raise UserError(
                    f"{correction.where}: {correction.passage} is no passage of the corpus; write the id of one"
                )
            # No passage: the question is left out.
            gold = corrected(gold, hits, known.get(correction.passage), record.answers)
        golds.append(gold)
    kept = [
        with_gold(record, gold_document(gold.passage, words_check, record.answers))
        for record, gold in zip(records, golds, strict=True)
        if gold.passage is not None
    ]
    write_csv(table, gold_frame(name, records, golds))
    note("\n".join(summary(name, golds)))
    texts = {passage.id: passage.text for passage in known.values()}
    if doubtful := [correction for correction in by_question.values() if correction.is_of_other_texts(texts)]:
        note(
            f"{name}: {len(doubtful)} corrections concern documents that have changed since, such as "
            f"{doubtful[0].where}: check that {doubtful[0].passage} is still the passage that you mean"
        )
    if not kept:
        # The table is deleted with the job's other outputs.
        (why, number), *_ = Counter(gold.note for gold in golds).most_common()
        raise UserError(
            f"{name}: no question has a gold passage ({why}: {number} of {len(golds)} questions, such as "
            f"{quoted(records[0].text)}); write answers that are words of the documents"
        )
    if sample := sample_to_judge(records, golds, seed):
        note(f"{name}: do these passages answer their questions? ({len(sample)} drawn at random)")
        note("\n".join(sample))
        note(
            f"{name}: {table} has all of them. To correct some, copy it, change the "
            "column 'passage' (empty leaves the question out) and name the copy as 'corrections'"
        )
    write_question_records(output, kept)
