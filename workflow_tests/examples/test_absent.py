"""Contexts without the gold item: what differs from those with it, and what is said of the answers."""

import re
from dataclasses import replace

import configs
import pytest
from conftest import ROOT
from record_makers import response
from suite_examples import SETTINGS, example

from litm.analysis.cells import absent_rows
from litm.base.messages import UserError
from litm.examples.examples import examples_of, read_template
from litm.examples.fillers import FILLERS, NEUTRAL, SAME_FORM, WRONG_ANSWERS
from litm.examples.tasks import load_task
from litm.placements import ABSENT, gold_placement
from litm.records.examples import Example
from litm.scoring.scores import Sweep, score_sweep

TASK, SIZE = "registered_codes", 12
CODE = re.compile(r"[A-Z]{3}-\d{4}")


def absent(level: str) -> list[Example]:
    settings, task = replace(SETTINGS, examples=20, fillers=level), load_task(TASK)
    template = read_template(ROOT / "resources" / "prompts" / f"{task.prompt}.txt")
    return list(examples_of(task, task.questions(SIZE, settings, None), SIZE, ABSENT, template, settings))


def rates(level: str, reader) -> dict:
    task, prompts = load_task(TASK), absent(level)
    answers = [
        response(id=one.id, size=one.size, placement=one.placement, response=reader(one, number))
        for number, one in enumerate(prompts)
    ]
    (row,) = absent_rows(score_sweep(Sweep("m", "e", TASK, task.metric, task), prompts, answers))
    assert row["n"] == 20
    return {kind: row[kind] for kind in ("abstains", "copies", "knows", "other")}


@pytest.mark.parametrize("level", FILLERS)
def test_the_prompt_lacks_the_gold_item_and_nothing_else(level):
    settings = replace(SETTINGS, examples=20, fillers=level)
    for question, without in zip(load_task(TASK).questions(SIZE, settings, None), absent(level), strict=True):
        there = example(TASK, question, SIZE, gold_placement([5]))
        assert without.prompt == there.prompt.replace(f"{there.targets[0].text_in(there.prompt)}\n", "")
        assert (without.id, without.question, without.answers) == (there.id, there.question, there.answers)
        assert (without.size, without.items, without.targets[0].position) == (SIZE, SIZE - 1, None)


@pytest.mark.parametrize(
    ("level", "copied"), [(NEUTRAL, "other"), (SAME_FORM, "copies"), (WRONG_ANSWERS, "copies")]
)  # fmt: skip
def test_answers_are_abstentions_copies_or_known_and_their_shares_add_up(level, copied):
    codes = {one.id: CODE.findall(one.prompt) for one in absent(level)}

    def reader(prompt: Example, number: int) -> str:
        if number < 10:
            return "The statements do not mention it."
        if number < 15:
            return (codes[prompt.id] or ["ZZZ-1111"])[0]
        return prompt.answers[0] if number < 18 else "It is a place."

    expected = {"abstains": 0.5, "copies": 0, "knows": 0.15, "other": 0.1}
    assert rates(level, reader) == {**expected, copied: expected[copied] + 0.25}


def test_the_same_abstention_to_all_questions_is_no_doubt():
    assert rates(SAME_FORM, lambda prompt, number: "I do not know.")["abstains"] == 1


def test_where_an_answer_was_copied_from_is_its_place_in_the_context():
    task, (prompt, *_) = load_task(TASK), absent(SAME_FORM)
    items = task.other_items(prompt.prompt, prompt.targets[0])
    assert [(item.position, item.text) for item in items] == list(enumerate(prompt.prompt.split("\n\n")[1].split("\n")))


# --- The configuration

REGISTER = {"task": TASK, "positions": {4: [0, 3], 8: [0]}, "examples": 3, "absent": True}


def study(**keys):
    return configs.study(experiments=["e"], **configs.define("experiments", e={**REGISTER, **keys}))


def test_an_experiment_without_the_gold_item_has_one_cell_for_each_size_and_is_not_compared_by_position():
    found = study(fillers=[NEUTRAL, SAME_FORM])
    assert [*found.experiments] == ["e", "e-absent", "e-same_form", "e-same_form-absent"]
    assert [(cell.size, cell.placement) for cell in found.experiments["e-absent"].cells] == [(4, ABSENT), (8, ABSENT)]
    assert {name for pair in found.compared for _, name in pair} == {"e", "e-same_form"}
    assert found.figures["e_wrong_answers"].references == {"e-absent": "absent"}
    assert found.figures["e-same_form_wrong_answers"].references == {"e-same_form-absent": "absent"}
    assert found.experiments["e"].settings() == study(absent=False, fillers=[NEUTRAL]).experiments["e"].settings()


def test_a_task_without_a_gold_item_in_its_contexts_has_none_to_leave_out():
    keys = {"task": "open_domain_qa", "dataset": "mini_encyclopedia_as_retrieved", "sizes": [3], "positions": None}
    with pytest.raises(UserError, match="'absent' is for contexts with a gold item, not for the task open_domain_qa"):
        study(**keys)


def test_a_name_that_is_taken_is_an_error():
    with pytest.raises(UserError, match="experiments.e: the name e-absent is taken by another experiment"):
        configs.study(experiments=["e"], **configs.define("experiments", e=REGISTER, **{"e-absent": REGISTER}))
