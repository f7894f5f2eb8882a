"""Plant made-up facts in a user's own passages, and write questions about them in the released format.

passages: the manifest of the corpus
facts: the group of facts
taken: number of questions
documents: passages of the largest context
"""

from typing import Annotated

from litm.base.cli import program
from litm.base.messages import note
from litm.corpora.passages import corpus_passages
from litm.examples.facts import LINKED, STATED
from litm.examples.planted_documents import planted_records
from litm.questions.released_format import write_question_records


@program
def main(
    passages: str, facts: Annotated[str, [STATED, LINKED]], taken: int, documents: int, seed: int, output: str
) -> None:
    read = list(corpus_passages(passages))
    records = list(planted_records(read, facts, taken, documents, seed))
    write_question_records(output, records)
    note(f"{output}: {len(records)} made-up facts; none of the {len(read)} passages contains a name of theirs")
