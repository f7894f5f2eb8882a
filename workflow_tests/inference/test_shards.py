"""Shards of a sweep: their prompts, and that any number of shards makes the whole sweep."""

import argparse
import json

import pytest
from test_sweep import FIT, IDENTITY, EchoEngine, cells

from litm.base.store import digest
from litm.inference.journal import Journal, Shard, journal_files, other_journals, shard, shard_journal
from litm.inference.setup import Prompt, sweep_prompts
from litm.inference.sweep import AskedSweep, ask_missing, prompts_of_shard, sweep_responses
from litm.prompting.prompt_format import RAW
from litm.records import SweepResponse

EXAMPLES = cells(
    *((f"q{n}", size, f"gold_at_{p}", f"{n} {size} {p}") for size in (4, 5) for p in (0, 1) for n in range(7))
)


def planned() -> list[Prompt]:
    return sweep_prompts(EXAMPLES, digest(IDENTITY), RAW)


def ask(path, part: Shard | None, engine, ask=True) -> list[SweepResponse]:
    """Ask a shard of the sweep, or what all shards have left of it; the responses."""
    prompts = prompts_of_shard(planned(), part) if part else planned()
    own = shard_journal(path, part) if part else path
    with Journal(own, other_journals(path, own)) as journal:
        outcome = ask_missing(prompts, journal, AskedSweep("test", IDENTITY), FIT, lambda: engine, ask)
        return list(sweep_responses(prompts, journal, outcome))


@pytest.mark.parametrize("count", [1, 2, 3, 7, 9])
def test_every_prompt_is_in_one_shard_and_all_of_a_question_are_in_the_same(count):
    shards = [prompts_of_shard(planned(), Shard(number, count)) for number in range(1, count + 1)]
    assert sorted(prompt.key for one in shards for prompt in one) == sorted(prompt.key for prompt in planned())
    ids = [{prompt.id for prompt in one} for one in shards]
    assert sum(map(len, ids)) == 7 and set().union(*ids) == {f"q{n}" for n in range(7)}
    assert max(map(len, ids)) - min(map(len, ids)) <= 1


def test_shards_together_have_the_answers_of_the_sweep_and_gathering_asks_nothing(tmp_path):
    whole = ask(tmp_path / "whole.jsonl", None, EchoEngine())
    engines = [EchoEngine() for _ in range(3)]
    for number, engine in enumerate(engines, start=1):
        ask(tmp_path / "kv.jsonl", Shard(number, 3), engine)
    assert sorted(text for engine in engines for text in engine.asked) == sorted(e.prompt for e in EXAMPLES)
    idle = EchoEngine()
    assert ask(tmp_path / "kv.jsonl", None, idle, ask=False) == whole
    assert not idle.asked


@pytest.mark.parametrize("later", [None, Shard(2, 2), Shard(4, 5)])
def test_another_number_of_shards_asks_nothing_again(tmp_path, later):
    for number in (1, 2, 3):
        ask(tmp_path / "kv.jsonl", Shard(number, 3), EchoEngine())
    engine = EchoEngine()
    ask(tmp_path / "kv.jsonl", later, engine)
    assert not engine.asked


def test_prompts_without_an_answer_in_any_shard_are_failed_when_gathered(tmp_path):
    forgetful = EchoEngine()
    forgetful.forgets = ("3 4 0",)
    for number in (1, 2):
        ask(tmp_path / "kv.jsonl", Shard(number, 2), forgetful)
    responses = ask(tmp_path / "kv.jsonl", None, EchoEngine(), ask=False)
    (failed,) = [response for response in responses if response.finish_reason == "failed"]
    assert (failed.id, failed.size, failed.placement, failed.text) == ("q3", 4, "gold_at_0", None)


def test_half_a_line_that_another_shard_is_writing_is_not_read_and_not_cut(tmp_path):
    ask(tmp_path / "kv.jsonl", Shard(1, 2), EchoEngine())
    first = shard_journal(tmp_path / "kv.jsonl", Shard(1, 2))
    torn = first.read_bytes()[:-5]
    first.write_bytes(torn)
    engine = EchoEngine()
    responses = ask(tmp_path / "kv.jsonl", None, engine)
    assert len(responses) == len(EXAMPLES) and all(response.text for response in responses)
    assert first.read_bytes() == torn
    assert journal_files(tmp_path / "kv.jsonl") == [tmp_path / "kv.jsonl", first]


@pytest.mark.parametrize("text", ["", "1", "0_of_3", "4_of_3", "1_of_3_of_4", "a_of_b"])
def test_what_is_no_shard_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match="is no shard; the first of four is 1_of_4"):
        shard(text)


def test_a_shard_is_read_by_its_name():
    assert shard("2_of_11") == Shard(2, 11) and Shard(2, 11).name == "2_of_11"


def test_a_bad_line_of_a_part_costs_its_prompt_alone_when_that_part_is_asked_again(tmp_path, capsys):
    for number in (1, 2):
        ask(tmp_path / "kv.jsonl", Shard(number, 2), EchoEngine())
    whole = ask(tmp_path / "kv.jsonl", None, EchoEngine(), ask=False)
    journal = shard_journal(tmp_path / "kv.jsonl", Shard(1, 2))
    lines = journal.read_text().splitlines(keepends=True)
    lost = json.loads(lines[3])
    journal.write_text("".join([*lines[:3], json.dumps({**lost, "prompt_tokens": "12"}) + "\n", *lines[4:]]))
    gathered = ask(tmp_path / "kv.jsonl", None, EchoEngine(), ask=False)
    assert [response.key for response in gathered if response.finish_reason == "failed"] == [lost["key"]]
    assert f"{journal}, line 4: not a journal line" in capsys.readouterr().err
    engine = EchoEngine()
    ask(tmp_path / "kv.jsonl", Shard(1, 2), engine)
    assert len(engine.asked) == 1
    assert ask(tmp_path / "kv.jsonl", None, EchoEngine(), ask=False) == whole
