"""The journal: durable, append-only, and safe to read after any crash."""

import errno
import gzip
import json
import os
import re
import shutil
import signal
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from litm.inference.journal import Journal, read_journal
from programs import refused

from litm.base.cli import ENDING, describe_os_error, stop_on_signals
from litm.base.messages import UserError
from litm.base.store import digest
from litm.records.responses import Response

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


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "journal.jsonl"


def test_a_second_run_is_refused_while_one_is_writing(path):
    with Journal(path) as journal:
        journal.append(IDENTITY, ANSWERS[:1])
        with pytest.raises(UserError, match=r"journal\.jsonl is in use by another run"):
            Journal(path)
        journal.append(IDENTITY, ANSWERS[1:2])
    assert keys_in(path) == {"key0", "key1"}


def test_a_pipe_with_the_name_of_a_journal_is_refused_instead_of_read_without_end(path):
    os.mkfifo(path)
    for opened in (Journal, read_journal):
        with pytest.raises(OSError, match="not a regular file"):
            opened(path)


def test_an_identity_is_written_once_before_its_first_answer(path):
    other = {**IDENTITY, "dtype": "bfloat16"}
    write(path, [ANSWERS[:1]])
    with Journal(path) as journal:
        journal.append(other, ANSWERS[1:2])
        journal.append(IDENTITY, ANSWERS[2:3])
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [line.get("key", line.get("fields")) for line in lines] == [IDENTITY, "key0", other, "key1", "key2"]
    with Journal(path) as read:
        assert list(read.identities.items()) == [(digest(IDENTITY), IDENTITY), (digest(other), other)]


def test_every_length_of_a_torn_last_line_loses_that_line_only(path):
    write(path, [ANSWERS[:2]])
    whole = path.read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for cut in range(last + 1, len(whole)):
        path.write_bytes(whole[:cut])
        assert keys_in(path) == {"key0"}
        write(path, [ANSWERS[2:3]])
        assert keys_in(path) == {"key0", "key2"}


def with_field(line: bytes, name: str, value: object) -> bytes:
    record = json.loads(line)
    record[name] = value
    return json.dumps({name: value for name, value in record.items() if value != "no field"}).encode() + b"\n"


CHANGED = "it was changed after it was written: its crc32 is another"
OF_ANOTHER = "it was changed after it was written: 'identity' is not the digest of its 'fields'"
#: Fields of an answer, what may stand there instead, and what is said of it.
BAD_FIELDS = [
    *((name, value, "") for name in ("key", "text", "finish_reason", "made_with") for value in (5, None, "no field")),
    ("crc32", "no field", "the field 'crc32' is missing"),
    *((name, [name], "") for name in ("text", "finish_reason")),
    *(
        (f"{of}_tokens", value, "")
        for of in ("prompt", "response")
        for value in ("12", 12.5, 12.0, -1, True, 1e30, 10**30, float("nan"), None, "no field")
    ),
    *(("fields", value, "") for value in (None, "text", [1])),
    *(("text", "answer 9\n", CHANGED), ("text", "answer 1", CHANGED), ("key", "key2", CHANGED)),
    *(("identity", "0" * 64, CHANGED), ("finish_reason", "length", CHANGED), ("prompt_tokens", 12, CHANGED)),
    *(("made_with", "y", CHANGED), ("note", "mine", CHANGED), ("crc32", "00000000", CHANGED), ("crc32", 5, CHANGED)),
]
NO_OBJECTS = [b"x\n", b"\xff\xfe\n", b"[]\n", b"null\n", b'"fields"\n', b"[" * 100_000 + b"\n", b"\n", b"\0\0{}\n"]


