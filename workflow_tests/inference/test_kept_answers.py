"""Kept answers: durable, append-only, and safe to read after any crash."""

import errno
import gzip
import json
import os
import re
import signal
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from programs import refused

from litm.base.cli import ENDING, describe_os_error, stop_on_signals
from litm.base.messages import UserError
from litm.base.store import digest
from litm.inference import kept_answers
from litm.inference.answer_lines import answer_line
from litm.inference.kept_answers import IDENTITY_FILE, Answers, Writer, answer_files
from litm.records.responses import Response, response_key

IDENTITY = {"model": "m", "dtype": "float32"}
TEXTS = [f"prompt {number}" for number in range(4)]
KEYS = [response_key(digest(IDENTITY), text) for text in TEXTS]
ASKED = dict(zip(KEYS, TEXTS, strict=True))
ANSWERS = [(key, Response(f"answer {n}\n", "stop", 10 + n, 3, "x 1.0, cpu")) for n, key in enumerate(KEYS)]


def opened(study: Path, experiment: str = "e") -> Answers:
    return Answers([study / "answers"], "m", experiment, study / "asking")


def write(study: Path, batches, experiment: str = "e") -> Path:
    """Add batches of answers as a run; returns its file."""
    before = set(answer_files([study / "answers"]))
    with opened(study, experiment) as answers:
        for batch in batches:
            answers.append(IDENTITY, batch)
    (file,) = {*answer_files([study / "answers"])} - before
    return file


def read(study: Path, experiment: str = "e") -> dict[str, Response]:
    """The answers by the numbers of their prompts."""
    with opened(study, experiment) as answers:
        answers.find(IDENTITY, ASKED)
        return {f"{KEYS.index(key)}": answer for key, answer in answers.responses.items()}


def numbers_in(study: Path) -> set[str]:
    return {*read(study)}


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"}


def test_a_second_run_of_a_sweep_is_refused_while_one_is_asking_and_another_sweep_is_not(tmp_path):
    with opened(tmp_path) as answers:
        answers.append(IDENTITY, ANSWERS[:1])
        with pytest.raises(UserError, match=r"^m/e is in use by another run: wait for it or stop it"):
            opened(tmp_path)
        write(tmp_path, [ANSWERS[2:3]], "f")
        answers.append(IDENTITY, ANSWERS[1:2])
    assert numbers_in(tmp_path) == {"0", "1", "2"}


def test_a_pipe_with_the_name_of_a_file_of_answers_is_refused_or_passed_over_instead_of_read_without_end(
    tmp_path, capsys
):
    file = write(tmp_path, [ANSWERS[:1]])
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(OSError, match="not a regular file"):
        read(tmp_path)
    assert read(tmp_path, "f") == {} and "not looked at for answers (not a regular file" in capsys.readouterr().err


def test_a_run_has_a_file_of_its_own_beside_the_fields_of_each_identity_that_it_asks(tmp_path):
    other = {**IDENTITY, "dtype": "bfloat16"}
    first = write(tmp_path, [ANSWERS[:1]])
    before = first.read_bytes()
    with opened(tmp_path) as answers:
        answers.append(other, ANSWERS[1:2])
        answers.append(IDENTITY, ANSWERS[2:3])
        answers.append(other, ANSWERS[3:])
        assert answers.identities() == {digest(one): one for one in (IDENTITY, other)}
    files = {file.parent.name: [] for file in answer_files([tmp_path / "answers"])}
    for file in answer_files([tmp_path / "answers"]):
        files[file.parent.name] += [[json.loads(line)["key"] for line in file.read_text().splitlines()]]
    assert sorted(files[digest(IDENTITY)]) == sorted([KEYS[:1], KEYS[2:3]]) and first.read_bytes() == before
    assert files[digest(other)] == [[KEYS[1], KEYS[3]]]
    for fields in (IDENTITY, other):
        record = json.loads((tmp_path / "answers" / digest(fields) / IDENTITY_FILE).read_text())
        assert record == {"version": 1, "identity": digest(fields), "fields": fields}
    with opened(tmp_path, "f") as of_another_sweep:
        assert of_another_sweep.identities() == {}


def test_the_name_of_a_file_tells_who_has_paid_whatever_the_names_are():
    for model, experiment in (("m", "e"), ("a.b-c", "d.e-f.log_probability"), ("m_1", "x+y")):
        writer = Writer(model, experiment, "2026-01-02", "0" * 8, "1" * 8)
        assert Writer.from_file_name(Path("folder") / writer.name) == writer
    for name in ("m.jsonl", "m+e.jsonl", "a.b.c.jsonl", "+e.2026-01-02.a-b.jsonl", "m+e.2026-01-02.ab.jsonl"):
        assert Writer.from_file_name(Path(name)) is None


def test_every_length_of_a_torn_last_line_loses_that_line_only_and_changes_no_file(tmp_path):
    file = write(tmp_path, [ANSWERS[:2]])
    whole = file.read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    for cut in range(last + 1, len(whole)):
        file.write_bytes(whole[:cut])
        assert numbers_in(tmp_path) == {"0"}
        new = write(tmp_path, [ANSWERS[2:3]])
        assert numbers_in(tmp_path) == {"0", "2"} and file.read_bytes() == whole[:cut]
        new.unlink()


