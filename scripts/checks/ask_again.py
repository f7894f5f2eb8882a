"""Ask a seeded sample of a sweep's answered prompts again, one at a time and with nothing shared, for the audit."""

import argparse

from litm.base.cli import run
from litm.base.messages import note
from litm.base.store import digest
from litm.checks.audit_sample import audit_sample
from litm.domain.example import read_examples
from litm.domain.response import read_responses, write_responses
from litm.inference.arguments import add_run_arguments, add_sweep_arguments, asking_of
from litm.inference.engines import audit_engine, load_engine
from litm.inference.fit import Fit
from litm.inference.journal import Journal
from litm.inference.prompt import sweep_prompts
from litm.inference.sweep import AskedSweep, ask_missing, check_answered, sweep_responses


def main() -> None:
    args = parse_args()
    engine = audit_engine(args.settings["engine"])
    asking = asking_of(args, engine)
    # Called before any file of the identity is read.
    files = asking.source_files(args.model, args.tokenizer, args.digests)
    identity = asking.identity(args.tokenizer)
    settings = asking.engine_settings(
        tokenizer=args.tokenizer,
        gpus=args.gpus,
        share_prefixes=False,
        # Batches of one prompt of any length, and one request at a time.
        **{**args.run, "batch_tokens": 1, "concurrency": 1},
    )
    sample = audit_sample(read_responses(args.responses), args.prompts_per_cell, args.seed)
    sampled = (example for example in read_examples(*args.examples) if (example.size, example.id) in sample)
    prompts = sweep_prompts(sampled, digest(identity), settings.prompt_template)
    name = f"{args.model}/{args.experiment}"
    sweep = AskedSweep(name, identity, files, asking.stored_dtype, asking.number_format)
    with Journal(args.journal) as journal:
        missing = sum(prompt.key not in journal for prompt in prompts)
        paid = ", which may cost money" if asking.is_served else ""
        note(f"{sweep.name}: the audit asks {missing} prompts again, one at a time{paid}")
        # All prompts fitted when they were answered.
        fit = Fit(None, settings.max_new_tokens)
        outcome = ask_missing(prompts, journal, sweep, fit, make_engine=lambda: load_engine(engine, settings))
        check_answered(outcome)
        write_responses(args.output, asking.with_answers(sweep_responses(prompts, journal, outcome), args.tokenizer))


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add_sweep_arguments(parser)
    add_run_arguments(parser)
    parser.add_argument("--prompts-per-cell", type=int, required=True, help="questions of each size")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--responses", required=True, help="what generate.py wrote: what was answered")
    parser.add_argument("--journal", required=True, help="the audit's own; read, and appended to")
    parser.add_argument("--output", required=True, help="output: one line a prompt, as in the responses")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
