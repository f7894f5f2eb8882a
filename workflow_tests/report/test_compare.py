"""`litm compare`: exit status and lines, of one study and of two, in a clone and as a module."""

import gzip
import json
import re
import shutil
import subprocess
import sys
from functools import partial

import pandas as pd
import pytest
import yaml
from conftest import ROOT
from programs import run_command
from record_makers import change_first

import litm.compare
from litm.base.json_files import read_jsonl
from litm.tables.table import tables

compare = partial(run_command, "compare")
BOTH = ["--model", "dummy", "--against", "reference"]


@pytest.fixture(scope="module")
def folder(finished):
    """The results of a finished study, not to be changed."""
    return finished.path("results")


def test_the_launcher_the_module_and_its_function_say_the_same(folder):
    words = ["--results", str(folder), *BOTH, "--worse-than", "5"]
    done = compare(*words)
    assert done.returncode == 4, done.stderr
    assert re.search(r"cannot tell: .* about [\d,]+ questions would tell", done.stdout.splitlines()[-1])
    for command in ([ROOT / "litm", "compare"], [sys.executable, "-m", "litm", "compare"]):
        own = subprocess.run([*command, *words], capture_output=True, text=True, cwd=ROOT / "scripts")
        assert (own.returncode, own.stdout, own.stderr) == (4, done.stdout, done.stderr)


def test_two_folders_of_one_model_need_no_other_word(folder, tmp_path):
    other = shutil.copytree(folder, tmp_path / "other")
    for results in (folder, other):
        assert "name one with --model" in compare("--results", results, other).stderr
    record = json.loads((other / "tables/study.json").read_text())
    (other / "tables/study.json").write_text(json.dumps({**record, "models": ["dummy"]}))
    own = subprocess.run([ROOT / "litm", "compare", other, folder], capture_output=True, text=True)
    done = compare("--results", other, folder, "--model", "dummy", "--worse-than", 5)
    assert (own.returncode, own.stdout) == (done.returncode, done.stdout) and done.stdout


def test_a_worse_model_has_an_exit_status_and_the_table_has_its_numbers(folder, tmp_path):
    """One model's scores are those of the other, but wrong in one position, on many questions."""
    results = shutil.copytree(folder, tmp_path / "results")
    for path in (results / "scores" / "reference").glob("*.parquet"):
        scores = pd.read_parquet(path).assign(correct=1.0)
        scores = pd.concat([scores, scores.assign(target="second")])
        right = pd.concat([scores.assign(id=scores["id"] + f"/{number}") for number in range(40)])
        right.to_parquet(path)
        worse = right.assign(model="dummy", correct=right["correct"].where(right["position"] != 0, 0.0))
        worse.to_parquet(results / "scores" / "dummy" / path.name)
    words = ["--results", results, *BOTH, "--output", tmp_path / "made.csv"]
    done = compare(*words, "--worse-than", 5)
    assert done.returncode == 3, done.stdout + done.stderr
    assert re.search(r"worse: by more than 5 points at .*gold_at_0 gold \(-.* gold_at_0 second \(-", done.stdout)
    made = tables()["regression"].read(tmp_path / "made.csv")
    assert {*made.loc[made["verdict"] == "worse", "position"].dropna()} == {0}
    swapped = ["--results", results, "--model", "reference", "--against", "dummy", "--worse-than", 10]
    assert compare(*swapped).returncode == 0
    assert compare(*words, "--worse-than", 99).returncode in (0, 4)


def test_questions_of_two_studies_are_compared_by_their_prompts(folder, tmp_path):
    other = shutil.copytree(folder, tmp_path / "other")
    words = ["--model", "dummy", "--worse-than", 5, "--experiments", "qa", "--output", tmp_path / "made.csv"]
    for left_out in (0, 2):
        done = compare("--results", folder, other, *words)
        made = tables()["regression"].read(tmp_path / "made.csv")
        assert {*made.loc[made["placement"] != "mean", "n_left_out"]} == {left_out}
        # The question is asked in other words: each of the two studies has one that the other lacks.
        change_first(other / "responses/dummy/qa.jsonl.gz", prompt_sha256="of another prompt")
    assert "left out: up to 2 questions of a position that only one of the two has scores of" in done.stderr


