"""Measure the recall of one retriever on one set of questions, or of documents that were retrieved elsewhere.

questions: name of the questions
corpus: name of the corpus
retriever: name of the retriever
retrieved: output of retrieve.py
manifest: its manifest; none if the documents were retrieved elsewhere
sizes: further numbers of passages at which recall is measured
"""

from litm.base.cli import program
from litm.base.json_files import read_json
from litm.base.table_files import write_csv
from litm.questions.released_format import read_question_records


@program
def main(
    questions: str,
    corpus: str,
    retriever: str,
    retrieved: str,
    output: str,
    manifest: str | None = None,
    sizes: tuple[int, ...] = (),
) -> None:
    from litm.retrieval.search import recall_rows, retrieved_elsewhere

    name = {"questions": questions, "corpus": corpus, "retriever": retriever}
    records = list(read_question_records(retrieved))
    if manifest:
        facts = read_json(manifest)
        search_facts = facts["hits"], facts["recall_against_exact"], facts["measured_on"]
    else:
        records = [retrieved_elsewhere(record) for record in records]
        search_facts = max(len(record.documents) for record in records), None, 0
    write_csv(output, [*recall_rows(name, records, *search_facts, sizes)])