@pytest.mark.parametrize(
    ("number", "bad", "why"),
    [
        *(pytest.param(3, (name, value), why, id=f"{name} {value!r:.30}") for name, value, why in BAD_FIELDS),
        *(pytest.param(3, line, "", id=repr(line[:10])) for line in NO_OBJECTS),
        pytest.param(1, ("fields", {**IDENTITY, "dtype": "float16"}), OF_ANOTHER, id="an identity of other fields"),
    ],
)
def test_a_line_that_was_changed_or_is_none_is_named_moved_and_never_served_and_costs_one_prompt(
    path, capsys, number, bad, why
):
    write(path, [ANSWERS[:3]])
    lines = path.read_bytes().splitlines(keepends=True)
    bad = bad if isinstance(bad, bytes) else with_field(lines[number - 1], *bad)
    path.write_bytes(b"".join([*lines[: number - 1], bad, *lines[number:]]))
    with Journal(path) as journal:
        assert [journal.responses.get(key) for key, _ in ANSWERS[:3]] == [
            None if place == number else answer for place, (_, answer) in enumerate(ANSWERS[:3], start=2)
        ]
        assert len(journal.identities) == (number != 1)
    said = capsys.readouterr().err
    assert said.startswith(f"{path}, line {number}: not a journal line ({why}") and said.count("\n") == 1
    assert "moved to journal.jsonl.rejected; if it was an answer, its prompt is asked again" in said
    assert path.read_bytes() == b"".join([*lines[: number - 1], *lines[number:]])
    assert (path.parent / "journal.jsonl.rejected").read_bytes() == bad
    write(path, [ANSWERS[1:2]])
    assert keys_in(path) == {"key0", "key1", "key2"} and not capsys.readouterr().err


def test_bad_lines_are_named_in_one_message_and_those_of_later_runs_are_added_to_the_file(path, capsys):
    write(path, [ANSWERS[:2]])
    path.write_bytes(path.read_bytes() + b"a\n" * 12)
    assert keys_in(path) == {"key0", "key1"}
    said = capsys.readouterr().err
    assert "line 4, 5, 6, 7, 8, 9, 10, 11, 12, 13 and 2 more: not a journal line" in said and said.count("\n") == 1
    path.write_bytes(path.read_bytes() + b"b\n")
    assert keys_in(path) == {"key0", "key1"}
    assert (path.parent / "journal.jsonl.rejected").read_bytes() == b"a\n" * 12 + b"b\n"


def test_a_journal_keeps_its_lock_mode_and_link_when_lines_are_set_aside(path):
    elsewhere = path.with_name("elsewhere")
    write(elsewhere, [ANSWERS[:2]])
    elsewhere.chmod(0o640)
    elsewhere.write_bytes(elsewhere.read_bytes() + b"bad\n")
    path.symlink_to(elsewhere)
    with Journal(path) as journal:
        with pytest.raises(UserError, match="in use by another run"):
            Journal(path)
        journal.append(IDENTITY, ANSWERS[2:3])
    assert path.is_symlink() and elsewhere.stat().st_mode & 0o777 == 0o640
    assert keys_in(elsewhere) == {"key0", "key1", "key2"}


def test_a_file_that_was_replaced_before_it_was_locked_is_not_written_to(path, monkeypatch):
    write(path, [ANSWERS[:2]])
    old = path.with_name("old")
    monkeypatch.setattr("litm.inference.journal.lock", lambda file: shutil.copy(path.rename(old), path))
    with pytest.raises(UserError, match="in use by another run"):
        Journal(path)


def fail_for_room(*_: object):
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("full_at", [1, 2])
def test_a_full_disk_while_lines_are_set_aside_changes_no_journal_and_the_next_run_moves_them_once(
    path, monkeypatch, full_at
):
    write(path, [ANSWERS[:2]])
    broken = path.read_bytes() + b"bad\n"
    path.write_bytes(broken)
    forced = iter([lambda raw: None] * (full_at - 1) + [fail_for_room])
    monkeypatch.setattr("litm.inference.journal.force", lambda raw: next(forced)(raw))
    with pytest.raises(OSError, match="No space left"):
        Journal(path)
    aside = path.with_name("journal.jsonl.rejected")
    assert path.read_bytes() == broken and aside.exists() == (full_at == 2)
    monkeypatch.undo()
    assert keys_in(path) == {"key0", "key1"} and aside.read_bytes() == b"bad\n"


#: What may be made of a journal's bytes.
NO_JOURNALS = {
    "cr": lambda whole: whole.replace(b"\n", b"\r"),
    "cr after a line": lambda whole: whole.replace(b"\n", b"\r").replace(b"\r", b"\n", 1),
    "gzip": lambda whole: gzip.compress(whole, mtime=0).replace(b"\n", b"\v"),
    "gzip of many": lambda whole: gzip.compress(os.urandom(5000) + whole, mtime=0),
    "no json": lambda whole: b"key,text",
    "lines of others": lambda whole: b'{"key": "a", "answer": "b"}\n' * 3 + whole[:9],
}


