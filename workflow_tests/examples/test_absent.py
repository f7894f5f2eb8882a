"""Contexts without the gold item: what differs from those with it, and what is said of the answers."""

import re
from dataclasses import replace

import configs
import pytest
from conftest import ROOT, write_lines
from record_makers import response
from suite_examples import SETTINGS, example

from litm.analysis.cells import absent_rows
from litm.base.json_files import read_jsonl
from litm.base.messages import UserError
from litm.examples.examples import examples_of, read_template
from litm.examples.fillers import FILLERS, NEUTRAL, SAME_FORM, WRONG_ANSWERS
from litm.examples.task import ExampleSettings
from litm.examples.tasks import load_task
from litm.placements import ABSENT, AS_RETRIEVED, gold_placement
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


OPEN = {"task": "open_domain_qa", "dataset": "mini_encyclopedia_as_retrieved", "sizes": [1, 3], "positions": None}


def test_the_question_alone_has_no_answer_to_take_out():
    keys = {"task": "closed_book_qa", "dataset": "mini_encyclopedia_as_retrieved", "positions": None}
    with pytest.raises(UserError, match="'absent' is for contexts with a gold item or retrieved documents, not for"):
        study(**keys)


def test_retrieved_documents_without_those_that_have_the_answer_are_read_under_each_remedy():
    found = study(**OPEN, remedies={"order": ["reversed"]})
    assert [*found.experiments] == ["e", "e-reversed", "e-absent", "e-absent-reversed"]
    conditions = [(one.study, one.treatment[0], one.lacks_answer) for one in found.conditions.values()]
    assert conditions == [
        ("e", "ranked", False), ("e", "reversed", False), ("e", "ranked", True), ("e", "reversed", True),
    ]  # fmt: skip
    assert [(cell.size, cell.placement) for cell in found.experiments["e-absent"].cells] == [(1, ABSENT), (3, ABSENT)]
    assert {name for pair in found.compared for _, name in pair} == {"e", "e-reversed"}
    assert found.figures["e_cost"].experiments == ("e", "e-reversed") and [*found.figures] == ["e_cost"]
    plain = study(**OPEN, absent=False, remedies={"order": ["reversed"]}).experiments
    assert [plain[name].settings() for name in plain] == [found.experiments[name].settings() for name in plain]
    assert [plain[name].example_settings() for name in plain] == [
        found.experiments[name].example_settings() for name in plain
    ]


@pytest.fixture
def retrieved(tmp_path):
    """Five documents of a question; three have the answer: the gold one, a marked one, and one with its text."""
    ctxs = [{"id": str(n), "title": f"t{n}", "text": f"text {n}", "hasanswer": n == 3} for n in range(5)]
    ctxs[1]["text"] = "It is Lima."
    record = {"question": "which", "answers": ["lima"], "gold_id": "4", "ctxs": [*ctxs[:3], ctxs[4], ctxs[3]]}
    write_lines(tmp_path / "retrieved.jsonl", [record, {**record, "question": "what", "answers": ["Rome"]}])
    return tmp_path / "retrieved.jsonl"


def shown(path, order: str, size: int, **changes) -> list[list[str]]:
    task = load_task("open_domain_qa")
    settings = ExampleSettings(examples=2, seed=0, distractor_order="ranked", order=order, **changes)
    template = read_template(ROOT / "resources" / "prompts" / f"{task.prompt}.txt")
    placement = ABSENT if settings.without_answer else AS_RETRIEVED
    examples = examples_of(task, task.questions(size, settings, str(path)), size, placement, template, settings)
    titles = []
    for prompt in examples:
        titles.append(re.findall(r"Title: (t\d)", prompt.prompt))
        assert (prompt.size, prompt.items) == (size, len(titles[-1]) if settings.without_answer else None)
    return titles


@pytest.mark.parametrize("size", [1, 3, 5])
def test_every_order_reads_the_same_documents_without_the_answer_and_nothing_replaces_the_others(retrieved, size):
    ranked, there = shown(retrieved, "ranked", size, without_answer=True), shown(retrieved, "ranked", size)
    has_answer = [{"t1", "t3", "t4"}, {"t3", "t4"}]
    assert ranked == [[name for name in all if name not in out] for all, out in zip(there, has_answer, strict=True)]
    assert shown(retrieved, "reversed", size, without_answer=True) == [names[::-1] for names in ranked]
    assert there == [["t0", "t1", "t2", "t4", "t3"][:size]] * 2


def test_a_cut_keeps_documents_before_those_with_the_answer_are_taken_out(retrieved):
    records = [record for _, record in read_jsonl(retrieved)]
    for record in records:
        for place, document in enumerate(record["ctxs"]):
            document["score"] = 10 - place
    write_lines(retrieved, records)
    cut = {"cut": {"margin": 2}, "without_answer": True}
    assert shown(retrieved, "ranked", 5, **cut) == [["t0", "t2"], ["t0", "t1", "t2"]]


def test_a_name_that_is_taken_is_an_error():
    with pytest.raises(UserError, match="experiments.e: the name e-absent is taken by another experiment"):
        configs.study(experiments=["e"], **configs.define("experiments", e=REGISTER, **{"e-absent": REGISTER}))
