"""Make candidates: for each question the gold document and its distractors, or the passages as retrieved.

name: name of the candidates
settings: JSON: settings that change the candidates
questions: a file in the released format, with the gold documents
retrieved: output of retrieve.py; none for random distractors
passages: the manifest of the corpus
output: candidates in the released format
table: output: counts of candidates and answers
"""

from collections.abc import Iterable

from litm.answers import CHECKS
from litm.base.cli import program
from litm.base.formats import read_json, write_csv
from litm.base.messages import UserError, note
from litm.corpora.passages import corpus_passages, find_passages
from litm.placements import AS_RETRIEVED
from litm.questions.released_format import Document, QuestionRecord, read_question_records, write_question_records
from litm.retrieval.candidates import (
    FILL,
    GOLD_AND_RANDOM,
    CandidateSettings,
    as_retrieved,
    candidate_row,
    complete_gold,
    enough,
    filled,
    passage_document,
    random_rows,
    with_gold,
)


@program
def main(
    name: str, settings: dict, questions: str, passages: str, output: str, table: str, retrieved: str | None = None
) -> None:
    wanted = CandidateSettings(**settings)
    number, check, corpus = wanted.documents, CHECKS[wanted.distractor_check], read_json(passages)["passages"]
    asked = list(read_question_records(questions))

    def drawn(records: Iterable[QuestionRecord]) -> dict[str, list[int]]:
        return {record.id: random_rows(record.id, number, corpus, wanted.seed) for record in records}

    made: Iterable[QuestionRecord]
    if wanted.kind == AS_RETRIEVED:
        made = as_retrieved(asked, read_question_records(str(retrieved)), number)
    else:
        golds = [question.gold_with_text_or_id() for question in asked]
        rows = drawn(asked) if wanted.kind == GOLD_AND_RANDOM else {}
        ids = [gold.id for gold in golds if not gold.text and gold.id]
        found = find_passages(corpus_passages(passages), ids=ids, rows=[row for some in rows.values() for row in some])
        others: Iterable[Iterable[Document]] = (
            ([passage_document(found[row]) for row in rows[question.id]] for question in asked)
            if wanted.kind == GOLD_AND_RANDOM
            else (result.documents for result in read_question_records(str(retrieved)))
        )
        complete = (complete_gold(gold, found, one.where) for gold, one in zip(golds, asked, strict=True))
        made = with_gold(asked, complete, others, check, number)
    added: dict[str, int] = {}
    if wanted.too_few == FILL:
        few = list(made)
        rows = drawn(record for record in few if len(record.documents) < number)
        found = find_passages(corpus_passages(passages), rows={row for some in rows.values() for row in some})
        made = []
        for record in few:
            full, added[record.id] = filled(record, (found[row] for row in rows.get(record.id, ())), check, number)
            made.append(full)
        if short := [count for count in added.values() if count]:
            note(
                f"{output}: {len(short)} of {len(few)} questions have fewer passages than {number}, and got "
                f"{sum(short)} random ones without an answer after them"
            )
    left_out: list[str] = []
    records = list(enough(made, wanted, left_out))
    if not records:
        raise UserError(f"{questions}: no question has {number} documents")
    write_question_records(output, records)
    write_csv(table, [candidate_row(name, wanted, records, len(left_out), CHECKS, sum(map(bool, added.values())))])
    note(f"{output}: {len(records)} questions with {number} documents, {len(left_out)} left out")
