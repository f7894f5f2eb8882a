"""Count the remaining prompts of a sweep, and their tokens; needs no weights, and keeps nothing.

source: output of identify_model.py; not needed without answers
context_window: in tokens; 0 is the model's own
answers: folders of kept answers; read only
judge: the prompt of a judge, who is asked about the answers to the examples
judged: JSON: `responses`, the file of these answers, and `swap` and `only_unclear` of make_judge_prompts.py
output: JSON, see litm.planning.counting.Estimate; {} if the file has no answers to these examples
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from litm.base.cli import program
from litm.base.files import read_text
from litm.base.json_files import write_json
from litm.base.messages import UserError
from litm.engines.registry import engine_facts
from litm.inference.asked_sweep import SweepOptions
from litm.inference.sweep import present_answers
from litm.records.examples import Example, read_examples
from litm.records.measures import MEASURE, VERDICT
from litm.records.responses import read_responses


def prompts_about(judged: Mapping[str, Any], template: str, examples: tuple[str, ...]) -> list[Example] | None:
    """The prompts of a judge; None if the file of responses is of an earlier config."""
    from litm.scoring.judge_prompts import judge_prompts

    responses = judged["responses"]
    of_sweep = partial(read_examples, *examples), partial(read_responses, responses)
    try:
        return [*judge_prompts(template, *of_sweep, responses, judged["swap"], judged["only_unclear"])]
    except UserError:
        return None


@program
def main(
    asked: SweepOptions,
    answers: tuple[str, ...],
    output: str,
    source: str | None = None,
    context_window: int = 0,
    judge: str | None = None,
    judged: dict | None = None,
) -> None:
    from litm.planning.counting import count, encoder, planner

    sweep = asked.sweep(source)
    examples: Iterable[Example] | None = read_examples(*asked.examples)
    if judge and judged:
        examples = prompts_about(judged, read_text(Path(judge)), asked.examples)
    if examples is None:
        return write_json(output, {})
    prompts, present = present_answers(examples, sweep, answers)
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
    if judge:
        left = replace(left, measure=VERDICT, questions=None)
    write_json(output, asdict(replace(left, measure=asked.decoding.get(MEASURE, left.measure))))
