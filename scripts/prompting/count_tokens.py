"""Count the tokens of a sweep's prompts in the model's template, and locate the gold items; needs no weights.

output: a CSV table, one row a cell
positions: output: a Parquet file, one row a prompt and target
"""

from collections import Counter
from collections.abc import Mapping
from itertools import groupby
from operator import attrgetter

from litm.base.cli import program
from litm.base.loading import hide_torch
from litm.base.messages import note
from litm.base.table_files import write_csv, write_parquet
from litm.prompting.prompt_format import FormatOptions
from litm.records.examples import read_examples

if __name__ == "__main__":
    hide_torch()


@program
def main(
    model: str, experiment: str, format_options: FormatOptions, examples: tuple[str, ...], output: str, positions: str
) -> None:
    import pandas as pd

    from litm.prompting.token_counts import POSITION_COLUMNS, measure_prompts, position_rows, token_count_row

    wanted = format_options.read()
    rows: list[Mapping] = []
    places: list[dict] = []
    special: Counter[str] = Counter()
    unknown = affected = 0
    for (size, placement), cell in groupby(read_examples(*examples), key=attrgetter("size", "placement")):
        prompts = []
        for example, prompt in measure_prompts(wanted, cell):
            prompts.append(prompt)
            special.update(prompt.special)
            affected += bool(prompt.special)
            unknown += prompt.unknown
            places += position_rows(model, experiment, example, prompt)
        rows.append(token_count_row(model, experiment, size, placement, prompts))
    write_csv(output, rows)
    write_parquet(positions, pd.DataFrame(places, columns=list(POSITION_COLUMNS)).astype(POSITION_COLUMNS))
    if special:
        named = ", ".join(f"{token} {count} times" for token, count in special.most_common(5))
        note(
            f"{model}/{experiment}: in {affected} prompts the question or documents have texts that the tokenizer "
            f"reads as special tokens ({named}); the model is given the tokens, not the texts: see n_special_tokens in "
            "results/tables/token_counts.csv"
        )
    if unknown:
        is_fast = wanted.tokenizer.is_fast
        reason = "tokenizer or chat template change their text" if is_fast else "the tokenizer is not a fast one"
        note(f"{model}/{experiment}: the token positions of {unknown} gold items are unknown ({reason})")
