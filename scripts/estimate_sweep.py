"""Count what is left to ask of one sweep: prompts, and their tokens; needs no weights, and changes no journal."""

import argparse
from dataclasses import asdict

from litm.cli import json_object, run
from litm.estimate import SHARING, encoder, remaining_work
from litm.identity import sweep_identity
from litm.journal import Response, digest, journal_files, read_journal
from litm.prompt_format import load_tokenizer, read_prompt_template
from litm.records import read_json, read_jsonl, write_json
from litm.sweep import Fit, sweep_prompts


def main() -> None:
    args = parse_args()
    source = read_json(args.source) if args.source else {}
    template = read_prompt_template(args.template) if args.template else None
    identity = sweep_identity(source.get("identity", {}), args.settings, template, args.decoding)
    location = args.tokenizer or (source.get("location") if "path" in args.location else None)
    encode = encoder(load_tokenizer(location, source.get("revision")), args.settings, template) if location else None
    examples = (example for path in args.examples for _, example in read_jsonl(path))
    answers: dict[str, Response] = {}
    for path in journal_files(args.journal):
        answers |= read_journal(path).responses
    left = remaining_work(
        (args.model, args.experiment),
        sweep_prompts(examples, digest(identity), args.settings["prompt_template"]),
        answers,
        Fit(args.context_window or source.get("context_window"), args.decoding["max_new_tokens"]),
        encode,
        shares=args.settings["engine"] in SHARING,
    )
    write_json(args.output, asdict(left))


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--location", required=True, type=json_object, help="JSON: where the model is")
    parser.add_argument("--source", nargs="?", help="what identify_model.py wrote; without a journal it is not needed")
    parser.add_argument("--settings", required=True, type=json_object, help="JSON: settings that change an answer")
    parser.add_argument("--decoding", required=True, type=json_object, help="JSON with max_new_tokens and stop")
    parser.add_argument("--context-window", type=int, default=0, help="in tokens; 0 is the model's own")
    parser.add_argument("--tokenizer", nargs="?", help="a tokenizer file or a model folder")
    parser.add_argument("--template", nargs="?", help="the file of a named prompt template")
    parser.add_argument("--examples", required=True, nargs="+")
    parser.add_argument("--journal", required=True, help="every response ever got; read only")
    parser.add_argument("--output", required=True, help="output: JSON, see litm.estimate.Remaining")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
