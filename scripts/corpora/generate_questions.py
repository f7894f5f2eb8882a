"""Generate the questions of a generated corpus, each with its gold passage, in the released format.

source: a module of litm/corpora that has questions
settings: JSON: the settings of the corpus
taken: number of first questions to take; none for all
"""

from itertools import islice

from litm.base.cli import program
from litm.base.messages import note
from litm.corpora.made_up import questions
from litm.corpora.passages import CorpusSettings
from litm.questions.released_format import write_question_records


@program
def main(source: str, settings: dict, output: str, taken: int | None = None) -> None:
    made = list(islice(questions(source, CorpusSettings(**settings)), taken))
    write_question_records(output, made)
    note(f"{output}: {len(made)} questions")
