"""Arguments of programs that ask or count the prompts of a sweep."""

import argparse
from collections.abc import Mapping
from typing import Any

from litm.base.cli import json_object
from litm.base.records import read_json
from litm.inference.engines import engine_facts
from litm.inference.sweep_setup import Asking
from litm.models.number_format import AUTO, NumberFormat, format_here
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
    parser.add_argument("--run", default={}, type=json_object, help="JSON: how the model is run; changes no answer")


def add_run_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say how the model is run, and change no answer."""
    parser.add_argument("--digests", help="a folder that keeps the hashes of files for other programs")
    parser.add_argument("--gpus", type=int, default=0, help="GPUs for the model; 0 for none")


def asking_of(args: argparse.Namespace, engine: str | None = None) -> Asking:
    """The model and the decoding that the arguments name, in the number format of this machine; `UNKNOWN` without a
    source.

    engine: another than the model's own. Raises `UserError` as `read_prompt_template`.
    """
    template = read_prompt_template(args.template) if args.template else None
    source = read_json(args.source) if args.source else UNKNOWN
    settings = {**args.settings, **({"engine": engine} if engine else {})}
    number_format = number_format_of(settings, source, args.run.get("device", "auto"))
    if number_format:
        settings["dtype"] = number_format.name
    return Asking(source, settings, template, args.decoding, number_format)


def number_format_of(settings: Mapping[str, Any], source: Mapping[str, Any], device: str) -> NumberFormat | None:
    """The number format of a model's computation here; None for a model on a server, an engine without a model, and
    weights that are stored quantised, whose format their files set.
    """
    facts = engine_facts(settings["engine"])
    is_set_by_files = settings.get("dtype") == AUTO and source.get("is_quantized", False)
    if facts.provider or not facts.has_model or is_set_by_files:
        return None
    return format_here(settings["dtype"], device, needs_range="answer_window" in source)
