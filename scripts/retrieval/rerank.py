"""Reorder each question's documents with a reranker: a cross-encoder, or a fusion of several rankings.

documents: questions with their retrieved documents
fused_with: the same with other rankings
model: a cross-encoder's output of identify_model.py; none to fuse
settings: JSON: settings that change the order
batch_tokens: tokens in a batch; 0 is the device's default
store: the folder where the scores of models are kept
output: the same questions with their documents reranked
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from litm.base.cli import program
from litm.base.json_files import read_json
from litm.base.messages import note
from litm.base.store import digest, stored
from litm.questions.released_format import Document, read_question_records, write_question_records
from litm.retrieval.reranking import RECIPE, bm25_ranking, by_score, count_terms, fused, rankings_of, text_of
from litm.retrieval.search import rounded


@program
def main(
    documents: str,
    settings: dict,
    store: str,
    output: str,
    fused_with: tuple[str, ...] = (),
    model: str | None = None,
    device: str = "auto",
    batch_tokens: int = 0,
) -> None:
    import numpy as np

    records = list(read_question_records(documents))
    for record in records:
        record.documents_with_text()
    retrieved = [record.documents for record in records]

    def by_model(source: dict) -> list[list[Document]]:
        """The documents by a cross-encoder's scores, which the store keeps; an interrupted job resumes."""
        pairs = [(record.text, text_of(document)) for record in records for document in record.documents]
        made_of = {"recipe": RECIPE, "pairs": digest(pairs), "model": source["identity"], "settings": settings}

        def build(path: Path) -> dict:
            from litm.retrieval.dense import write_vectors
            from litm.retrieval.scoring_models import load_cross_encoder

            scorer = load_cross_encoder(source, settings, device, batch_tokens)
            write_vectors(pairs, scorer.score, 1, "float32", path, "reranking")
            return {"pairs": len(pairs), "cut": scorer.count_cut(pairs)}

        entry, facts = stored(store, made_of, build)
        if facts["cut"]:
            note(f"{facts['cut']} pairs are longer than {settings['max_tokens']} tokens and were cut there")
        scores = iter(np.fromfile(entry, dtype="float32").tolist())
        return [by_score(ranked, [rounded(next(scores)) for _ in ranked]) for ranked in retrieved]

    def by_fusion() -> list[list[Document]]:
        """The fused rankings of the files; for a single file, fused with BM25 among its documents."""
        if fused_with:
            others = [rankings_of(records, path, read_question_records(path)) for path in fused_with]
        else:
            terms = count_terms(records)
            others = [[bm25_ranking(record.text, record.documents, terms) for record in records]]
        return [fused(rankings, settings["k"]) for rankings in zip(retrieved, *others, strict=True)]

    def first_with_answer(rankings: Iterable[Sequence[Document]]) -> int:
        return sum(bool(ranked) and ranked[0].has_answer for ranked in rankings)

    reranked = by_model(read_json(model)) if model else by_fusion()
    write_question_records(output, (record.with_documents(new) for record, new in zip(records, reranked, strict=True)))
    note(
        f"{output}: {len(records)} questions; the first document is marked as having an answer for "
        f"{first_with_answer(reranked)} of them, before for {first_with_answer(retrieved)}"
    )
