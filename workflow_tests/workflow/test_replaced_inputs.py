"""Replaced inputs are noticed by content, whatever their times; and outputs from a clock that was ahead."""

import gzip
import json
import os
import re
import shutil
import time
from pathlib import Path

import pytest
from conftest import qa_record
from programs import refused
from workbench import changed

from litm.base.download import check_fetched, note_fetched
from litm.base.store import file_sha256

LONG_AGO, HOUR = (1.6e9, 1.6e9), 3600
SCORES = "results/scores/dummy/closed_book.parquet"
EXAMPLES_AND_MORE = {"make_examples": 1, "check_examples": 1, "generate": 1, "score": 1}
#: Two positions of qa, and closed_book.
OF_BOTH = {"make_examples": 3, "check_examples": 2, "generate": 2, "score": 2}
OTHER_QUESTIONS = gzip.compress(b"".join(json.dumps(qa_record(number, 4)).encode() + b"\n" for number in range(1, 5)))


@pytest.mark.parametrize(
    ("name", "change", "target", "jobs"),
    [
        ("questions.jsonl.gz", lambda old: OTHER_QUESTIONS, [SCORES, "results/scores/dummy/qa.parquet"], OF_BOTH),
        ("resources/prompts/closed_book_qa.txt", lambda old: b"Please. " + old, [SCORES], EXAMPLES_AND_MORE),
        ("scripts/litm/scoring/scores.py", lambda old: old + b"\n# Of another version.\n", [SCORES], {"score": 1}),
        ("questions.jsonl.gz", bytes, [], {}),
    ],
    ids=["dataset", "prompt", "code", "the same content"],
)
def test_an_older_file_of_another_content_makes_what_depends_on_it_again(bench, name, change, target, jobs):
    other = bench.path("other")
    other.write_bytes(change(bench.path(name).read_bytes()))
    # As of `cp -p` and `mv`: a time before all results.
    os.utime(other, LONG_AGO)
    other.replace(bench.path(name))
    assert bench.plan(*target) == jobs


def test_responses_copied_from_another_folder_with_other_settings_are_not_scored(bench, tmp_path):
    other = bench.moved_to(tmp_path / "other")
    other.configure(changed(closed_book={"max_new_tokens": 20}))
    responses = "results/responses/dummy/closed_book.jsonl.gz"
    other.run(responses)
    for name in (responses, responses.replace(".jsonl.gz", ".manifest.json")):
        shutil.copy(other.path(name), bench.path(name))
    assert f"{responses}: these responses have another limit or stop rule than the study" in bench.refusal(SCORES)
    bench.run(SCORES, "--forcerun", "generate")
    assert bench.asked("closed_book")[0] == 0


def of_the_future(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.stat().st_mtime > time.time()]


@pytest.mark.parametrize("seconds", [HOUR, 50])
def test_a_run_that_was_interrupted_is_finished_though_its_outputs_were_made_by_a_clock_that_was_ahead(bench, seconds):
    def set_ahead() -> None:
        ahead = time.time() + seconds
        for path in bench.path("results").rglob("*"):
            if path.is_file():
                os.utime(path, (ahead, ahead))

    set_ahead()
    assert bench.plan() == {}
    # Again, as the plan may have taken long.
    set_ahead()
    assert of_the_future(bench.path("results"))
    bench.path("questions.jsonl.gz").write_bytes(OTHER_QUESTIONS)
    done = bench.snakemake("results/example_checks/closed_book.json")
    assert ("had times in the future" in done.stdout + done.stderr) == (seconds == HOUR)
    assert not of_the_future(bench.path("results"))
    assert bench.plan(SCORES) == {"generate": 1, "score": 1}


def test_a_fetched_file_is_hashed_again_only_if_it_was_touched_and_refused_if_it_was_changed(tmp_path, monkeypatch):
    file, records = tmp_path / "f.gz", str(tmp_path / "records")
    file.write_text("data")
    sum_ = file_sha256(file)
    hashed: list[Path] = []
    monkeypatch.setattr("litm.base.download.file_checksum", lambda path, like: hashed.append(path) or file_sha256(path))
    note_fetched(file, sum_, records)
    check_fetched(file, sum_, "datasets.d", records)
    assert not hashed
    file.touch()
    for _ in range(2):
        check_fetched(file, sum_, "datasets.d", records)
    assert hashed == [file]
    file.write_text("date")
    for _ in range(2):
        said = refused(check_fetched, file, sum_, "datasets.d", records)
        assert re.search(r"f.gz: it was changed after it was downloaded .* datasets.d .*: delete it", said)
    # The config wants another file now, which the workflow fetches.
    check_fetched(file, "0" * 64, "datasets.d", records)
    file.unlink()
    check_fetched(file, sum_, "datasets.d", records)
