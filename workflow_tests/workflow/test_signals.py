"""Signals: a run whose terminal is lost, and messages on locks."""

import os
import pty
import queue
import signal
import subprocess
import sys
import threading

import pytest
from fault_server import FaultServer, answer_to
from sweeps import answer_records
from waiting import HANG, wait_until
from workbench import CONFIG, Workbench

from litm.base.cli import hangup_is_sigterm, sigterm_in_thread


class Held:
    """Answers of a server: six at once, and the others when `go_on` is set."""

    def __init__(self) -> None:
        self.asked, self.go_on = 0, threading.Event()

    def __call__(self, prompt: str) -> str:
        self.asked += 1
        if self.asked > 6:
            self.go_on.wait()
        return answer_to(prompt)


def locks(bench: Workbench) -> list[str]:
    folder = bench.path(".snakemake/locks")
    return [file.name for file in folder.iterdir()] if folder.exists() else []


def started(bench: Workbench, server: FaultServer, **streams) -> subprocess.Popen:
    """A run of one sweep of 120 prompts on a server, which has more than five answers."""
    served = {"engine": "openai", "api_model": "m", "base_url": f"{server.url}/v1", "concurrency": 1}
    kv = {**CONFIG["define"]["experiments"]["kv"], "examples": 30}
    define = {"models": {"served": served}, "experiments": {"kv": kv}}
    bench.configure({"models": ["served"], "experiments": ["kv"], "define": define})
    words = ["snakemake", "--configfile", "small.yaml", "--cores", "1", "--until", "generate"]
    process = subprocess.Popen([sys.executable, "-m", *words], cwd=bench.folder, process_group=0, **streams)
    wait_until(lambda: len(answer_records(bench.path("results/answers"))) > 5)
    return process


@pytest.mark.slow
def test_a_lost_terminal_ends_a_run_as_sigterm_does_without_a_lock_and_the_next_run_asks_the_rest(new_bench):
    held = Held()
    with FaultServer(answer=held) as server:
        master, slave = pty.openpty()
        process = started(new_bench, server, stdout=slave, stderr=slave)
        assert locks(new_bench)
        # As sshd does it: the terminal is gone, and all that ran in its foreground hears so.
        os.close(slave)
        os.close(master)
        os.killpg(process.pid, signal.SIGHUP)
        assert process.wait(HANG) != 0
        assert not locks(new_bench)
        asked = len(server.asked)
        assert asked < 120
        held.go_on.set()
        new_bench.run("--until", "generate")
    # One request was under way.
    assert len(server.asked) <= 120 + 1 and sum(server.answered.values()) <= 120 + 1
    assert new_bench.asked("kv", "served")[1] >= asked - 1


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_says_what_was_stopped_then_that_answers_are_kept_and_how_to_continue(new_bench, number):
    with FaultServer(answer=Held()) as server:
        process = started(new_bench, server, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        os.killpg(process.pid, number)
        said = process.communicate(timeout=HANG)[0]
    own = "interrupted" if number == signal.SIGINT else "stopped by SIGTERM"
    # Generate and Snakemake write at the same time, in the middle of each other's lines.
    phrases = [
        " of 120 prompts were",
        f"{own}: what was",
        "Complete log",
        "Elapsed time",
        "finished jobs and all answers",
    ]
    places = [said.find(phrase) for phrase in phrases]
    assert -1 not in places and places == sorted(places), said


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_a_run_says_what_came_out_ends_it_in_a_line(new_bench, number, handlers):
    # What a shell runs in its background ignores it, and so does what that starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    line = "existing = [path for path in results"
    sent = f"import signal; signal.raise_signal({number:d}); {line}"
    new_bench.edit("scripts/litm/workflow/outcome.py", line, sent)
    done = new_bench.snakemake("results/examples/kv/4/gold_at_0.jsonl.gz")
    # Snakemake's last line may come after it.
    assert f"\nstopped by {number.name}: " in "\n".join(["", *done.stderr.splitlines()[-2:]])
    assert (done.returncode, locks(new_bench)) == (1, [])


def test_a_mistake_in_the_config_is_printed_in_quiet_mode(new_bench):
    done = new_bench.snakemake("--quiet", "all", "--config", "models=[nobody]")
    assert done.returncode and done.stderr.count("models: unknown name 'nobody'") == 1


@pytest.fixture
def handlers():
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_sighup_acts_as_sigterm_and_stays_ignored_under_nohup(handlers):
    heard = []
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    hangup_is_sigterm()
    with pytest.raises(SystemExit, match="stopped by SIGHUP"):
        signal.raise_signal(signal.SIGHUP)
    signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    signal.raise_signal(signal.SIGHUP)
    assert heard == [signal.SIGTERM]
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    hangup_is_sigterm()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


def test_sigterm_waits_for_a_lock_of_the_interrupted_thread_and_so_does_sighup(handlers):
    lock, heard = threading.Lock(), queue.SimpleQueue()

    def stop(number, frame):
        heard.put(number if lock.acquire(timeout=10) else None)
        lock.release()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    hangup_is_sigterm()
    sigterm_in_thread()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGTERM):
        with lock:
            signal.raise_signal(number)
        assert heard.get(timeout=HANG) == signal.SIGTERM
