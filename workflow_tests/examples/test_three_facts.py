"""Chains of three facts: what readers of all and of the first facts get, together and alone, and the table."""

import re
from dataclasses import replace

import configs
import pytest
from plans import inputs_of
from record_makers import response
from suite_examples import SETTINGS, example

from litm.analysis.facts import chain_rows
from litm.base.messages import UserError
from litm.examples.checks import check_examples
from litm.examples.tasks import load_task
from litm.placements import gold_placement
from litm.records.examples import Example
from litm.scoring.scores import Sweep, score_sweep
from litm.tables.table import tables

TASK, SIZE, N = "linked_three_facts", 13, 10
PLACES = [(0, 6, 12), (12, 6, 0), (5, 6, 7)]
LINKS = ("first", "second", "third")
CODE = re.compile(r"[A-Z]{3}-\d{4}")


def prompts(task: str) -> dict[str, list[Example]]:
    questions = list(load_task(task).questions(SIZE, replace(SETTINGS, examples=N), None))
    return {
        name: [example(task, question, SIZE, name) for question in questions] for name in map(gold_placement, PLACES)
    }


def scores(task: str, reader):
    examples = [one for placed in prompts(task).values() for one in placed]
    answers = [response(id=e.id, size=e.size, placement=e.placement, response=reader(e.prompt)) for e in examples]
    module = load_task(task)
    return score_sweep(Sweep("m", task, task, module.metric, module), examples, answers)


def chain(prompt: str) -> list[str]:
    """What the facts say, from the place that the question names, or from a later link of it."""
    said: list[str] = []
    for begins, fact in (
        (r"hospital in (\w+)", r"hospital in {} is called Doctor (\w+)\."),
        (r"assistant of Doctor (\w+)", r"assistant of Doctor {} is called Nurse (\w+)\."),
        (r"code of Nurse (\w+)", r"code of Nurse {} is (\S+)\."),
    ):
        context, question = prompt.rsplit("\n\n", 1)
        named = re.search(begins, question)
        if named or said:
            said.append(re.search(fact.format(said[-1] if said else named[1]), context)[1])
    return said


def rows(number: int = 3, alone=None) -> list[dict]:
    """The rows of a reader that gives the first facts, and, if given, of one that gives each alone."""
    parts = [scores(f"{TASK}_{link}", lambda prompt, link=link: alone(prompt, link)) for link in LINKS] if alone else []
    return chain_rows(scores(TASK, lambda prompt: ", ".join(chain(prompt)[:number]) or "none"), parts)


def shares(row: dict) -> tuple[float, ...]:
    return tuple(row[name] for name in ("complete", *(f"fails_at_{link}" for link in LINKS)))


def test_a_reader_of_the_chain_has_all_facts_together_and_alone_at_every_place():
    found = rows(alone=lambda prompt, link: chain(prompt)[0])
    assert [(row["asked"], row["placement"]) for row in found] == [
        (asked, gold_placement(places)) for asked in ("together", "alone") for places in PLACES
    ]
    assert {shares(row) for row in found} == {(1, 0, 0, 0)} and {row["n"] for row in found} == {N}
    assert [row["from_alone"] for row in found] == [0, 0, 0, None, None, None]
    assert len(tables()["fact_chains"].frame(found)) == 6


@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_reader_of_the_first_facts_fails_at_the_next_one(number):
    expected = tuple(float(place == number) for place in range(3))
    assert {shares(row) for row in rows(number)} == {(0, *expected)}


def test_a_chain_that_breaks_alone_at_one_fact_says_which_and_what_asking_together_gains():
    found = rows(alone=lambda prompt, link: "none" if link == "second" else chain(prompt)[0])
    of_alone = [row for row in found if row["asked"] == "alone"]
    assert {shares(row) for row in of_alone} == {(0, 0, 1, 0)}
    together = [row for row in found if row["asked"] == "together"]
    assert {row["from_alone"] for row in together} == {1} and all(row["from_alone_p_holm"] < 0.05 for row in together)


def test_questions_for_one_fact_have_the_contexts_of_those_for_all():
    asked = [prompts(task) for task in (TASK, *(f"{TASK}_{link}" for link in LINKS))]
    for placement in asked[0]:
        for examples in zip(*(one[placement] for one in asked), strict=True):
            assert len({one.id for one in examples}) == 1
            assert len({one.prompt.replace(one.question, "") for one in examples}) == 1
            assert [[target.name for target in one.targets] for one in examples] == [
                [*LINKS],
                *([link] for link in LINKS),
            ]


def test_placements_differ_in_nothing_but_the_places_of_the_facts():
    for task in (TASK, *(f"{TASK}_{link}" for link in LINKS)):
        assert check_examples(prompts(task), generated=False) == []
    for question in load_task(TASK).questions(SIZE, SETTINGS, None):
        texts = [text for (text,) in [*(gold.item for gold in question.golds), *question.distractors]]
        assert len({*texts}) == SIZE and len({*CODE.findall(" ".join(texts))}) == sum("code" in text for text in texts)
    with pytest.raises(UserError, match="linked_three_facts: a context of 2 has no room for 3 facts"):
        list(load_task(TASK).questions(2, SETTINGS, None))


def test_each_fact_is_also_asked_for_alone_and_the_table_has_them_in_the_order_of_the_chain():
    study = configs.study(experiments=[TASK, "linked_facts"])
    assert [*study.experiments][:4] == [TASK, *(f"{TASK}-{link}" for link in LINKS)]
    inputs = inputs_of(study).tables
    assert inputs.settings["fact_parts"] == {
        TASK: [f"{TASK}-{link}" for link in LINKS], "linked_facts": ["linked_facts-first", "linked_facts-second"],
    }  # fmt: skip
    assert [len(inputs.inputs[name]) for name in ("chain_scores", "fact_scores")] == [4, 3]
    assert not [name for name in study.figures if name.startswith(f"{TASK}-") or name == f"{TASK}_two_facts"]
