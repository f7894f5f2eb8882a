"""Reorder each question's documents with a reranker: a cross-encoder, or a fusion of several rankings."""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path

from litm.base.cli import json_object, run

# isort: split
import numpy as np

from litm.base.messages import note
from litm.base.records import read_json
from litm.base.store import digest, stored
from litm.questions.released_format import Document, QuestionRecord, read_question_records, write_question_records
from litm.retrieval.dense import write_vectors
from litm.retrieval.reranking import RECIPE, bm25_ranking, by_score, count_terms, fused, rankings_of, text_of
from litm.retrieval.search import rounded


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", required=True, help="questions with their retrieved documents")
    parser.add_argument("--fused-with", required=True, nargs="*", help="the same with other rankings")
    parser.add_argument("--model", nargs="?", help="a cross-encoder's output of identify_model.py; none to fuse")
    parser.add_argument("--settings", required=True, type=json_object, help="JSON: settings that change the order")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--batch-tokens", type=int, default=0, help="tokens in a batch; 0 is the device's default")
    parser.add_argument("--store", required=True, help="the folder where the scores of models are kept")
    parser.add_argument("--output", required=True, help="output: the same questions with their documents reranked")
    args = parser.parse_args()
    records = list(read_question_records(args.documents))
    for record in records:
        record.documents_with_text()
    reranked = by_model(args, records) if args.model else by_fusion(args, records)
    write_question_records(
        args.output, (one.with_documents(documents) for one, documents in zip(records, reranked, strict=True))
    )
    before, after = first_with_answer(one.documents for one in records), first_with_answer(reranked)
    note(
        f"{args.output}: {len(records)} questions; the first document is marked as having an answer for {after} of "
        f"them, before for {before}"
    )


def first_with_answer(rankings: Iterable[Sequence[Document]]) -> int:
    """The number of rankings whose first document has an answer."""
    return sum(bool(documents) and documents[0].has_answer for documents in rankings)


def by_fusion(args: argparse.Namespace, records: Sequence[QuestionRecord]) -> list[list[Document]]:
    """The fused rankings of the files; for a single file, fused with BM25 among its documents."""
    if args.fused_with:
        others = [rankings_of(records, path, read_question_records(path)) for path in args.fused_with]
    else:
        terms = count_terms(records)
        others = [[bm25_ranking(one.text, one.documents, terms) for one in records]]
    own = [one.documents for one in records]
    return [fused(rankings, args.settings["k"]) for rankings in zip(own, *others, strict=True)]


def by_model(args: argparse.Namespace, records: Sequence[QuestionRecord]) -> list[list[Document]]:
    """The documents by a cross-encoder's scores, which the store keeps; an interrupted job resumes."""
    source = read_json(args.model)
    pairs = [(record.text, text_of(document)) for record in records for document in record.documents]
    made_of = {"recipe": RECIPE, "pairs": digest(pairs), "model": source["identity"], "settings": args.settings}

    def build(path: Path) -> dict:
        from litm.retrieval.scoring_models import load_cross_encoder

        model = load_cross_encoder(source, args.settings, args.device, args.batch_tokens)
        write_vectors(pairs, model.score, 1, "float32", path, "reranking")
        return {"pairs": len(pairs), "cut": model.count_cut(pairs)}

    entry, facts = stored(args.store, made_of, build)
    if facts["cut"]:
        note(f"{facts['cut']} pairs are longer than {args.settings['max_tokens']} tokens and were cut there")
    scores = iter(np.fromfile(entry, dtype="float32").tolist())
    return [by_score(one.documents, [rounded(next(scores)) for _ in one.documents]) for one in records]


if __name__ == "__main__":
    run(main)
