"""Ask a model the prompts of a sweep that its journal has no answer to, and write the responses to all prompts.

source: output of identify_model.py
journal: all responses so far; read and appended to; shards have theirs in a folder of the same name
journals: the folder of all sweeps' journals, also searched for answers
digests: a folder that keeps the hashes of files for other programs
gpus: GPUs for the model; 0 for none
context_window: in tokens; 0 is the model's own
on_failure: what to do if prompts get no answer: stop, or count them
on_overflow: what to do if prompts do not fit the context: leave their questions out and count them, or stop
shard: ask only this part of the prompts, such as 1_of_4
gather: ask nothing: the shards have asked all prompts
responses: output: one line per prompt
manifest: output: identity and counts
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

from litm.base.cli import program
from litm.base.json_files import write_json
from litm.base.messages import UserError, note
from litm.base.progress import waiting
from litm.engines.interface import COUNT, FAIL, LEAVE_OUT, STOP
from litm.engines.registry import load_engine
from litm.inference.answer_identity import reason_in_words
from litm.inference.asked_sweep import SweepOptions
from litm.inference.journal import Journal, Shard, other_journals, other_sweeps, shard_journal
from litm.inference.journal import shard as read_shard
from litm.inference.sweep import Outcome, ask_missing, check_answered, prompts_of_shard, sweep_responses
from litm.inference.sweep import manifest as manifest_of
from litm.prompting.reasoning import scored_reasoning
from litm.records.examples import read_examples
from litm.records.responses import write_responses
from litm.records.served import several_names
from litm.servers.billing import bill_in_words, budgeted


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


@program
def main(
    asked: SweepOptions,
    source: str,
    journal: str,
    responses: str,
    manifest: str,
    journals: str | None = None,
    digests: str | None = None,
    gpus: int = 0,
    context_window: int = 0,
    on_failure: Annotated[str, [STOP, COUNT]] = STOP,
    on_overflow: Annotated[str, [LEAVE_OUT, FAIL]] = LEAVE_OUT,
    shard: Annotated[Shard | None, read_shard] = None,
    gather: bool = False,
) -> None:
    if shard and gather:
        raise UserError("give either --shard or --gather")
    with waiting(f"{asked.model}/{asked.experiment}: reading the prompts"):
        sweep = asked.sweep(source, digests)
        fit = sweep.fit(context_window, on_overflow)
        prompts = sweep.prompts(read_examples(*asked.examples))
    own = Path(journal)
    if shard:
        prompts, own = prompts_of_shard(prompts, shard), shard_journal(journal, shard)
    with budgeted(own, asked.run or {}, sweep.name) as run, Journal(own, other_journals(journal, own)) as answers:
        settings = sweep.engine_settings(gpus=gpus, **run)
        outcome = ask_missing(
            prompts,
            answers,
            sweep,
            fit,
            make_engine=lambda: load_engine(asked.settings["engine"], settings),
            ask=not gather,
            others=other_sweeps(journals, journal) if journals else (),
        )
        if on_failure == STOP:
            check_answered(outcome)
        names = {**sweep.names(), "context_window": fit.context_window}
        told = [*sweep_responses(prompts, answers, outcome)]
        summary = manifest_of(names, prompts, answers, outcome) | scored_reasoning(told, sweep.reasoning)
        write_responses(responses, sweep.with_answers(told))
    write_json(manifest, summary)
    for line in (*in_words(summary, outcome), *bill_in_words(outcome.billed, (asked.run or {}).get("prices"))):
        note(f"{sweep.name}: {line}")
