"""Shards of a sweep: their prompts, and that any number of shards makes the whole sweep."""

import argparse
import json
from pathlib import Path

import pytest
from echo_engine import EchoEngine, ask, planned
from litm.inference.journal import Shard, journal_files, shard, shard_journal
from record_makers import example

from litm.inference.sweep import prompts_of_shard

EXAMPLES = [
    example(id=f"q{n}", size=size, placement=f"gold_at_{p}", prompt=f"{n} {size} {p}")
    for size in (4, 5)
    for p in (0, 1)
    for n in range(7)
]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 9])
def test_every_prompt_is_in_one_shard_and_all_of_a_question_are_in_the_same(count):
    shards = [prompts_of_shard(planned(*EXAMPLES), Shard(number, count)) for number in range(1, count + 1)]
    assert sorted(prompt.key for one in shards for prompt in one) == sorted(prompt.key for prompt in planned(*EXAMPLES))
    ids = [{prompt.id for prompt in one} for one in shards]
    assert sum(map(len, ids)) == 7 and set().union(*ids) == {f"q{n}" for n in range(7)}
    assert max(map(len, ids)) - min(map(len, ids)) <= 1


def ask_all(path: Path, count: int, **more) -> list[str]:
    """Run all shards; returns the prompts that were asked."""
    return [text for n in range(count) for text in ask(path, *EXAMPLES, part=Shard(n + 1, count), **more).asked]


def test_shards_together_have_the_answers_of_the_sweep_and_gathering_asks_nothing(tmp_path):
    whole = ask(tmp_path / "whole.jsonl", *EXAMPLES)
    assert sorted(ask_all(tmp_path / "kv.jsonl", 3)) == sorted(e.prompt for e in EXAMPLES)
    gathered = ask(tmp_path / "kv.jsonl", *EXAMPLES, only_gather=True)
    assert gathered.responses == whole.responses and not gathered.asked


@pytest.mark.parametrize("later", [None, Shard(2, 2), Shard(4, 5)])
def test_another_number_of_shards_asks_nothing_again(tmp_path, later):
    ask_all(tmp_path / "kv.jsonl", 3)
    assert not ask(tmp_path / "kv.jsonl", *EXAMPLES, part=later).asked


def test_prompts_without_an_answer_in_any_shard_are_failed_when_gathered(tmp_path):
    ask_all(tmp_path / "kv.jsonl", 2, engine=EchoEngine(["3 4 0"]))
    responses = ask(tmp_path / "kv.jsonl", *EXAMPLES, only_gather=True).responses
    (failed,) = [response for response in responses if response.finish_reason == "failed"]
    assert (failed.id, failed.size, failed.placement, failed.text) == ("q3", 4, "gold_at_0", None)


def test_half_a_line_that_another_shard_is_writing_is_not_read_and_not_cut(tmp_path):
    ask(tmp_path / "kv.jsonl", *EXAMPLES, part=Shard(1, 2))
    first = shard_journal(tmp_path / "kv.jsonl", Shard(1, 2))
    torn = first.read_bytes()[:-5]
    first.write_bytes(torn)
    texts = ask(tmp_path / "kv.jsonl", *EXAMPLES).texts
    assert len(texts) == len(EXAMPLES) and all(texts)
    assert first.read_bytes() == torn
    assert journal_files(tmp_path / "kv.jsonl") == [tmp_path / "kv.jsonl", first]


@pytest.mark.parametrize("text", ["", "1", "0_of_3", "4_of_3", "1_of_3_of_4", "a_of_b"])
def test_a_shard_is_read_by_its_name_and_what_is_none_is_refused(text):
    assert shard("2_of_11") == Shard(2, 11) and Shard(2, 11).name == "2_of_11"
    with pytest.raises(argparse.ArgumentTypeError, match="is no shard; the first of four is 1_of_4"):
        shard(text)


def test_a_bad_line_of_a_part_costs_its_prompt_alone_when_that_part_is_asked_again(tmp_path, capsys):
    ask_all(tmp_path / "kv.jsonl", 2)
    whole = ask(tmp_path / "kv.jsonl", *EXAMPLES, only_gather=True).responses
    journal = shard_journal(tmp_path / "kv.jsonl", Shard(1, 2))
    lines = journal.read_text().splitlines(keepends=True)
    lost = json.loads(lines[3])
    journal.write_text("".join([*lines[:3], json.dumps({**lost, "prompt_tokens": "12"}) + "\n", *lines[4:]]))
    gathered = ask(tmp_path / "kv.jsonl", *EXAMPLES, only_gather=True).responses
    assert [response.key for response in gathered if response.finish_reason == "failed"] == [lost["key"]]
    assert f"{journal}, line 4: not a journal line" in capsys.readouterr().err
    assert len(ask(tmp_path / "kv.jsonl", *EXAMPLES, part=Shard(1, 2)).asked) == 1
    assert ask(tmp_path / "kv.jsonl", *EXAMPLES, only_gather=True).responses == whole
