"""Draw passages of a corpus, and make the prompts that ask a model for a question about each.

passages: the manifest of the corpus
template: the prompt, with {title} and {passage}
number: number of passages
output: output: the prompts, as examples
"""

from pathlib import Path

from litm.base.cli import program
from litm.base.files import read_text
from litm.base.messages import UserError, note
from litm.corpora.passages import corpus_passages
from litm.examples.written_questions import FEWEST_WORDS, drawn_passages, writing_examples
from litm.records.examples import write_examples


@program
def main(passages: str, template: str, number: int, seed: int, output: str) -> None:
    drawn = drawn_passages(corpus_passages(passages), number, seed)
    if not drawn:
        raise UserError(f"{passages}: no passage has {FEWEST_WORDS} words, from which a question could be written")
    write_examples(output, writing_examples(drawn, read_text(Path(template)).removesuffix("\n")))
    note(f"{output}: questions are asked for about {len(drawn)} passages")
