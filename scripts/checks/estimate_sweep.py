"""Count the remaining prompts of a sweep, and their tokens; needs no weights, and changes no journal."""

import argparse
from dataclasses import asdict, replace

from litm.base.cli import run
from litm.base.hashing import digest
from litm.base.json_files import write_json
from litm.checks.estimate import encoder, remaining_work
from litm.checks.sample_size import curve_questions
from litm.domain.example import read_examples
from litm.domain.response import Response
from litm.inference.arguments import add_sweep_arguments, asking_of
from litm.inference.engines import engine_facts
from litm.inference.equal_identities import equal_answers, equal_digests
from litm.inference.journal import journal_files, read_journal
from litm.inference.other_sweeps import answers_elsewhere, other_sweeps
from litm.inference.prompt import sweep_prompts


def main() -> None:
    args = parse_args()
    asking = asking_of(args)
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
    add_sweep_arguments(parser, needs_source=False)
    parser.add_argument("--context-window", type=int, default=0, help="in tokens; 0 is the model's own")
    parser.add_argument("--journal", required=True, help="every response ever got; read only")
    parser.add_argument("--journals", help="the folder of all sweeps' journals, where answers are looked for too")
    parser.add_argument("--output", required=True, help="output: JSON, see litm.checks.estimate.Remaining")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
