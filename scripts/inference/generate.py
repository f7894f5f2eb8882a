"""Ask a model the prompts of a sweep that have no kept answer, and write the responses to all prompts.

source: output of identify_model.py
answers: folders of kept answers: all are read, and the first that can be written takes new ones
asking: the folder of the study's id, locks and batches
digests: a folder that keeps the hashes of files for other programs
gpus: GPUs for the model; 0 for none
context_window: in tokens; 0 is the model's own
on_failure: what to do if prompts get no answer: stop, or count them
on_overflow: what to do if prompts do not fit the context: leave their questions out and count them, or stop
shard: ask only this part of the prompts, such as 1_of_4
gather: ask nothing: the shards have asked all prompts
verdicts: the replies are those of a judge; one that is no verdict is asked again, once, with a reminder
responses: output: one line per prompt
manifest: output: identity and counts
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated

from litm.base.cli import program
from litm.base.json_files import write_json
from litm.base.messages import UserError, note
from litm.base.progress import waiting
from litm.engines.interface import COUNT, FAIL, LEAVE_OUT, STOP
from litm.engines.registry import load_engine
from litm.inference.answer_identity import reason_in_words
from litm.inference.asked_sweep import SweepOptions
from litm.inference.kept_answers import ASKING, Answers
from litm.inference.prompts import Prompt
from litm.inference.shards import Shard, prompts_of_shard
from litm.inference.shards import shard as read_shard
from litm.inference.sweep import Outcome, ask_missing, check_answered, sweep_responses
from litm.inference.sweep import manifest as manifest_of
from litm.prompting.reasoning import scored_reasoning
from litm.records.examples import read_examples
from litm.records.responses import SweepResponse, write_responses
from litm.records.served import several_names
from litm.servers.billing import bill_in_words, budgeted
from litm.verdicts import REMINDER, read_verdict


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


def no_verdict(replies: Iterable[SweepResponse]) -> set[str]:
    """The keys of replies that are no verdict."""
    return {reply.key for reply in replies if reply.text is not None and read_verdict(reply.scored_text or "") is None}


@program
def main(
    asked: SweepOptions,
    source: str,
    answers: tuple[str, ...],
    responses: str,
    manifest: str,
    asking: str = ASKING,
    digests: str | None = None,
    gpus: int = 0,
    context_window: int = 0,
    on_failure: Annotated[str, [STOP, COUNT]] = STOP,
    on_overflow: Annotated[str, [LEAVE_OUT, FAIL]] = LEAVE_OUT,
    shard: Annotated[Shard | None, read_shard] = None,
    gather: bool = False,
    verdicts: bool = False,
) -> None:
    if shard and gather:
        raise UserError("give either --shard or --gather")
    with waiting(f"{asked.model}/{asked.experiment}: reading the prompts"):
        sweep = asked.sweep(source, digests)
        fit = sweep.fit(context_window, on_overflow)
        prompts = sweep.prompts(read_examples(*asked.examples))
    if shard:
        prompts = prompts_of_shard(prompts, shard)
    part = shard.name if shard else ""
    with (
        budgeted(asked.model, asked.run or {}, sweep.name, answers, asking) as run,
        Answers(answers, asked.model, sweep.measured_experiment, asking, part) as kept,
    ):
        settings = sweep.engine_settings(gpus=gpus, **run)
        engine = asked.settings["engine"]

        def ask(prompts: Sequence[Prompt]) -> Outcome:
            return ask_missing(prompts, kept, sweep, fit, lambda: load_engine(engine, settings), ask=not gather)

        outcome, every = ask(prompts), prompts
        if verdicts and (unclear := no_verdict(sweep.with_answers(sweep_responses(prompts, kept, outcome)))):
            prompts = [sweep.followed_up(prompt, REMINDER) if prompt.key in unclear else prompt for prompt in prompts]
            every = [*every, *prompts]
            outcome = ask(every).after(outcome)
        if on_failure == STOP:
            check_answered(outcome)
        names = {**sweep.names(), "context_window": fit.context_window}
        responded = [*sweep_responses(prompts, kept, outcome)]
        summary = manifest_of(names, every, kept, outcome) | scored_reasoning(responded, sweep.reasoning)
        write_responses(responses, sweep.with_answers(responded))
    write_json(manifest, summary)
    for line in (*in_words(summary, outcome), *bill_in_words(outcome.billed, (asked.run or {}).get("prices"))):
        note(f"{sweep.name}: {line}")
