"""Arguments of programs that render and tokenize prompts in a model's format."""

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING

from litm.base.cli import json_object
from litm.base.records import read_json
from litm.prompting.reasoning import Reasoning
from litm.prompting.render import read_prompt_template
from litm.prompting.tokenizer import model_tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True)
class PromptFormat:
    """A tokenizer and the format of prompts: `name` is raw, chat or a template's, whose text is `template`."""

    tokenizer: "PreTrainedTokenizerBase"
    name: str
    template: str | None


def add_format_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that `prompt_format` reads."""
    parser.add_argument("--tokenizer", nargs="?", help="a tokenizer file or a model folder")
    parser.add_argument("--source", nargs="?", help="output of identify_model.py; instead of --tokenizer")
    parser.add_argument("--prompt-template", required=True, help="raw, chat, or the name of a template")
    parser.add_argument("--reasoning", default={}, type=json_object, help="JSON: how the tokenizer is used")
    parser.add_argument("--template", nargs="?", help="the file of a named template")


def prompt_format(args: argparse.Namespace) -> PromptFormat:
    """The format that the arguments name; errors as in `model_tokenizer` and `read_prompt_template`."""
    source = read_json(args.source) if args.source else {"location": args.tokenizer, "revision": None}
    own_code = args.reasoning.get("trust_remote_code", False)
    reasoning = Reasoning.of(args.reasoning)
    tokenizer = model_tokenizer(source["location"], source["revision"], args.prompt_template, reasoning, own_code)
    return PromptFormat(tokenizer, args.prompt_template, read_prompt_template(args.template) if args.template else None)
