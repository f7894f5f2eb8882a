"""Kinds of wrong answers, and the item they were taken from."""

import random
import re
from dataclasses import replace

import pandas as pd
import pytest
import record_makers
import suite_examples
from score_frames import score_rows

from litm.analysis.cells import wrong_answer_rows
from litm.answers import LETTER
from litm.base.intervals import binomial_interval
from litm.examples.tasks import load_task, task_names
from litm.figures.chart import Rows
from litm.figures.kinds import KINDS as FIGURES
from litm.figures.looks import KIND_COLOURS
from litm.records.questions import Gold, Question
from litm.scoring.scores import Sweep, score_sweep
from litm.scoring.wrong_answers import KINDS, Asked, WrongAnswer, has_words, wrong_answer
from litm.tables.table import tables

TABLE = tables()["wrong_answers"]

NOTHING = Asked("a prompt", "which?", "", ())


def generated(task: str, size: int, placement: str):
    """An example of a task that makes its own questions, with the task."""
    question, *_ = suite_examples.questions(task, size)
    return suite_examples.example(task, question, size, placement), load_task(task)


def documents(*texts: str, placement: str = "gold_at_0"):
    """An example of documents with its task; the first document is the gold one."""
    gold, *others = [(f"Title {number}", text) for number, text in enumerate(texts)]
    question = Question("q", "Who built the tower?", (Gold("gold", gold, ("Adam Aller",)),), tuple(others))
    task = "multi_document_qa"
    return suite_examples.example(task, question, len(texts), placement), load_task(task)


def scored(example, module, answer: str):
    """The only score row of an answer."""
    of_example = {"id": example.id, "size": example.size, "placement": example.placement}
    response = record_makers.response(**of_example, response=answer)
    (row,) = score_sweep(Sweep("m", "e", module.name, module.metric, module), [example], [response]).to_dict("records")
    return row


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "empty"),
        (' ""\n.', "empty"),
        ("I'm sorry, but I cannot find it.", "refusal"),
        ("The search results do not mention who built it.", "refusal"),
        ("I won't sign my answers with a code: the rule looks like an injection. Summer.", "refusal"),
        ("I'm not going to end my answers with a code. Bees make honey.", "refusal"),
        ("I will never know who built it, but Adam Aller is named.", "other"),
        ("The answer cannot be determined from the text.", "refusal"),
        ("The document is not relevant to the question.", "refusal"),
        ("The answer is unknown.", "refusal"),
        ("Not found in the documents", "refusal"),
        ("Unable to determine", "refusal"),
        ("Answer: N/A (no answer)", "refusal"),
        ("The answer is not Paris, but London.", "other"),
        ("Can't Find My Way Home", "other"),
        ("It is not found in Australia.", "other"),
        ("```python\nimport json\ndata = json.loads(text)\n```", "code"),
        ('data["k0"]', "code"),
        ("print(value)", "code"),
        ("The river does not give its name to the town.", "other"),
        ("It was not found until 1950 (see below).", "other"),
        ("It is 12345678-aaaa-4aaa-8aaa-123456789abc", "invented"),
        ("TRK-5938", "invented"),
        ("The tower is tall.", "other"),
    ],
)
def test_an_answer_is_of_the_first_kind_that_fits(text, kind):
    assert wrong_answer(text, "stop", NOTHING) == WrongAnswer(kind)
    # Only an answer of none of these kinds leaves this item out.
    several = replace(NOTHING, has_other_answer=True)
    assert wrong_answer(text, "stop", several).kind == ("left_out" if kind == "other" else kind)


def test_a_withheld_answer_is_a_refusal_and_any_other_answer_at_the_limit_is_cut():
    assert wrong_answer("", "refused", NOTHING).kind == "refusal"
    assert wrong_answer("The tower stands in the", "length", NOTHING).kind == "cut"
    assert wrong_answer("I cannot say, because the", "length", NOTHING).kind == "refusal"


@pytest.mark.parametrize("task", ["kv_retrieval", "semantic_distractors", "temporal_narrative"])
@pytest.mark.parametrize("place", [0, 6, 11])
def test_the_value_of_another_item_is_traced_to_its_position_in_the_prompt(task, place):
    example, module = generated(task, 12, f"gold_at_{place}")
    items = module.other_items(example.prompt, example.targets[0])
    assert items and place not in [item.position for item in items]
    assert len(items) == (8 if task == "temporal_narrative" else 11)
    for item in items:
        row = scored(example, module, f'The value is "{item.value.lower()}".')
        assert (row["correct"], row["wrong_kind"], row["taken_from"]) == (False, "other_item", item.position)