def edited(path, change):
    change(pd.read_parquet(path)).to_parquet(path)


def without_size_6(results):
    """No prompt of size 6 fits the context of the model."""
    for path in (results / "scores/dummy").glob("*.parquet"):
        edited(path, lambda scores: scores.assign(excluded=scores["excluded"] | (scores["size"] == 6)))


def without_position_5(results):
    """The study has no prompts at position 5, and those at position 0 of size 6 are still the same."""
    for path in results.glob("scores/*/kv.parquet"):
        edited(path, lambda scores: scores[scores["placement"] != "gold_at_5"])
    path = results / "tables/study.json"
    path.write_text(path.read_text().replace("gold_at_5", "gold_at_4"))


def with_another_metric(results):
    edited(results / "scores/dummy/kv.parquet", lambda scores: scores.assign(metric="token_f1"))


def with_few_clusters(results):
    edited(results / "scores/dummy/kv.parquet", lambda scores: scores.assign(cluster=scores["id"]))
    path = results / "responses/dummy/kv.manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"not_compared": 12}))


def with_errors_as_answers(results):
    edited(results / "scores/dummy/kv.parquet", lambda scores: scores.assign(doubt="error"))


@pytest.mark.parametrize(
    ("edit", "n", "status", "lines"),
    [
        (with_errors_as_answers, None, 0, ["kv, size 4: the answers of dummy in {other} say nothing"]),
        (without_size_6, [3, 3, 3, 0, 0], 4, ["gold_at_5 of size 6): dummy in {other} has no scored answer"]),
        (without_position_5, [3, 3, 3, 3, 0], 0, ["gold_at_5 of size 6): dummy in {other} was not", "in positions ("]),
        (with_another_metric, None, 1, ["not compared (gold_at_0 of size 4, ", "the metric differs (token_f1 | va"]),
        (with_few_clusters, [3] * 6, 0, ["12 recorded answers of dummy in {other} do not", "kv: 3 clusters, fewer"]),
    ],
)  # fmt: skip
def test_positions_that_cannot_be_compared_and_doubts_are_said(folder, tmp_path, edit, n, status, lines):
    edit(other := shutil.copytree(folder, tmp_path / "other"))
    for number, path in enumerate(other.glob("responses/*/*.jsonl.gz")):
        change_first(path, key=f"asked again {number}")
    words = ["--results", other, folder, "--model", "dummy", "--worse-than", 99, "--experiments", "kv"]
    done = compare(*words, "--output", tmp_path / "made.csv")
    assert all(line.format(other=other) in done.stderr for line in lines), done.stderr
    assert done.returncode == status
    if n is not None:
        assert [*tables()["regression"].read(tmp_path / "made.csv")["n"]] == n
        assert ("not compared" in done.stdout) == (0 in n)


