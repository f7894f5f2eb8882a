"""Ask a model the prompts of a sweep that its journal has no answer to, and write the responses to all prompts."""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path

from litm.base.cli import run
from litm.base.messages import note
from litm.base.progress import waiting
from litm.base.records import write_json
from litm.base.store import digest
from litm.domain.example import read_examples
from litm.domain.response import write_responses
from litm.domain.served import several_names
from litm.inference.arguments import add_run_arguments, add_sweep_arguments, asking_of
from litm.inference.engines import load_engine
from litm.inference.identity_changes import reason_in_words
from litm.inference.journal import Journal
from litm.inference.manifest import Outcome, manifest, sweep_fields
from litm.inference.other_sweeps import other_sweeps
from litm.inference.policies import COUNT, FAIL, LEAVE_OUT, STOP
from litm.inference.prompt import sweep_prompts
from litm.inference.sweep import AskedSweep, ask_missing, check_answered, sweep_responses
from litm.inference.sweep_parts import other_journals, prompts_of_shard, shard, shard_journal


def main() -> None:
    args = parse_args()
    name = f"{args.model}/{args.experiment}"
    with waiting(f"{name}: reading the prompts"):
        asking = asking_of(args)
        # Called before any file of the identity is read.
        files = asking.source_files(args.model, args.tokenizer, args.digests)
        identity = asking.identity(args.tokenizer)
        settings = asking.engine_settings(tokenizer=args.tokenizer, gpus=args.gpus, **args.run)
        fit = asking.fit(args.context_window, args.on_overflow)
        prompts = sweep_prompts(read_examples(*args.examples), digest(identity), settings.prompt_template)
    journal_file = Path(args.journal)
    if args.shard:
        prompts = prompts_of_shard(prompts, args.shard)
        journal_file = shard_journal(args.journal, args.shard)
    sweep = AskedSweep(name, identity, files, asking.stored_dtype, asking.number_format)
    with Journal(journal_file, other_journals(args.journal, journal_file)) as journal:
        outcome = ask_missing(
            prompts,
            journal,
            sweep,
            fit,
            make_engine=lambda: load_engine(args.settings["engine"], settings),
            ask=not args.gather,
            others=other_sweeps(args.journals, args.journal) if args.journals else (),
        )
        if args.on_failure == STOP:
            check_answered(outcome)
        names = {**sweep_fields(args.model, args.experiment, identity), "context_window": fit.context_window}
        summary = manifest({**names, **asking.manifest_fields()}, prompts, journal, outcome)
        write_responses(args.responses, asking.with_answers(sweep_responses(prompts, journal, outcome), args.tokenizer))
    write_json(args.manifest, summary)
    for line in in_words(summary, outcome):
        note(f"{sweep.name}: {line}")


def in_words(summary: Mapping, outcome: Outcome) -> Iterator[str]:
    """What a run of a sweep did. summary: its manifest."""
    count = summary["reused_elsewhere"]
    elsewhere = f" ({count} of them from other experiments or names of the model)" if count else ""
    yield (
        f"{summary['asked']} prompts asked, {summary['reused']} reused{elsewhere}, {summary['overflow']} do not fit "
        "the model's context"
    )
    if several_names(summary):
        yield (
            f"{several_names(summary)}; if they are not one model, set the model's 'revision' to what the server has "
            "now, and all is asked again"
        )
    if outcome.asked_because:
        yield f"asked because {reason_in_words(outcome.asked_because)}"
    if outcome.failed:
        yield (
            f"{len(outcome.failed)} of those asked got no answer and are counted as failed; run with `--forcerun "
            "generate` to ask them again"
        )


def parse_args() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    add_sweep_arguments(parser)
    add_run_arguments(parser)
    parser.add_argument("--context-window", type=int, default=0, help="in tokens; 0 is the model's own")
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