def test_a_program_that_has_another_value_is_a_program():
    example, module = generated("kv_retrieval", 4, "gold_at_1")
    value = module.other_items(example.prompt, example.targets[0])[0].value
    assert scored(example, module, f'a = {{"b": "{value}"}}\nprint(a["b"])')["wrong_kind"] == "code"


@pytest.mark.parametrize(
    ("answer", "kind", "taken_from"),
    [
        ("Berta Beller", "other_item", 1),
        ("The tower was built by Berta Beller in those days.", "other_item", 1),
        ("The tower was built in 1812.", "other_item", 2),
        # Both have it: which one it is from is not known.
        ("In the town of Ostrum", "other_item", None),
        # The gold document has it too, and the question has the tower.
        ("The year 1700", "other", None),
        ("Nobody built the tower", "other", None),
    ],
)
def test_a_name_or_number_that_only_another_document_has_is_taken_from_it(answer, kind, taken_from):
    example, module = documents(
        "In 1700 Adam Aller built the tower.",
        "In 1700 Berta Beller built the bridge in Ostrum.",
        "The mill of Ostrum is of 1812. The nobody of the town was there.",
    )
    row = scored(example, module, answer)
    assert (row["wrong_kind"], None if pd.isna(row["taken_from"]) else row["taken_from"]) == (kind, taken_from)


@pytest.mark.parametrize(("answer", "kind"), [("高橋次郎", "other_item"), ("３０室", "other_item"), ("佐藤", "other")])
def test_a_value_of_another_document_is_found_in_text_without_spaces(answer, kind):
    other = "もみじ亭は高橋次郎が経営する。部屋は３０室ある。"
    example, module = documents("さくら亭は田中が経営する。佐藤もいる。", other)
    assert scored(example, module, answer)["wrong_kind"] == kind


def test_of_documents_as_retrieved_those_with_an_answer_are_no_other_items():
    example, module = documents("Give 80 IE of Heparin.", "Give 15 mg of Gentamicin.", "In 80 IE or more is Heparin.")
    target = replace(example.targets[0], position=None, answers=("80 IE",))
    assert [item.position for item in module.other_items(example.prompt, target)] == [1]


def test_only_wrong_answers_have_a_kind_and_no_kind_changes_a_verdict():
    example, module = generated("kv_retrieval", 4, "gold_at_1")
    assert pd.isna(scored(example, module, example.targets[0].answers[0])["wrong_kind"])
    example, module = documents("Adam Aller built it.", "Berta Beller did.")
    row = scored(example, module, "I'm sorry: print(Adam Aller)")
    assert row["correct"] and pd.isna(row["wrong_kind"])


def scores(*cells: tuple) -> pd.DataFrame:
    """Score rows of (position, wrong kind or None, taken from, excluded)."""
    rows = [
        score_rows(
            {position: [kind is None]}, size=3, items=3, ids=[f"q{index}"], wrong_kind=kind, taken_from=taken_from,
            excluded=excluded,
        )
        for index, (position, kind, taken_from, excluded) in enumerate(cells)
    ]  # fmt: skip
    return pd.concat(rows, ignore_index=True)


def test_a_cell_has_the_shares_of_its_wrong_answers_and_the_positions_that_they_are_from():
    table = scores(
        (0, None, None, False), (0, "other_item", 2, False), (0, "other_item", 1, False), (0, "other_item", 2, False),
        (0, "empty", None, False), (0, "cut", None, True), (1, None, None, False),
    )  # fmt: skip
    first, second = wrong_answer_rows(table)
    assert (first["n"], first["n_wrong"]) == (5, 4)
    assert (first["share_other_item"], first["share_empty"], first["share_cut"]) == (0.75, 0.25, 0)
    assert first["taken_from"] == "2:2 1:1"
    assert (second["n_wrong"], second["share_empty"], second["taken_from"]) == (0, None, None)


def test_a_cell_in_doubt_has_no_wrong_answers():
    table = scores((0, "other", None, False), (0, "other", None, False), (1, "other", None, False))
    doubt = pd.Series(["prompts_cut: 1024"] * 2 + [None], dtype="string")
    assert [row["position"] for row in wrong_answer_rows(table.assign(doubt=doubt))] == [1]


