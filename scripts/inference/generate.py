"""Ask a model the prompts of a sweep that its journal has no answer to, and write the responses to all prompts."""

import argparse
from pathlib import Path

from litm.base.cli import json_object, run
from litm.base.hashing import digest
from litm.base.json_files import read_json, write_json
from litm.base.messages import note
from litm.domain.example import read_examples
from litm.domain.response import write_responses
from litm.domain.served import several_names
from litm.inference.engines import load_engine
from litm.inference.identity_changes import reason_in_words
from litm.inference.journal import Journal
from litm.inference.manifest import manifest
from litm.inference.other_sweeps import other_sweeps
from litm.inference.policies import COUNT, FAIL, LEAVE_OUT, STOP
from litm.inference.prompt import sweep_prompts
from litm.inference.sweep import ask_missing, check_answered, sweep_responses
from litm.inference.sweep_parts import other_journals, prompts_of_shard, shard, shard_journal
from litm.inference.sweep_setup import Asking
from litm.prompting.render import read_prompt_template


def main() -> None:
    args = parse_args()
    template = read_prompt_template(args.template) if args.template else None
    asking = Asking(read_json(args.source), args.settings, template, args.decoding)
    # Called before any file of the identity is read.
    files = asking.source_files(args.model, args.tokenizer, args.digests)
    identity = asking.identity(args.tokenizer)
    settings = asking.engine_settings(
        tokenizer=args.tokenizer,
        gpus=args.gpus,
        **args.run,
    )
    fit = asking.fit(args.context_window, args.on_overflow)
    prompts = sweep_prompts(read_examples(*args.examples), digest(identity), settings.prompt_template)
    journal_file = Path(args.journal)
    if args.shard:
        prompts = prompts_of_shard(prompts, args.shard)
        journal_file = shard_journal(args.journal, args.shard)
    sweep = {
        "model": args.model,
        "experiment": args.experiment,
        "identity": digest(identity),
        "identity_fields": identity,
        "context_window": fit.context_window,
        **asking.stored_weights(),
    }
    with Journal(journal_file, other_journals(args.journal, journal_file)) as journal:
        outcome = ask_missing(
            prompts,
            journal,
            identity,
            fit,
            make_engine=lambda: load_engine(args.settings["engine"], settings),
            what=f"{args.model}/{args.experiment}",
            ask=not args.gather,
            files=files,
            stored_dtype=asking.stored_dtype,
            others=other_sweeps(args.journals, args.journal) if args.journals else (),
        )
        if args.on_failure == STOP:
            check_answered(outcome)
        summary = manifest(sweep, prompts, journal, outcome)
        write_responses(args.responses, asking.with_answers(sweep_responses(prompts, journal, outcome), args.tokenizer))
    write_json(args.manifest, summary)
    count = summary["reused_elsewhere"]
    elsewhere = f" ({count} of them from other experiments or names of the model)" if count else ""
    note(
        f"{args.model}/{args.experiment}: {summary['asked']} prompts asked, {summary['reused']} reused{elsewhere}, "
        f"{summary['overflow']} do not fit the model's context"
    )
    if several_names(summary):
        note(
            f"{args.model}/{args.experiment}: {several_names(summary)}; if they are not one model, set the model's "
            "'revision' to what the server has now, and all is asked again"
        )
    if outcome.asked_because:
        note(f"{args.model}/{args.experiment}: asked because {reason_in_words(outcome.asked_because)}")
    if outcome.failed:
        note(
            f"{args.model}/{args.experiment}: {len(outcome.failed)} of those asked got no answer and are counted as "
            "failed; run with `--forcerun generate` to ask them again"
        )


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="the model's name")
    parser.add_argument("--experiment", required=True, help="the experiment's name")
    parser.add_argument("--source", required=True, help="output of identify_model.py")
    parser.add_argument("--settings", required=True, type=json_object, help="JSON: settings that change an answer")
    parser.add_argument("--decoding", required=True, type=json_object, help="JSON with max_new_tokens and stop")
    parser.add_argument("--context-window", type=int, default=0, help="in tokens; 0 is the model's own")
    parser.add_argument("--tokenizer", nargs="?", help="a tokenizer file that is not the model's own")
    parser.add_argument("--template", nargs="?", help="the file of a named prompt template")
    parser.add_argument("--digests", help="a folder that keeps the hashes of files for other programs")
    parser.add_argument("--run", default={}, type=json_object, help="JSON: how the model is run; changes no answer")
    parser.add_argument("--gpus", type=int, default=0, help="GPUs for the model; 0 for none")
    part = parser.add_mutually_exclusive_group()
    part.add_argument("--shard", type=shard, help="ask only this part of the prompts, such as 1_of_4")
    part.add_argument("--gather", action="store_true", help="ask nothing: the shards have asked all prompts")
    parser.add_argument(
        "--on-failure",
        choices=[STOP, COUNT],
        default=STOP,
        help="what to do if prompts get no answer: stop, or count them",
    )
    parser.add_argument(
        "--on-overflow",
        choices=[LEAVE_OUT, FAIL],
        default=LEAVE_OUT,
        help="what to do if prompts do not fit the context: leave their questions out and count them, or stop",
    )
    parser.add_argument("--examples", required=True, nargs="+")
    parser.add_argument(
        "--journal",
        required=True,
        help="all responses so far; read and appended to; shards have theirs in a folder of the same name",
    )
    parser.add_argument("--journals", help="the folder of all sweeps' journals, also searched for answers")
    parser.add_argument("--responses", required=True, help="output: one line per prompt")
    parser.add_argument("--manifest", required=True, help="output: identity and counts")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
