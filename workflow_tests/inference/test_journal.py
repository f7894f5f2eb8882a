"""The journal: durable, append-only, and safe to read after any crash."""

import errno
import json
import os
import signal
import threading

import pytest

from litm.base.errors import UserError
from litm.base.hashing import digest
from litm.base.signals import stop_on_sigterm
from litm.domain.response import Response
from litm.inference.journal import Journal, response_key

IDENTITY = {"model": "m", "dtype": "float32"}
ANSWERS = [(f"key{n}", Response(f"answer {n}\n", "stop", 10 + n, 3, "x 1.0, cpu")) for n in range(4)]


def write(path, batches):
    with Journal(path) as journal:
        for batch in batches:
            journal.append(IDENTITY, batch)
    return journal


def keys_in(path):
    with Journal(path) as journal:
        return {key for key, _ in ANSWERS if key in journal}


def test_what_was_appended_is_read_again(tmp_path):
    path = tmp_path / "deep" / "journal.jsonl"
    written = write(path, [ANSWERS[:1], ANSWERS[1:3]])
    with Journal(path) as read:
        for key, response in ANSWERS[:3]:
            assert read[key] == written[key] == response
        assert "key3" not in read and len(read) == 3


def test_a_second_run_is_refused_while_one_is_writing(tmp_path):
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.append(IDENTITY, ANSWERS[:1])
        with pytest.raises(UserError, match=r"journal\.jsonl is in use by another run"):
            Journal(path)
        journal.append(IDENTITY, ANSWERS[1:2])
    assert keys_in(path) == {"key0", "key1"}


def test_the_identity_is_written_once_before_its_first_response(tmp_path):
    path = tmp_path / "journal.jsonl"
    write(path, [ANSWERS[:1]])
    write(path, [ANSWERS[1:2]])
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [("fields" in line, line.get("key")) for line in lines] == [(True, None), (False, "key0"), (False, "key1")]
    assert lines[0] == {"identity": digest(IDENTITY), "fields": IDENTITY}


def test_every_length_of_a_torn_last_line_loses_that_line_only(tmp_path):
    path = tmp_path / "journal.jsonl"
    write(path, [ANSWERS[:2]])
    whole = path.read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for cut in range(last + 1, len(whole)):
        path.write_bytes(whole[:cut])
        assert keys_in(path) == {"key0"}
        write(path, [ANSWERS[2:3]])
        assert keys_in(path) == {"key0", "key2"}


def test_a_broken_line_in_the_middle_stops_and_changes_nothing(tmp_path):
    path = tmp_path / "journal.jsonl"
    write(path, [ANSWERS[:2]])
    lines = path.read_bytes().splitlines(keepends=True)
    broken = lines[0] + b'{"key": "x"}\n' + lines[1]
    path.write_bytes(broken)
    with pytest.raises(UserError, match=r"journal.jsonl, line 2: not a journal line; nothing was changed"):
        Journal(path)
    assert path.read_bytes() == broken


def test_a_full_disk_leaves_whole_batches_only(tmp_path, monkeypatch):
    path = tmp_path / "journal.jsonl"
    write(path, [ANSWERS[:1]])
    before = path.read_bytes()
    with Journal(path) as journal:
        real = journal._file

        class FullDisk:
            def write(self, data):
                if len(data) > 20:
                    return real.write(data[:20])
                raise OSError(errno.ENOSPC, "No space left on device")

            def __getattr__(self, name):
                return getattr(real, name)

        monkeypatch.setattr(journal, "_file", FullDisk())
        with pytest.raises(OSError, match="No space left") as caught:
            journal.append(IDENTITY, [("key9", Response("x" * 7, "stop", 1, 1, ""))])
    assert caught.value.filename == str(path)
    assert path.read_bytes() == before
    assert "key9" not in journal


@pytest.fixture
def handlers():
    """Signal handlers of a program, and those of the tests again."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    stop_on_sigterm()
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
    ("number", "raised"), [(signal.SIGTERM, SystemExit), (signal.SIGINT, KeyboardInterrupt)], ids=["term", "int"]
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


def test_the_identities_are_those_of_the_answers_in_their_order(tmp_path):
    other = {**IDENTITY, "dtype": "bfloat16"}
    with Journal(tmp_path / "j") as journal:
        assert journal.identities == {}
        journal.append(IDENTITY, ANSWERS[:1])
        journal.append(other, ANSWERS[1:2])
        journal.append(IDENTITY, ANSWERS[2:3])
    with Journal(tmp_path / "j") as read:
        assert list(read.identities.items()) == [(digest(IDENTITY), IDENTITY), (digest(other), other)]


def test_a_key_depends_on_the_identity_and_the_prompt_and_not_on_the_order_of_settings():
    other = {"dtype": "float32", "model": "m"}
    assert response_key(digest(IDENTITY), "p") == response_key(digest(other), "p")
    assert response_key(digest(IDENTITY), "p") != response_key(digest(IDENTITY), "q")
    assert response_key(digest(IDENTITY), "p") != response_key(digest({**IDENTITY, "dtype": "bfloat16"}), "p")
