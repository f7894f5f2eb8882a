"""What people bring: what their own systems retrieved, as vector stores, rerankers and TREC's tools write it."""

import json
from collections.abc import Iterator
from pathlib import Path

from brought_study import DOCUMENTS, QUESTIONS, Brought, is_said, judged, study
from outcomes import RIGHT, WRONG, Arena, Case, Outcome, refused

from litm.base.messages import UserError
from litm.corpora.retrieved import hits_of_questions
from litm.questions.released_format import QuestionRecord

ASKED = [
    QuestionRecord({**QuestionRecord.from_documents(f"{number}?", ["x"], []).fields, "id": number})
    for number in range(6)
]
IDS = ["a", "b", "c", "d", "e"]
#: What is read of a file: the documents of the first question, and words of a note; or the words of a refusal.
READ, REFUSE = "read", "refuse"


def _lists(scores: list, key: str = "score", ids: list[str] = IDS, pairs: bool = False) -> str:
    """JSON Lines: for each question documents with these scores, in this order."""
    lines = []
    for record in ASKED:
        documents: list = [{"id": id_, "text": f"Text {id_}"} for id_ in ids]
        for document, score in zip(documents, scores, strict=False):
            if not pairs:
                document[key] = score
        if pairs:
            documents = [list(pair) for pair in zip(documents, scores, strict=True)]
        lines.append(json.dumps({"question": record.text, "documents": documents}))
    return "\n".join(lines) + "\n"


def _run(ranks: list, scores: list, ids: list[str] = IDS, end: str = "run", between: str = " ") -> str:
    """A TREC run: for each question these documents."""
    lines = (
        between.join(map(str, (record.fields["id"], "Q0", id_, rank, score, end)))
        for record in ASKED
        for id_, rank, score in zip(ids, ranks, scores, strict=True)
    )
    return "\n".join(lines) + "\n"


MIXED, TWICE = [0.5, 0.9, 0.1, 0.7, 0.3], ["a", "b", "a", "c", "b"]
FALLING, RISING = [0.9, 0.7, 0.5, 0.3, 0.1], [0.1, 0.3, 0.5, 0.7, 0.9]
RANKS = [1, 2, 3, 4, 5]
#: By what they are: the name and the text of a file, and what is to come of it.
VARIANTS: dict[str, tuple[str, str, str, list[str], str]] = {
    "similarities, best first": ("r.jsonl", _lists(FALLING), READ, IDS, ""),
    "equal scores": ("r.jsonl", _lists([0.5] * 5), READ, IDS, ""),
    "no scores": ("r.jsonl", _lists([]), READ, IDS, ""),
    "scores of null": ("r.jsonl", _lists([None] * 5), READ, IDS, ""),
    "logits below zero": ("r.jsonl", _lists([3.2, 1.1, -0.5, -4, -9]), READ, IDS, ""),
    "distances of FAISS": ("r.jsonl", _lists(RISING), READ, IDS, "distances"),
    "distances of LangChain's pairs": ("r.jsonl", _lists(RISING, pairs=True), READ, IDS, "distances"),
    "pairs of LangChain": ("r.jsonl", _lists(FALLING, pairs=True), READ, IDS, ""),
    "pairs without a score": ("r.jsonl", _lists([None] * 5, pairs=True), READ, IDS, ""),
    "LongContextReorder's order": ("r.jsonl", _lists([0.9, 0.5, 0.1, 0.3, 0.7]), REFUSE, [], "both ends"),
    "a reranker's order with old scores": ("r.jsonl", _lists([0.3, 0.9, 0.1, 0.7, 0.5]), REFUSE, [], "contradict"),
    "worst first, as similarity": ("r.jsonl", _lists(RISING, "similarity"), REFUSE, [], "worst first"),
    "worst first, as relevance": ("r.jsonl", _lists(RISING, "relevance_score"), REFUSE, [], "worst first"),
    "scores for some entries": ("r.jsonl", _lists([0.9, 0.7]), READ, IDS, "some entries"),
    "a text as a score": ("r.jsonl", _lists(["high"] * 5), REFUSE, [], "must be a number"),
    "a run": ("run.trec", _run(RANKS, FALLING), READ, IDS, ""),
    "a run with ranks from 0": ("run.trec", _run([0, 1, 2, 3, 4], FALLING), READ, IDS, ""),
    "a run with tabs": ("run.trec", _run(RANKS, FALLING, between="\t"), READ, IDS, ""),
    "a run of distances": ("run.trec", _run(RANKS, RISING), READ, IDS, "distances"),
    "a run whose ranks are all 1": ("run.trec", _run([1] * 5, RISING), READ, IDS[::-1], ""),
    "a run without ranks": ("run.trec", _run(["-"] * 5, FALLING), READ, IDS, ""),
    "a run in another order of lines": ("run.trec", _run(RANKS[::-1], RISING), READ, IDS[::-1], ""),
    "ranks that contradict scores": ("run.trec", _run(RANKS, MIXED), READ, [*"bdaec"], "trec_eval"),
    "a document again in a run": ("run.trec", _run(RANKS, FALLING, TWICE), READ, [*"abc"], "again"),
    "a document again in a list": ("r.jsonl", _lists(FALLING, ids=TWICE), READ, [*"abc"], "again"),
    "two runs in one file": ("run.trec", _run(RANKS, FALLING) + _run(RANKS, FALLING, end="b"), REFUSE, [], "second"),
    "qrels": ("qrels.txt", "0 0 a 1\n1 0 b 1\n", REFUSE, [], "qrels"),
}  # fmt: skip


def _variants(arena: Arena) -> Iterator[Outcome]:
    for name, (file, text, wanted, ids, words) in VARIANTS.items():
        path = Path(arena.folder, file)
        path.write_text(text)
        try:
            run = hits_of_questions(path, ASKED)
        except UserError as error:
            outcome = refused(name, str(error))
            yield outcome if wanted == REFUSE and words in str(error) else Outcome(name, WRONG, str(error))
            continue
        read = [id_ for id_, _ in run.hits["0?"]]
        is_noted = words in " ".join(run.notes) if words else not run.notes
        yield Outcome(name, RIGHT if wanted == READ and read == ids and is_noted else WRONG, f"{read} {run.notes}")


def _retrieved(copies: int, key: str) -> str:
    texts = [*DOCUMENTS.values()]
    lines = []
    for number, question in enumerate(QUESTIONS):
        around = texts[number:] + texts[:number]
        documents = [
            {key: f"{name}{place}", "page_content": text, "metadata": {"source": "towns.md"}}
            for place, text in enumerate(around[:6])
            for name in "xy"[:copies]
        ]
        lines.append(json.dumps({"question": question, "documents": documents}))
    return "\n".join(lines) + "\n"


def _copies(key: str) -> Case:
    def run(arena: Arena) -> Iterator[Outcome]:
        table = "question,answer\n" + "".join(f"{question},{who}\n" for question, who in QUESTIONS.items())
        files = {"retrieved.jsonl": _retrieved(2, key), "questions.csv": table}
        config = {"models": ["served"], "my_data": {"retrieved": "retrieved.jsonl", "questions": "questions.csv"}}
        found: Brought = study(arena, files, config)
        yield judged(
            f"each passage twice, named by {key}", found, lambda it: {*it.accuracy()} == {1.0} and is_said(it, "again")
        )

    return Case(f"a retriever that gives each passage twice, with {key}", run)


CASES = [Case("lists and runs", _variants, fast=True), _copies("other"), _copies("id")]
