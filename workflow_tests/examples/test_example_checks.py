"""Checks of generated examples: the suite's pass, and each defect is found."""

import re

import pytest
from record_makers import changed
from suite_examples import (
    SETTINGS,
    SIZES,
    examples_by_position,
    questions,
    suite_placements,
)

from litm.examples.checks import check_examples, check_question
from litm.placements import gold_placement
from litm.records import Gold, Question


@pytest.mark.parametrize("task", SIZES)
def test_a_generated_set_passes_all_checks_at_every_position(task):
    size = SIZES[task]
    placements = suite_placements(task, size)
    found = [finding for question in questions(task, size) for finding in check_question(question)]
    found += check_examples(examples_by_position(task, size, placements), generated=True)
    print(f"{task}, {size} items, {len(placements)} placements, {SETTINGS.examples} questions: {found or 'nothing'}")
    assert not found


def spoilt(change) -> list[str]:
    """What the checks find after `change` was made to the records of a small set of examples."""
    examples = examples_by_position("needle_in_haystack", 20, [gold_placement([p]) for p in (0, 9, 19)])
    assert not check_examples(examples, generated=True)
    return check_examples(changed(examples, change), generated=True)


def first_at(examples: dict, position: int) -> dict:
    return examples[f"gold_at_{position}"][0]


def test_a_leak_behind_the_context_is_found():
    def leak(examples):
        record = first_at(examples, 9)
        record["prompt"] += f" (Not {record['targets'][0]['answers'][0]}?)"

    assert any("gold_at_9: the answer" in finding and "outside the item gold" in finding for finding in spoilt(leak))


def test_a_span_beside_the_gold_item_is_found():
    def shift(examples):
        first_at(examples, 9)["targets"][0]["span"][0] += 1

    assert any("the span of gold is not the same text" in finding for finding in spoilt(shift))


def test_a_gold_item_at_another_position_than_its_record_says_is_found():
    def swap(examples):
        one, other = first_at(examples, 0), first_at(examples, 19)
        one["prompt"], other["prompt"] = other["prompt"], one["prompt"]
        one["targets"][0]["span"], other["targets"][0]["span"] = other["targets"][0]["span"], one["targets"][0]["span"]

    assert any("does not lie further back at a greater position" in finding for finding in spoilt(swap))


def test_an_item_that_is_only_at_one_position_is_found():
    def exchange(examples):
        record = first_at(examples, 19)
        record["prompt"] = record["prompt"].replace("the text below", "the tale below")

    assert any("the items differ between placements" in finding for finding in spoilt(exchange))


def test_messages_that_differ_or_say_more_than_the_prompt_are_found():
    examples = examples_by_position("conversation_memory", 6, [gold_placement([p]) for p in (0, 5)])
    assert not check_examples(examples, generated=True)

    def say_more(examples):
        first_at(examples, 5)["messages"][0]["content"] += " And more."

    found = check_examples(changed(examples, say_more), generated=True)
    assert any("the messages differ between placements" in finding for finding in found)
    assert any("gold_at_5: its messages say something that its prompt does not" in finding for finding in found)


def test_a_sentence_that_is_there_twice_is_found():
    def repeat(examples):
        for records in examples.values():
            head, separator, tail = records[0]["prompt"].partition("\n\nQuestion:")
            last = re.split(r"(?<=\.) ", head)[-2]
            records[0]["prompt"] = f"{head} {last}{separator}{tail}"

    assert any("is there 2 times" in finding for finding in spoilt(repeat))


def test_a_question_that_is_missing_or_differs_at_a_position_is_found():
    def drop(examples):
        examples["gold_at_9"].pop()

    def reword(examples):
        first_at(examples, 9)["question"] += " Please."

    def repeat(examples):
        examples["gold_at_9"].append(first_at(examples, 9))

    def reorder(examples):
        examples["gold_at_9"].reverse()

    assert spoilt(reorder) == ["the questions are in another order at some placement"]
    assert spoilt(drop) == ["needle_in_haystack/20/4: is not there with gold_at_9"]
    assert spoilt(reword) == ["needle_in_haystack/20/0: question, targets or answers differ between placements"]
    assert "needle_in_haystack/20/0: is there 2 times with gold_at_9" in spoilt(repeat)


def test_positions_and_depths_that_contradict_the_placement_are_found():
    def misplace(examples):
        first_at(examples, 9)["targets"][0]["position"] = 10

    def sink(examples):
        first_at(examples, 9)["targets"][0]["depth"] = 0.1

    assert any("its targets are at [10]" in finding for finding in spoilt(misplace))
    assert any("the depth is not that of the position" in finding for finding in spoilt(sink))


def test_answers_in_other_items_or_the_question_and_keys_that_repeat_are_found():
    golds = (Gold("gold", ("a", "XYZ-2345"), ("XYZ-2345",)),)
    question = Question("q", "Is it xyz-2345?", golds, (("a", "BCD-2345"), ("b", "not XYZ-2345")))
    assert check_question(question) == [
        "q: the item 'a' occurs 2 times",
        "q: the answer XYZ-2345 is in the question",
        "q: the answer XYZ-2345 is in another item: 'b | not XYZ-2345'",
    ]
