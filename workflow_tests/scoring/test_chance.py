"""The chance level: what readers that give any one value get, and where it is shown."""

import re
from dataclasses import replace

import pytest
from conftest import ROOT
from figure_tables import FIGURE, cell, draw, table
from record_makers import response
from suite_examples import SETTINGS, example

from litm.examples.examples import examples_of, read_template
from litm.examples.fillers import NEUTRAL, SAME_FORM, WRONG_ANSWERS
from litm.examples.tasks import load_task
from litm.figures.chart import Rows
from litm.figures.curves import positions
from litm.placements import ABSENT, gold_placement
from litm.report.page_tables import accuracy_tables
from litm.report.sizes import SizeNames
from litm.scoring.scores import Sweep, accuracy_rows, score_sweep

SIZE, N = 12, 6
VALUE = re.compile(r'[A-Z]{3}-\d{4}|(?<=": ")[^"]+')


def scored(task: str, placement: str = gold_placement([3]), reader=lambda prompt: "none", fillers=None):
    settings, module = replace(SETTINGS, examples=N, fillers=fillers), load_task(task)
    questions = module.questions(SIZE, settings, None)
    if placement == ABSENT:
        template = read_template(ROOT / "resources" / "prompts" / f"{module.prompt}.txt")
        prompts = list(examples_of(module, questions, SIZE, placement, template, settings))
    else:
        prompts = [example(task, question, SIZE, placement) for question in questions]
    answers = [response(id=p.id, size=p.size, placement=p.placement, response=reader(p.prompt)) for p in prompts]
    return score_sweep(Sweep("m", "e", task, module.metric, module), prompts, answers)


def rows(*asked, **how) -> list[dict]:
    return accuracy_rows(scored(*asked, **how))


@pytest.mark.parametrize(
    ("task", "fillers", "chance"),
    [
        ("kv_retrieval", None, 1 / SIZE),
        ("semantic_distractors", None, 1 / SIZE),
        ("demonstrations", None, 1 / SIZE),
        # Nine of the events have a code.
        ("temporal_narrative", None, 1 / 9),
        ("registered_codes", SAME_FORM, 1 / SIZE),
        ("registered_codes", WRONG_ANSWERS, 1 / SIZE),
    ],
)
def test_readers_that_give_one_value_each_get_the_chance_level_on_average(task, fillers, chance):
    number = round(1 / chance)
    of_readers = [
        rows(task, fillers=fillers, reader=lambda prompt, place=place: VALUE.findall(prompt)[place])[0]
        for place in range(number)
    ]
    assert [row["chance"] for row in of_readers] == pytest.approx([chance] * number)
    assert sum(row["accuracy"] for row in of_readers) / number == pytest.approx(chance)


@pytest.mark.parametrize("task", ["conflicting_dates", "conflicting_sources"])
def test_each_of_two_conflicting_values_is_given_by_chance_in_half_of_the_answers(task):
    assert {row["chance"] for row in rows(task, gold_placement([0, 5]))} == {0.5}


def test_without_another_value_without_the_gold_item_and_for_open_questions_there_is_no_chance_level():
    for scores in (
        scored("registered_codes", fillers=NEUTRAL),
        scored("registered_codes", ABSENT, fillers=SAME_FORM),
        scored("linked_facts", gold_placement([0, 5])),
        scored("needle_in_haystack"),
    ):
        assert "chance" not in scores
        assert {row["chance"] for row in accuracy_rows(scores)} == {None}


def accuracies(chance: float | None):
    cells = [cell("a", "qa", 20, position, 0.6) | {"metric": "m", "placement": f"gold_at_{position}", "target": "gold",
             "chance": chance} for position in (0, 19)]  # fmt: skip
    return table(*cells).assign(
        **dict.fromkeys(("n_empty", "n_cut", "n_refused", "n_failed", "n_not_recorded", "n_left_out"), 0)
    )


@pytest.mark.parametrize(("chance", "words"), [(0.05, "5.0 % by chance"), (0.004, ""), (None, "")])
def test_a_chance_level_of_half_a_per_cent_is_a_thin_line_and_words_in_figure_and_table(chance, words):
    figure = {**FIGURE, "references": {}}
    (panel,) = positions(figure, Rows(accuracies(chance))).panels
    assert panel.chances == ((chance,) if words else ())
    (axes,) = [ax for ax in draw(figure, accuracies(chance)).axes if ax.lines]
    lines = [line for line in axes.lines if line.get_linestyle() == ":"]
    assert [line.get_ydata()[0] for line in lines] == ([5.0] if words else [])
    said = [text.get_text() for text in axes.texts if "by chance" in text.get_text()]
    assert said == ([words] if words else [])
    (of_report,) = accuracy_tables(accuracies(chance).assign(metric="exact_code"), {"qa": "QA"}, SizeNames({}, {}))
    assert ("by chance" in of_report["title"]) == bool(words) and of_report["title"].endswith(words)
