"""Reuse across sweeps: answers found by prompt and identity, whatever the names of models, experiments and files."""

import json
import os
import shutil
from pathlib import Path

import echo_engine
import pytest
from echo_engine import IDENTITY, Asked, planned

from litm.base.store import digest
from litm.inference.answer_identity import NEW_PROMPTS
from litm.inference.kept_answers import Answers, answer_files
from litm.records.bills import Usage
from litm.records.responses import Response


def at(temperature: float) -> dict:
    """The identity of a model at this temperature."""
    return {"source": {}, "model": {"temperature": temperature}}


def ask(study: Path, name: str, *texts: str, identity: dict = IDENTITY) -> Asked:
    return echo_engine.ask(study, *texts, identity=identity, name=name)


def answer(
    study: Path, name: str, text: str, prompt: str = "a", identity: dict = IDENTITY, tokens: int = 1, part: str = ""
) -> Path:
    """Add an answer of a sweep of this name; returns its file."""
    (one,) = planned(prompt, identity=identity)
    before = set(answer_files([study / "answers"]))
    with Answers([study / "answers"], *name.split("/"), study / "asking", part) as answers:
        billed = Usage(tokens, 0, 0, 1)
        answers.append(identity, [(one.key, Response(text, "stop", tokens, 1, "by hand", billed))])
    (file,) = {*answer_files([study / "answers"])} - before
    return file


def test_three_experiments_of_the_same_prompts_ask_them_once_and_say_where_the_others_are_from(tmp_path):
    assert ask(tmp_path, "m/one", "a", "b", "c").asked == ["a", "b", "c"]
    found = ask(tmp_path, "m/two", "c", "a")
    assert (found.asked, found.texts) == ([], ["C", "A"])
    assert found.counts("asked", "reused", "reused_elsewhere") == (0, 2, 2)
    found = ask(tmp_path, "m/three", "a", "b", "c", "d")
    assert (found.asked, found.texts) == (["d"], ["A", "B", "C", "D"])
    assert found.counts("asked", "reused", "reused_elsewhere") == (1, 3, 3)
    assert ask(tmp_path, "m/one", "a").manifest["reused_elsewhere"] == 0
    # What was found is copied nowhere.
    assert len(answer_files([tmp_path / "answers"])) == 2


def test_a_model_of_another_name_and_the_shards_of_a_sweep_have_answers_for_all(tmp_path):
    answer(tmp_path, "old/e", "x", "a")
    answer(tmp_path, "old/f", "y", "b", part="1_of_2")
    found = ask(tmp_path, "new/e", "a", "b")
    assert (found.asked, found.texts) == ([], ["x", "y"])


@pytest.mark.parametrize(("first", "then"), [(1, 1.0), (1.0, 1)])
def test_identities_that_mean_the_same_share_answers_across_folders_and_others_do_not(tmp_path, first, then):
    ask(tmp_path, "m/one", "a", "b", identity=at(first))
    found = ask(tmp_path, "n/two", "b", "a", identity=at(then))
    assert (found.asked, found.texts) == ([], ["B", "A"])
    assert ask(tmp_path, "n/three", "a", identity=at(0.5)).asked == ["a"]
    # The same in another folder of answers, and new ones go under the identity as it is written.
    folders = [tmp_path / "new" / "answers", tmp_path / "answers"]
    found = echo_engine.ask(tmp_path / "new", "a", "b", "c", identity=at(then), folders=folders)
    assert (found.asked, found.texts) == (["c"], ["A", "B", "C"])
    assert [file.parent.name for file in answer_files(folders[:1])] == [digest(at(then))]


def test_of_different_answers_the_same_counts_in_every_sweep_with_a_message(tmp_path, capsys):
    texts = {"m/b": "of b", "m/a": "of a", "a/z": "of z"}
    for name, text in texts.items():
        answer(tmp_path, name, text)
    served = {name: ask(tmp_path, name, "a") for name in ("m/c", *texts)}
    said = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in said] == [*served] and "1 prompts have different answers" in said[0]
    assert len({found.texts[0] for found in served.values()}) == 1
    # Its own is counted as another's where another's counts.
    (own,) = [name for name, text in texts.items() if [text] == served[name].texts]
    elsewhere = {name for name, found in served.items() if found.manifest["reused_elsewhere"]}
    assert elsewhere == {*served} - {own}
    assert {name for name, found in served.items() if found.responses[0].billed.elsewhere} == elsewhere


def test_answers_under_the_same_and_under_an_equal_identity_count_alike(tmp_path):
    """Otherwise a study would have another answer than one that writes the identity in the other way."""
    answer(tmp_path, "m/a", "the same", identity=at(1))
    answer(tmp_path, "m/b", "equal", identity=at(1.0))
    assert ask(tmp_path, "m/c", "a", identity=at(1)).texts == ask(tmp_path, "m/c", "a", identity=at(1.0)).texts


def test_foreign_and_unfinished_lines_of_a_file_are_skipped_and_not_changed(tmp_path):
    path = answer(tmp_path, "m/one", "x", "a")
    other = answer(tmp_path, "m/one", "y", "b")
    a, b = path.read_text(), other.read_text()
    other.unlink()
    path.write_text(a.replace('"x"', '"changed"') + "{]\n" + b + a[:-20])
    path.with_name("none.jsonl").write_bytes(b"\x1f\x8b no answers")
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


def test_only_the_answers_of_the_sweep_itself_in_this_study_are_its_own(tmp_path):
    """By the names of the model and the experiment, whatever part, and by the study's id."""
    answer(tmp_path, "m/e", "1", "a")
    answer(tmp_path, "m/e", "2", "b", part="1_of_2")
    answer(tmp_path, "m/e.log_probability", "3", "c")
    answer(tmp_path, "m/f", "4", "d")
    answer(tmp_path, "n/e", "5", "e")
    answer(tmp_path / "other", "m/e", "6", "f")
    shutil.copytree(tmp_path / "other" / "answers", tmp_path / "answers", dirs_exist_ok=True)
    found = ask(tmp_path, "m/e", *"abcdef")
    assert (found.asked, found.texts) == ([], [*"123456"])
    assert [one.billed.elsewhere for one in found.responses] == [False, False, True, True, True, True]
    assert found.counts("reused", "reused_elsewhere") == (6, 4)


def test_a_file_that_cannot_be_read_is_named_and_passed_over(tmp_path, capsys):
    ask(tmp_path, "m/one", "a")
    folder = tmp_path / "answers" / digest(IDENTITY)
    (folder / "lost.jsonl").symlink_to(tmp_path / "nowhere")
    (folder / "folder.jsonl").mkdir()
    os.mkfifo(folder / "pipe.jsonl")
    assert ask(tmp_path, "m/two", "a").asked == []
    said = capsys.readouterr().err
    assert all(f"{name}.jsonl: not looked at for answers" in said for name in ("lost", "folder", "pipe"))