def with_field(line: bytes, name: str, value: object) -> bytes:
    record = json.loads(line)
    record[name] = value
    record = {name: value for name, value in record.items() if value != "no field"}
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


CHANGED = "it was changed after it was written: its crc32 is another"
#: Fields of an answer, what may stand there instead, and what is said of it.
BAD_FIELDS = [
    *((name, value, "") for name in ("key", "identity", "text", "finish_reason", "made_with")
      for value in (5, None, "no field")),
    ("crc32", "no field", "the field 'crc32' is missing"),
    *((name, [name], "") for name in ("text", "finish_reason")),
    *(
        (f"{of}_tokens", value, "")
        for of in ("prompt", "response")
        for value in ("12", 12.5, 12.0, -1, True, 1e30, 10**30, float("nan"), None, "no field")
    ),
    *(("fields", value, CHANGED) for value in (None, "text", [1])),
    *(("text", "answer 9\n", CHANGED), ("text", "answer 1", CHANGED), ("key", KEYS[2], CHANGED)),
    *(("identity", "0" * 64, CHANGED), ("finish_reason", "length", CHANGED), ("prompt_tokens", 12, CHANGED)),
    *(("made_with", "y", CHANGED), ("note", "mine", CHANGED), ("crc32", "00000000", CHANGED), ("crc32", 5, CHANGED)),
]  # fmt: skip
NO_OBJECTS = [b"x\n", b"\xff\xfe\n", b"[]\n", b"null\n", b'"fields"\n', b"[" * 100_000 + b"\n", b"\n", b"\0\0{}\n"]


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        *(pytest.param((name, value), why, id=f"{name} {value!r:.30}") for name, value, why in BAD_FIELDS),
        *(pytest.param(line, "", id=repr(line[:10])) for line in NO_OBJECTS),
    ],
)
def test_a_line_that_was_changed_or_is_none_is_named_and_left_out_and_costs_one_prompt(tmp_path, capsys, bad, why):
    file = write(tmp_path, [ANSWERS[:3]])
    lines = file.read_bytes().splitlines(keepends=True)
    bad = bad if isinstance(bad, bytes) else with_field(lines[1], *bad)
    file.write_bytes(b"".join([lines[0], bad, lines[2]]))
    before = contents(tmp_path)
    assert read(tmp_path) == {"0": ANSWERS[0][1], "2": ANSWERS[2][1]} and contents(tmp_path) == before
    said = capsys.readouterr().err
    assert said.startswith(f"{file}, line 2: not an answer ({why}") and said.count("\n") == 1
    assert said.endswith("), and left out: if it was one, its prompt is asked again\n")
    write(tmp_path, [ANSWERS[1:2], ANSWERS[3:]])
    # With all answers, nobody has to know.
    assert numbers_in(tmp_path) == {"0", "1", "2", "3"} and not capsys.readouterr().err


def test_a_line_whose_key_has_become_another_answers_no_prompt(tmp_path):
    file = write(tmp_path, [ANSWERS[:2]])
    file.write_bytes(file.read_bytes().replace(KEYS[0].encode(), b"0" * 64))
    assert numbers_in(tmp_path) == {"1"}


def test_bad_lines_of_a_file_are_named_in_one_message(tmp_path, capsys):
    file = write(tmp_path, [ANSWERS[:2]])
    file.write_bytes(file.read_bytes() + b"a\n" * 12)
    assert numbers_in(tmp_path) == {"0", "1"}
    said = capsys.readouterr().err
    assert "line 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 and 2 more: not an answer" in said and said.count("\n") == 1


def fail_for_room(*_: object):
    raise OSError(errno.ENOSPC, "No space left on device")


#: What may be made of the bytes of a file of answers.
NO_ANSWERS = {
    "cr": lambda whole: whole.replace(b"\n", b"\r"),
    "cr after a line": lambda whole: b"a line\n" + whole.replace(b"\n", b"\r"),
    "gzip": lambda whole: gzip.compress(whole, mtime=0).replace(b"\n", b"\v"),
    "gzip of many": lambda whole: gzip.compress(os.urandom(5000) + whole, mtime=0),
    "no json": lambda whole: b"key,text",
    "lines of others": lambda whole: b'{"key": "a", "answer": "b"}\n' * 3 + whole[:9],
}


@pytest.mark.parametrize("kind", NO_ANSWERS)
def test_a_file_without_answers_is_refused_or_of_another_sweep_passed_over_and_not_changed(tmp_path, kind, capsys):
    file = write(tmp_path, [ANSWERS])
    file.write_bytes(NO_ANSWERS[kind](file.read_bytes()))
    before = contents(tmp_path)
    assert re.search(rf"^{re.escape(str(file))}: .*; nothing was changed", refused(read, tmp_path))
    assert read(tmp_path, "f") == {} and contents(tmp_path) == before
    said = capsys.readouterr().err.splitlines()
    assert said[0].startswith(f"{file}: not looked at for answers ({file}: ")


