"""Read the questions that a model has written, and make the prompts that check those with an answer in one passage.

passages: the manifest of the corpus
replies: the responses of the model
with_passage: the prompt file for a question with its passage
alone: the prompt file for a question without it
pairs: output: all questions, and what is against them
output: output: the prompts, as examples
"""

from litm.base.cli import program
from litm.base.messages import note
from litm.corpora.passages import corpus_passages, find_passages
from litm.examples.examples import read_template
from litm.examples.written_questions import (
    Outcome,
    check_kept,
    checking_examples,
    in_one_passage,
    outcomes_in_words,
    write_pairs,
    written_pairs,
)
from litm.records.examples import write_examples
from litm.records.responses import read_responses


@program
def main(name: str, passages: str, replies: str, with_passage: str, alone: str, pairs: str, output: str) -> None:
    responses = list(read_responses(replies))
    drawn = find_passages(corpus_passages(passages), ids={response.id for response in responses})
    written = in_one_passage(list(written_pairs(drawn, responses)), corpus_passages(passages))
    check_kept(name, written)
    write_pairs(pairs, written)
    asked = [pair for pair in written if pair.outcome == Outcome.KEPT]
    prompts = read_template(with_passage), read_template(alone, with_context=False)
    write_examples(output, checking_examples(asked, *prompts))
    note(f"{name}: {len(written)} questions before they are checked: {outcomes_in_words(p.outcome for p in written)}")
