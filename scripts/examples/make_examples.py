"""Make the examples of one cell: a prompt per question, with accepted answers and the place of the gold item."""

import argparse

from litm.base.cli import json_object, run
from litm.base.messages import UserError, note
from litm.base.records import read_json
from litm.domain.example import write_examples
from litm.domain.question import Question
from litm.examples.answer_check import answers_not_in_nfc
from litm.examples.choice import choose_questions
from litm.examples.example import examples_of, of_size_in_tokens
from litm.examples.prompt_file import read_template
from litm.examples.question_check import checked
from litm.examples.task import ExampleSettings
from litm.examples.tasks import load_task
from litm.questions.subsets import read_labels


def main() -> None:
    args = parse_args()
    task = load_task(args.task)
    settings = ExampleSettings(**args.settings)
    template = read_template(args.prompt, with_context=args.size > 0)
    items = read_json(args.length)["items"] if args.length else args.size
    labels = read_labels(args.labels, settings.labels) if settings.labels is not None else None
    questions, coverage = choose_questions(task.questions(items, settings, args.dataset), settings, labels)
    if coverage is not None:
        note(
            f"{args.labels}: {coverage.labelled} of {coverage.questions} questions have a label, "
            f"{coverage.kept} are kept, the others left out"
        )
    if not args.dataset:
        questions = map(checked, questions)
    repeated: list[str] = []

    def seen(question: Question) -> Question:
        if question.repeats_gold:
            repeated.append(question.text)
        return question

    examples = list(examples_of(task, map(seen, questions), items, args.placement, template, settings))
    if repeated:
        note(
            f"{args.dataset}: {len(repeated)} of {len(examples)} questions have their gold item among the distractors "
            f"too (the first is {repeated[0]!r}); the table answer_checks counts those whose context shows it twice"
        )
    if args.length:
        examples = [of_size_in_tokens(example, args.size) for example in examples]
    if settings.examples is not None and len(examples) < settings.examples:
        raise UserError(
            f"{args.dataset}: {len(examples)} questions, but 'examples' asks for {settings.examples}; "
            f"lower it, or set it to null for all of them"
        )
    if not examples:
        raise UserError(f"{args.dataset}: there are no questions in it")
    if decomposed := answers_not_in_nfc(examples):
        note(
            f"{args.dataset}: {decomposed} of {len(examples)} questions have a gold answer that is not in Unicode's "
            "composed form (NFC): an answer in that form counts as wrong"
        )
    write_examples(args.output, examples)
    note(f"{args.output}: {len(examples)} examples")


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", required=True, help="a module of litm/examples/tasks")
    parser.add_argument("--size", required=True, type=int, help="items in the context, or tokens, see --length")
    parser.add_argument(
        "--placement", required=True, help="gold_at_{position} or gold_at_depth_{depth}, more after a _; or another"
    )
    parser.add_argument("--length", nargs="?", help="what find_size.py wrote, where the size is in tokens")
    parser.add_argument(
        "--settings", required=True, type=json_object, help="JSON: what changes the examples (ExampleSettings)"
    )
    parser.add_argument("--prompt", required=True, help="the prompt file")
    parser.add_argument("--dataset", nargs="?", help="the file with the questions; left out, they are generated")
    parser.add_argument("--labels", nargs="?", help="the file that says which questions to keep; left out, all")
    parser.add_argument("--output", required=True)
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