def test_a_first_write_that_was_cut_anywhere_or_left_zeros_is_passed_over(tmp_path):
    file = write(tmp_path, [ANSWERS[:1]])
    first = file.read_bytes().splitlines()[0]
    for half in (*(first[:length] for length in range(1, len(first))), b"\0" * 50, first[:20] + b"\0" * 50, b""):
        file.write_bytes(half)
        assert numbers_in(tmp_path) == set() and file.read_bytes() == half


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


def slow(answers: Answers, happens, monkeypatch) -> None:
    """From now on, answers are written slowly."""
    files, name = answers._files, digest(IDENTITY)
    monkeypatch.setitem(files, name, Slow(files[name], happens))


def test_a_full_disk_leaves_whole_batches_only(tmp_path, monkeypatch):
    with opened(tmp_path) as answers:
        answers.append(IDENTITY, ANSWERS[:1])
        (file,) = answer_files([tmp_path / "answers"])
        before = file.read_bytes()
        slow(answers, fail_for_room, monkeypatch)
        with pytest.raises(OSError, match="No space left") as caught:
            answers.append(IDENTITY, ANSWERS[1:2])
        assert KEYS[1] not in answers and file.read_bytes() == before
        # The disk has room again.
        answers.append(IDENTITY, ANSWERS[2:3])
    assert describe_os_error(caught.value).startswith(f"no space left on the disk ({file}): free some and run")
    assert numbers_in(tmp_path) == {"0", "2"} and file.read_bytes().startswith(before)


def test_a_disk_that_was_full_at_the_first_answer_leaves_no_empty_file(tmp_path, monkeypatch):
    monkeypatch.setattr(kept_answers, "_write", fail_for_room)
    with pytest.raises(OSError, match="No space left"), opened(tmp_path) as answers:
        answers.append(IDENTITY, ANSWERS[:1])
    assert answer_files([tmp_path / "answers"]) == []


def test_lines_written_otherwise_that_say_the_same_are_served(tmp_path, capsys):
    written = [(KEYS[0], Response("é “quoted” 😀\n", "stop", 1, 1, "x")), *ANSWERS[1:]]
    file = write(tmp_path, [written])
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    others = [json.dumps(dict(reversed(line.items())), ensure_ascii=False) + "\r\n" for line in reversed(lines)]
    file.write_bytes("".join(others).encode())
    assert read(tmp_path) == {f"{KEYS.index(key)}": response for key, response in written}
    assert not capsys.readouterr().err


def test_of_two_answers_to_one_prompt_the_same_counts_whatever_the_names_and_order_of_the_files_with_a_message(
    tmp_path, capsys
):
    name = digest(IDENTITY)
    texts = ["one", "another"]
    served = set()
    for order in (texts, texts[::-1]):
        study = tmp_path / order[0]
        file = write(study, [ANSWERS[1:2]])
        first, second = (replace(ANSWERS[0][1], text=text) for text in order)
        line = answer_line(KEYS[0], name, first) + answer_line(KEYS[0], name, second) * 2
        file.write_bytes(file.read_bytes() + line.encode())
        served.add(read(study)["0"].text)
        said = capsys.readouterr().err
        assert said.startswith("m/e: 1 prompts have different answers") and said.count("\n") == 1
    for order in (texts, texts[::-1]):
        study = tmp_path / f"files {order[0]}"
        for experiment, text in zip("ef", order, strict=True):
            write(study, [[(KEYS[0], replace(ANSWERS[0][1], text=text))]], experiment)
        served |= {read(study, experiment)["0"].text for experiment in "efg"}
    assert len(served) == 1


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
def test_a_signal_within_a_write_waits_until_the_batch_is_whole(tmp_path, monkeypatch, handlers, number):
    raised = KeyboardInterrupt if number == signal.SIGINT else SystemExit
    others = threading.Event()
    thread = threading.Thread(target=others.wait)
    thread.start()
    try:
        with pytest.raises(raised), opened(tmp_path) as answers:
            answers.append(IDENTITY, ANSWERS[:1])
            # To the process, as it comes from outside: any of its threads may be the one that gets it.
            slow(answers, lambda: os.kill(os.getpid(), number), monkeypatch)
            try:
                answers.append(IDENTITY, ANSWERS[1:3])
            finally:
                assert all(key in answers for key in KEYS[:3])
    finally:
        others.set()
        thread.join()
    (file,) = answer_files([tmp_path / "answers"])
    assert file.read_bytes().endswith(b"\n") and numbers_in(tmp_path) == {"0", "1", "2"}
    with pytest.raises(raised):
        signal.raise_signal(number)


def test_a_batch_may_be_written_by_another_thread(tmp_path):
    study = tmp_path / "deep" / "study"
    thread = threading.Thread(target=write, args=(study, [ANSWERS[:1]]))
    thread.start()
    thread.join()
    assert numbers_in(study) == {"0"}
