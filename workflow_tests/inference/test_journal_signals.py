"""Signals during a write of the journal."""

import os
import signal
import threading

import pytest
from journal_answers import ANSWERS, IDENTITY, keys_in, write

from litm.base.cli import ENDING, stop_on_signals
from litm.inference.journal import Journal


@pytest.fixture
def handlers():
    """Signal handlers of a program, and those of the tests again."""
    before = {number: signal.getsignal(number) for number in ENDING}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # Tests that `nohup` starts would ignore it.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    stop_on_signals()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


class Interrupting:
    """A file that takes ten bytes at a time, and a signal comes after the first."""

    def __init__(self, file, number):
        self.file, self.number = file, number

    def write(self, data):
        written = self.file.write(data[:10])
        if self.number:
            # To the process, as it comes from outside: any of its threads may be the one that gets it.
            os.kill(os.getpid(), self.number)
            self.number = None
        return written

    def __getattr__(self, name):
        return getattr(self.file, name)


@pytest.mark.parametrize(
    ("number", "raised"),
    [(signal.SIGTERM, SystemExit), (signal.SIGHUP, SystemExit), (signal.SIGINT, KeyboardInterrupt)],
    ids=["term", "hup", "int"],
)
def test_a_signal_within_a_write_waits_until_the_batch_is_whole(tmp_path, monkeypatch, handlers, number, raised):
    path = tmp_path / "journal.jsonl"
    others = threading.Event()
    thread = threading.Thread(target=others.wait)
    thread.start()
    try:
        with pytest.raises(raised), Journal(path) as journal:
            monkeypatch.setattr(journal, "_file", Interrupting(journal._file, number))
            try:
                journal.append(IDENTITY, ANSWERS[:3])
            finally:
                assert all(key in journal for key, _ in ANSWERS[:3])
    finally:
        others.set()
        thread.join()
    assert path.read_bytes().endswith(b"\n") and keys_in(path) == {"key0", "key1", "key2"}
    with pytest.raises(raised):
        signal.raise_signal(number)


def test_a_batch_may_be_written_by_another_thread(tmp_path):
    thread = threading.Thread(target=write, args=(tmp_path / "journal.jsonl", [ANSWERS[:1]]))
    thread.start()
    thread.join()
    assert keys_in(tmp_path / "journal.jsonl") == {"key0"}
