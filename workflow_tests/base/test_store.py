"""The store: an entry is made once, under the digest of its inputs; a crash leaves none. Locks on open files."""

import errno
import multiprocessing
import time

import pytest

from litm.base.messages import UserError
from litm.base.store import canonical_json, existing, lock, stored

INPUTS = {"texts": "abc", "n": {"b": 2, "a": 1}}


def make_folder(path):
    path.mkdir(exist_ok=True)
    (path / "part").write_text("whole")
    return {"rows": 1}


def test_an_entry_is_built_once_and_its_facts_are_remembered(tmp_path):
    built = []

    def build(path):
        built.append(path)
        path.write_text("index")
        return {"rows": 3}

    first, facts = stored(tmp_path, INPUTS, build)
    assert first.read_text() == "index" and facts == {"rows": 3}
    # The order of the inputs does not matter.
    assert canonical_json(INPUTS) == '{"n":{"a":1,"b":2},"texts":"abc"}'
    assert stored(tmp_path, dict(reversed(INPUTS.items())), build) == (first, facts) and len(built) == 1
    assert stored(tmp_path, {**INPUTS, "n": 1}, build)[0] != first and len(built) == 2


def test_a_failed_build_leaves_no_entry_and_the_next_build_resumes_its_files(tmp_path):
    def fail(path):
        path.write_text("half")
        raise UserError("disk full")

    def go_on(path):
        path.write_text(path.read_text() + " and half")
        return {}

    with pytest.raises(UserError, match="disk full"):
        stored(tmp_path, INPUTS, fail)
    assert stored(tmp_path, INPUTS, go_on)[0].read_text() == "half and half"


def test_an_entry_that_is_not_whole_is_made_again(tmp_path):
    def is_whole(entry, facts):
        return facts == {"rows": 1} and (entry / "part").exists()

    entry, _ = stored(tmp_path, INPUTS, make_folder, is_whole)
    (entry / "part").rename(entry / "other")
    assert stored(tmp_path, INPUTS, make_folder, is_whole)[0] == entry
    assert [path.name for path in entry.iterdir()] == ["part"]


def test_an_entry_that_somebody_deleted_is_named_with_the_rule_that_makes_it(tmp_path):
    with pytest.raises(UserError, match=r"store/abc is gone .* --forcerun index_bm25"):
        existing(tmp_path / "store" / "abc", "index_bm25")


def test_after_a_crash_at_any_point_the_next_run_makes_a_whole_entry(tmp_path):
    entry, _ = stored(tmp_path, INPUTS, make_folder)
    about = entry.with_name(f"{entry.name}.json")
    # Named, but without what is known of it; and known, but not named yet.
    about.unlink()
    (entry / "part").write_text("old")
    assert stored(tmp_path, INPUTS, make_folder) == (entry, {"rows": 1}) and (entry / "part").read_text() == "whole"
    entry.rename(entry.with_name(f".{entry.name}.partial"))
    assert stored(tmp_path, INPUTS, make_folder) == (entry, {"rows": 1}) and about.exists()


def _store_slowly(folder, both_are_there):
    def build(path):
        with (folder / "builds").open("a") as log:
            log.write("built\n")
        time.sleep(0.5)
        return make_folder(path)

    both_are_there.wait()
    stored(folder, INPUTS, build)


def test_two_jobs_that_want_the_same_entry_make_it_once(tmp_path):
    context = multiprocessing.get_context("fork")
    both_are_there = context.Barrier(2)
    jobs = [context.Process(target=_store_slowly, args=(tmp_path, both_are_there)) for _ in range(2)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert [job.exitcode for job in jobs] == [0, 0] and (tmp_path / "builds").read_text() == "built\n"


def test_of_two_open_files_of_one_name_only_the_first_is_locked_until_it_is_closed(tmp_path):
    with (tmp_path / "f").open("w") as first, (tmp_path / "f").open("w") as second:
        assert lock(first)
        assert not lock(second)
        first.close()
        assert lock(second, wait=True)


def test_a_file_system_without_locks_is_reported_and_the_file_counts_as_locked(tmp_path, monkeypatch, capsys):
    def refuse(*_args, **_options):
        raise OSError(number, "what the system says")

    monkeypatch.setattr("filelock.lock_descriptor", refuse)
    with (tmp_path / "f").open("w") as file:
        number = errno.ENOLCK
        assert lock(file)
        assert capsys.readouterr().err.startswith(f"{tmp_path / 'f'}: this file system has no locks; make sure")
        number = errno.EIO
        with pytest.raises(OSError, match="what the system says"):
            lock(file)
