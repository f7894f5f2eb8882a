"""Ask a seeded sample of a sweep's answered prompts again, one at a time and with nothing shared, for the audit."""

import argparse

from litm.base.cli import json_object, run
from litm.base.hashing import digest
from litm.base.json_files import read_json
from litm.base.messages import note
from litm.checks.audit_sample import audit_sample
from litm.domain.example import read_examples
from litm.domain.response import read_responses, write_responses
from litm.inference.engines import audit_engine, load_engine
from litm.inference.fit import Fit
from litm.inference.journal import Journal
from litm.inference.prompt import sweep_prompts
from litm.inference.sweep import ask_missing, check_answered, sweep_responses
from litm.inference.sweep_setup import Asking
from litm.prompting.render import read_prompt_template


def main() -> None:
    args = parse_args()
    template = read_prompt_template(args.template) if args.template else None
    engine = audit_engine(args.settings["engine"])
    asking = Asking(read_json(args.source), {**args.settings, "engine": engine}, template, args.decoding)
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
    what = f"{args.model}/{args.experiment}"
    with Journal(args.journal) as journal:
        missing = sum(prompt.key not in journal for prompt in prompts)
        paid = ", which may cost money" if asking.is_served else ""
        note(f"{what}: the audit asks {missing} prompts again, one at a time{paid}")
        # All prompts fitted when they were answered.
        fit = Fit(None, settings.max_new_tokens)
        outcome = ask_missing(
            prompts,
            journal,
            identity,
            fit,
            make_engine=lambda: load_engine(engine, settings),
            what=what,
            files=files,
            stored_dtype=asking.stored_dtype,
        )
        check_answered(outcome)
        write_responses(args.output, asking.with_answers(sweep_responses(prompts, journal, outcome), args.tokenizer))


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True)
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--source", required=True, help="output of identify_model.py")
    parser.add_argument("--settings", required=True, type=json_object, help="JSON: settings that change an answer")
    parser.add_argument("--decoding", required=True, type=json_object, help="JSON with max_new_tokens and stop")
    parser.add_argument("--tokenizer", nargs="?", help="a tokenizer file that is not the model's own")
    parser.add_argument("--template", nargs="?", help="the file of a named prompt template")
    parser.add_argument("--digests", help="a folder that keeps the hashes of files for other programs")
    parser.add_argument("--run", default={}, type=json_object, help="JSON: how the model is run; changes no answer")
    parser.add_argument("--gpus", type=int, default=0, help="how many there are for the model; 0 without a GPU")
    parser.add_argument("--prompts-per-cell", type=int, required=True, help="questions of each size")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--examples", required=True, nargs="+")
    parser.add_argument("--responses", required=True, help="what generate.py wrote: what was answered")
    parser.add_argument("--journal", required=True, help="the audit's own; read, and appended to")
    parser.add_argument("--output", required=True, help="output: one line a prompt, as in the responses")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
