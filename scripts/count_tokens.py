"""Count the tokens of a sweep's prompts, in the model's template, with its tokenizer; needs no weights."""

import argparse
from itertools import groupby

import pandas as pd

from litm.cli import run
from litm.csv_tables import write_csv
from litm.prompt_format import encode_prompts, load_tokenizer, read_prompt_template
from litm.records import read_json, read_jsonl
from litm.token_counts import token_count_row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--tokenizer", nargs="?", help="a tokenizer file or a model folder")
    parser.add_argument("--source", nargs="?", help="what identify_model.py wrote; instead of --tokenizer")
    parser.add_argument("--prompt-template", required=True, help="raw, chat, or the name of a template")
    parser.add_argument("--template", nargs="?", help="the file of a named template")
    parser.add_argument("--examples", required=True, nargs="+")
    parser.add_argument("--output", required=True)
    args = parser.parse_args()
    source = read_json(args.source) if args.source else {"location": args.tokenizer, "revision": None}
    tokenizer = load_tokenizer(source["location"], source["revision"])
    template = read_prompt_template(args.template) if args.template else None
    examples = (example for path in args.examples for _, example in read_jsonl(path))
    rows = []
    for (size, placement), cell in groupby(examples, key=lambda example: (example["size"], example["placement"])):
        ids = encode_prompts(tokenizer, args.prompt_template, template, [example["prompt"] for example in cell])
        rows.append(token_count_row(args.model, args.experiment, size, placement, [len(one) for one in ids]))
    write_csv(args.output, pd.DataFrame(rows))


if __name__ == "__main__":
    run(main)
