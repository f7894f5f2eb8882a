"""The journal: durable, append-only, and safe to read after any crash."""

import errno
import json

import pytest

from litm.errors import UserError
from litm.journal import Journal, Response, digest, response_key

IDENTITY = {"model": "m", "dtype": "float32"}
ANSWERS = [(f"key{n}", Response(f"answer {n}\n", "stop", 10 + n, 3)) for n in range(4)]


def write(path, batches):
    journal = Journal(path)
    with journal.writer(digest(IDENTITY), IDENTITY) as writer:
        for batch in batches:
            writer.append(batch)
    return journal


def test_what_was_appended_is_read_again(tmp_path):
    path = tmp_path / "deep" / "journal.jsonl"
    written = write(path, [ANSWERS[:1], ANSWERS[1:3]])
    read = Journal(path)
    for key, response in ANSWERS[:3]:
        assert read[key] == written[key] == response
    assert "key3" not in read and len(read) == 3


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
        assert "key0" in Journal(path) and "key1" not in Journal(path)
        write(path, [ANSWERS[2:3]])
        assert [key in Journal(path) for key, _ in ANSWERS] == [True, False, True, False]


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
    journal = Journal(path)
    with journal.writer(digest(IDENTITY), IDENTITY) as writer:
        real = writer._file

        class FullDisk:
            def write(self, data):
                if len(data) > 20:
                    return real.write(data[:20])
                raise OSError(errno.ENOSPC, "No space left on device")

            def __getattr__(self, name):
                return getattr(real, name)

        writer._file = FullDisk()
        with pytest.raises(OSError, match="No space left") as caught:
            writer.append([("key9", Response("x" * 7, "stop", 1, 1))])
    assert caught.value.filename == str(path)
    assert path.read_bytes() == before
    assert "key9" not in journal


def test_a_key_depends_on_the_identity_and_the_prompt_and_not_on_the_order_of_settings():
    other = {"dtype": "float32", "model": "m"}
    assert response_key(digest(IDENTITY), "p") == response_key(digest(other), "p")
    assert response_key(digest(IDENTITY), "p") != response_key(digest(IDENTITY), "q")
    assert response_key(digest(IDENTITY), "p") != response_key(digest({**IDENTITY, "dtype": "bfloat16"}), "p")
