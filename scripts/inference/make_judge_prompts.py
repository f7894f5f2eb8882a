"""Make the prompts of a judge about the answers of a sweep.

template: the prompt of the judge, with {question}, {answers} and {answer}
responses: the answers to judge
only_unclear: leave out answers that have an accepted answer as whole words
swap: the number of answers to judge again with the accepted answers in reverse order
output: output: the prompts, as examples
"""

from functools import partial
from pathlib import Path

from litm.base.cli import program
from litm.base.files import read_text
from litm.records.examples import read_examples, write_examples
from litm.records.responses import read_responses


@program
def main(
    template: str, examples: tuple[str, ...], responses: str, output: str, swap: int = 0, only_unclear: bool = False
) -> None:
    from litm.scoring.judge_prompts import check_template, judge_prompts

    text = read_text(Path(template))
    check_template(text, template)
    of_sweep = partial(read_examples, *examples), partial(read_responses, responses)
    write_examples(output, judge_prompts(text, *of_sweep, responses, swap, only_unclear))
