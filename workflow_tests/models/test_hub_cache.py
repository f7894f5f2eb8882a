"""Cached files of hub models: equal to those of their commit, or refused."""

import hashlib
import os
from pathlib import Path

import pytest

from litm.base.messages import UserError
from litm.base.store import file_sha256, git_blob_id
from litm.models import identity
from litm.models.identity import check_cached, check_identified

COMMIT = "1" * 40
FILES = {"config.json": (b"{}", git_blob_id), "model.safetensors": (b"weights", file_sha256)}


@pytest.fixture
def snapshot(tmp_path, monkeypatch) -> Path:
    """The folder of a cached model, whose files are links to blobs, as huggingface_hub makes them."""
    repository = tmp_path / "models--org--name"
    folder = repository / "snapshots" / COMMIT
    folder.mkdir(parents=True)
    (repository / "blobs").mkdir()
    for name, (content, hashed) in FILES.items():
        made = repository / "blobs" / "new"
        made.write_bytes(content)
        blob = made.rename(made.with_name(hashed(made)))
        (folder / name).symlink_to(os.path.relpath(blob, folder))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.file_download.HF_HUB_CACHE", str(tmp_path), raising=False)
    return folder


def test_untouched_files_pass_and_so_does_a_model_that_is_not_in_the_cache(snapshot):
    check_cached("org/name", COMMIT)
    check_cached("org/other", COMMIT)


def put_in_place_of_the_link(file: Path) -> None:
    content = file.read_bytes()
    file.unlink()
    file.write_bytes(content)


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        *((name, lambda file: file.write_bytes(b"edited")) for name in FILES),
        ("config.json", put_in_place_of_the_link),
    ],
)
def test_a_file_that_was_edited_in_place_or_replaced_is_named_also_before_asking(snapshot, name, edit):
    source = {"location": "org/name", "identity": {"hub": "org/name", "commit": COMMIT}}
    check_identified("m", source, None)
    edit(snapshot / name)
    for check in (lambda: check_cached("org/name", COMMIT), lambda: check_identified("m", source, None)):
        with pytest.raises(UserError, match=rf"{name} is not the file of commit 1{{40}}.*delete it"):
            check()


def test_without_links_nothing_can_be_checked_and_a_line_says_so_once(snapshot, capsys):
    identity._say_unchecked.cache_clear()
    for name in FILES:
        put_in_place_of_the_link(snapshot / name)
    check_cached("org/name", COMMIT)
    check_cached("org/name", COMMIT)
    assert capsys.readouterr().err.count("so nobody checks that they are of commit 1") == 1


def test_large_files_are_hashed_by_the_function_that_keeps_digests(snapshot):
    asked = []
    check_cached(
        "org/name", COMMIT, lambda path: asked.append(path.name) or hashlib.sha256(path.read_bytes()).hexdigest()
    )
    assert asked == ["model.safetensors"]
