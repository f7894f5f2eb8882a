"""Read the hits of an existing retrieval system, and check that the corpus has their documents.

run: JSON with the texts, or a TREC run
questions: the questions in the released format
passages: the manifest of the corpus
output: the hits by question
"""

from pathlib import Path

from litm.base.cli import program
from litm.base.json_files import write_json
from litm.base.messages import first_of, note
from litm.base.store import digest
from litm.corpora.passages import copies_of, corpus_passages
from litm.corpora.retrieved import LISTED, hits_of_questions, known_hits, with_first_copies
from litm.questions.released_format import read_question_records


@program
def main(run: Path, questions: str, passages: str, output: str) -> None:
    run_hits = hits_of_questions(run, list(read_question_records(questions)))
    hits = run_hits.hits
    if copies := {passage.id: passage.copy_of for passage in copies_of(passages)}:
        hits = with_first_copies(hits, copies)
    hits, unknown = known_hits(hits, {passage.id for passage in corpus_passages(passages)}, run)
    write_json(output, {"entry": digest(hits), "hits": hits})
    numbers = sorted(map(len, hits.values()))
    for line in run_hits.notes:
        note(line)
    if unknown:
        left_out = f"{len(unknown):,} documents are no passages of the corpus and left out"
        note(f"{run}: {left_out}: {first_of(unknown, LISTED)}")
    note(f"{output}: {numbers[0]} to {numbers[-1]} documents for each of {len(hits)} questions")
