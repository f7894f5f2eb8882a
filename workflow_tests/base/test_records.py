"""Reading and writing of JSON Lines."""

import gzip

import pytest

from litm.base.atomic_write import atomic_writer
from litm.base.errors import UserError
from litm.base.hashing import canonical_json
from litm.base.json_files import read_jsonl, write_jsonl


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
    path.write_bytes(gzip.compress(b'{"a": 1}\n' * 1000)[:-20])
    with pytest.raises(UserError, match="cut.jsonl.gz: broken gzip data"):
        list(read_jsonl(path))


def test_something_that_is_no_gzip_file_is_named(tmp_path):
    path = tmp_path / "page.jsonl.gz"
    path.write_text("<html>")
    with pytest.raises(UserError, match="page.jsonl.gz: broken gzip data"):
        list(read_jsonl(path))


def test_text_that_is_not_utf8_is_named(tmp_path):
    path = tmp_path / "latin.jsonl"
    path.write_bytes('{"a": "é"}\n'.encode("latin-1"))
    with pytest.raises(UserError, match="latin.jsonl: not UTF-8"):
        list(read_jsonl(path))
