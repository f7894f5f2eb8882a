"""Replaced inputs are noticed by content, whatever their times; and outputs from a clock that was ahead."""

import copy
import os
import re
import shutil
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import ROOT, qa_record, write_lines
from workbench import FINISHED

from litm.base.download import check_fetched, note_fetched
from litm.base.messages import UserError
from litm.base.store import file_sha256
from litm.models import file_digests
from litm.models.file_digests import FileDigests
from litm.workflow import rules_help
from litm.workflow.housekeeping import files_of_the_future, set_back
from litm.workflow.rules_help import ContentPlan, replaced_lines

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
    scorer = bench.path("scripts/litm/scoring/score.py")
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


@pytest.mark.parametrize("seconds", [HOUR, 50])
def test_a_run_that_was_interrupted_is_finished_though_its_outputs_were_made_by_a_clock_that_was_ahead(bench, seconds):
    def set_ahead() -> None:
        ahead = time.time() + seconds
        for path in bench.path("results").rglob("*"):
            if path.is_file():
                os.utime(path, (ahead, ahead))

    set_ahead()
    assert files_of_the_future(bench.path("results"), time.time())
    assert bench.plan() == {}
    write_lines(bench.path("questions.jsonl.gz"), [qa_record(number, 4) for number in range(1, 5)])
    # Again, as the plan may have taken long.
    set_ahead()
    done = bench.snakemake("results/example_checks/closed_book.json")
    assert ("had times in the future" in done.stdout + done.stderr) == (seconds == HOUR)
    assert not files_of_the_future(bench.path("results"), time.time())
    assert bench.plan("results/scores/dummy/closed_book.parquet") == {"generate": 1, "score": 1}


def test_files_of_the_future_get_the_time_of_now(tmp_path):
    file = tmp_path / "a" / "b.csv"
    file.parent.mkdir()
    file.write_text("x")
    assert set_back(tmp_path) == ""
    ahead = time.time() + HOUR
    os.utime(file, (ahead, ahead))
    assert f"1 files in {tmp_path} had times in the future ({file}, ...)" in set_back(tmp_path)
    assert abs(file.stat().st_mtime - time.time()) < HOUR / 2


def test_files_of_the_future_keep_their_order_and_seconds_are_not_worth_a_line(tmp_path):
    now = time.time()
    names = ["input", "output", "other"]
    for name, ahead in zip(names, (50, 20, 20), strict=True):
        (tmp_path / name).write_text("x")
        os.utime(tmp_path / name, (now + ahead,) * 2)
    assert set_back(tmp_path) == ""
    input_, output, other = ((tmp_path / name).stat().st_mtime for name in names)
    assert other == output < input_ <= time.time()


# --- The param ---


def test_a_param_depends_on_contents_and_names_and_not_on_times_or_made_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        Path(name).write_text(name)
    wildcards = SimpleNamespace(name="a")

    def param() -> str:
        # As of another start: what was hashed is kept for the time of one.
        return ContentPlan()(lambda own: [own.name, "results/made"], ["b"], "missing")(wildcards)

    first = param()
    os.utime("a", LONG_AGO)
    assert param() == first
    Path("a").write_text("other")
    os.utime("a", LONG_AGO)
    changed = param()
    assert changed != first
    Path("a").rename("c")
    wildcards.name = "c"
    assert param() not in (first, changed)


def test_a_large_file_of_the_same_size_and_time_is_seen_and_read_once_by_all(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rules_help, "LARGE", 4)
    monkeypatch.setattr(rules_help, "WORTH_A_LINE", 4)
    weights = Path("model/weights.safetensors")
    weights.parent.mkdir()
    weights.write_text("first")
    os.utime(weights, LONG_AGO)

    def param() -> str:
        return ContentPlan()([str(weights)])(None)

    first = param()
    assert param() == first and capsys.readouterr().err.count("hashing its 0.0 GB, and again only if it changes") == 1
    with monkeypatch.context() as nothing_is_read:
        nothing_is_read.setattr(file_digests, "file_sha256", None)
        assert FileDigests(file_digests.DIGESTS, "model").sha256(weights) == file_sha256(weights)
    changed = weights.stat().st_ctime_ns
    while weights.stat().st_ctime_ns == changed:
        weights.write_text("other")
        os.utime(weights, LONG_AGO)
    assert param() != first