@pytest.mark.parametrize("kind", NO_JOURNALS)
def test_a_file_that_is_not_a_journal_is_refused_and_not_changed(path, kind):
    write(path, [ANSWERS])
    path.write_bytes(content := NO_JOURNALS[kind](path.read_bytes()))
    assert re.search(r"journal\.jsonl: .*; nothing was changed", refused(Journal, path))
    assert path.read_bytes() == content and [*path.parent.iterdir()] == [path]


def test_a_first_write_that_was_cut_anywhere_or_left_zeros_is_begun_again(path, capsys):
    write(path, [ANSWERS[:1]])
    first = path.read_bytes().splitlines()[0]
    for half in (*(first[:length] for length in range(1, len(first))), b"\0" * 50, first[:20] + b"\0" * 50):
        path.write_bytes(half)
        assert keys_in(path) == set() and path.read_bytes() == b""
        assert "is incomplete (a run was interrupted)" in capsys.readouterr().err


class Slow:
    """A file that takes ten bytes at a time; `happens` comes after the first."""

    def __init__(self, file, happens):
        self.file, self.happens = file, [happens]

    def write(self, data):
        written = self.file.write(data[:10])
        if self.happens:
            self.happens.pop()()
        return written

    def __getattr__(self, name):
        return getattr(self.file, name)


def test_a_full_disk_leaves_whole_batches_only(path, monkeypatch):
    write(path, [ANSWERS[:1]])
    before = path.read_bytes()
    with Journal(path) as journal:
        monkeypatch.setattr(journal, "_file", Slow(journal._file, fail_for_room))
        with pytest.raises(OSError, match="No space left") as caught:
            journal.append(IDENTITY, [("key9", Response("x" * 7, "stop", 1, 1, ""))])
    assert describe_os_error(caught.value).startswith(f"no space left on the disk ({path}): free some and run")
    assert path.read_bytes() == before and "key9" not in journal


def test_lines_written_otherwise_that_say_the_same_are_served(path, capsys):
    written = [("key0", Response("é “quoted” 😀\n", "stop", 1, 1, "x")), *ANSWERS[1:3]]
    write(path, [written])
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    others = [json.dumps(dict(reversed(line.items())), ensure_ascii=False) + "\r\n" for line in reversed(lines)]
    path.write_bytes("".join(others).encode())
    with Journal(path) as journal:
        assert [journal[key] for key, _ in written] == [response for _, response in written]
    assert not capsys.readouterr().err


def test_two_answers_to_one_prompt_are_counted_and_the_last_is_served(path, capsys):
    other = path.with_name("other.jsonl")
    write(path, [ANSWERS[:2]])
    write(other, [[(ANSWERS[0][0], replace(ANSWERS[0][1], text="another")), ANSWERS[1]]])
    path.write_bytes(path.read_bytes() + other.read_bytes())
    with Journal(path) as journal:
        assert journal[ANSWERS[0][0]].text == "another"
    said = capsys.readouterr().err
    assert said.startswith(f"{path}: 1 answers are others than a line above") and said.count("\n") == 1


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


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=["term", "hup", "int"])
def test_a_signal_within_a_write_waits_until_the_batch_is_whole(path, monkeypatch, handlers, number):
    raised = KeyboardInterrupt if number == signal.SIGINT else SystemExit
    others = threading.Event()
    thread = threading.Thread(target=others.wait)
    thread.start()
    try:
        with pytest.raises(raised), Journal(path) as journal:
            # To the process, as it comes from outside: any of its threads may be the one that gets it.
            monkeypatch.setattr(journal, "_file", Slow(journal._file, lambda: os.kill(os.getpid(), number)))
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
    path = tmp_path / "deep" / "journal.jsonl"
    thread = threading.Thread(target=write, args=(path, [ANSWERS[:1]]))
    thread.start()
    thread.join()
    assert keys_in(path) == {"key0"}
