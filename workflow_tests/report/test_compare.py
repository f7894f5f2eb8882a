"""`litm compare`: exit status and lines, of one study and of two, in a clone and as a module."""

import gzip
import json
import re
import shutil
import subprocess
import sys

import pandas as pd
import pytest
import yaml
from conftest import ROOT

from litm.analysis.table import tables

COMPARE = [sys.executable, "-m", "litm", "compare"]


@pytest.fixture(scope="module")
def folder(finished, tmp_path_factory):
    """The results of a finished study, to edit."""
    return shutil.copytree(finished.path("results"), tmp_path_factory.mktemp("compared") / "results")


def compare(*words, command=COMPARE):
    done = subprocess.run(
        [*command, *map(str, words)], capture_output=True, text=True, check=False, cwd=ROOT / "scripts"
    )
    assert "Traceback" not in done.stderr
    return done


def test_the_launcher_and_the_module_say_the_same(folder):
    words = ["--results", folder, "--model", "dummy", "--against", "reference", "--worse-than", 5]
    done = compare(*words)
    assert done.returncode == 4, done.stderr
    assert re.search(r"cannot tell: .* about [\d,]+ questions would tell", done.stdout.splitlines()[-1])
    assert compare(*words, command=[ROOT / "litm", "compare"]).stdout == done.stdout


def test_a_worse_model_has_an_exit_status_and_the_table_has_its_numbers(folder, tmp_path):
    """One model's scores are those of the other, but wrong in one position, on many questions."""
    results = shutil.copytree(folder, tmp_path / "results")
    for path in (results / "scores" / "reference").glob("*.parquet"):
        scores = pd.read_parquet(path).assign(correct=1.0)
        right = pd.concat([scores.assign(id=scores["id"] + f"/{number}") for number in range(40)])
        right.to_parquet(path)
        worse = right.assign(model="dummy", correct=right["correct"].where(right["position"] != 0, 0.0))
        worse.to_parquet(results / "scores" / "dummy" / path.name)
    words = ["--results", results, "--model", "dummy", "--against", "reference", "--output", tmp_path / "made.csv"]
    done = compare(*words, "--worse-than", 5)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "worse: by more than 5 points at " in done.stdout.splitlines()[-1]
    made = tables()["regression"].read(tmp_path / "made.csv")
    assert {*made.loc[made["verdict"] == "worse", "position"].dropna()} == {0}
    swapped = ["--results", results, "--model", "reference", "--against", "dummy", "--worse-than", 10]
    assert compare(*swapped).returncode == 0
    assert compare(*words, "--worse-than", 99).returncode in (0, 4)


def test_questions_of_two_studies_are_compared_by_their_prompts(folder, tmp_path):
    other = shutil.copytree(folder, tmp_path / "other")
    words = ["--results", folder, other, "--model", "dummy", "--worse-than", 5, "--experiments", "qa"]
    assert {line.split()[7] for line in compare(*words).stdout.splitlines()[1:-1] if "mean" not in line} == {"0"}
    path = other / "responses" / "dummy" / "qa.jsonl.gz"
    first, *lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    changed = {**json.loads(first), "prompt_sha256": "of another prompt"}
    path.write_bytes(gzip.compress("\n".join([json.dumps(changed), *lines]).encode()))
    # The question is asked in other words now: each of the two studies has one that the other lacks.
    done = compare(*words)
    assert {line.split()[7] for line in done.stdout.splitlines()[1:-1] if "mean" not in line} == {"2"}
    assert "left out: up to 2 questions of a position that only one of the two has scores of" in done.stderr
    path.write_bytes(gzip.compress("\n".join(line.replace("prompt_sha256", "else") for line in lines).encode()))
    done = compare(*words)
    assert done.returncode == 1 and "did not keep prompt_sha256: run the study again" in done.stderr


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--model", "dummy"], "give --against another model"),
        (["--model", "dummy", "--against", "x"], "no model 'x'; there are dummy, reference"),
        (["--model", "dummy", "--against", "reference", "--worse-than", "500"], "give points of accuracy"),
        (["--model", "dummy", "--against", "reference", "--experiments", "x"], "--experiments: no 'x'; there are"),
        (
            ["--model", "dummy", "--against", "reference", "--experiments", "kv", "qa"],
            "--experiments: qa: not compared: only one of the two answered it",
        ),
        (["--results", ".", "--model", "dummy", "--against", "x"], ".: no folder 'tables': run the study"),
    ],
)
def test_a_mistake_is_one_line(folder, words, line):
    done = compare("--results", folder, "--worse-than", "5", *words)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert line in done.stderr


def test_a_study_without_scores_is_named(folder, tmp_path):
    shutil.copytree(folder / "tables", tmp_path / "only" / "tables")
    done = compare("--results", tmp_path / "only", folder, "--model", "dummy", "--worse-than", 5)
    assert done.returncode == 1 and "only/scores: no folder 'dummy'" in done.stderr


def test_the_blocks_of_the_page_are_yaml_and_their_commands_have_the_options_of_the_program():
    page = (ROOT / "docs/regression.md").read_text()
    config, workflow = (yaml.safe_load(block) for block in re.findall(r"(?ms)^```yaml\n(.*?)^```", page))
    assert config["define"]["models"]["quantised"]["package"] == config["define"]["models"]["full"]["package"]
    assert workflow["jobs"]["regression"]["steps"]
    told = compare("--help").stdout
    assert {*re.findall(r"compare --results.*?(--[a-z-]+)", page)} <= {*re.findall(r"--[a-z-]+", told)}
