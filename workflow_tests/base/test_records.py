"""Records and tables: the same bytes for the same records, and the place of every mistake."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from litm.base.files import atomic_writer
from litm.base.json_files import parse_json, read_json, read_jsonl, read_records, without_surrogates, write_jsonl
from litm.base.messages import UserError
from litm.base.table_files import plain_rows, read_csv, read_parquet, write_csv  # fmt: skip

ZIPPED = gzip.compress(b'{"a": 1}\n' * 1000, mtime=0)


def test_the_same_records_give_the_same_bytes_under_any_name_and_time(tmp_path):
    records = [{"text": "Röntgen — ☢", "n": 1}, {"n": [1, 2]}]
    write_jsonl(tmp_path / "a.jsonl.gz", records)
    write_jsonl(tmp_path / "b.jsonl.gz", iter(records))
    packed = (tmp_path / "a.jsonl.gz").read_bytes()
    assert packed == (tmp_path / "b.jsonl.gz").read_bytes() and packed[4:8] == bytes(4), "the time in gzip's header"
    assert [record for _, record in read_jsonl(tmp_path / "a.jsonl.gz")] == records


def test_a_table_has_the_digits_of_its_columns_and_a_model_of_the_name_na(tmp_path):
    table = pd.DataFrame({"model": ["NA", "b"], "share": [1 / 3, None], "p": [1.30421456e-174, 1.0], "n": [1, 2]})
    write_csv(tmp_path / "a.csv", table, p_values=["p", "q"])
    assert (tmp_path / "a.csv").read_text() == "model,share,p,n\nNA,0.333333,1.30421e-174,1\nb,,1,2\n"
    assert read_csv(tmp_path / "a.csv")["model"].tolist() == ["NA", "b"]
    # A user's table needs no line end at its end.
    (tmp_path / "a.csv").write_bytes(b"model,n\na,12")
    assert len(read_csv(tmp_path / "a.csv")) == 1


def test_rows_are_those_of_pandas_with_none_for_a_missing_value_and_leave_the_table_as_it_is():
    columns = {
        "count": [1, 2], "share": [0.5, np.nan], "right": [True, False], "name": ["a", None],
        "maybe": pd.array([3, None], dtype="Int64"), "any": np.array([np.float64(1.5), [np.nan]], dtype=object),
    }  # fmt: skip
    for names in ([*columns], ["any"], ["share"], []):
        table = pd.DataFrame(columns)[names]
        before = table.copy()
        rows = plain_rows(table)
        # Types are compared too: 1 and np.int64(1) are equal, and JSON can write one of them.
        assert repr(rows) == repr(table.astype(object).where(table.notna(), None).to_dict("records"))
        pd.testing.assert_frame_equal(table, before)
    assert plain_rows(pd.DataFrame(columns))[1] == dict(
        zip(columns, (2, None, False, None, None, [np.nan]), strict=True)
    )


def test_a_failed_write_names_the_file_and_leaves_the_old_one_and_no_partial_one(tmp_path):
    path = tmp_path / "out.jsonl"
    write_jsonl(path, [{"old": True}])
    with pytest.raises(OSError) as caught, atomic_writer(path) as raw:
        raw.write(b"half")
        raise OSError("power cut")
    assert caught.value.filename == str(path) and path.read_text() == '{"old": true}\n'
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "whole", "read"),
    [
        ("tables/accuracy.csv", b"model,n\na,12\n", read_csv),
        ("responses/m/e.manifest.json", b'{"n": 12}\n', read_json),
        ("responses/m/e.jsonl.gz", ZIPPED, lambda path: list(read_jsonl(path))),
        ("scores/m/e.parquet", pd.DataFrame({"id": ["a"]}).to_parquet(), lambda path: read_parquet(path, ["id"])),
    ],
    ids=["table", "object", "lines", "columns"],
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


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("cut.jsonl.gz", ZIPPED[:-20], "broken compressed data after line"),
        ("page.jsonl.gz", b"<html>", r"broken compressed data \("),
        ("latin.jsonl", '{"a": "é"}\n'.encode("latin-1"), r"not UTF-8 text \("),
        ("list.json", b'[{"a": 1},\n 2]', r"expected a JSON object, found int"),
        ("text.json", b'"a"', r"expected a list of JSON objects, \[\{...\}, ...\], found str"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line_with_its_name(name, data, said, tmp_path):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UserError, match=rf"{name}(, line \d)?: {said}"):
        list(read_records(tmp_path / name))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (r'{"a": ["half \ud83d"]}', r"'\ud83d' is half a character"),
        (r'{"a": "\ude00\ud83d"}', r"'\ude00' is half a character"),
        (r'{"\uDC00": 1}', r"'\udc00' is half a character"),
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
    assert without_surrogates("é 😀 \ud83d") == "é 😀 \ufffd"


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("windows.JSONL.GZ", b'\xef\xbb\xbf{"a": 1}\r\n\r\n{"a": 2}\r\n', [(1, {"a": 1}), (3, {"a": 2})]),
        ("list.json", b'[{"a": 1},\n\n {"a": [\n2]}, {}]', [(1, {"a": 1}), (3, {"a": [2]}), (4, {})]),
        ("one.json", b'\n{"a": 1}', [(2, {"a": 1})]),
        ("lines.json", b'{"a": 1}\n{"a": 2}\n', [(1, {"a": 1}), (2, {"a": 2})]),
        ("wide.jsonl", '{"a": "\u00e9"}\n'.encode("utf-16"), [(1, {"a": "\u00e9"})]),
    ],
)
def test_records_are_read_with_their_lines(name, text, expected, tmp_path):
    (tmp_path / name).write_bytes(gzip.compress(text, mtime=0) if name.endswith("GZ") else text)
    assert list(read_records(tmp_path / name)) == expected
