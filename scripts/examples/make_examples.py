"""Make the examples of one cell: a prompt per question, with accepted answers and the place of the gold item.

task: a task of litm/examples/tasks
size: items in the context, or tokens, see --length
placement: gold_at_{position} or gold_at_depth_{depth}, more after a _; or another
length: what find_size.py wrote, where the size is in tokens
settings: JSON: what changes the examples (ExampleSettings)
prompt: the prompt file
dataset: the file with the questions; left out, they are generated
labels: the file that says which questions to keep; left out, all
curve: the scores that the measured order is estimated on; left out, there is no such order
"""

from litm.base.cli import program
from litm.base.json_files import read_json
from litm.base.messages import UserError, note
from litm.examples.checks import answers_not_in_nfc, checked
from litm.examples.examples import choose_questions, examples_of, of_size_in_tokens, read_template
from litm.examples.measured_order import best_where_highest, read_curve
from litm.examples.orders import FLAT
from litm.examples.task import ExampleSettings
from litm.examples.tasks import load_task
from litm.questions.subsets import read_labels
from litm.records.examples import write_examples


@program
def main(
    task: str,
    size: int,
    placement: str,
    settings: dict,
    prompt: str,
    output: str,
    length: str | None = None,
    dataset: str | None = None,
    labels: str | None = None,
    curve: str | None = None,
) -> None:
    asked, chosen = load_task(task), ExampleSettings(**settings)
    template = read_template(prompt, with_context=size > 0)
    items = read_json(length)["items"] if length else size
    kept = read_labels(str(labels), chosen.labels) if chosen.labels is not None else None
    questions, coverage = choose_questions(asked.questions(items, chosen, dataset), chosen, kept)
    if coverage is not None:
        note(
            f"{labels}: {coverage.labelled} of {coverage.questions} questions have a label, "
            f"{coverage.kept} are kept, the others left out"
        )
    taken = list(questions if dataset or asked.is_chain else map(checked, questions))
    measured = read_curve(curve, items, chosen.seed or 0) if curve else FLAT
    if curve:
        places = best_where_highest([*range(1, items + 1)], measured)
        note(f"{curve}: the measured order of {items} documents: {' '.join(map(str, places))}")
    examples = list(examples_of(asked, taken, items, placement, template, chosen, measured))
    if repeated := [question.text for question in taken if question.repeats_gold]:
        note(
            f"{dataset}: {len(repeated)} of {len(examples)} questions have their gold item among the distractors "
            f"too (the first is {repeated[0]!r}); the table answer_checks counts those whose context shows it twice"
        )
    if length:
        examples = [of_size_in_tokens(example, size) for example in examples]
    if not examples:
        raise UserError(f"{dataset}: there are no questions in it")
    if chosen.examples is not None and len(examples) < chosen.examples:
        note(f"{dataset}: {len(examples)} questions, fewer than the {chosen.examples} of 'examples'; all are taken")
    if decomposed := answers_not_in_nfc(examples):
        note(
            f"{dataset}: {decomposed} of {len(examples)} questions have a gold answer that is not in Unicode's "
            "composed form (NFC): an answer in that form counts as wrong"
        )
    write_examples(output, examples)
    note(f"{output}: {len(examples)} examples")
