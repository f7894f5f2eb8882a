"""Fillers: what a perfect reader and a reader of the first fact get at each level, and what differs between levels."""

import re
from collections.abc import Callable
from dataclasses import replace

import configs
import pytest
from record_makers import response
from suite_examples import SETTINGS, example

from litm.analysis.cells import wrong_answer_rows
from litm.base.messages import UserError
from litm.examples.fillers import FILLERS, NEUTRAL, SAME_FORM, WRONG_ANSWERS, kind_of, with_documents
from litm.examples.tasks import load_task
from litm.placements import gold_placement
from litm.records.examples import Example
from litm.records.questions import Gold, Question
from litm.scoring.scores import Sweep, score_sweep

TASK, SIZE, POSITIONS = "registered_codes", 12, (0, 5, 11)
CODE = re.compile(r"[A-Z]{3}-\d{4}")


def questions(level: str, count: int = 20, size: int = SIZE) -> tuple[Question, ...]:
    return tuple(load_task(TASK).questions(size, replace(SETTINGS, examples=count, fillers=level), None))


def prompts(level: str, position: int) -> list[Example]:
    return [example(TASK, question, SIZE, gold_placement([position])) for question in questions(level)]


def scores(level: str, reader: Callable[[str], str]):
    examples = [prompt for position in POSITIONS for prompt in prompts(level, position)]
    answers = [response(**_named(prompt), response=reader(prompt.prompt)) for prompt in examples]
    task = load_task(TASK)
    return score_sweep(Sweep("m", level, TASK, task.metric, task), examples, answers)


def _named(prompt: Example) -> dict:
    return {"id": prompt.id, "size": prompt.size, "placement": prompt.placement}


def perfect(prompt: str) -> str:
    place = re.search(r"code of (\w+) according to the register\?", prompt)[1]
    return re.search(rf"According to the register, the code of {place} is ({CODE.pattern})", prompt)[1]


def first_code(prompt: str) -> str:
    return CODE.search(prompt)[0]


def last_code(prompt: str) -> str:
    return CODE.findall(prompt)[-1]


def accuracy(level: str, reader: Callable[[str], str]) -> list[float]:
    return [float(right) for right in scores(level, reader).groupby("position")["correct"].mean()]


@pytest.mark.parametrize("level", FILLERS)
def test_a_perfect_reader_is_right_at_every_level_and_position(level):
    assert accuracy(level, perfect) == [1, 1, 1]


@pytest.mark.parametrize(
    ("level", "first", "last"),
    [(NEUTRAL, [1, 1, 1], [1, 1, 1]), (SAME_FORM, [1, 0, 0], [0, 0, 1]), (WRONG_ANSWERS, [1, 0, 0], [0, 0, 1])],
)
def test_a_reader_of_the_first_or_last_code_is_right_where_the_gold_item_is_first_or_last(level, first, last):
    assert accuracy(level, first_code) == first
    assert accuracy(level, last_code) == last


def test_levels_have_the_same_questions_and_gold_items_and_differ_in_nothing_but_fillers():
    for position in POSITIONS:
        levels = [prompts(level, position) for level in FILLERS]
        for same in zip(*levels, strict=True):
            assert len({(prompt.id, prompt.question, prompt.targets[0].answers) for prompt in same}) == 1
            rests = {_without_fillers(prompt) for prompt in same}
            assert len(rests) == 1
            assert len({prompt.prompt for prompt in same}) == len(FILLERS)


def _without_fillers(prompt: Example) -> tuple[str, ...]:
    """The head, the gold item with its place among the lines, and the tail."""
    head, context, tail = prompt.prompt.split("\n\n")
    lines = context.split("\n")
    gold = prompt.targets[0].text_in(prompt.prompt)
    return (head, gold, str(lines.index(gold)), str(len(lines)), tail)


def test_without_the_key_the_prompts_are_those_of_the_same_form():
    plain = tuple(load_task(TASK).questions(SIZE, replace(SETTINGS, examples=20), None))
    assert plain == questions(SAME_FORM)


def test_levels_with_codes_have_the_same_codes_in_the_same_order():
    for same, wrong in zip(questions(SAME_FORM), questions(WRONG_ANSWERS), strict=True):
        codes = [[CODE.search(text)[0] for (text,) in question.distractors] for question in (same, wrong)]
        assert codes[0] == codes[1]
        assert len({*codes[0], same.golds[0].answers[0]}) == SIZE


def test_a_table_says_how_far_from_the_gold_item_the_copied_filler_is():
    rows = {row["position"]: row for row in wrong_answer_rows(scores(SAME_FORM, first_code))}
    assert rows[0]["copied_distance"] is None
    assert rows[0]["copied_distance_chance"] is None
    assert rows[5]["taken_from"] == rows[11]["taken_from"] == "0:20"
    assert rows[5]["copied_distance"] == pytest.approx(5 / 11)
    assert rows[11]["copied_distance"] == 1
    assert rows[5]["share_copied_before"] == rows[11]["share_copied_before"] == 1
    # Of the items at 0 to 4 and 6 to 11 from the one at 5: (1 + ... + 5 + 1 + ... + 6) / 11, in parts of 11.
    assert rows[5]["copied_distance_chance"] == pytest.approx(36 / 11 / 11)
    assert rows[11]["copied_distance_chance"] == pytest.approx(6 / 11)


