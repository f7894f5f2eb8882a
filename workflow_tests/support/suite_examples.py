"""Questions and examples of the suite's tasks, for tests of the tasks and of their checks."""

from dataclasses import replace
from functools import cache

from conftest import ROOT

from litm.examples.examples import make_example, read_template
from litm.examples.task import SUITE, ExampleSettings
from litm.examples.tasks import load_task
from litm.placements import gold_placement
from litm.records.examples import Example
from litm.records.questions import Question

SETTINGS = ExampleSettings(examples=5, seed=0, distractor_order="ranked")
IN_SUITE_WORDS = replace(SETTINGS, wording=SUITE)
#: The tasks at the suite's sizes, and at smaller ones where many placements are made.
SIZES = {
    "conversation_memory": 100,
    "fact_reasoning": 300,
    "kv_retrieval": 100,
    "multi_needle": 300,
    "needle_in_haystack": 500,
    "semantic_distractors": 80,
    "temporal_narrative": 100,
}
SUITE_TASKS = [name for name in SIZES if name != "kv_retrieval"]
TASKS = [*SIZES, "demonstrations", "registered_codes", "conflicting_dates", "conflicting_sources"]


@cache
def questions(task: str, size: int, settings: ExampleSettings = SETTINGS) -> tuple[Question, ...]:
    return tuple(load_task(task).questions(size, settings, None))


def example(task: str, question: Question, size: int, placement: str) -> Example:
    module = load_task(task)
    template = read_template(ROOT / "resources" / "prompts" / f"{module.prompt}.txt")
    return make_example(question, size, placement, template, module)


def examples_by_position(task: str, size: int, placements: list[str]) -> dict[str, list[Example]]:
    return {
        placement: [example(task, question, size, placement) for question in questions(task, size)]
        for placement in placements
    }


def nine_positions(size: int) -> list[int]:
    """The suite's nine positions: 0, N/8, ..., 7N/8, N - 1."""
    return sorted({*(eighth * size // 8 for eighth in range(8)), size - 1})


def suite_placements(task: str, size: int) -> list[str]:
    if task == "multi_needle":
        return [gold_placement(positions) for positions in ((0, 149, 299), (0, 1, 2), (17, 100, 250))]
    return [gold_placement([position]) for position in nine_positions(size)]
