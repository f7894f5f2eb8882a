"""Find what a model's prompt format puts around a prompt, for the report; needs no weights."""

import argparse

from litm.base.cli import json_object, run
from litm.base.json_files import read_json, write_json
from litm.prompting.frame import prompt_frame
from litm.prompting.reasoning import Reasoning
from litm.prompting.render import read_prompt_template
from litm.prompting.tokenizer import model_tokenizer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokenizer", nargs="?", help="a tokenizer file or a model folder")
    parser.add_argument("--source", nargs="?", help="what identify_model.py wrote; instead of --tokenizer")
    parser.add_argument("--prompt-template", required=True, help="raw, chat, or the name of a template")
    parser.add_argument("--reasoning", default={}, type=json_object, help="JSON: how the tokenizer is used")
    parser.add_argument("--template", nargs="?", help="the file of a named template")
    parser.add_argument("--output", required=True, help="output: JSON")
    args = parser.parse_args()
    source = read_json(args.source) if args.source else {"location": args.tokenizer, "revision": None}
    own_code = args.reasoning.get("trust_remote_code", False)
    reasoning = Reasoning.of(args.reasoning)
    tokenizer = model_tokenizer(source["location"], source["revision"], args.prompt_template, reasoning, own_code)
    template = read_prompt_template(args.template) if args.template else None
    write_json(args.output, prompt_frame(tokenizer, args.prompt_template, template))


if __name__ == "__main__":
    run(main)
