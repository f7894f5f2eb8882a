"""Make the prompts of a judge about the answers of a sweep.

template: the prompt of the judge, with {question}, {answers} and {answer}
responses: the answers to judge
only_unclear: leave out answers that have an accepted answer as whole words
swap: the number of answers to judge again with the accepted answers in reverse order
output: output: the prompts, as examples
"""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from litm.base.cli import program
from litm.base.files import read_text
from litm.records.examples import Example, read_examples, write_examples
from litm.records.responses import SweepResponse, read_responses


@program
def main(
    template: str, examples: tuple[str, ...], responses: str, output: str, swap: int = 0, only_unclear: bool = False
) -> None:
    from litm.scoring.judging import check_template, judge_examples, swapped_examples
    from litm.scoring.scores import answered

    text = read_text(Path(template))
    check_template(text, template)

    def answers() -> Iterator[tuple[Example, SweepResponse]]:
        pairs = answered(read_examples(*examples), read_responses(responses), responses)
        return ((example, response) for example, response, _ in pairs)

    again = swapped_examples(text, answers(), only_unclear, swap) if swap else []
    write_examples(output, chain(judge_examples(text, answers(), only_unclear), again))
