"""Make the examples of one cell: a prompt a question, with the answers that count and where the gold item is."""

import argparse

from litm.cli import json_object, note, run
from litm.errors import UserError
from litm.questions import make_example, read_template, shuffle_distractors
from litm.records import write_jsonl
from litm.tasks import ExampleSettings, load_task


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", required=True, help="a module of litm/tasks")
    parser.add_argument("--size", required=True, type=int, help="items in the context")
    parser.add_argument("--placement", required=True, help="gold_at_{position} or no_gold")
    parser.add_argument(
        "--settings", required=True, type=json_object, help="JSON with examples, seed, distractor_order"
    )
    parser.add_argument("--prompt", required=True, help="the prompt file")
    parser.add_argument("--dataset", nargs="?", help="the file with the questions; left out, they are generated")
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    task = load_task(args.task)
    settings = ExampleSettings(**args.settings)
    template = read_template(args.prompt, with_context=args.size > 0)
    questions = task.questions(args.size, settings, args.dataset)
    if settings.distractor_order == "random":
        questions = (shuffle_distractors(question, args.size, settings.seed) for question in questions)
    examples = [
        make_example(question, args.size, args.placement, template, task.format_items, task.SEPARATOR)
        for question in questions
    ]
    if settings.examples is not None and len(examples) < settings.examples:
        raise UserError(
            f"{args.dataset}: {len(examples)} questions, but 'examples' asks for {settings.examples}; "
            f"lower it, or set it to null for all there are"
        )
    if not examples:
        raise UserError(f"{args.dataset}: there are no questions in it")
    write_jsonl(args.output, examples)
    note(f"{args.output}: {len(examples)} examples")


if __name__ == "__main__":
    run(main)
