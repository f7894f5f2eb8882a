"""Count the tokens of a sweep's prompts in the model's template, and locate the gold items; needs no weights."""

import argparse
from collections import Counter
from itertools import groupby

from litm.base.cli import run

# isort: split
import pandas as pd

from litm.base.files import atomic_writer
from litm.base.loading import hide_torch
from litm.base.messages import note
from litm.base.records import write_csv
from litm.domain.example import read_examples
from litm.prompting.arguments import add_format_arguments, prompt_format
from litm.prompting.token_counts import POSITION_COLUMNS, PromptTokens, measure_prompts, position_rows, token_count_row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--experiment", required=True)
    add_format_arguments(parser)
    parser.add_argument("--examples", required=True, nargs="+")
    parser.add_argument("--output", required=True, help="output: a CSV table, one row a cell")
    parser.add_argument("--positions", required=True, help="output: a Parquet file, one row a prompt and target")
    args = parser.parse_args()
    model_format = prompt_format(args)
    examples = read_examples(*args.examples)
    rows: list[dict] = []
    positions: list[dict] = []
    unknown = 0
    special: Counter[str] = Counter()
    affected = 0
    for (size, placement), cell in groupby(examples, key=lambda example: (example.size, example.placement)):
        prompts: list[PromptTokens] = []
        for example, prompt in measure_prompts(model_format.tokenizer, model_format.name, model_format.template, cell):
            prompts.append(prompt)
            special.update(prompt.special)
            affected += bool(prompt.special)
            positions += position_rows(args.model, args.experiment, example, prompt)
        rows.append(token_count_row(args.model, args.experiment, size, placement, prompts))
        unknown += sum(prompt.unknown for prompt in prompts)
    write_csv(args.output, pd.DataFrame(rows))
    with atomic_writer(args.positions) as raw:
        pd.DataFrame(positions, columns=list(POSITION_COLUMNS)).astype(POSITION_COLUMNS).to_parquet(raw, index=False)
    if special:
        named = ", ".join(f"{token} {count} times" for token, count in special.most_common(5))
        note(
            f"{args.model}/{args.experiment}: in {affected} prompts the question or documents have texts that the "
            f"tokenizer reads as special tokens ({named}); the model is given the tokens, not the texts: see "
            "n_special_tokens in results/tables/token_counts.csv"
        )
    if unknown:
        is_fast = model_format.tokenizer.is_fast
        reason = "tokenizer or chat template change their text" if is_fast else "the tokenizer is not a fast one"
        note(f"{args.model}/{args.experiment}: the token positions of {unknown} gold items are unknown ({reason})")


if __name__ == "__main__":
    hide_torch()
    run(main)
