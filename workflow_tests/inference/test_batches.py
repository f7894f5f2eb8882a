"""Batches: their answers are those of single requests, each paid once, whatever the server does."""

import json
import sys
from collections import Counter
from dataclasses import replace

import pytest
from api_engines import HASTE, make_engine
from batch_server import (
    CANCELLED,
    DONE,
    FULL,
    INVALID,
    LATE,
    LOST,
    OVERLOADED,
    REFUSED,
    TOO_LONG,
    BatchServer,
    Fate,
    Fault,
)
from echo_engine import AskedSweep, planned
from fault_server import answer_to
from litm.inference.journal import Journal, Named
from programs import refused
from sweeps import journal_records, repeated_keys

from litm.inference.prompts import Fit
from litm.inference.sweep import ask_missing

IDENTITY, PROMPTS = {"model": "m"}, [f"prompt {number:02}" for number in range(10)]
EXPECTED, ONCE = {prompt: answer_to(prompt) for prompt in PROMPTS}, replace(HASTE, attempts=1)


def ask(protocol, server, folder, prompts=PROMPTS, identity=IDENTITY, batch=True, patience=HASTE):
    """A sweep's run; returns its failed prompts, and the texts in its journal by prompt."""
    asked = planned(*prompts, identity=identity)
    with Journal(folder / "kv.jsonl") as journal:
        engine, sweep = make_engine(protocol, server, patience, batch=batch), AskedSweep("mine/kv", identity)
        left = ask_missing(asked, journal, sweep, Fit(None, 50), lambda: engine).failed
        return left, {str(one.content): journal[one.key].text for one in asked if one.key in journal}


def test_answers_of_batches_differ_from_those_of_requests_in_their_price_and_made_with_alone(protocol, tmp_path):
    with BatchServer() as server:
        for way in ("single", "batched"):
            ask(protocol, server, tmp_path / way, batch=way == "batched")
    found = [sorted(journal_records(tmp_path / way / "kv.jsonl"), key=str) for way in ("single", "batched")]
    for single, batched in zip(*found, strict=True):
        assert batched.pop("made_with") == single.pop("made_with").replace(",", " in a batch,", 1)
        assert batched.pop("crc32") != single.pop("crc32") and batched["billed"].pop("batch") and batched == single
    assert [file.name for file in (tmp_path / "batched").iterdir()] == ["kv.jsonl"] and len(server.batches) == 1


def test_limits_split_a_sweep_into_batches(protocol, tmp_path, monkeypatch):
    with BatchServer(most=4) as server:
        engine = make_engine(protocol, server)
        item = json.dumps(engine.provider.batches.item("0" * 64, *engine.request(PROMPTS[0])))
        interface = replace(engine.provider.batches, most_bytes=4 * (len(item) + 1))
        monkeypatch.setattr(type(engine), "provider", replace(engine.provider, batches=interface))
        assert ask(protocol, server, tmp_path)[1] == EXPECTED
    assert [len(batch.results) for batch in server.batches.values()] == [4, 4, 2]


#: What the server does to its first batch, what is said, and whether this ends the run.
FATES = {
    "expires": (Fate(LATE, share=0.5), "5 answers are kept, 5 have none (the first: ", False),
    "returns half": (Fate(DONE, share=0.5, others=LOST), "results do not have it); 5 are asked again", False),
    "overloaded": (Fate(DONE, share=0.7, others=OVERLOADED), "3 are asked again", False),
    "torn results": (Fate(DONE, torn=2), "something of another form than the API's", False),
    "cancelled": (Fate(CANCELLED, share=0.3), "7 have none, it was cancelled; run the same command again", True),
    "invalid requests": (Fate(DONE, share=0.8, others=INVALID), "2 have none, 2 of them were refused: ", True),
}


@pytest.mark.parametrize("fate", FATES)
def test_what_a_batch_left_open_is_asked_again_or_reported_in_one_line(protocol, fate, tmp_path, capsys):
    does, said, ends = FATES[fate]
    with BatchServer(fate=lambda number: does if number == 0 else Fate()) as server:
        assert not ends or said in refused(ask, protocol, server, tmp_path)
        assert ask(protocol, server, tmp_path) == ({}, EXPECTED)
    assert ends or said in capsys.readouterr().err
    assert server.billed == Counter(PROMPTS) and not repeated_keys(tmp_path / "kv.jsonl")


