"""Find the number of items at which a task's prompts have a requested length in a model's tokens.

task: a task of litm/examples/tasks
tokens: most tokens of a prompt
placements: gold_at_depth_..., those of this size
settings: JSON: what changes the examples (ExampleSettings)
prompt: the prompt file
"""

from dataclasses import replace

from litm.base.cli import program
from litm.base.json_files import write_json
from litm.base.loading import hide_torch
from litm.base.messages import UserError, note
from litm.examples.examples import examples_of, read_template
from litm.examples.task import MOVE_THE_PAIR, ExampleSettings
from litm.examples.tasks import load_task
from litm.placements import gold_depths, gold_placement, positions_for
from litm.prompting.prompt_format import CHAT, FormatOptions

#: Questions whose prompts are counted; prompts of other questions and placements differ by a few tokens.
QUESTIONS = 10

if __name__ == "__main__":
    hide_torch()


@program
def main(
    format_options: FormatOptions,
    task: str,
    tokens: int,
    placements: tuple[str, ...],
    settings: dict,
    prompt: str,
    output: str,
) -> None:
    from litm.prompting.token_counts import most_items

    asked, template, wanted = load_task(task), read_template(prompt), format_options.read()
    chosen = ExampleSettings(**settings)
    # The order of items and the item asked for change a prompt by a token or two at most.
    few = min(QUESTIONS, chosen.examples or QUESTIONS)
    chosen = replace(chosen, examples=few, distractor_order="ranked", design=MOVE_THE_PAIR)
    golds = len(gold_depths(placements[0]))

    def longest_prompt(items: int) -> int:
        questions = asked.questions(items, chosen, None)
        examples = examples_of(asked, questions, items, gold_placement(range(golds)), template, chosen)
        contents = [example.content(wanted.name == CHAT) for example in examples]
        return max(map(len, wanted.encode(contents)))

    items = most_items(tokens, longest_prompt, fewest=golds + 1)
    taken: dict[str, str] = {}
    for placement in placements:
        other = taken.setdefault(positions_for(placement, items), placement)
        if other != placement:
            raise UserError(
                f"{other} and {placement} are the same position of {items} items: leave one out, or ask for more tokens"
            )
    write_json(output, {"items": items})
    note(f"{output}: {items} items in {tokens} tokens")
