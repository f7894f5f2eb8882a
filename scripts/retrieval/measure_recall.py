"""Measure the recall of one retriever on one set of questions.

questions: name of the questions
corpus: name of the corpus
retriever: name of the retriever
retrieved: output of retrieve.py
manifest: its manifest
sizes: further numbers of passages at which recall is measured
"""

from litm.base.cli import program
from litm.base.formats import read_json, write_csv
from litm.questions.released_format import read_question_records


@program
def main(
    questions: str, corpus: str, retriever: str, retrieved: str, manifest: str, output: str, sizes: tuple[int, ...] = ()
) -> None:
    from litm.retrieval.search import recall_rows

    name = {"questions": questions, "corpus": corpus, "retriever": retriever}
    facts, records = read_json(manifest), list(read_question_records(retrieved))
    found = facts["hits"], facts["recall_against_exact"], facts["measured_on"]
    write_csv(output, [*recall_rows(name, records, *found, sizes)])
