"""First-line stop for servers: answers are kept whole and cut when responses are written."""

from dataclasses import replace
from pathlib import Path

import pytest
from fault_server import FaultServer
from hypothesis import given
from hypothesis import strategies as st
from programs import run_program
from record_makers import response
from sweeps import ANSWERS, answer_records, served_sweep, short_examples

from litm.base.json_files import read_json
from litm.engines.stopping import Ending, cut_at_line_end, line_end
from litm.prompting.reasoning import STRIP, Reasoning
from litm.records.responses import LENGTH, OVERFLOW, STOP, SweepResponse, read_responses

LETTERS = "a\n \t\u2003b"
REASONED = "<think>\nlet me think\n</think>\nParis is right\nor is it?"


@given(st.text(alphabet=LETTERS, max_size=12))
def test_an_answer_ends_where_the_local_engine_ends_one_of_the_same_characters(text):
    ids, reason = Ending(list(LETTERS), first_line=True).cut([LETTERS.index(letter) for letter in text], [], ())
    end = line_end(text, Reasoning())
    assert text[:end] == "".join(LETTERS[id] for id in ids)
    assert (reason == "stop") == (end is not None)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("<think>\nHm.\n</think>\n\nAnn\nBob", "<think>\nHm.\n</think>\n\nAnn\n"),
        ("Hm.\nHm.\n</think>Ann\n", "Hm.\nHm.\n</think>Ann\n"),
        ("\n<think>\nHm.\nHm.", "\n<think>\nHm.\nHm."),
        ("Ann\nBob", "Ann\n"),
    ],
)
def test_lines_of_reasoning_do_not_end_an_answer(text, kept):
    assert text[: line_end(text, Reasoning(STRIP))] == kept


def test_a_response_is_cut_after_its_first_line_and_one_without_a_first_line_is_unchanged():
    texts = [" \n\n one\ntwo\n", "one", "\n \n", "one\n\ntwo", ""]
    responses = [response(response=text, finish_reason=LENGTH) for text in texts]
    responses.append(response(response=None, finish_reason=OVERFLOW))
    cut = list(cut_at_line_end(responses, Reasoning()))
    assert [(one.text, one.finish_reason) for one in cut] == [
        (" \n\n one\n", STOP), ("one", LENGTH), ("\n \n", LENGTH), ("one\n", STOP), ("", LENGTH), (None, OVERFLOW),
    ]  # fmt: skip
    assert list(cut_at_line_end(cut, Reasoning())) == cut


def generate(folder: Path, url: str, reasoning: Reasoning, stop: str = "first_line") -> list[SweepResponse]:
    """What the program writes for two prompts, asked of a server or found among the folder's answers."""
    sweep = served_sweep(short_examples(folder, 2), url)
    sweep = replace(sweep, settings={**sweep.settings, **reasoning.settings()}, stop=stop)
    done = run_program("generate", *sweep.words(folder))
    assert done.returncode == 0, done.stderr
    return list(read_responses(folder / "responses.jsonl.gz"))


@pytest.mark.parametrize("tags", [("<think>", "</think>"), ("<a>", "</a>")])
def test_another_reasoning_policy_on_the_same_answers_is_as_if_asked_anew(tags, tmp_path):
    text = REASONED.replace("<think>", tags[0]).replace("</think>", tags[1])
    policies = [Reasoning(), Reasoning(STRIP, tags=tags), Reasoning(STRIP), Reasoning()]
    with FaultServer(answer=lambda prompt: text) as server:
        for number, policy in enumerate(policies):
            kept, fresh = tmp_path / "kept", tmp_path / str(number)
            kept.mkdir(exist_ok=True)
            fresh.mkdir()
            assert generate(kept, server.url, policy) == generate(fresh, server.url, policy)
            assert (kept / "responses.jsonl.gz").read_bytes() == (fresh / "responses.jsonl.gz").read_bytes()
            assert read_json(kept / "manifest.json")["asked"] == (0 if number else 2)
            if policy == policies[1]:
                (one, _) = read_responses(kept / "responses.jsonl.gz")
                assert one.answer == "\nParis is right\n" and one.text == text.removesuffix("or is it?")
    assert {record["text"] for record in answer_records(kept / ANSWERS)} == {text}
