"""Checks of examples: generated ones pass, each defect is found, and the program stops before a model is asked."""

import re
import subprocess
from pathlib import Path

import pytest
from conftest import write_lines
from programs import run_program
from record_makers import changed
from suite_examples import SIZES, examples_by_position, questions, suite_placements

from litm.base.json_files import read_json
from litm.examples.checks import check_examples, check_question
from litm.placements import gold_placement
from litm.records.questions import Gold, Question


@pytest.mark.parametrize("task", SIZES)
def test_a_generated_set_passes_all_checks_at_every_position(task):
    size = SIZES[task]
    found = [finding for question in questions(task, size) for finding in check_question(question)]
    assert not found + check_examples(examples_by_position(task, size, suite_placements(task, size)), generated=True)


def spoilt(change, generated: bool = True) -> list[str]:
    """What the checks find after `change` was made to the records of a small set of examples."""
    examples = examples_by_position("needle_in_haystack", 20, [gold_placement([p]) for p in (0, 9, 19)])
    assert not check_examples(examples, generated)
    return check_examples(changed(examples, change), generated)


def first_at(examples: dict, position: int) -> dict:
    return examples[f"gold_at_{position}"][0]


def leak(examples):
    record = first_at(examples, 9)
    record["prompt"] += f" (Not {record['targets'][0]['answers'][0]}?)"


def leak_everywhere(examples):
    for records in examples.values():
        records[0]["prompt"] += f" Again: {records[0]['targets'][0]['answers'][0]}."


def swap(examples):
    one, other = first_at(examples, 0), first_at(examples, 19)
    one["prompt"], other["prompt"] = other["prompt"], one["prompt"]
    one["targets"][0]["span"], other["targets"][0]["span"] = other["targets"][0]["span"], one["targets"][0]["span"]


def exchange(examples):
    record = first_at(examples, 19)
    record["prompt"] = record["prompt"].replace("the text below", "the tale below")


def repeat_a_sentence(examples):
    for records in examples.values():
        head, separator, tail = records[0]["prompt"].partition("\n\nQuestion:")
        last = re.split(r"(?<=\.) ", head)[-2]
        records[0]["prompt"] = f"{head} {last}{separator}{tail}"


def ask_otherwise(examples):
    first_at(examples, 9)["question"] = "Which?"


def shift(examples):
    first_at(examples, 9)["targets"][0]["span"][0] += 1


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (leak, "gold_at_9: the answer .* outside the item gold"),
        (shift, "the span of gold is not the same text"),
        (swap, "does not lie further back at a greater position"),
        (exchange, "the items differ between placements"),
        (repeat_a_sentence, "is there 2 times"),
        (lambda examples: first_at(examples, 9)["targets"][0].update(position=10), r"its targets are at \[10\]"),
        (lambda examples: first_at(examples, 9)["targets"][0].update(depth=0.1), "depth is not that of the position"),
        (
            lambda examples: examples["gold_at_9"].append(first_at(examples, 9)),
            "^.*/20/0: is there 2 times with gold_at_9$",
        ),
    ],
)
def test_a_prompt_or_a_target_with_a_defect_is_found(change, found):
    assert any(re.search(found, finding) for finding in spoilt(change))


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda examples: examples["gold_at_9"].reverse(), "the questions are in another order at some placement"),
        (lambda examples: examples["gold_at_9"].pop(), "needle_in_haystack/20/4: is not there with gold_at_9"),
        (ask_otherwise, "needle_in_haystack/20/0: question, targets or answers differ between placements"),
    ],
)
def test_questions_that_differ_between_placements_are_all_that_is_found_in_examples_of_any_source(change, found):
    assert spoilt(change) == spoilt(change, generated=False) == [found]
    assert any("the span of gold is not the same text" in one for one in spoilt(shift, generated=False))


def test_messages_that_differ_or_say_more_than_the_prompt_are_found():
    examples = examples_by_position("conversation_memory", 6, [gold_placement([p]) for p in (0, 5)])
    assert not check_examples(examples, generated=True)

    def say_more(examples):
        first_at(examples, 5)["messages"][0]["content"] += " And more."

    found = check_examples(changed(examples, say_more), generated=True)
    assert any("the messages differ between placements" in finding for finding in found)
    assert any("gold_at_5: its messages say something that its prompt does not" in finding for finding in found)


def test_answers_in_other_items_or_the_question_and_keys_that_repeat_are_found():
    golds = (Gold("gold", ("a", "XYZ-2345"), ("XYZ-2345",)),)
    question = Question("q", "Is it xyz-2345?", golds, (("a", "BCD-2345"), ("b", "not XYZ-2345")))
    assert [*check_question(question)] == [
        "q: the item 'a' occurs 2 times",
        "q: the answer XYZ-2345 is in the question",
        "q: the answer XYZ-2345 is in another item: 'b | not XYZ-2345'",
    ]


def check(folder: Path, change, *words: str) -> subprocess.CompletedProcess:
    """Run the program on examples after this change."""
    examples = examples_by_position("needle_in_haystack", 20, [gold_placement([p]) for p in (0, 9, 19)])
    (folder / "20").mkdir(exist_ok=True)
    for placement, some in changed(examples, change).items():
        write_lines(folder / "20" / f"{placement}.jsonl.gz", [one.to_json() for one in some])
    files = [folder / "20" / f"{placement}.jsonl.gz" for placement in examples]
    return run_program(
        "check_examples", "--experiment", "e", "--examples", *files, *words, "--output", folder / "e.json"
    )


def test_examples_that_pass_are_written_down(tmp_path):
    done = check(tmp_path, lambda examples: None, "--generated")
    assert done.returncode == 0, done.stderr
    placements = {"20": ["gold_at_0", "gold_at_9", "gold_at_19"]}
    assert read_json(tmp_path / "e.json") == {"experiment": "e", "generated": True, "placements": placements}


def test_a_leak_in_generated_examples_stops_the_run_with_one_line(tmp_path):
    done = check(tmp_path, leak_everywhere, "--generated")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    said = "error: the examples of e, size 20, would not measure what they should: needle_in_haystack/20/0, gold_at_0: "
    assert f"{said}the answer " in done.stderr and not (tmp_path / "e.json").exists()
    # In real documents an answer may be anywhere: that is counted in a table instead.
    assert check(tmp_path, leak_everywhere).returncode == 0
