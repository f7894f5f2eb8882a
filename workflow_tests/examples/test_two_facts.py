"""Two gold items of one context: what readers of both, of the first and of the nearest fact get, and the table."""

import re
from collections.abc import Callable
from dataclasses import replace

import configs
import pytest
from record_makers import response
from suite_examples import SETTINGS, example

from litm.analysis.facts import two_facts_rows
from litm.analysis.grid import curves
from litm.base.messages import UserError
from litm.examples.checks import check_examples, checked
from litm.examples.examples import place
from litm.examples.tasks import load_task
from litm.placements import gold_placement
from litm.records.examples import Example
from litm.scoring.scores import Sweep, score_sweep

SIZE, N = 12, 20
PLACES = [(0, 11), (11, 0), (3, 8), (8, 3), (5, 6), (6, 5)]
CODE = re.compile(r"[A-Z]{3}-\d{4}")
CONFLICTS = ("conflicting_dates", "conflicting_sources")
Reader = Callable[[str], str]


def prompts(task: str) -> dict[str, list[Example]]:
    questions = list(load_task(task).questions(SIZE, replace(SETTINGS, examples=N), None))
    placements = map(gold_placement, PLACES)
    return {name: [example(task, question, SIZE, name) for question in questions] for name in placements}


def scores(task: str, reader: Reader):
    examples = [one for placed in prompts(task).values() for one in placed]
    answers = [response(id=e.id, size=e.size, placement=e.placement, response=reader(e.prompt)) for e in examples]
    module = load_task(task)
    return score_sweep(Sweep("m", task, task, module.metric, module), examples, answers)


def rows(task: str, reader: Reader, *parts: Reader) -> dict[tuple, dict]:
    alone = [scores(f"{task}_{name}", part) for name, part in zip(("first", "second"), parts, strict=False)]
    found = two_facts_rows(scores(task, reader), alone)
    return {(row["asked"], row["position_first"], row["position_second"]): row for row in found}


def shares(row: dict) -> tuple[float, ...]:
    return tuple(row[name] for name in ("both", "first_only", "second_only", "neither"))


def doctor(prompt: str) -> str:
    hospital = re.search(r"hospital in (\w+)[?,]", prompt)[1]
    return re.search(rf"hospital in {hospital} is called Doctor (\w+)\.", prompt)[1]


def code_of(name: str, prompt: str) -> str:
    return re.search(rf"The code of Doctor {name} is ({CODE.pattern})", prompt)[1]


def chain(prompt: str) -> str:
    return f"{doctor(prompt)}, {code_of(doctor(prompt), prompt)}"


def code_alone(prompt: str) -> str:
    return code_of(re.search(r"code of Doctor (\w+)\?", prompt)[1], prompt)


# --- A chain


def test_a_reader_of_the_chain_has_both_facts_together_and_alone_at_every_place():
    found = rows("linked_facts", chain, doctor, code_alone)
    assert len(found) == 2 * len(PLACES)
    assert all(shares(row) == (1, 0, 0, 0) for row in found.values())
    assert {row["n"] for row in found.values()} == {N}
    assert {row["from_alone"] for (asked, *_), row in found.items() if asked == "together"} == {0}


def test_a_reader_of_one_link_has_that_one_alone():
    assert {shares(row) for row in rows("linked_facts", doctor).values()} == {(0, 1, 0, 0)}
    assert {shares(row) for row in rows("linked_facts", lambda prompt: code_of(doctor(prompt), prompt)).values()} == {
        (0, 0, 1, 0)
    }
    assert {shares(row) for row in rows("linked_facts", lambda prompt: "none").values()} == {(0, 0, 0, 1)}


def test_a_reader_that_sees_only_near_facts_has_both_at_small_distances_and_the_difference_says_so():
    def near(prompt: str) -> str:
        lines = prompt.split("\n\n")[1].split("\n")
        name, code = doctor(prompt), code_of(doctor(prompt), prompt)
        at = [next(i for i, line in enumerate(lines) if text in line) for text in (f"called Doctor {name}", code)]
        return f"{name}, {code}" if abs(at[0] - at[1]) <= 5 else name

    found = rows("linked_facts", near, doctor, code_alone)
    for (asked, first, second), row in found.items():
        is_near = abs(first - second) <= 5 or asked == "alone"
        assert shares(row) == ((1, 0, 0, 0) if is_near else (0, 1, 0, 0))
        assert row["distance"] == second - first
    far = found["together", 0, 11]
    assert (far["from_nearest"], far["from_alone"]) == (-1, -1)
    assert far["from_nearest_p_holm"] < 0.05
    assert far["from_alone_p_holm"] < 0.05
    assert found["together", 5, 6]["from_nearest"] is None


