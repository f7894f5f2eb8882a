"""Make the prompts of a judge about the answers of a sweep.

template: the prompt of the judge, with {question}, {answers} and {answer}
responses: the answers to judge
only_unclear: leave out answers that have an accepted answer as whole words
output: output: the prompts, as examples
"""

from pathlib import Path

from litm.base.cli import program
from litm.base.files import read_text
from litm.records.examples import read_examples, write_examples
from litm.records.responses import read_responses


@program
def main(template: str, examples: tuple[str, ...], responses: str, output: str, only_unclear: bool = False) -> None:
    from litm.scoring.judging import check_template, judge_examples
    from litm.scoring.scores import answered

    text = read_text(Path(template))
    check_template(text, template)
    pairs = answered(read_examples(*examples), read_responses(responses), responses)
    answers = ((example, response) for example, response, _ in pairs)
    write_examples(output, judge_examples(text, answers, only_unclear))
