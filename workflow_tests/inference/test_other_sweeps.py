"""Reuse across sweeps: answers found by prompt and identity, whatever the name of the journal."""

import json
import os
from pathlib import Path

import echo_engine
import pytest
from echo_engine import IDENTITY, Asked, planned
from litm.inference.journal import Journal, other_sweeps

from litm.base.store import digest
from litm.inference.answer_identity import NEW_PROMPTS
from litm.records.responses import Response


def at(temperature: float) -> dict:
    """The identity of a model at this temperature."""
    return {"source": {}, "model": {"temperature": temperature}}


def ask(root: Path, name: str, *texts: str, identity: dict = IDENTITY) -> Asked:
    """Run the sweep whose journal has this name."""
    path = root / f"{name}.jsonl"
    others = other_sweeps(root, path)
    return echo_engine.ask(path, *texts, identity=identity, name=name, others=others)


def answer(root: Path, name: str, text: str, prompt: str = "a", identity: dict = IDENTITY, tokens: int = 1) -> None:
    """Add an answer to the journal of this name."""
    (one,) = planned(prompt, identity=identity)
    with Journal(root / f"{name}.jsonl") as journal:
        journal.append(identity, [(one.key, Response(text, "stop", tokens, 1, "by hand"))])


def test_three_experiments_of_the_same_prompts_ask_them_once_and_say_where_the_others_are_from(tmp_path):
    assert ask(tmp_path, "m/one", "a", "b", "c").asked == ["a", "b", "c"]
    found = ask(tmp_path, "m/two", "c", "a")
    assert (found.asked, found.texts) == ([], ["C", "A"])
    assert found.counts("asked", "reused", "reused_elsewhere") == (0, 2, 2)
    found = ask(tmp_path, "m/three", "a", "b", "c", "d")
    assert (found.asked, found.texts) == (["d"], ["A", "B", "C", "D"])
    assert found.counts("asked", "reused", "reused_elsewhere") == (1, 3, 3)
    assert ask(tmp_path, "m/one", "a").manifest["reused_elsewhere"] == 0
    # What was found is in the own journal too, which needs no other from then on.
    (tmp_path / "m/one.jsonl").unlink()
    (tmp_path / "m/three.jsonl").unlink()
    found = ask(tmp_path, "m/two", "c", "a")
    assert (found.asked, found.texts) == ([], ["C", "A"]) and found.counts("reused", "reused_elsewhere") == (2, 0)


def test_a_model_of_another_name_and_the_shards_of_a_sweep_have_answers_for_all(tmp_path):
    answer(tmp_path, "old/e", "x", "a")
    answer(tmp_path, "old/f/1_of_2", "y", "b")
    found = ask(tmp_path, "new/e", "a", "b")
    assert (found.asked, found.texts) == ([], ["x", "y"])


@pytest.mark.parametrize(("first", "then"), [(1, 1.0), (1.0, 1)])
def test_identities_that_mean_the_same_share_answers_across_journals_and_others_do_not(tmp_path, first, then):
    ask(tmp_path, "m/one", "a", "b", identity=at(first))
    found = ask(tmp_path, "n/two", "b", "a", identity=at(then))
    assert (found.asked, found.texts) == ([], ["B", "A"])
    assert ask(tmp_path, "n/three", "a", identity=at(0.5)).asked == ["a"]


def test_of_two_journals_with_different_answers_the_last_by_name_counts_with_a_message(tmp_path, capsys):
    answer(tmp_path, "m/b", "of b")
    answer(tmp_path, "m/a", "of a")
    answer(tmp_path, "a/z", "of z")
    assert ask(tmp_path, "m/c", "a").texts == ["of b"]
    assert capsys.readouterr().err.count("m/c: 1 prompts have different answers in journals of other sweeps") == 1
    # Its own comes first, whatever the others have.
    answer(tmp_path, "a/own", "own")
    assert ask(tmp_path, "a/own", "a").texts == ["own"] and capsys.readouterr().err == ""


def test_an_answer_under_the_same_identity_is_preferred_to_one_under_an_equal_identity(tmp_path):
    answer(tmp_path, "m/a", "the same", identity=at(1))
    answer(tmp_path, "m/b", "equal", identity=at(1.0))
    assert ask(tmp_path, "m/c", "a", identity=at(1)).texts == ["the same"]


def test_foreign_and_unfinished_lines_of_a_journal_are_skipped_and_not_changed(tmp_path):
    answer(tmp_path, "m/one", "x", "a")
    answer(tmp_path, "m/one", "y", "b")
    path = tmp_path / "m/one.jsonl"
    identity, a, b = path.read_text().splitlines(keepends=True)
    path.write_text(identity + a.replace('"x"', '"changed"') + "{]\n" + b + a[:-20])
    (tmp_path / "m/none.jsonl").write_bytes(b"\x1f\x8b no journal")
    before = path.read_bytes()
    found = ask(tmp_path, "m/two", "a", "b")
    assert (found.asked, found.texts) == (["a"], ["A", "y"])
    assert path.read_bytes() == before


def test_a_text_that_looks_like_an_identity_or_a_key_is_none(tmp_path):
    text = json.dumps({"key": planned("b")[0].key, "fields": IDENTITY, "identity": digest(IDENTITY)})
    answer(tmp_path, "m/one", text)
    found = ask(tmp_path, "m/two", "a", "b")
    assert (found.asked, found.texts) == (["b"], [text, "B"])


def test_a_prompt_that_is_too_long_now_is_not_counted_as_reused(tmp_path):
    answer(tmp_path, "m/one", "x", "much longer than that", tokens=21)
    found = ask(tmp_path, "m/two", "much longer than that")
    assert found.texts == [None] and found.counts("overflow", "reused_elsewhere", "reused") == (1, 0, 0)


def test_new_prompts_of_an_identity_that_another_sweep_has_are_new_prompts(tmp_path):
    answer(tmp_path, "m/one", "x")
    assert ask(tmp_path, "m/two", "b").manifest["asked_because"] is None
    assert ask(tmp_path, "m/two", "c").manifest["asked_because"] == NEW_PROMPTS


def test_the_journals_of_the_sweep_itself_are_none_of_other_sweeps(tmp_path):
    for name in ("m/e", "m/e/1_of_2", "m/f", "m/f/2_of_2", "n/e"):
        (tmp_path / f"{name}.jsonl").parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / f"{name}.jsonl").touch()
    found = [str(path.relative_to(tmp_path)) for path in other_sweeps(tmp_path, tmp_path / "m/e.jsonl")]
    assert found == ["m/f/2_of_2.jsonl", "m/f.jsonl", "n/e.jsonl"]


def test_a_journal_that_cannot_be_read_is_named_and_passed_over(tmp_path, capsys):
    ask(tmp_path, "m/one", "a")
    (tmp_path / "m/lost.jsonl").symlink_to(tmp_path / "nowhere")
    (tmp_path / "m/folder.jsonl").mkdir()
    os.mkfifo(tmp_path / "m/pipe.jsonl")
    assert ask(tmp_path, "m/two", "a").asked == []
    said = capsys.readouterr().err
    assert all(f"{name}.jsonl: not looked at for answers" in said for name in ("lost", "folder", "pipe"))