def test_the_size_whose_clusters_are_worth_least_is_told_and_none_without_a_common_question(monkeypatch):
    monkeypatch.setattr(litm.compare, "manifest_of", lambda *_: {})
    names = {"experiment": "kv", "placement": "gold_at_0", "correct": 1.0, "id": [f"q{number}" for number in range(36)]}
    sizes = {4: [number // 3 for number in range(36)], 6: [max(23, number) for number in range(36)]}
    asked = pd.concat([pd.DataFrame({"size": size, "cluster": of, **names}) for size, of in sizes.items()])
    a, b = asked.assign(model="a"), asked.assign(model="b")
    (line,) = litm.compare._doubts([], [pd.concat([a, b])])
    assert line.startswith("kv: 13 clusters, worth 2 of equal size, fewer than 10")
    assert [*litm.compare._doubts([], [pd.concat([a, b.assign(id="other")])])] == []


def test_no_number_of_questions_tells_at_a_margin_of_0(folder):
    done = compare("--results", folder, *BOTH, "--worse-than", 0)
    assert "at a margin of 0, no number of questions tells" in done.stdout.splitlines()[-1]


def test_answers_that_were_not_asked_again_have_an_exit_status_and_other_settings_a_line(folder, tmp_path):
    """A copy of a folder; then one answer under another identity, other software, and other settings."""
    other = shutil.copytree(folder, tmp_path / "other")
    answers, manifest = (other / f"responses/dummy/qa.{end}" for end in ("jsonl.gz", "manifest.json"))
    run = partial(compare, "--results", folder, other, *("--model", "dummy", "--experiments", "qa", "--worse-than", 5))
    done = run()
    number = len([*read_jsonl(answers)])
    assert (done.returncode, done.stderr) == (5, "")
    assert done.stdout.startswith(f"nothing compared: all {number} answers have the same key and text on both sides")
    change_first(answers, key="of another identity")
    done = run()
    assert done.returncode == 4 and f"{number - 1} of {number} answers have the same" in done.stderr
    made = json.loads(manifest.read_text())
    made["identity_fields"]["model"]["request"] = {"seed": 3, "temperature": 1}
    made["identity_fields"]["decoding"]["max_new_tokens"] = 7
    manifest.write_text(json.dumps(made | {"made_with": {"another version": number}}))
    done = run()
    assert done.returncode == 4 and len(done.stderr.splitlines()) == 1
    assert "the two sides differ in decoding (greedy, at most " in done.stderr
    assert 'at most 7 tokens, to the first_line, request {"seed":3,"temperature":1}) on qa' in done.stderr


def without_prompts(results):
    path = results / "responses/dummy/qa.jsonl.gz"
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()).replace(b"prompt_sha256", b"else")))


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--model", "dummy"], "give --against another model"),
        (["--model", "dummy", "--against", "x"], "no model 'x'; there are dummy, reference"),
        ([*BOTH, "--worse-than", "500"], "give points of accuracy"),
        ([*BOTH, "--experiments", "x"], "--experiments: no 'x'; there are"),
        ([*BOTH, "--experiments", "kv", "qa"], "qa: not compared: only one of the two answered it"),
        (["--results", ".", *BOTH], ".: no folder 'tables': run the study"),
        (["--results", "{scoreless}", *BOTH], "scoreless/scores: no folder 'dummy'"),
        (["--results", "{other}", "{folder}", "--model", "dummy"], "did not keep prompt_sha256: run the study again"),
        (["--results", "{folder}", "{rescored}", "--model", "dummy"], "equal answers to the same prompts have unequal"),
    ],
)
def test_a_mistake_is_one_line(folder, tmp_path, words, line):
    names = {"folder": folder, "scoreless": tmp_path / "scoreless", "other": tmp_path / "other"}
    names["rescored"] = shutil.copytree(folder, tmp_path / "rescored")
    edited(names["rescored"] / "scores/dummy/kv.parquet", lambda scores: scores.assign(correct=~scores["correct"]))
    shutil.copytree(folder / "tables", names["scoreless"] / "tables")
    without_prompts(shutil.copytree(folder, names["other"]))
    done = compare("--results", folder, "--worse-than", "5", *(word.format(**names) for word in words))
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert line in done.stderr


def test_the_blocks_of_the_page_are_yaml_and_their_commands_have_the_options_of_the_program():
    page = (ROOT / "docs/regression.md").read_text()
    config, hosted, workflow = (yaml.safe_load(block) for block in re.findall(r"(?ms)^```yaml\n(.*?)^```", page))
    assert config["define"]["models"]["quantised"]["package"] == config["define"]["models"]["full"]["package"]
    assert workflow["jobs"]["regression"]["steps"] and hosted["define"]["models"]["large"]["revision"] == "2026-12"
    options = re.findall(r"--[a-z-]+", compare("--help").stdout)
    assert {*re.findall(r"compare --results.*?(--[a-z-]+)", page)} <= {*options}
