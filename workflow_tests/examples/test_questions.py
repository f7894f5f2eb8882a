"""Placing gold items and rendering prompts."""

import re

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from litm.base.messages import UserError
from litm.examples.checks import answer_check_row
from litm.examples.examples import answer_in_distractors, make_example, place, read_template
from litm.examples.tasks.key_values import kv_retrieval
from litm.examples.tasks.question_answering import multi_document_qa
from litm.placements import AS_RETRIEVED, NO_GOLD
from litm.records.examples import Target
from litm.records.questions import Gold, Question

TEMPLATE = "Read this.\n{context}\n\nQuestion: {question}\nAnswer:"

texts = st.text(min_size=1, max_size=20)
items = st.lists(st.tuples(texts, texts), min_size=2, max_size=12, unique=True)


def question_of(items: list[tuple[str, str]], text: str = "which?") -> Question:
    gold, *distractors = items
    return Question("id", text, (Gold("gold", gold, (gold[1],)),), tuple(distractors))


@given(items, st.data())
def test_moving_the_gold_item_changes_nothing_else(items, data):
    question, size = question_of(items), data.draw(st.integers(1, len(items)))
    contexts = [place(question, size, f"gold_at_{position}") for position in range(size)]
    without_gold = [[item for item in context if item != items[0]] for context in contexts]
    assert all(context[position] == items[0] for position, context in enumerate(contexts))
    assert all(len(context) == size for context in contexts)
    assert all(rest == items[1:size] for rest in without_gold)


@given(items, texts, st.data())
def test_the_span_of_a_target_is_the_gold_item_in_the_prompt(items, text, data):
    position = data.draw(st.integers(0, len(items) - 1))
    question, placement = question_of(items, text), f"gold_at_{position}"
    for task in (kv_retrieval, multi_document_qa):
        example = make_example(question, len(items), placement, TEMPLATE, task)
        (target,) = example.targets
        shown = task.format_items(place(question, len(items), placement))[position]
        assert example.prompt[slice(*target.span)] == shown and target.position == position


@given(texts)
def test_braces_in_a_question_or_an_item_are_left_alone(text):
    question = question_of([("t{question}", "{context}"), ("{0}", "}{")], text + "{context}{question}{")
    prompt = make_example(question, 2, "gold_at_0", TEMPLATE, multi_document_qa).prompt
    assert "Document [1](Title: t{question}) {context}\nDocument [2](Title: {0}) }{" in prompt
    assert prompt.endswith(f"Question: {text}{{context}}{{question}}{{\nAnswer:")


def test_a_context_without_gold_is_empty_and_has_no_position():
    example = make_example(question_of([("a", "b"), ("c", "d")]), 0, NO_GOLD, TEMPLATE, multi_document_qa)
    assert example.targets == (Target("gold", None, None, None, ("b",)),)
    assert "Document" not in example.prompt


@pytest.mark.parametrize(
    ("text", "with_context", "message"),
    [
        ("Only {context}", True, "must contain {question}"),
        ("Only {question}", True, "must contain {context} where the items go"),
        ("{context} {question}", False, "must contain {context} nowhere"),
    ],
)
def test_a_prompt_file_without_question_or_context_is_refused(tmp_path, text, with_context, message):
    path = tmp_path / "prompt.txt"
    path.write_text(text + "\n")
    with pytest.raises(UserError, match=f"prompt.txt: the prompt {re.escape(message)}"):
        read_template(path, with_context)


def test_a_prompt_may_repeat_its_context_and_the_gold_item_is_where_it_comes_first():
    template = read_template(ROOT / "resources" / "prompts" / "multi_document_qa_repeated.txt")
    question = question_of([("a", "Gold {context}"), ("c", "d"), ("e", "f")])
    once, twice = (make_example(question, 3, "gold_at_1", text, multi_document_qa) for text in (TEMPLATE, template))
    assert twice.prompt.count("Document [2](Title: a) Gold {context}") == 2
    assert twice.prompt.count(question.text) == 2
    assert twice.targets[0].text_in(twice.prompt) == once.targets[0].text_in(once.prompt)
    assert twice.targets[0].span[0] == twice.prompt.index("Document [2]")
    others = [multi_document_qa.other_items(example.prompt, example.targets[0]) for example in (once, twice)]
    assert others[0] == others[1]


RETRIEVED = Question("id", "who", (Gold("gold", None, ("Rome",)),), tuple((f"T{n}", f"text {n}") for n in range(6)))


def test_items_as_retrieved_are_the_first_as_they_come_and_no_position_is_gold():
    assert place(RETRIEVED, 4, AS_RETRIEVED) == list(RETRIEVED.distractors[:4])
    example = make_example(RETRIEVED, 4, AS_RETRIEVED, TEMPLATE, multi_document_qa)
    assert example.targets == (Target("gold", None, None, None, ("Rome",)),)
    assert "Document [4](Title: T3) text 3" in example.prompt and "T4" not in example.prompt


def test_too_few_items_name_the_question_and_both_numbers():
    with pytest.raises(UserError, match=r"question id \('which\?'\) has 1 distractors, but a context of 3 needs 2"):
        place(question_of([("a", "b"), ("c", "d")]), 3, "gold_at_0")
    with pytest.raises(UserError, match=r"has 6 distractors, but a context of 7 needs 7"):
        place(RETRIEVED, 7, AS_RETRIEVED)


def test_an_answer_in_a_distractor_is_noticed_and_none_where_nothing_is_gold():
    question = Question("id", "who", (Gold("gold", ("A", "it was Rome"), ("Rome",)),), (("Romeo", "x"), ("B", "y")))
    assert answer_in_distractors(question, place(question, 2, "gold_at_0"), [0])
    assert not answer_in_distractors(question, [("A", "it was Rome"), ("B", "y")], [0])
    assert not answer_in_distractors(RETRIEVED, [("Rome", "Rome")], [])


@pytest.mark.parametrize("gold", [("A", "it was Rome"), ("A", "the answer in other words")])
def test_a_gold_item_that_occurs_twice_is_an_answer_in_a_distractor(gold):
    question = Question("id", "who", (Gold("gold", gold, ("Rome",)),), (("B", "y"), gold, ("C", "z")))
    assert question.repeats_gold and not RETRIEVED.repeats_gold
    examples = {size: make_example(question, size, "gold_at_0", TEMPLATE, multi_document_qa) for size in (2, 3, 4)}
    assert {size: one.answer_in_distractors for size, one in examples.items()} == {2: False, 3: True, 4: True}
    assert [answer_check_row("e", size, [one])["n_in_distractors"] for size, one in examples.items()] == [0, 1, 1]