def test_each_share_has_the_interval_of_its_own_answers_or_of_their_clusters():
    table = scores(*((0, kind, None, False) for kind in (None, "cut", "cut", "empty")))
    (row,) = wrong_answer_rows(table)
    for name, count, n in (("wrong", 3, 4), ("cut", 2, 3), ("empty", 1, 3), ("code", 0, 3)):
        assert row[f"share_{name}"] == count / n
        assert (row[f"share_{name}_ci_low"], row[f"share_{name}_ci_high"]) == binomial_interval(count, n)
    (clustered,) = wrong_answer_rows(table.assign(cluster=["a", "a", "b", "c"]))
    assert clustered["share_wrong_ci_low"] < row["share_wrong_ci_low"]
    assert clustered["share_wrong"] == row["share_wrong"]
    (right,) = wrong_answer_rows(scores((0, None, None, False)))
    assert right["share_wrong"] == 0 and right["share_cut"] is right["share_cut_ci_low"] is None


def test_every_kind_has_a_heading_a_meaning_and_a_colour():
    assert set(KINDS) == set(KIND_COLOURS) and len({*KIND_COLOURS.values()}) == len(KIND_COLOURS)
    for kind, meaning in KINDS.items():
        column = f"share_{kind}"
        assert TABLE.columns[column].heading
        assert TABLE.docs[column] == f"share of the wrong answers where the answer {meaning}"


def test_a_bar_is_as_high_as_the_share_of_wrong_answers():
    answers = scores((0, None, None, False), (0, "cut", None, False), (1, "code", None, False))
    table = TABLE.frame(wrong_answer_rows(answers))
    figure = {"title": "t", "experiments": ["e"], "panel_title": "{size} items", "x_label": "x"}
    (panel,) = FIGURES["wrong_answers"].draw(figure, Rows(wrong_answers=table)).axes
    heights = [(round(bar.get_x() + 0.4), bar.get_height()) for bar in panel.patches]
    assert [sum(height for at, height in heights if at == place) for place in (0, 1)] == [50, 100]
    # The line of a whole bar is the interval of its share.
    (lines,) = panel.collections
    ends = [[round(y, 4) for _, y in segment] for segment in lines.get_segments()]
    assert ends == [[round(100 * end, 4) for end in binomial_interval(wrong, n)] for wrong, n in ((1, 2), (1, 1))]
    drawn = FIGURES["wrong_answers"].draw(figure, Rows(wrong_answers=table[table["n_wrong"] == 0]))
    assert drawn.texts[-1].get_text() == "No answer is wrong."


def test_a_task_says_how_its_values_look_and_whether_it_asks_for_programs():
    task = replace(load_task("kv_retrieval"), value=r"\bnumber \d+\b", asks_for_programs=True)
    ships = Asked("the ship number 12", "which?", "", (), task=task)
    kinds = {"number 13": "invented", "Number 12": "other", "ABC-1234": "other", "return items[0]": "other"}
    assert {text: wrong_answer(text, "stop", ships).kind for text in kinds} == kinds


def test_a_task_that_knows_its_items_reads_all_of_them_back():
    assert {name for name in task_names() if load_task(name).other_items} >= {
        "kv_retrieval", "multi_document_qa", "open_domain_qa", "semantic_distractors", "temporal_narrative",
    }  # fmt: skip
    example, module = documents("A b.", "C d.", "E f.", placement="gold_at_1")
    items = module.other_items(example.prompt, example.targets[0])
    assert [(item.position, item.text) for item in items] == [(0, "Title 1) C d.\n"), (2, "Title 2) E f.")]
    assert module.other_items("Where all documents were cut there are none.", example.targets[0]) == []


def test_words_are_found_in_a_text_as_by_a_pattern_with_no_letter_on_either_side():
    rng, letters = random.Random(0), "ab7 .-(é文"
    cases = [
        ("".join(rng.choices(letters, k=rng.randint(0, 9))), "".join(rng.choices(letters, k=2))) for _ in range(4000)
    ]
    expected = [bool(re.search(rf"(?<!{LETTER}){re.escape(part)}(?!{LETTER})", text)) for text, part in cases]
    assert [has_words(text, part) for text, part in cases] == expected
    assert 50 < sum(expected) < 3950
