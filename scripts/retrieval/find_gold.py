"""Find the gold passage of each question; write the questions with one, and a table of all questions."""

import argparse
from pathlib import Path

from litm.answers.dpr import dpr_check
from litm.base.cli import run
from litm.base.messages import UserError, note
from litm.base.records import read_json, write_csv
from litm.corpora.passages import Passage, corpus_passages, find_passages
from litm.questions.own_questions import named_passages, with_gold
from litm.questions.released_format import read_question_records, write_question_records
from litm.retrieval.gold import (
    Correction,
    Gold,
    corrected,
    find_gold,
    gold_document,
    gold_frame,
    read_corrections,
    sample_to_judge,
    summary,
)


def main() -> None:
    args = parse_args()
    records = list(read_question_records(args.questions))
    named = [named_passages(record) for record in records]
    corrections = {}
    if args.corrections:
        corrections = read_corrections(args.corrections, {record.text for record in records})
    ids = {id_ for one in named if one for id_ in one.passages}
    ids |= {id_ for one in corrections.values() for id_ in (one.passage, one.found) if id_}
    passages = find_passages(corpus_passages(args.passages, read_json(args.passages)), ids=ids)
    golds: list[Gold] = []
    for record, places, result in zip(records, named, read_question_records(args.retrieved), strict=True):
        found = [Passage(str(one.id), one.title, one.text) for one in result.documents]
        gold = find_gold(record, found, places, passages)
        if correction := corrections.get(record.text):
            gold = corrected(gold, found, corrected_passage(correction, passages), record.answers)
        golds.append(gold)
    kept = [
        with_gold(record, gold_document(gold.passage, dpr_check, record.answers))
        for record, gold in zip(records, golds, strict=True)
        if gold.passage is not None
    ]
    write_csv(args.table, gold_frame(args.name, records, golds))
    for line in summary(args.name, golds):
        note(line)
    if doubtful := of_other_texts(corrections, passages):
        note(
            f"{args.name}: {len(doubtful)} corrections concern documents that have changed since, such as "
            f"{doubtful[0].where}: check that {doubtful[0].passage} is still the passage that you mean"
        )
    if not kept:
        raise UserError(
            f"{args.questions}: no question has a gold passage: are the answers words of the documents? {args.table} "
            f"has a row for each"
        )
    if sample := sample_to_judge(records, golds, args.seed):
        note(f"{args.name}: do these passages answer their questions? ({len(sample)} drawn at random)")
        note("\n".join(sample))
        note(
            f"{args.name}: results/tables/gold_passages.csv has all of them. To correct some, copy it, change the "
            f"column 'passage' (empty leaves the question out) and name the copy as 'corrections'"
        )
    write_question_records(args.output, kept)


def of_other_texts(corrections: dict[str, Correction], passages: dict[str | int, Passage]) -> list[Correction]:
    """The corrections of documents that have changed since the table was copied."""
    texts = {passage.id: passage.text for passage in passages.values()}
    return [one for one in corrections.values() if one.is_of_other_texts(texts)]


def corrected_passage(correction: Correction, passages: dict[str | int, Passage]) -> Passage | None:
    """The passage of a correction, None to leave the question out; `UserError` if it is not in the corpus."""
    if not correction.passage:
        return None
    if correction.passage not in passages:
        raise UserError(f"{correction.where}: {correction.passage} is no passage of the corpus; write the id of one")
    return passages[correction.passage]


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="name of the questions")
    parser.add_argument("--questions", required=True, help="output of read_questions.py, or the released format")
    parser.add_argument("--retrieved", required=True, help="their output of retrieve.py")
    parser.add_argument("--passages", required=True, help="the manifest of the corpus")
    parser.add_argument("--corrections", nargs="?", type=Path, help="a table of questions and passages")
    parser.add_argument("--seed", required=True, type=int, help="of the questions that are printed")
    parser.add_argument("--output", required=True, help="output: questions with their gold passage")
    parser.add_argument("--table", required=True, help="output: how the passage of each question was found")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
