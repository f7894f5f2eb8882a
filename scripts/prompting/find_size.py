"""Find the number of items at which a task's prompts have a requested length in a model's tokens."""

import argparse
from dataclasses import replace

from litm.base.cli import json_object, run
from litm.base.errors import UserError
from litm.base.json_files import read_json, write_json
from litm.base.messages import note
from litm.domain.placement import gold_depths, gold_placement, positions_for
from litm.examples.example import examples_of
from litm.examples.prompt_file import read_template
from litm.examples.task import MOVE_THE_PAIR, ExampleSettings
from litm.examples.tasks import load_task
from litm.prompting.fit_size import most_items
from litm.prompting.formats import CHAT
from litm.prompting.reasoning import Reasoning
from litm.prompting.render import encode_prompts, read_prompt_template
from litm.prompting.tokenizer import model_tokenizer

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
    parser.add_argument("--tokenizer", nargs="?", help="a tokenizer file or a model folder")
    parser.add_argument("--source", nargs="?", help="output of identify_model.py; instead of --tokenizer")
    parser.add_argument("--prompt-template", required=True, help="raw, chat, or the name of a template")
    parser.add_argument("--reasoning", default={}, type=json_object, help="JSON: how the tokenizer is used")
    parser.add_argument("--template", nargs="?", help="the file of a named template")
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
    source = read_json(args.source) if args.source else {"location": args.tokenizer, "revision": None}
    reasoning = Reasoning.of(args.reasoning)
    own_code = args.reasoning.get("trust_remote_code", False)
    tokenizer = model_tokenizer(source["location"], source["revision"], args.prompt_template, reasoning, own_code)
    template = read_prompt_template(args.template) if args.template else None
    golds = len(gold_depths(args.placements[0]))
    placement = gold_placement(range(golds))

    def longest_prompt(items: int) -> int:
        examples = examples_of(task, task.questions(items, settings, None), items, placement, prompt, settings)
        contents = [example.content(args.prompt_template == CHAT) for example in examples]
        return max(map(len, encode_prompts(tokenizer, args.prompt_template, template, contents)))

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
    run(main)
