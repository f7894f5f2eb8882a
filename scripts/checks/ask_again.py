"""Ask a seeded sample of a sweep's answered prompts again, one at a time and with nothing shared, for the audit.

source: output of identify_model.py
digests: a folder that keeps the hashes of files for other programs
gpus: GPUs for the model; 0 for none
prompts_per_cell: questions of each size
responses: what generate.py wrote: what was answered
answers: the audit's own folder; read, and added to
asking: the folder of the study's id, locks and batches
output: one line a prompt, as in the responses
"""

from litm.base.cli import program
from litm.base.messages import note
from litm.engines.interface import FAIL
from litm.engines.registry import audit_engine, load_engine
from litm.inference.asked_sweep import SweepOptions
from litm.inference.kept_answers import ASKING, AUDIT_ANSWERS, Answers
from litm.inference.prompts import Fit
from litm.inference.sweep import ask_missing, asked_of, check_answered, sweep_responses
from litm.records.examples import read_examples
from litm.records.responses import read_responses, write_responses
from litm.servers.billing import budgeted


@program
def main(
    asked: SweepOptions,
    source: str,
    prompts_per_cell: int,
    seed: int,
    responses: str,
    output: str,
    answers: str = AUDIT_ANSWERS,
    asking: str = ASKING,
    digests: str | None = None,
    gpus: int = 0,
) -> None:
    from litm.checks.audit import audit_sample

    engine = audit_engine(asked.settings["engine"])
    sweep = asked.sweep(source, digests, engine)
    # Batches of one prompt of any length, and one request at a time.
    alone = {**(asked.run or {}), "batch_tokens": 1, "concurrency": 1, "batch": False}
    sample = audit_sample(read_responses(responses), prompts_per_cell, seed)
    sampled = (example for example in read_examples(*asked.examples) if (example.size, example.id) in sample)
    prompts = sweep.prompts(sampled)
    with (
        budgeted(asked.model, alone, sweep.name, [answers], asking) as run,
        Answers([answers], asked.model, asked.experiment, asking, "audit") as kept,
    ):
        settings = sweep.engine_settings(gpus=gpus, share_prefixes=False, **run)
        kept.find(sweep.identity, asked_of(prompts))
        missing = sum(prompt.key not in kept for prompt in prompts)
        paid = ", which may cost money" if sweep.is_served else ""
        note(f"{sweep.name}: the audit asks {missing} prompts again, one at a time{paid}")
        # All prompts fitted when they were answered, so that none may be left out now.
        fit = Fit(None, settings.max_new_tokens, FAIL)
        outcome = ask_missing(prompts, kept, sweep, fit, make_engine=lambda: load_engine(engine, settings))
        check_answered(outcome)
        write_responses(output, sweep.with_answers(sweep_responses(prompts, kept, outcome)))