# --- Documents


def asked(count: int = 8) -> list[Question]:
    def question(number: int) -> Question:
        gold = (f"Town {number}", f"The mayor of town {number} is Adam Aller{number}, elected in 19{number:02}.")
        others = tuple((f"Town {number}.{n}", f"Town {number}.{n} lies by a lake.") for n in range(3))
        golds = (Gold("gold", gold, (f"Adam Aller{number}",)),)
        return Question(f"q{number}", f"Who is mayor of town {number}?", golds, others)

    return [question(number) for number in range(count)]


def test_neutral_documents_are_other_questions_and_a_larger_context_has_those_of_a_smaller_one():
    few, many = (list(with_documents(asked(), NEUTRAL, 0, number)) for number in (4, 6))
    for question, with_few, with_many in zip(asked(), few, many, strict=True):
        assert with_many.distractors[:4] == with_few.distractors
        assert (with_few.golds, with_few.text) == (question.golds, question.text)
        assert not {*with_many.distractors} & {*question.distractors, question.golds[0].item}
        assert len({*with_many.distractors}) == 6
        # Documents of one question follow those of all others.
        assert len({title.split(".")[0] for title, _ in with_many.distractors}) == 6


def test_wrong_documents_are_the_gold_one_with_the_answer_of_another_question():
    for question in with_documents(asked(), WRONG_ANSWERS, 0, 5):
        (gold,) = question.golds
        values = set()
        for title, text in question.distractors:
            value = re.search(r"Adam Aller\d+", text)[0]
            values.add(value)
            assert text == gold.item[1].replace(gold.answers[0], value)
            assert title == f"Withdrawn: {gold.item[0]}"
        assert len(values) == 5
        assert gold.answers[0] not in values


def test_wrong_answers_of_the_same_kind_come_first():
    years = [
        replace(one, golds=(replace(one.golds[0], answers=(f"19{n:02}",)),)) if n % 2 else one
        for n, one in enumerate(asked())
    ]
    (of_name, of_year, *_) = with_documents(years, WRONG_ANSWERS, 0, 3)
    assert all(re.search(r"is Adam Aller[2-7],", text) for _, text in of_name.distractors)
    assert all(re.search(r"elected in 19\d\d\.", text) for _, text in of_year.distractors)
    assert [kind_of(text) for text in ("1950", "May 18, 2018", "Adam Aller", "a lake")] == [
        "number of 4 digits", "with a number, 3", "name, 2", "words, 2",
    ]  # fmt: skip


def test_a_question_whose_gold_document_lacks_the_answer_keeps_its_documents():
    first, *others = asked()
    lacking = replace(first, golds=(replace(first.golds[0], answers=("nobody",)),))
    assert next(with_documents([lacking, *others], WRONG_ANSWERS, 0, 3)).distractors == lacking.distractors


@pytest.mark.parametrize(("level", "number"), [(NEUTRAL, 22), (WRONG_ANSWERS, 8)])
def test_too_few_other_questions_are_an_error(level, number):
    with pytest.raises(UserError, match=f"fillers {level}: the other 7 questions of the dataset give"):
        list(with_documents(asked(), level, 0, number))


# --- The configuration

REGISTER = {"task": TASK, "positions": {4: [0, 3]}, "examples": 3}


def study(**keys):
    return configs.study(experiments=["e"], **configs.define("experiments", e={**REGISTER, **keys}))


def test_each_further_level_is_an_experiment_compared_with_the_others_on_the_same_questions():
    found = study(fillers=[*FILLERS])
    assert [(name, entry.example_settings()["fillers"]) for name, entry in found.experiments.items()] == [
        ("e", NEUTRAL), ("e-same_form", SAME_FORM), ("e-wrong_answers", WRONG_ANSWERS),
    ]  # fmt: skip
    assert [(a[1], b[1]) for a, b in found.compared] == [
        ("e-same_form", "e"), ("e-wrong_answers", "e"), ("e-wrong_answers", "e-same_form"),
    ]  # fmt: skip
    figures = found.figures
    assert figures["e"].experiments == ("e", "e-same_form", "e-wrong_answers")
    assert figures["e-same_form_differences"].experiments == ("e-same_form", "e")


def test_settings_without_fillers_are_those_of_before():
    plain = study().experiments["e"]
    assert plain.example_settings().keys() == {"examples", "seed", "distractor_order", "selection", "labels"}
    assert "fillers" not in plain.settings()


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"task": "kv_retrieval", "fillers": [NEUTRAL]}, "task kv_retrieval has no 'fillers: neutral', it has none"),
        ({"fillers": ["many"]}, "fillers"),
        ({"fillers": [NEUTRAL, SAME_FORM], "positions": None, "depths": {900: [0]}, "tokens_of": "reference"},
         "experiments.e: levels of 'fillers' have texts of different lengths"),
    ],
)  # fmt: skip
def test_mistakes_are_one_line(keys, message):
    with pytest.raises(UserError, match=message):
        study(**keys)
