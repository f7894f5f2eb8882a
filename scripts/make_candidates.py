"""Make candidates: for each question the gold document and its distractors, or the passages as they were retrieved."""

import argparse
from collections.abc import Iterator

import pandas as pd

from litm.answers.dpr import CHECKS
from litm.cli import json_object, note, run
from litm.csv_tables import write_csv
from litm.domain.placement import AS_RETRIEVED
from litm.errors import UserError
from litm.lookup import corpus_passages, find_passages
from litm.questions.released_format import question_id, read_question_records
from litm.records import read_json, read_jsonl, write_jsonl
from litm.retrieval.candidates import (
    GOLD_AND_RANDOM,
    CandidateSettings,
    candidate_record,
    candidate_row,
    complete_gold,
    distractors,
    enough,
    gold_document,
    random_rows,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="name of the candidates")
    parser.add_argument("--settings", required=True, type=json_object, help="JSON: what changes the candidates")
    parser.add_argument("--questions", required=True, help="a file in the released format, with the gold documents")
    parser.add_argument("--retrieved", nargs="?", help="what retrieve.py wrote; none for random distractors")
    parser.add_argument("--passages", required=True, help="the manifest of the corpus")
    parser.add_argument("--output", required=True, help="output: candidates in the released format")
    parser.add_argument("--table", required=True, help="output: how many there are, and how many have an answer")
    args = parser.parse_args()
    settings = CandidateSettings(**args.settings)
    questions = list(read_question_records(args.questions))
    make = with_retrieved if settings.kind == AS_RETRIEVED else with_gold
    left_out: list[str] = []
    records = list(enough(make(args, settings, questions), settings, left_out))
    if not records:
        raise UserError(f"{args.questions}: no question has {settings.documents} documents")
    write_jsonl(args.output, records)
    write_csv(args.table, pd.DataFrame([candidate_row(args.name, settings, records, len(left_out), CHECKS)]))
    note(f"{args.output}: {len(records)} questions with {settings.documents} documents, {len(left_out)} left out")


Given = tuple[str, dict]


def with_retrieved(
    args: argparse.Namespace, settings: CandidateSettings, questions: list[Given]
) -> Iterator[tuple[str, dict, int]]:
    """Each question with the passages that were retrieved, as they come."""
    for (where, question), (_, found) in zip(questions, read_jsonl(args.retrieved), strict=True):
        documents = [{**document, "isgold": False} for document in found["ctxs"][: settings.documents]]
        yield where, candidate_record(question, documents), len(documents)


def with_gold(
    args: argparse.Namespace, settings: CandidateSettings, questions: list[Given]
) -> Iterator[tuple[str, dict, int]]:
    """Each question with its gold document first, then its distractors."""
    manifest = read_json(args.passages)
    golds = [gold_document(question, where) for where, question in questions]
    rows = (
        [
            random_rows(question_id(question["question"]), settings.documents, manifest["passages"], settings.seed)
            for _, question in questions
        ]
        if settings.kind == GOLD_AND_RANDOM
        else []
    )
    passages = find_passages(
        corpus_passages(args.passages, manifest),
        ids=[gold["id"] for gold in golds if not gold.get("text")],
        rows=[row for drawn in rows for row in drawn],
    )
    documents = (
        (
            [{"id": passages[row].id, "title": passages[row].title, "text": passages[row].text} for row in drawn]
            for drawn in rows
        )
        if rows
        else (found["ctxs"] for _, found in read_jsonl(args.retrieved))
    )
    check = CHECKS[settings.distractor_check]
    for (where, question), gold, found in zip(questions, golds, documents, strict=True):
        gold = complete_gold(gold, passages, where)
        others = distractors(gold, question["answers"], found, check, settings.documents - 1)
        yield where, candidate_record(question, [gold, *others]), 1 + len(others)


if __name__ == "__main__":
    run(main)