def test_prompts_that_are_too_long_are_not_submitted_again(protocol, tmp_path, capsys):
    with BatchServer(fate=lambda number: Fate(DONE, share=0.8, others=TOO_LONG)) as server:
        failed, found = ask(protocol, server, tmp_path)
    assert not failed and len(found) == 8 and len(server.batches) == 1
    assert "the server refused 2 prompts as too long" in capsys.readouterr().err


def test_what_a_server_without_batches_sends_is_shown_in_part(protocol, tmp_path, monkeypatch):
    monkeypatch.setattr(BatchServer.handler, "_described", lambda handler, batch: {"error": "no batches here" * 99})
    with BatchServer() as server:
        said = refused(ask, protocol, server, tmp_path, patience=ONCE)
    assert "no batches here" in said and len(said) < 600


def test_a_prompt_that_every_batch_leaves_open_fails_after_three(protocol, tmp_path, capsys):
    with BatchServer(fate=lambda number: Fate(LATE, share=0.5)) as server:
        failed, found = ask(protocol, server, tmp_path)
    assert len(server.batches) == 3 and len(failed) == 10 - len(found) > 0
    assert "not asked again after 3 batches in one run" in capsys.readouterr().err


@pytest.mark.parametrize(("fate", "sizes"), [(REFUSED, [10, 10]), (FULL, [10, 5, 5])])
def test_a_refused_file_ends_the_run_and_too_many_tokens_are_halved(fate, sizes, tmp_path):
    with BatchServer(fate=lambda number: Fate(fate) if number == 0 else Fate()) as server:
        assert fate == FULL or "it was refused: because of invalid" in refused(ask, "openai", server, tmp_path)
        assert ask("openai", server, tmp_path)[1] == EXPECTED
    assert server.billed == Counter(PROMPTS) and [len(batch.results) for batch in server.batches.values()] == sizes


HALF = [Fate(share=0.7, others=LOST), Fate()]
HEARD = [Fault(429), Fault(500), Fault(502, is_heard=True), Fault(is_heard=True, is_mute=True)]
OTHERS = {"list": Fault(503), "look": Fault(is_mute=True), "results": Fault(500), "upload": Fault(429)}


@pytest.mark.parametrize(("what", "fault"), [*(("submit", fault) for fault in HEARD), *OTHERS.items()])
def test_a_failed_request_is_sent_again_and_no_batch_is_submitted_twice(protocol, what, fault, tmp_path):
    with BatchServer(batch_fault=lambda *one: {(what, 0): fault}.get(one), fate=HALF.__getitem__, lag=1) as server:
        assert ask(protocol, server, tmp_path)[1] == EXPECTED
    assert server.billed == Counter(PROMPTS) and len(server.batches) == 2


def test_answers_of_a_batch_are_kept_under_their_keys_whatever_has_changed(protocol, tmp_path):
    new, other = [*PROMPTS[5:], "a new prompt"], {"model": "m", "other": 1}
    with BatchServer(batch_fault=lambda *asked: Fault() if asked == ("look", 0) else None) as server:
        assert "Run the same command again" in refused(lambda: ask(protocol, server, tmp_path, patience=ONCE))
        with BatchServer() as elsewhere:
            assert f"is out there at {server.url}" in refused(ask, protocol, elsewhere, tmp_path)
        assert ask(protocol, server, tmp_path, new, other)[1] == {text: answer_to(text) for text in new}
        assert ask(protocol, server, tmp_path, batch=False)[1] == EXPECTED
    assert server.billed == Counter(PROMPTS) + Counter(new)
    assert not server.asked and not elsewhere.asked and not elsewhere.batches


def test_a_run_that_ended_when_it_had_kept_the_last_answers_leaves_no_file_of_its_batch(
    protocol, tmp_path, monkeypatch
):
    with BatchServer() as server:
        with monkeypatch.context() as context, pytest.raises(SystemExit):
            context.setattr(Named, "forget", sys.exit)
            ask(protocol, server, tmp_path)
        assert ask(protocol, server, tmp_path) == ({}, EXPECTED)
    assert [file.name for file in tmp_path.iterdir()] == ["kv.jsonl"] and server.billed == Counter(PROMPTS)


def test_a_server_without_batches_and_a_damaged_file_of_a_batch_are_one_line(protocol, tmp_path):
    with BatchServer(batch_fault=lambda what, number: Fault(404)) as server:
        assert "'batch: true' needs the server's list of batches" in refused(ask, protocol, server, tmp_path)
        (tmp_path / "kv.batches").mkdir()
        (tmp_path / "kv.batches" / "a.json").write_text("{}")
        assert "a.json: not a file of a batch" in refused(ask, protocol, server, tmp_path)
