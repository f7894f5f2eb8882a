"""Reading and writing of JSON Lines."""

import gzip
from pathlib import Path

import pandas as pd
import pytest

from litm.base.files import atomic_writer
from litm.base.messages import UserError
from litm.base.records import parse_json, read_csv, read_json, read_jsonl, read_parquet, read_result_rows, write_jsonl
from litm.base.store import canonical_json


def test_the_same_records_give_the_same_bytes_under_any_name_and_time(tmp_path):
    records = [{"text": "Röntgen — ☢", "n": 1}, {"n": [1, 2]}]
    write_jsonl(tmp_path / "a.jsonl.gz", records)
    write_jsonl(tmp_path / "b.jsonl.gz", iter(records))
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    assert [record for _, record in read_jsonl(tmp_path / "a.jsonl.gz")] == records


def test_the_order_of_keys_does_not_change_canonical_json():
    assert canonical_json({"b": [1, {"y": 2, "x": 3}], "a": None}) == canonical_json(
        {"a": None, "b": [1, {"x": 3, "y": 2}]}
    )


def test_a_failed_write_leaves_the_old_file_and_no_partial_one(tmp_path):
    path = tmp_path / "out.jsonl"
    write_jsonl(path, [{"old": True}])
    with pytest.raises(RuntimeError), atomic_writer(path) as raw:
        raw.write(b"half")
        raise RuntimeError("power cut")
    assert path.read_text() == '{"old": true}\n'
    assert list(tmp_path.iterdir()) == [path]


def test_a_cut_gzip_file_is_named(tmp_path):
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": 1}\n' * 1000, mtime=0)[:-20])
    with pytest.raises(UserError, match="cut.jsonl.gz: broken compressed data"):
        list(read_jsonl(path))


@pytest.mark.parametrize(
    ("name", "whole", "read"),
    [
        ("tables/accuracy.csv", b"model,n\na,12\n", read_result_rows),
        ("tables/accuracy.csv", b"model,n\na,12\n", read_csv),
        ("responses/m/e.manifest.json", b'{"n": 12}\n', read_json),
        ("responses/m/e.jsonl.gz", gzip.compress(b'{"a": 1}\n', mtime=0), lambda path: list(read_jsonl(path))),
    ],
)
def test_a_cut_result_is_refused_with_the_way_to_make_it_again(name, whole, read, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("results") / name
    path.parent.mkdir(parents=True)
    path.write_bytes(whole)
    read(path)
    path.write_bytes(whole[:-3])
    with pytest.raises(UserError, match=f"^{path}: .*remove it and run the same command, which makes it again"):
        read(path)


def test_a_cut_parquet_file_is_refused_with_the_way_to_make_it_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = Path("results/scores/m/e.parquet")
    path.parent.mkdir(parents=True)
    pd.DataFrame({"id": ["a"], "n": [1]}).to_parquet(path)
    assert list(read_parquet(path, ["id", "cluster"], optional=["cluster"])) == ["id"]
    path.write_bytes(path.read_bytes()[:-1])
    for optional in ((), ("id",)):
        with pytest.raises(UserError, match=f"^{path}: not a whole Parquet file: remove it and run the same command"):
            read_parquet(path, ["id"], optional)


def test_a_table_of_the_users_needs_no_line_end_at_its_end(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"model,n\na,12")
    assert len(read_csv(tmp_path / "a.csv")) == 1


def test_something_that_is_no_gzip_file_is_named(tmp_path):
    path = tmp_path / "page.jsonl.gz"
    path.write_text("<html>")
    with pytest.raises(UserError, match="page.jsonl.gz: broken compressed data"):
        list(read_jsonl(path))


def test_text_that_is_not_utf8_is_named(tmp_path):
    path = tmp_path / "latin.jsonl"
    path.write_bytes('{"a": "é"}\n'.encode("latin-1"))
    with pytest.raises(UserError, match="latin.jsonl: not UTF-8"):
        list(read_jsonl(path))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (r'{"a": ["half \ud83d"]}', r"\ud83d (column 14) is half a character"),
        (r'{"a": "\ude00\ud83d"}', r"\ude00 (column 8) is half a character"),
        (r'{"\uDC00": 1}', r"\uDC00 (column 3) is half a character"),
        ("[" * 100_000, "brackets are nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "a number has too many digits"),
        ('{"a": 1, "b": 2, "a": 3}', "one object has the key 'a' twice: remove one of them"),
        ('{"x": [{"id": "1", "id": "1"}]}', "one object has the key 'id' twice: remove one of them"),
        ('{"a": 1,\n "b" 2}', "not valid JSON (Expecting ':' delimiter, line 2, column 6)"),
    ],
    ids=["text", "order", "key", "deep", "number", "twice", "twice inside", "lines"],
)
def test_json_that_cannot_be_kept_or_read_is_one_line_with_its_place(tmp_path, text, said):
    (tmp_path / "data.jsonl").write_text('{"fine": true}\n' + text.replace("\n", " ") + "\n")
    with pytest.raises(UserError) as caught:
        parse_json(text, "f")
    assert str(caught.value).startswith(f"f: {said}") and "\n" not in str(caught.value)
    with pytest.raises(UserError, match="data.jsonl, line 2: "):
        list(read_jsonl(tmp_path / "data.jsonl"))


def test_whole_characters_and_what_only_looks_like_half_of_one_are_read():
    assert parse_json(r'["\ud83d\ude00", "\\ud83d", "é"]', "f") == ["😀", r"\ud83d", "é"]


def test_json_lines_may_begin_with_a_byte_order_mark_and_end_in_gz_in_any_case(tmp_path):
    (tmp_path / "windows.JSONL.GZ").write_bytes(gzip.compress(b'\xef\xbb\xbf{"a": 1}\r\n{"a": 2}\r\n', mtime=0))
    assert list(read_jsonl(tmp_path / "windows.JSONL.GZ")) == [(1, {"a": 1}), (2, {"a": 2})]
