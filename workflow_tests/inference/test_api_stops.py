"""A run against an API that is stopped by a signal, and how its generators are closed from the outside in."""

import asyncio
import itertools
import signal
import subprocess
import sys
from collections import Counter
from contextlib import aclosing

import pytest
from fault_server import FaultServer, answer_to
from programs import run_program
from sweeps import ANSWERS, answer_records, hear_signals, served_sweep, short_examples
from waiting import HANG, wait_until

from litm.base.cli import signals_handled
from litm.base.json_files import read_json, read_jsonl
from litm.servers.retrying import Patience, as_they_finish, in_step


@pytest.mark.parametrize(
    ("protocol", "number"), [("openai", signal.SIGTERM), ("openai", signal.SIGHUP), ("anthropic", signal.SIGINT)]
)
def test_a_stopped_run_prints_one_line_and_keeps_its_answers_and_the_next_run_asks_the_rest(protocol, number, tmp_path):
    end = "interrupted" if number == signal.SIGINT else f"stopped by {number.name}"
    hangs = {f"prompt {n:02}" for n in range(20, 24)}
    with FaultServer(lambda prompt, attempt: "hang" if prompt in hangs and attempt == 1 else None) as server:
        command = served_sweep(short_examples(tmp_path, 40), server.url, protocol).command(tmp_path)
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=hear_signals)
        wait_until(lambda: sum(fault == "hang" for *_, fault in list(server.asked)) == len(hangs))
        process.send_signal(number)
        errors = process.communicate(timeout=HANG)[1]
        assert process.returncode == 1 and errors.splitlines()[-1].startswith(f"{end}: what was")
        assert "Traceback" not in errors and "never retrieved" not in errors
        assert len(answer_records(tmp_path / ANSWERS)) == 20
        done = run_program("generate", *command[2:])
        assert done.returncode == 0, done.stderr
    assert "20 prompts asked, 20 reused" in done.stderr
    prompts = [f"prompt {n:02}" for n in range(40)]
    assert server.answered == Counter(prompts)
    texts = [record["response"] for _, record in read_jsonl(tmp_path / "responses.jsonl.gz")]
    assert texts == [answer_to(prompt) for prompt in prompts]
    assert sum(read_json(tmp_path / "manifest.json")["made_with"].values()) == 40


async def answer(number: int) -> int:
    if number:
        await asyncio.Event().wait()
    return number


async def quick_answer(number: int) -> int:
    await asyncio.sleep(0)
    return number


async def numbers(ended: list[str], send=answer, count: int = 8):
    """As an engine asks: a generator whose tasks are under way, in another."""
    batches = as_they_finish(send, range(count), 4, Patience(timeout=1.0, attempts=1))
    try:
        async with aclosing(batches):
            async for batch in batches:
                yield batch
    finally:
        ended.append("engine")


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_an_end_between_two_answers_closes_all_without_a_word(end, caplog, capfd):
    for _ in range(20):
        ended: list[str] = []
        items = in_step(numbers(ended))
        assert next(items) == [(0, 0)]
        with pytest.raises(end):
            items.throw(end())
        assert ended == ["engine"]
    assert not caplog.records and not capfd.readouterr().err


def signal_at(count: int):
    """A trace function that sends SIGTERM before the line of that number which asyncio's loop runs."""
    lines = itertools.count()

    def trace(frame, event, argument):
        if frame.f_code.co_filename != asyncio.base_events.__file__:
            return None
        if event == "line" and next(lines) == count:
            sys.settrace(None)
            signal.raise_signal(signal.SIGTERM)
        return trace

    return trace


def end_a_hang(number, frame):
    raise TimeoutError


def test_a_signal_at_any_moment_of_quick_answers_closes_all_without_a_word(caplog, capfd):
    before = signal.signal(signal.SIGALRM, end_a_hang)
    signal.alarm(30)
    try:
        with signals_handled():
            for number in range(200, 300, 2):
                ended: list[str] = []
                with pytest.raises(SystemExit, match="stopped by SIGTERM"):
                    sys.settrace(signal_at(number))
                    for _ in in_step(numbers(ended, quick_answer, 10**4)):
                        pass
                assert ended == ["engine"]
    finally:
        sys.settrace(None)
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    assert not caplog.records and not capfd.readouterr().err
