"""Files of models: when they are hashed again, and cached ones that are not those of their commit."""

import os
import re
from pathlib import Path

import pytest
from programs import refused

from litm.base.store import file_sha256, git_blob_id
from litm.models import identity
from litm.models.identity import FileDigests, check_cached, check_identified, content_digest


@pytest.fixture
def hashed(monkeypatch) -> list[Path]:
    """The files that are hashed, in their order."""
    files: list[Path] = []
    monkeypatch.setattr(identity, "file_sha256", lambda path: files.append(path) or file_sha256(path))
    return files


def replace(file: Path, content: str) -> None:
    """Another file with that content and the same time, as `cp -p` makes it."""
    before = file.stat()
    file.write_text(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    # The clock of a disk has steps of some milliseconds.
    while file.stat().st_ctime_ns == before.st_ctime_ns:
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_a_file_is_hashed_once_also_for_a_later_process_until_it_is_touched_or_replaced(tmp_path, hashed):
    file = tmp_path / "model.safetensors"
    file.write_text("first")
    known = FileDigests(tmp_path / "store", "models/mine")
    first = known.sha256(file)
    assert known.sha256(file) == FileDigests(tmp_path / "store", "models/mine").sha256(file) == first
    assert hashed == [file]
    file.touch()
    assert known.sha256(file) == first and hashed == [file] * 2
    replace(file, "other")
    assert known.sha256(file) == file_sha256(file) != first and hashed == [file] * 3
    assert FileDigests(tmp_path / "store", "models/mine").sha256(file) != first and hashed == [file] * 3


def test_a_link_to_another_folder_with_files_of_the_same_size_and_time_is_seen(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(name)
        os.utime(tmp_path / name / "config.json", ns=(1, 1))
    (tmp_path / "current").symlink_to("a")
    known = FileDigests()
    first = known.sha256(tmp_path / "current" / "config.json")
    (tmp_path / "current").unlink()
    (tmp_path / "current").symlink_to("b")
    assert known.sha256(tmp_path / "current" / "config.json") != first


def test_another_file_with_the_same_size_and_times_is_seen_as_on_another_image_at_the_same_place(tmp_path, monkeypatch):
    file = tmp_path / "weights"
    file.write_bytes(b"a" * 2_000_000)
    facts = file.stat()
    known = FileDigests(tmp_path / "store")
    first = known.sha256(file)
    file.write_bytes(b"b" * 2_000_000)
    monkeypatch.setattr(Path, "stat", lambda path, **options: facts)
    assert known.sha256(file) != first


def test_the_content_of_a_file_triggers_a_job_and_its_time_and_folder_do_not(tmp_path):
    file, moved = tmp_path / "weights", tmp_path / "moved" / "weights"
    file.write_text("first")
    first = content_digest([file])
    os.utime(file, ns=(5, 5))
    moved.parent.mkdir()
    moved.write_text("first")
    assert content_digest([file]) == content_digest([moved]) == first
    replace(file, "other")
    assert content_digest([file]) != first


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
    [*((name, lambda file: file.write_bytes(b"edited")) for name in FILES), ("config.json", put_in_place_of_the_link)],
)
def test_a_file_that_was_edited_in_place_or_replaced_is_named_also_before_asking(snapshot, name, edit):
    source = {"location": "org/name", "identity": {"hub": "org/name", "commit": COMMIT}}
    check_identified("m", source, None)
    edit(snapshot / name)
    for check in ((check_cached, "org/name", COMMIT), (check_identified, "m", source, None)):
        assert re.search(rf"{name} is not the file of commit 1{{40}}.*delete it", refused(*check))


def test_without_links_nothing_can_be_checked_and_a_line_says_so_once(snapshot, capsys):
    identity._say_unchecked.cache_clear()
    for name in FILES:
        put_in_place_of_the_link(snapshot / name)
    check_cached("org/name", COMMIT)
    check_cached("org/name", COMMIT)
    assert capsys.readouterr().err.count("so nobody checks that they are of commit 1") == 1


def test_large_files_are_hashed_by_the_function_that_keeps_digests(snapshot):
    asked = []
    check_cached("org/name", COMMIT, lambda path: asked.append(path.name) or file_sha256(path))
    assert asked == ["model.safetensors"]
