"""Count the remaining prompts of a sweep, and their tokens; needs no weights, and changes no journal."""

import argparse
from dataclasses import asdict, replace

from litm.base.cli import json_object, run
from litm.base.hashing import digest
from litm.base.json_files import read_json, write_json
from litm.checks.estimate import encoder, remaining_work
from litm.checks.sample_size import curve_questions
from litm.domain.example import read_examples
from litm.domain.response import Response
from litm.inference.engines import engine_facts
from litm.inference.equal_identities import equal_answers, equal_digests
from litm.inference.journal import journal_files, read_journal
from litm.inference.other_sweeps import answers_elsewhere, other_sweeps
from litm.inference.prompt import sweep_prompts
from litm.inference.sweep_setup import Asking
from litm.prompting.render import read_prompt_template

#: Source of a model that was never asked and that the config describes fully.
UNKNOWN = {"location": None, "revision": None, "context_window": None, "identity": None}


def main() -> None:
    args = parse_args()
    template = read_prompt_template(args.template) if args.template else None
    source = read_json(args.source) if args.source else UNKNOWN
    asking = Asking(source, args.settings, template, args.decoding)
    answers: dict[str, Response] = {}
    identities: dict[str, dict] = {}
    for path in journal_files(args.journal):
        recorded = read_journal(path)
        answers |= recorded.responses
        identities |= recorded.identities
    identity = asking.identity(args.tokenizer)
    prompts = sweep_prompts(read_examples(*args.examples), digest(identity), args.settings["prompt_template"])
    equal = equal_digests(identities, identity, asking.stored_dtype)
    answers |= equal_answers(((prompt.key, prompt.content) for prompt in prompts), equal, answers)
    missing = {prompt.key: prompt.content for prompt in prompts if prompt.key not in answers}
    others = other_sweeps(args.journals, args.journal) if args.journals and missing else ()
    answers |= answers_elsewhere(missing, identity, others, asking.stored_dtype).answers
    left = remaining_work(
        (args.model, args.experiment),
        prompts,
        answers,
        asking.fit(args.context_window),
        encoder(asking, args.tokenizer),
        shares=engine_facts(args.settings["engine"]).shares_prefixes and not asking.is_encoder_decoder,
    )
    write_json(args.output, asdict(replace(left, questions=curve_questions(prompts))))


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--source", nargs="?", help="output of identify_model.py; without a journal it is not needed")
    parser.add_argument("--settings", required=True, type=json_object, help="JSON: settings that change an answer")
    parser.add_argument("--decoding", required=True, type=json_object, help="JSON with max_new_tokens and stop")
    parser.add_argument("--context-window", type=int, default=0, help="in tokens; 0 is the model's own")
    parser.add_argument("--tokenizer", nargs="?", help="a tokenizer file or a model folder")
    parser.add_argument("--template", nargs="?", help="the file of a named prompt template")
    parser.add_argument("--examples", required=True, nargs="+")
    parser.add_argument("--journal", required=True, help="every response ever got; read only")
    parser.add_argument("--journals", help="the folder of all sweeps' journals, where answers are looked for too")
    parser.add_argument("--output", required=True, help="output: JSON, see litm.checks.estimate.Remaining")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
