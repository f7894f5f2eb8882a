"""Make candidates: for each question the gold document and its distractors, or the passages as retrieved."""

import argparse
from collections.abc import Iterable, Iterator

from litm.base.cli import json_object, run

# isort: split
import pandas as pd

from litm.answers.dpr import CHECKS
from litm.base.messages import UserError, note
from litm.base.records import read_json, write_csv
from litm.corpora.passages import corpus_passages, find_passages
from litm.domain.placement import AS_RETRIEVED
from litm.questions.released_format import QuestionRecord, read_question_records, write_question_records
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="name of the candidates")
    parser.add_argument("--settings", required=True, type=json_object, help="JSON: settings that change the candidates")
    parser.add_argument("--questions", required=True, help="a file in the released format, with the gold documents")
    parser.add_argument("--retrieved", nargs="?", help="output of retrieve.py; none for random distractors")
    parser.add_argument("--passages", required=True, help="the manifest of the corpus")
    parser.add_argument("--output", required=True, help="output: candidates in the released format")
    parser.add_argument("--table", required=True, help="output: counts of candidates and answers")
    args = parser.parse_args()
    settings = CandidateSettings(**args.settings)
    questions = list(read_question_records(args.questions))
    left_out: list[str] = []
    made = candidates(args, settings, questions)
    added: dict[str, int] = {}
    if settings.too_few == FILL:
        made = fill(made, args, settings, added)
    records = list(enough(made, settings, left_out))
    if not records:
        raise UserError(f"{args.questions}: no question has {settings.documents} documents")
    write_question_records(args.output, records)
    row = candidate_row(args.name, settings, records, len(left_out), CHECKS, sum(map(bool, added.values())))
    write_csv(args.table, pd.DataFrame([row]))
    note(f"{args.output}: {len(records)} questions with {settings.documents} documents, {len(left_out)} left out")


def candidates(
    args: argparse.Namespace, settings: CandidateSettings, questions: list[QuestionRecord]
) -> Iterator[QuestionRecord]:
    """The candidates of the questions, from the files in the arguments."""
    if settings.kind == AS_RETRIEVED:
        return as_retrieved(questions, read_question_records(args.retrieved), settings.documents)
    manifest = read_json(args.passages)
    golds = [question.gold_with_text_or_id() for question in questions]
    is_random = settings.kind == GOLD_AND_RANDOM
    rows = [
        random_rows(question.id, settings.documents, manifest["passages"], settings.seed)
        for question in (questions if is_random else [])
    ]
    passages = find_passages(
        corpus_passages(args.passages, manifest),
        ids=[gold.id for gold in golds if not gold.text and gold.id],
        rows=[row for drawn in rows for row in drawn],
    )
    others = (
        ([passage_document(passages[row]) for row in drawn] for drawn in rows)
        if is_random
        else (found.documents for found in read_question_records(args.retrieved))
    )
    complete = (complete_gold(gold, passages, one.where) for gold, one in zip(golds, questions, strict=True))
    return with_gold(questions, complete, others, CHECKS[settings.distractor_check], settings.documents)


def fill(
    made: Iterable[QuestionRecord], args: argparse.Namespace, settings: CandidateSettings, added: dict[str, int]
) -> Iterator[QuestionRecord]:
    """The candidates, filled up with random passages where they have too few documents.

    added: receives the number of added passages by question id.
    """
    records = list(made)
    manifest = read_json(args.passages)
    rows = {
        record.id: random_rows(record.id, settings.documents, manifest["passages"], settings.seed)
        for record in records
        if len(record.documents) < settings.documents
    }
    passages = find_passages(
        corpus_passages(args.passages, manifest), rows={row for drawn in rows.values() for row in drawn}
    )
    check = CHECKS[settings.distractor_check]
    for record in records:
        drawn = (passages[row] for row in rows.get(record.id, ()))
        full, added[record.id] = filled(record, drawn, check, settings.documents)
        yield full
    if short := [count for count in added.values() if count]:
        note(
            f"{args.output}: {len(short)} of {len(records)} questions have fewer passages than {settings.documents}, "
            f"and got {sum(short)} random ones without an answer after them"
        )


if __name__ == "__main__":
    run(main)