def test_the_param_has_a_users_file_below_results_and_no_outputs_of_rules(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = {"results/data/x", "results/reference_model/model"}
    mine, others = Path("results/mine/q.jsonl"), [Path("results/data/x"), Path("results/reference_model/model/a/b")]
    for file in (mine, *others):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("first")

    def param() -> str:
        return ContentPlan(made.__contains__)([str(mine), *map(str, others)])(None)

    first = param()
    for file in others:
        file.write_text("other")
    assert param() == first
    mine.write_text("other")
    os.utime(mine, LONG_AGO)
    assert param() != first


def test_a_large_input_is_hashed_once_for_all_starts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("large").write_bytes(b"x" * 2_000_000)
    Path("small").write_bytes(b"x")
    hashed: list[str] = []
    monkeypatch.setattr("litm.models.file_digests.file_sha256", lambda file: hashed.append(file.name) or "0" * 64)
    for _ in range(2):
        ContentPlan()(["large", "small"])(None)
    assert hashed == ["large", "small", "small"]


#: Inputs that only rules make, and the code that fetches, which changes nothing of a file with a known sum.
MADE = re.compile(
    r"examples\.(files|items)|tokenizer_source|part_responses|retrieval\.(indexes|vectors|encoder)\b|candidates\.(retrieved|"
    r"passages|shards)|claims\.(recall|scores)|rerank\.model\b|paper\.measured|figures\.(accuracy|scores|recall|shown|differences|advice|token_counts|wrong_answers)|report\.(responses|scores|samples|formats)|"
    r"tables\.(files|shown|position_bias)|questions\.(asked|asked_passages|asked_shards|own_passages|own_shards|retrieved)\b|suite\.files|estimate\.source|sweeps\.files|fetch_file\.py"
)


def rules() -> dict[str, str]:
    """The text of each rule that makes something of inputs of its own."""
    found = {}
    for file in sorted((ROOT / "rules").glob("*.smk")):
        for text in re.split(r"(?m)^(?=(?:use )?rule )", file.read_text())[1:]:
            if "    input:\n" in text and "    output:\n" in text:
                found[re.findall(r"rule (\w+)(?: as (\w+))?", text)[0]] = text
    return {as_name or name: text for (name, as_name), text in found.items()}


@pytest.mark.parametrize("name", rules())
def test_every_input_that_is_not_made_by_a_rule_is_in_the_content_of_the_rule(name):
    """A rule that fails here needs the expression of its input in `params: content=PLAN.content(...)` too."""
    text = rules()[name]
    (inputs,) = re.findall(r"(?ms)^    input:\n(.*?)(?=^    \w+:)", text)
    named = re.findall(r'PLAN\.\w+(?:\.\w+)*(?:\("[^"]+"\))?', inputs)
    own = {one for one in named if not MADE.search(one)}
    content = text.partition("content=PLAN.content(")[2]
    assert own <= set(re.findall(r'PLAN\.\w+(?:\.\w+)*(?:\("[^"]+"\))?', content))


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


def test_an_input_that_is_replaced_during_a_run_is_named_at_the_end_also_if_it_is_put_back(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("v1", "v2"):
        Path(name).mkdir()
        Path(name, "data").write_text(name)
    Path("kept").write_text("kept")
    Path("current").symlink_to("v1")
    plan = ContentPlan()
    plan(["current/data", "kept", "missing"])(None)
    assert plan.replaced() == []
    switch_link("current", "v2")
    # It may be put back after the run, and the records have the content of the start.
    assert plan.replaced() == [(Path("current/data"), False)]
    switch_link("current", "v1")
    assert plan.replaced() == [(Path("current/data"), True)]
    replace_by_older(Path("kept"), b"other")
    replace_by_older(Path("kept"), b"kept")
    assert plan.replaced() == [(Path("current/data"), True), (Path("kept"), True)]
    Path("kept").unlink()
    assert plan.replaced() == [(Path("current/data"), True), (Path("kept"), False)]


def test_replaced_inputs_are_named_with_the_remedy_the_first_five_each_by_a_line():
    said = replaced_lines([(Path("a"), True), (Path("b"), False)])
    assert said[0].startswith("a was replaced during this run and has its content of before again: results may be")
    assert said[1].startswith("b was replaced during this run: results may be") and all(
        "--forceall" in one for one in said
    )
    many = replaced_lines([(Path(str(number)), False) for number in range(8)])
    assert len(many) == 6 and many[-1] == "3 more files were replaced during this run"


def switch_link(link: str, target: str) -> None:
    Path("new").symlink_to(target)
    Path("new").replace(link)
