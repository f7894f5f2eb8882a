"""Find what a model's prompt format puts around a prompt, for the report; needs no weights."""

import argparse

from litm.base.cli import run
from litm.base.loading import hide_torch
from litm.base.records import write_json
from litm.prompting.arguments import add_format_arguments, prompt_format
from litm.prompting.frame import prompt_frame


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_format_arguments(parser)
    parser.add_argument("--output", required=True, help="output: JSON")
    args = parser.parse_args()
    model_format = prompt_format(args)
    write_json(args.output, prompt_frame(model_format.tokenizer, model_format.name, model_format.template))


if __name__ == "__main__":
    hide_torch()
    run(main)