def test_questions_for_one_link_have_the_contexts_of_those_for_both():
    both, first, second = (prompts(f"linked_facts{end}") for end in ("", "_first", "_second"))
    for placement in both:
        for examples in zip(both[placement], first[placement], second[placement], strict=True):
            assert len({one.id for one in examples}) == 1
            # The digest of the rest: the prompt without its question.
            assert len({one.prompt.replace(one.question, "") for one in examples}) == 1
            assert [[target.name for target in one.targets] for one in examples] == [
                ["first", "second"], ["first"], ["second"],
            ]  # fmt: skip


def test_a_fact_that_is_asked_for_alone_has_no_curve_because_the_other_one_moves_too():
    assert list(curves(scores("linked_facts_first", doctor))) == []


def test_every_hospital_and_doctor_of_a_chain_is_there_once():
    for question in load_task("linked_facts").questions(SIZE, SETTINGS, None):
        texts = [text for (text,) in [*(gold.item for gold in question.golds), *question.distractors]]
        assert len({*texts}) == SIZE
        hospitals = [re.search(r"hospital in (\w+)", text)[1] for text in texts if "hospital" in text]
        codes = [CODE.search(text)[0] for text in texts if "code" in text]
        assert len({*hospitals}) == len(hospitals) == len({*codes}) == len(codes) == SIZE // 2


# --- Conflicts


@pytest.mark.parametrize("task", CONFLICTS)
def test_shares_of_a_conflict_follow_from_what_a_reader_takes(task):
    def of(which: int) -> Reader:
        def read(prompt: str) -> str:
            asked = re.search(r"code of (\w+)\?", prompt)[1]
            return re.findall(rf"code of {asked} is ({CODE.pattern})", prompt)[which]

        return read

    for which in (0, 1):
        for (_, first, second), row in rows(task, of(which)).items():
            has_first = (first < second) == (which == 0)
            assert shares(row) == ((0, 1, 0, 0) if has_first else (0, 0, 1, 0))
            swapped = 1 if which == 0 else -1
            assert row["from_swapped"] == (swapped if first < second else None)
            assert first > second or row["from_swapped_p_holm"] < 0.05


@pytest.mark.parametrize("task", CONFLICTS)
def test_a_reader_of_the_newer_date_or_the_higher_standing_gives_the_second_value_at_every_place(task):
    def newer(prompt: str) -> str:
        asked = re.search(r"code of (\w+)\?", prompt)[1]
        found = re.findall(rf"(?:register of (\d+)|(official register|unsigned note)), the code of {asked} is (\S+)\.",
                           prompt)  # fmt: skip
        return max(found, key=lambda one: (one[0], one[1] == "official register"))[2]

    found = rows(task, newer)
    assert {shares(row) for row in found.values()} == {(0, 0, 1, 0)}
    assert {row["from_swapped"] for (_, first, second), row in found.items() if first < second} == {0}
    assert {shares(row) for row in rows(task, lambda prompt: " ".join(CODE.findall(prompt))).values()} == {(1, 0, 0, 0)}


@pytest.mark.parametrize("task", CONFLICTS)
def test_the_metric_of_a_conflict_calls_no_value_right(task):
    label = configs.study(experiments=[task]).experiments[task].mean_label
    assert label == "Answers with this code"
    assert "none is right" in configs.study(experiments=[task]).experiments[task].right_if


# --- Placements


@pytest.mark.parametrize("task", ["linked_facts", "linked_facts_first", "linked_facts_second", *CONFLICTS])
def test_placements_differ_in_nothing_but_the_places_of_the_two_facts(task):
    placed = prompts(task)
    assert check_examples(placed, generated=not load_task(task).is_chain) == []
    for question in load_task(task).questions(SIZE, SETTINGS, None):
        for positions in PLACES:
            items = place(question, SIZE, gold_placement(positions), in_any_order=True)
            assert [items[position] for position in positions] == [gold.item for gold in question.golds]
            rest = tuple(item for index, item in enumerate(items) if index not in positions)
            assert rest == question.distractors
        if not load_task(task).is_chain:
            assert checked(question) == question


def test_two_facts_at_one_place_and_a_context_without_room_for_them_are_errors():
    entry = {"task": "linked_facts", "positions": {4: [[2, 2]]}, "examples": 2}
    with pytest.raises(UserError, match=r"e.positions.4: \[2, 2\] has two gold items at one place"):
        configs.study(experiments=["e"], **configs.define("experiments", e=entry))
    with pytest.raises(UserError, match="linked_facts: a context of 1 has no room for 2 facts"):
        list(load_task("linked_facts").questions(1, SETTINGS, None))


def test_each_fact_is_also_asked_for_alone_and_a_figure_shows_what_answers_have():
    study = configs.study(experiments=["linked_facts", "conflicting_dates"])
    assert [*study.experiments] == [
        "linked_facts", "linked_facts-first", "linked_facts-second", "conflicting_dates",
    ]  # fmt: skip
    assert not [name for name in study.figures if name.startswith("linked_facts-")]
    assert {name for name, one in study.figures.items() if one.kind == "two_facts"} == {
        "linked_facts_two_facts", "conflicting_dates_two_facts",
    }  # fmt: skip
