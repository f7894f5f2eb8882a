"""The store: an entry is made once, under the digest of its inputs, and a crash leaves no entry."""

import multiprocessing
import time

import pytest

from litm.base.messages import UserError
from litm.base.store import existing, store_digest, stored


def test_an_entry_is_built_once_and_its_facts_are_remembered(tmp_path):
    built = []

    def build(path):
        built.append(path)
        path.write_text("index")
        return {"rows": 3}

    first, facts = stored(tmp_path, {"texts": "abc"}, build)
    again, remembered = stored(tmp_path, {"texts": "abc"}, build)
    assert first == again and first.read_text() == "index"
    assert facts == remembered == {"rows": 3} and len(built) == 1


def test_another_ingredient_is_another_entry(tmp_path):
    def build(path):
        path.mkdir()
        return {}

    entries = {stored(tmp_path, {"texts": "abc", "pooling": pooling}, build)[0] for pooling in ("mean", "cls")}
    assert len(entries) == 2 and all(entry.is_dir() for entry in entries)


def test_the_order_of_the_ingredients_does_not_matter():
    assert store_digest({"a": 1, "b": 2}) == store_digest({"b": 2, "a": 1})


def test_a_failed_build_leaves_no_entry_and_the_next_build_resumes_its_files(tmp_path):
    def fail(path):
        path.write_text("half")
        raise UserError("disk full")

    with pytest.raises(UserError, match="disk full"):
        stored(tmp_path, {"texts": "abc"}, fail)

    def go_on(path):
        path.write_text(path.read_text() + " and half")
        return {}

    entry, _ = stored(tmp_path, {"texts": "abc"}, go_on)
    assert entry.read_text() == "half and half"


def test_an_entry_that_somebody_deleted_is_named_with_the_rule_that_makes_it(tmp_path):
    with pytest.raises(UserError, match=r"store/abc is gone .* --forcerun index_bm25"):
        existing(tmp_path / "store" / "abc", "index_bm25")


def test_after_a_crash_at_any_point_the_next_run_makes_a_whole_entry(tmp_path):
    def build(path):
        path.mkdir(exist_ok=True)
        (path / "part").write_text("whole")
        return {"rows": 1}

    entry, _ = stored(tmp_path, {"texts": "abc"}, build)
    about = entry.with_name(f"{entry.name}.json")
    # Named, but without what is known of it; and known, but not named yet.
    about.unlink()
    (entry / "part").write_text("old")
    assert stored(tmp_path, {"texts": "abc"}, build) == (entry, {"rows": 1}) and (entry / "part").read_text() == "whole"
    entry.rename(entry.with_name(f".{entry.name}.partial"))
    assert stored(tmp_path, {"texts": "abc"}, build) == (entry, {"rows": 1}) and about.exists()


def _store_slowly(folder, both_are_there):
    def build(path):
        with (folder / "builds").open("a") as log:
            log.write("built\n")
        time.sleep(0.5)
        path.write_text("index")
        return {}

    both_are_there.wait()
    stored(folder, {"texts": "abc"}, build)


def test_two_jobs_that_want_the_same_entry_make_it_once(tmp_path):
    context = multiprocessing.get_context("fork")
    both_are_there = context.Barrier(2)
    jobs = [context.Process(target=_store_slowly, args=(tmp_path, both_are_there)) for _ in range(2)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert [job.exitcode for job in jobs] == [0, 0] and (tmp_path / "builds").read_text() == "built\n"
