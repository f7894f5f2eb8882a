"""Find the number of items at which a task's prompts have a requested length in a model's tokens."""

import argparse
from dataclasses import replace

from litm.base.cli import json_object, run
from litm.base.loading import hide_torch
from litm.base.messages import UserError, note
from litm.base.records import write_json
from litm.domain.placement import gold_depths, gold_placement, positions_for
from litm.examples.example import examples_of
from litm.examples.prompt_file import read_template
from litm.examples.task import MOVE_THE_PAIR, ExampleSettings
from litm.examples.tasks import load_task
from litm.prompting.arguments import add_format_arguments, prompt_format
from litm.prompting.fit_size import most_items
from litm.prompting.formats import CHAT
from litm.prompting.render import encode_prompts

#: Questions whose prompts are counted; prompts of other questions and placements differ by a few tokens.
QUESTIONS = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", required=True, help="a module of litm/examples/tasks")
    parser.add_argument("--tokens", required=True, type=int, help="most tokens of a prompt")
    parser.add_argument("--placements", required=True, nargs="+", help="gold_at_depth_..., those of this size")
    parser.add_argument(
        "--settings", required=True, type=json_object, help="JSON: what changes the examples (ExampleSettings)"
    )
    parser.add_argument("--prompt", required=True, help="the prompt file")
    add_format_arguments(parser)
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    task = load_task(args.task)
    settings = ExampleSettings(**args.settings)
    # The order of items and the item asked for change a prompt by a token or two at most.
    settings = replace(
        settings,
        examples=min(QUESTIONS, settings.examples or QUESTIONS),
        distractor_order="ranked",
        design=MOVE_THE_PAIR,
    )
    prompt = read_template(args.prompt)
    model_format = prompt_format(args)
    golds = len(gold_depths(args.placements[0]))
    placement = gold_placement(range(golds))

    def longest_prompt(items: int) -> int:
        examples = examples_of(task, task.questions(items, settings, None), items, placement, prompt, settings)
        contents = [example.content(model_format.name == CHAT) for example in examples]
        ids = encode_prompts(model_format.tokenizer, model_format.name, model_format.template, contents)
        return max(map(len, ids))

    items = most_items(args.tokens, longest_prompt, fewest=golds + 1)
    check_apart(args.placements, items)
    write_json(args.output, {"items": items})
    note(f"{args.output}: {items} items in {args.tokens} tokens")


def check_apart(placements: list[str], items: int) -> None:
    """Raise `UserError` if two depths are the same position among so few items."""
    taken: dict[str, str] = {}
    for placement in placements:
        other = taken.setdefault(positions_for(placement, items), placement)
        if other != placement:
            raise UserError(
                f"{other} and {placement} are the same position of {items} items: leave one out, or ask for more tokens"
            )


if __name__ == "__main__":
    hide_torch()
    run(main)
