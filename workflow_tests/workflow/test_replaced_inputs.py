"""Replaced inputs are noticed by content, whatever their times; and outputs from a clock that was ahead."""

import copy
import os
import shutil
import time
from pathlib import Path

import pytest
from conftest import qa_record, write_lines
from workbench import FINISHED

from litm.base.download import check_fetched, note_fetched
from litm.base.messages import UserError
from litm.base.store import file_sha256

LONG_AGO, HOUR = (1.6e9, 1.6e9), 3600


def replace_by_older(file: Path, content: bytes) -> None:
    """Another file with another content and a time before all results, as of `cp -p` and `mv`."""
    other = file.with_name("other")
    other.write_bytes(content)
    os.utime(other, LONG_AGO)
    other.replace(file)


def test_an_older_dataset_makes_what_depends_on_it_again(bench):
    write_lines(bench.path("other.jsonl.gz"), [qa_record(number, 4) for number in range(1, 5)])
    replace_by_older(bench.path("questions.jsonl.gz"), bench.path("other.jsonl.gz").read_bytes())
    plan = bench.plan()
    # Two positions of qa, and closed_book.
    assert plan["make_examples"] == 3 and plan["generate"] == 2 and "identify_model" not in plan


def test_an_older_prompt_makes_what_depends_on_it_again(bench):
    prompt = bench.path("resources/prompts/closed_book_qa.txt")
    replace_by_older(prompt, b"Please. " + prompt.read_bytes())
    plan = bench.plan("results/scores/dummy/closed_book.parquet")
    assert plan == {"make_examples": 1, "check_examples": 1, "generate": 1, "score": 1}


def test_older_code_and_the_same_content_with_another_time(bench):
    dataset = bench.path("questions.jsonl.gz")
    replace_by_older(dataset, dataset.read_bytes())
    assert bench.plan() == {}
    scorer = bench.path("scripts/litm/scoring/scores.py")
    replace_by_older(scorer, scorer.read_bytes() + b"\n# Of another version.\n")
    assert bench.plan("results/scores/dummy/qa.parquet") == {"score": 1}


def test_responses_copied_from_another_folder_with_other_settings_are_not_scored(bench, tmp_path):
    other = bench.moved_to(tmp_path / "other")
    longer = copy.deepcopy(FINISHED)
    longer["define"]["experiments"]["closed_book"]["max_new_tokens"] = 20
    other.configure(longer)
    responses, scores = "results/responses/dummy/closed_book.jsonl.gz", "results/scores/dummy/closed_book.parquet"
    other.run(responses)
    for name in (responses, responses.replace(".jsonl.gz", ".manifest.json")):
        shutil.copy(other.path(name), bench.path(name))
    done = bench.snakemake(scores)
    told = done.stdout + done.stderr
    assert done.returncode and f"{responses}: these responses have another limit or stop rule than the study" in told
    bench.run(scores, "--forcerun", "generate")
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
    write_lines(bench.path("questions.jsonl.gz"), [qa_record(number, 4) for number in range(1, 5)])
    done = bench.snakemake("results/example_checks/closed_book.json")
    assert ("had times in the future" in done.stdout + done.stderr) == (seconds == HOUR)
    assert not of_the_future(bench.path("results"))
    assert bench.plan("results/scores/dummy/closed_book.parquet") == {"generate": 1, "score": 1}


# --- Fetched files ---


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
        with pytest.raises(
            UserError, match=r"f.gz: it was changed after it was downloaded .* datasets.d .*: delete it"
        ):
            check_fetched(file, sum_, "datasets.d", records)
    # The config wants another file now, which the workflow fetches.
    check_fetched(file, "0" * 64, "datasets.d", records)
    file.unlink()
    check_fetched(file, sum_, "datasets.d", records)


def test_a_fetched_file_that_was_changed_stops_the_next_run_with_a_line(bench, tmp_path):
    remote = write_lines(tmp_path / "remote.jsonl.gz", [qa_record(9, 2)])
    config = {**FINISHED, "define": {**FINISHED["define"]}}
    config["define"]["datasets"] = {
        **FINISHED["define"]["datasets"],
        "remote": {"url": remote.as_uri(), "sha256": file_sha256(remote)},
    }
    bench.configure(config)
    bench.run("results/data/remote.jsonl.gz")
    bench.path("results/data/remote.jsonl.gz").write_bytes(b"other")
    done = bench.snakemake("--dry-run")
    assert done.returncode == 1
    assert "results/data/remote.jsonl.gz: it was changed after it was downloaded" in done.stdout + done.stderr
