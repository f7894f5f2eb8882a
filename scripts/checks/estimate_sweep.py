"""Count the remaining prompts of a sweep, and their tokens; needs no weights, and changes no journal.

source: output of identify_model.py; not needed without a journal
context_window: in tokens; 0 is the model's own
journal: every response ever got; read only
journals: the folder of all sweeps' journals, where answers are looked for too
output: JSON, see litm.checks.estimate.Remaining
"""

from dataclasses import asdict, replace

from litm.base.cli import program
from litm.base.json_files import write_json
from litm.engines.registry import engine_facts
from litm.inference.asked_sweep import SweepOptions
from litm.inference.sweep import present_answers
from litm.records.examples import read_examples


@program
def main(
    asked: SweepOptions,
    journal: str,
    output: str,
    source: str | None = None,
    context_window: int = 0,
    journals: str | None = None,
) -> None:
    from litm.checks.estimate import encoder, planner, remaining_work

    sweep = asked.sweep(source)
    prompts, answers = present_answers(read_examples(*asked.examples), sweep, journal, journals)
    fit = sweep.fit(context_window)
    left = remaining_work(
        (asked.model, asked.experiment),
        prompts,
        answers,
        fit,
        encoder(sweep),
        shares=engine_facts(asked.settings["engine"]).shares_prefixes and fit.is_shared,
        plan=planner(sweep, asked.run or {}),
    )
    known = asdict(replace(left, batch=bool((asked.run or {}).get("batch"))))
    # What only some models have is left out for others.
    optional = ("cached", "batch", "most_tokens")
    write_json(output, {name: value for name, value in known.items() if value or name not in optional})
