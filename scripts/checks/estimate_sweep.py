"""Count the remaining prompts of a sweep, and their tokens; needs no weights, and changes no journal."""

import argparse
from dataclasses import asdict, replace

from litm.base.cli import run
from litm.base.records import write_json
from litm.checks.estimate import encoder, remaining_work
from litm.checks.sample_size import curve_questions
from litm.domain.example import read_examples
from litm.inference.arguments import add_sweep_arguments, asking_of
from litm.inference.engines import engine_facts
from litm.inference.present_answers import present_answers


def main() -> None:
    args = parse_args()
    asking = asking_of(args)
    present = present_answers(
        read_examples(*args.examples), asking, asking.identity(args.tokenizer), args.journal, args.journals
    )
    left = remaining_work(
        (args.model, args.experiment),
        present.prompts,
        present.answers,
        asking.fit(args.context_window),
        encoder(asking, args.tokenizer),
        shares=engine_facts(args.settings["engine"]).shares_prefixes and not asking.is_encoder_decoder,
    )
    write_json(args.output, asdict(replace(left, questions=curve_questions(present.prompts))))


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
