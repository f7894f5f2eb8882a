"""Which item a wrong answer was taken from: said only where the answer's words are in one item alone."""

import pytest
from record_makers import example
from suite_examples import ONE_GOLD, questions
from suite_examples import example as suite_example

from litm.domain.example import Example
from litm.report.answer_sources import items_of, source_of

DOCUMENTS = [
    "Document [1](Title: Bank) The manager of the bank is Nora Price.",
    "Document [2](Title: Inn) The owner of the inn is Karl Hughes.",
    "Document [3](Title: Farm) The owner of the farm is Adam Norris.",
]


def asked(documents=DOCUMENTS, position=1) -> Example:
    """A question for one of the documents."""
    before = "Answer the question.\n\n"
    prompt = before + "\n".join(documents) + "\n\nQuestion: who is the owner of the inn\nAnswer:"
    start = prompt.index(documents[position])
    target = {"answers": ["Karl Hughes"], "position": position, "span": [start, start + len(documents[position])]}
    return example(size=len(documents), prompt=prompt, question="who is the owner of the inn", targets=[target])


def test_items_are_found_from_the_gold_one_wherever_it_is():
    for position in range(3):
        one = asked(position=position)
        assert [one.prompt[slice(*span)].rstrip("\n") for span in items_of(one)] == DOCUMENTS


@pytest.mark.parametrize("task", [*ONE_GOLD, "kv_retrieval"])
def test_items_of_the_tasks_are_found_or_nothing_is_said(task):
    for question in list(questions(task, 12))[:2]:
        for placement in ("gold_at_0", "gold_at_5", "gold_at_11"):
            one = suite_example(task, question, 12, placement)
            items = items_of(one)
            (target,) = one.targets
            assert len(items) in (0, 12)
            if items:
                low, high = items[target.position]
                assert low <= target.span[0] and target.span[1] <= high


@pytest.mark.parametrize(
    ("answer", "position"),
    [
        ("The owner is Adam Norris.", 2),
        ("I think Price", 0),
        ("Karl", 1),
        ("Nora Norris", None),
        ("the owner of the", None),
        ("nobody", None),
    ],
)
def test_words_of_one_item_alone_say_where_an_answer_is_from(answer, position):
    source = source_of(asked(), answer)
    assert (source and source.position) == position


def test_nothing_is_said_where_a_text_with_line_ends_would_count_as_two_items():
    broken = [DOCUMENTS[0].replace("The manager", "\nThe manager"), *DOCUMENTS[1:]]
    assert items_of(asked(broken, position=2)) == []


def test_nothing_is_said_without_a_gold_item_and_with_several():
    target = {"answers": ["x"], "position": None, "span": None}
    assert items_of(example(prompt="Nora Price", targets=[target])) == []
    two = [{"answers": ["x"], "position": n, "span": [0, 4]} for n in (0, 1)]
    assert items_of(example(prompt="Nora Price", targets=two)) == []
