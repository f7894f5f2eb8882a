"""Count the remaining prompts of a sweep, and their tokens; needs no weights, and keeps nothing.

source: output of identify_model.py; not needed without answers
context_window: in tokens; 0 is the model's own
answers: folders of kept answers; read only
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
    asked: SweepOptions, answers: tuple[str, ...], output: str, source: str | None = None, context_window: int = 0
) -> None:
    from litm.planning.counting import count, encoder, planner

    sweep = asked.sweep(source)
    prompts, present = present_answers(read_examples(*asked.examples), sweep, answers)
    fit = sweep.fit(context_window)
    left = count(
        (asked.model, asked.experiment),
        prompts,
        present,
        fit,
        encoder(sweep),
        shares=engine_facts(asked.settings["engine"]).shares_prefixes and fit.is_shared,
        plan=planner(sweep, asked.run or {}),
    )
    write_json(output, asdict(replace(left, measure=asked.decoding.get(MEASURE, ANSWER))))
