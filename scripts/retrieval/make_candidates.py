"""Make candidates: for each question the gold document and its distractors, or the passages as retrieved.

name: name of the candidates
settings: JSON: settings that change the candidates
questions: a file in the released format, with the gold documents
retrieved: output of retrieve.py; none for random distractors
passages: the manifest of the corpus
output: candidates in the released format
table: output: counts of candidates and answers
"""

from collections.abc import Collection, Iterator, Mapping, Sequence

from litm.answer_words import CHECKS
from litm.base.cli import program
from litm.base.json_files import read_json
from litm.base.messages import UserError, note
from litm.base.table_files import write_csv
from litm.corpora.passages import corpus_passages, find_passages
from litm.placements import AS_RETRIEVED
from litm.questions.released_format import Document, QuestionRecord, read_question_records, write_question_records
from litm.retrieval import candidates


@program
def main(
    name: str, settings: dict, questions: str, passages: str, output: str, table: str, retrieved: str | None = None
) -> None:
    wanted = candidates.CandidateSettings(**settings)
    number, check, corpus = wanted.documents, CHECKS[wanted.distractor_check], read_json(passages)["passages"]
    asked = list(read_question_records(questions))

    def look_up(some: Sequence[QuestionRecord], ids: Collection[str] = ()) -> tuple[Mapping, Iterator[list[Document]]]:
        """The passages with these ids, and documents drawn for each of some questions, in one pass over the corpus."""
        rows = [candidates.random_rows(record.id, number, corpus, wanted.seed) for record in some]
        by_key = find_passages(corpus_passages(passages), ids=ids, rows={row for drawn in rows for row in drawn})
        return by_key, ([candidates.passage_document(by_key[row]) for row in drawn] for drawn in rows)

    if wanted.kind == AS_RETRIEVED:
        made = list(candidates.as_retrieved(asked, read_question_records(str(retrieved)), number))
    else:
        golds = [question.gold_with_text_or_id() for question in asked]
        ids = {gold.id for gold in golds if not gold.text and gold.id}
        is_random = wanted.kind == candidates.GOLD_AND_RANDOM
        known, drawn = look_up(asked if is_random else [], ids)
        others = drawn if is_random else (result.documents for result in read_question_records(str(retrieved)))
        whole = (candidates.complete_gold(gold, known, record.where) for record, gold in zip(asked, golds, strict=True))
        made = [
            candidates.filled(record.with_documents([gold]), documents, check, number)
            for record, gold, documents in zip(asked, whole, others, strict=True)
        ]
    added: list[int] = []
    if wanted.too_few == candidates.FILL:
        few = [record for record in made if len(record.documents) < number]
        fillers = (map(Document.as_filler, drawn) for drawn in look_up(few)[1])
        with_fillers = zip(few, fillers, strict=True)
        full = {record.id: candidates.filled(record, filler, check, number) for record, filler in with_fillers}
        added = [more for record in few if (more := len(full[record.id].documents) - len(record.documents))]
        if added:
            note(
                f"{output}: {len(added)} of {len(made)} questions have fewer passages than {number}, and got "
                f"{sum(added)} random ones without an answer after them"
            )
        made = [full.get(record.id, record) for record in made]
    left_out: list[str] = []
    records = list(candidates.enough(made, wanted, left_out))
    if not records:
        raise UserError(f"{questions}: no question has {number} documents")
    write_question_records(output, records)
    counted = {kind: CHECKS[kind] for kind in dict.fromkeys(("dpr", "metric", wanted.distractor_check))}
    write_csv(table, [candidates.candidate_row(name, wanted, records, len(left_out), counted, len(added))])
    note(f"{output}: {len(records)} questions with {number} documents, {len(left_out)} left out")
