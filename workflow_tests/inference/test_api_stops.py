"""A run against an API that is stopped by a signal."""

import os
import signal
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from fault_server import FaultServer, answer_to
from programs import run_program
from sweeps import served_sweep, short_examples
from waiting import HANG, wait_until

from litm.base.records import read_json, read_jsonl


def command(protocol: str, server: FaultServer, folder: Path) -> list[str]:
    return served_sweep(short_examples(folder, 40), server.url, protocol).command(folder)


def hear_signals() -> None:
    """What a shell starts in the background ignores SIGINT, and by `nohup` SIGHUP, and with it all that this starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.mark.parametrize(
    ("protocol", "number", "said"),
    [
        ("openai", signal.SIGTERM, "stopped by SIGTERM: what was"),
        ("openai", signal.SIGHUP, "stopped by SIGHUP: what was"),
        ("anthropic", signal.SIGINT, "interrupted: what was"),
    ],
)
def test_a_stopped_run_prints_one_line_and_keeps_its_answers_and_the_next_run_asks_the_rest(
    protocol, number, said, tmp_path
):
    hangs = {f"prompt {n:02}" for n in range(20, 24)}
    with FaultServer(lambda prompt, attempt: "hang" if prompt in hangs and attempt == 1 else None) as server:
        process = subprocess.Popen(
            command(protocol, server, tmp_path), stderr=subprocess.PIPE, text=True, preexec_fn=hear_signals
        )
        wait_until(lambda: sum(fault == "hang" for *_, fault in list(server.asked)) == len(hangs))
        os.kill(process.pid, number)
        errors = process.communicate(timeout=HANG)[1]
        assert process.returncode == 1
        assert (
            errors.splitlines()[-1].startswith(said) and "Traceback" not in errors and "never retrieved" not in errors
        )
        assert len((tmp_path / "journal.jsonl").read_text().splitlines()) == 1 + 20

        done = run_program("generate", *command(protocol, server, tmp_path)[2:])
        assert done.returncode == 0, done.stderr
    assert "20 prompts asked, 20 reused" in done.stderr
    assert server.answered == Counter(f"prompt {n:02}" for n in range(40))
    texts = [record["response"] for _, record in read_jsonl(tmp_path / "responses.jsonl.gz")]
    assert texts == [answer_to(f"prompt {n:02}") for n in range(40)]
    assert sum(read_json(tmp_path / "manifest.json")["made_with"].values()) == 40
