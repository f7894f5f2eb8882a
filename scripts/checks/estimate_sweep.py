"""Count the remaining prompts of a sweep, and their tokens; needs no weights, and changes no journal.

source: output of identify_model.py; not needed without a journal
context_window: in tokens; 0 is the model's own
journal: every response ever got; read only
journals: the folder of all sweeps' journals, where answers are looked for too
output: JSON, see litm.planning.counting.Estimate
"""

from dataclasses import asdict, replace

from litm.base.cli import program
from litm.base.json_files import write_json
from litm.engines.registry import engine_facts
from litm.inference.asked_sweep import SweepOptions
from litm.inference.sweep import present_answers
from litm.records.examples import read_examples
from litm.records.measures import ANSWER, MEASURE


@program
def main(
    asked: SweepOptions,
    journal: str,
    output: str,
    source: str | None = None,
    context_window: int = 0,
    journals: str | None = None,
) -> None:
    from litm.planning.counting import count, encoder, planner

    sweep = asked.sweep(source)
    prompts, answers = present_answers(read_examples(*asked.examples), sweep, journal, journals)
    fit = sweep.fit(context_window)
    left = count(
        (asked.model, asked.experiment),
        prompts,
        answers,
        fit,
        encoder(sweep),
        shares=engine_facts(asked.settings["engine"]).shares_prefixes and fit.is_shared,
        plan=planner(sweep, asked.run or {}),
    )
    write_json(output, asdict(replace(left, measure=asked.decoding.get(MEASURE, ANSWER))))
