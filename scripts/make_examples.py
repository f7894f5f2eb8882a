"""Make the examples of one cell: a prompt a question, with the answers that count and where the gold item is."""

import argparse
from collections.abc import Iterable
from itertools import islice

from litm.cli import json_object, note, run
from litm.domain.placement import positions_for
from litm.domain.question import Question
from litm.errors import UserError
from litm.examples.example import make_example
from litm.examples.placing import shuffle_distractors
from litm.examples.prompt_file import read_template
from litm.examples.question_check import check_question
from litm.examples.task import ASK_ANOTHER_KEY, ExampleSettings
from litm.examples.tasks import load_task
from litm.questions.labels import read_labels
from litm.questions.subsets import first_by_digest, select
from litm.records import read_json, write_jsonl


def main() -> None:
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
    args = parser.parse_args()
    task = load_task(args.task)
    settings = ExampleSettings(**args.settings)
    template = read_template(args.prompt, with_context=args.size > 0)
    length = read_json(args.length) if args.length else {}
    items = length.get("items", args.size)
    questions = chosen(task.questions(items, settings, args.dataset), settings, args)
    if not args.dataset:
        questions = map(checked, questions)
    if settings.distractor_order == "random":
        questions = (shuffle_distractors(question, items, settings.seed) for question in questions)
    if settings.design == ASK_ANOTHER_KEY:
        placement = positions_for(args.placement, items)
        ask_another_key = getattr(task, ASK_ANOTHER_KEY)
        questions = (ask_another_key(question, items, placement) for question in questions)
    as_messages = getattr(task, "as_messages", None)
    examples = [
        make_example(question, items, args.placement, template, task.format_items, task.SEPARATOR, as_messages)
        for question in questions
    ]
    # A size in tokens stays the name of the cell, with the number of items beside it.
    examples = [{**example, "size": args.size, **length} for example in examples]
    if settings.examples is not None and len(examples) < settings.examples:
        raise UserError(
            f"{args.dataset}: {len(examples)} questions, but 'examples' asks for {settings.examples}; "
            f"lower it, or set it to null for all there are"
        )
    if not examples:
        raise UserError(f"{args.dataset}: there are no questions in it")
    write_jsonl(args.output, examples)
    note(f"{args.output}: {len(examples)} examples")


def checked(question: Question) -> Question:
    """The generated question, if its items are what they should be; else a `UserError`."""
    found = check_question(question)
    if found:
        raise UserError(f"the task generated a question that does not measure what it should: {'; '.join(found)}")
    return question


def chosen(questions: Iterable[Question], settings: ExampleSettings, args: argparse.Namespace) -> Iterable[Question]:
    """The questions that the labels keep, and of these as many as are asked for, the first or random ones."""
    if settings.labels is not None:
        questions, coverage = select(list(questions), read_labels(args.labels, settings.labels))
        note(
            f"{args.labels}: {coverage.labelled} of {coverage.questions} questions have a label, "
            f"{coverage.kept} are kept, the others left out"
        )
    if settings.examples is None:
        return questions
    if settings.selection == "random":
        assert settings.seed is not None, "the configuration gives a seed to a random selection"
        return first_by_digest(list(questions), settings.examples, settings.seed)
    return islice(questions, settings.examples)


if __name__ == "__main__":
    run(main)
