"""Journal lines that were changed: named, set aside and never served."""

import json
from dataclasses import replace

import pytest
from journal_answers import ANSWERS, keys_in, write

from litm.inference.journal import Journal
from litm.records import Response


def changed(line: bytes, **values: object) -> bytes:
    return json.dumps({**json.loads(line), **values}).encode() + b"\n"


CHANGES = {
    "an edited text": {"text": "answer 9\n"},
    "a text cut by one character": {"text": "answer 1"},
    "another key": {"key": "key2"},
    "another identity": {"identity": "0" * 64},
    "another finish reason": {"finish_reason": "length"},
    "another count": {"prompt_tokens": 12},
    "other software": {"made_with": "y 1.0, cpu"},
    "another field": {"note": "mine"},
    "another checksum": {"crc32": "00000000"},
    "a checksum of another type": {"crc32": 5},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_an_answer_that_was_changed_is_named_and_set_aside_and_never_served(tmp_path, capsys, change):
    path = tmp_path / "journal.jsonl"
    write(path, [ANSWERS[:3]])
    lines = path.read_bytes().splitlines(keepends=True)
    bad = changed(lines[2], **change)
    path.write_bytes(b"".join([*lines[:2], bad, lines[3]]))
    with Journal(path) as journal:
        assert [journal[key] for key, _ in ANSWERS if key in journal] == [ANSWERS[0][1], ANSWERS[2][1]]
    said = capsys.readouterr().err
    assert f"{path}, line 3: not a journal line (it was changed after it was written: its crc32 is another)" in said
    assert (tmp_path / "journal.jsonl.rejected").read_bytes() == bad


def test_two_answers_whose_keys_were_swapped_are_both_asked_again(tmp_path, capsys):
    path = tmp_path / "journal.jsonl"
    write(path, [ANSWERS[:3]])
    swapped = path.read_bytes().replace(b"key0", b"key_").replace(b"key1", b"key0").replace(b"key_", b"key1")
    path.write_bytes(swapped)
    assert keys_in(path) == {"key2"}
    assert f"{path}, line 2, 3: not a journal line" in capsys.readouterr().err


def test_an_identity_whose_fields_were_changed_is_set_aside(tmp_path, capsys):
    path = tmp_path / "journal.jsonl"
    write(path, [ANSWERS[:2]])
    path.write_bytes(path.read_bytes().replace(b"float32", b"float16"))
    with Journal(path) as journal:
        assert not journal.identities and len(journal) == 2
    assert "line 1: not a journal line (it was changed after it was written: 'identity'" in capsys.readouterr().err


def test_lines_written_otherwise_that_say_the_same_are_served(tmp_path, capsys):
    path = tmp_path / "journal.jsonl"
    written = [("key0", Response("é “quoted” 😀\n", "stop", 1, 1, "x")), *ANSWERS[1:3]]
    write(path, [written])
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    others = [json.dumps(dict(reversed(line.items())), ensure_ascii=False) + "\r\n" for line in reversed(lines)]
    path.write_bytes("".join(others).encode())
    with Journal(path) as journal:
        assert [journal[key] for key, _ in written] == [response for _, response in written]
    assert not capsys.readouterr().err


def test_two_answers_to_one_prompt_are_counted_and_the_last_is_served(tmp_path, capsys):
    path, other = tmp_path / "journal.jsonl", tmp_path / "other.jsonl"
    write(path, [ANSWERS[:2]])
    write(other, [[(ANSWERS[0][0], replace(ANSWERS[0][1], text="another")), ANSWERS[1]]])
    path.write_bytes(path.read_bytes() + other.read_bytes())
    with Journal(path) as journal:
        assert journal[ANSWERS[0][0]].text == "another"
    said = capsys.readouterr().err
    assert said.startswith(f"{path}: 1 answers are others than a line above") and said.count("\n") == 1


def test_answers_of_earlier_versions_have_no_checksum_and_are_served_with_a_message_that_counts_them(tmp_path, capsys):
    path = tmp_path / "journal.jsonl"
    write(path, [ANSWERS[:3]])
    records = [json.loads(line) for line in path.read_text().splitlines()]
    old = "".join(
        json.dumps({name: value for name, value in record.items() if name != "crc32"}, sort_keys=True) + "\n"
        for record in records
    )
    path.write_text(old)
    write(path, [ANSWERS[3:]])
    said = capsys.readouterr().err
    assert said.startswith(f"{path}: 3 answers have no checksum") and said.count("\n") == 1
    assert path.read_text().startswith(old)
    with Journal(path) as journal:
        assert [journal[key] for key, _ in ANSWERS] == [response for _, response in ANSWERS]
