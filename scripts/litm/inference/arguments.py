"""Arguments of programs that ask or count the prompts of a sweep."""

import argparse

from litm.base.cli import json_object
from litm.base.json_files import read_json
from litm.inference.sweep_setup import Asking
from litm.prompting.render import read_prompt_template

#: Source of a model that was never asked and that the config describes fully.
UNKNOWN = {"location": None, "revision": None, "context_window": None, "identity": None}


def add_sweep_arguments(parser: argparse.ArgumentParser, needs_source: bool = True) -> None:
    """Add the arguments that name a sweep and its examples, and those that `asking_of` reads.

    needs_source: whether the model's identity must be known.
    """
    parser.add_argument("--model", required=True, help="the model's name")
    parser.add_argument("--experiment", required=True, help="the experiment's name")
    if needs_source:
        parser.add_argument("--source", required=True, help="output of identify_model.py")
    else:
        parser.add_argument("--source", nargs="?", help="output of identify_model.py; not needed without a journal")
    parser.add_argument("--settings", required=True, type=json_object, help="JSON: settings that change an answer")
    parser.add_argument("--decoding", required=True, type=json_object, help="JSON with max_new_tokens and stop")
    parser.add_argument("--tokenizer", nargs="?", help="a tokenizer file or a model folder, if not the model's own")
    parser.add_argument("--template", nargs="?", help="the file of a named prompt template")
    parser.add_argument("--examples", required=True, nargs="+")


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say how the model is run, and change no answer."""
    parser.add_argument("--digests", help="a folder that keeps the hashes of files for other programs")
    parser.add_argument("--run", default={}, type=json_object, help="JSON: how the model is run; changes no answer")
    parser.add_argument("--gpus", type=int, default=0, help="GPUs for the model; 0 for none")


def asking_of(args: argparse.Namespace, engine: str | None = None) -> Asking:
    """The model and the decoding that the arguments name; `UNKNOWN` without a source.

    engine: another than the model's own. Raises `UserError` as `read_prompt_template`.
    """
    template = read_prompt_template(args.template) if args.template else None
    source = read_json(args.source) if args.source else UNKNOWN
    return Asking(source, {**args.settings, **({"engine": engine} if engine else {})}, template, args.decoding)
