"""Remote files: mirror first, never unchecked."""

import hashlib
from pathlib import Path

import pytest

from litm.base.download import fetch
from litm.base.errors import UserError

DATA = b"some data"
SUM = hashlib.sha256(DATA).hexdigest()


def url_of(path: Path) -> str:
    return path.as_uri()


def test_a_file_in_the_mirror_is_taken_by_its_base_name(tmp_path):
    (tmp_path / "mirror" / "inside").mkdir(parents=True)
    (tmp_path / "mirror" / "inside" / "file.gz").write_bytes(DATA)
    source = fetch("https://nowhere.invalid/other.gz", SUM, str(tmp_path / "mirror"), tmp_path / "out" / "file.gz")
    assert source == str(tmp_path / "mirror" / "inside" / "file.gz")
    assert (tmp_path / "out" / "file.gz").read_bytes() == DATA


def test_a_file_that_is_not_in_the_mirror_is_downloaded(tmp_path):
    (tmp_path / "remote.gz").write_bytes(DATA)
    (tmp_path / "mirror").mkdir()
    fetch(url_of(tmp_path / "remote.gz"), SUM, str(tmp_path / "mirror"), tmp_path / "file.gz")
    assert (tmp_path / "file.gz").read_bytes() == DATA


def test_a_wrong_sum_names_both_and_leaves_no_file(tmp_path):
    (tmp_path / "remote.gz").write_bytes(b"other data")
    with pytest.raises(UserError) as caught:
        fetch(url_of(tmp_path / "remote.gz"), SUM, None, tmp_path / "out" / "file.gz")
    assert SUM in str(caught.value) and hashlib.sha256(b"other data").hexdigest() in str(caught.value)
    assert not list((tmp_path / "out").iterdir())


def test_a_failed_download_says_what_to_do(tmp_path):
    with pytest.raises(UserError, match=r"download failed .* put file.gz into a folder and set data_mirror to it"):
        fetch(url_of(tmp_path / "missing.gz"), SUM, None, tmp_path / "file.gz")
