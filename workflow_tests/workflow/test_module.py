"""Another workflow imports this one and adds a model: the example in docs/module.md, from a folder and a Git tag."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

#: How docs/module.md names the repository and a version of it.
ADDRESS, TAG = "OWNER/lost-in-the-middle", "v1.0.0"
MINE = """
models: [mine]
experiments: [kv]
define:
  models:
    mine: {engine: transformers, path: resources/reference_model, device: cpu, dtype: float32}
  experiments:
    kv: {task: kv_retrieval, positions: {4: [0, 3]}, examples: 2, max_new_tokens: 10}
"""


@pytest.fixture
def importing(tmp_path: Path) -> Path:
    """A folder with the example of docs/module.md as its workflow, and a config with a model of its own."""
    (example,) = re.findall(
        r"```python\n(configfile: \"mine.yaml\"\n.*?)```", (ROOT / "docs" / "module.md").read_text(), re.S
    )
    folder = tmp_path / "importing"
    (folder / "config").mkdir(parents=True)
    (folder / "Snakefile").write_text(example)
    (folder / "mine.yaml").write_text(MINE)
    return folder


def snakemake(folder: Path, *words: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "1", *words],
        cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_workflow_that_imports_this_one_from_a_folder_asks_its_own_model(importing):
    snakefile = importing / "Snakefile"
    hosted = re.search(r"github\(.*?\)", snakefile.read_text(), re.S)
    assert hosted
    snakefile.write_text(snakefile.read_text().replace(hosted[0], repr(str(ROOT / "Snakefile"))))
    printed = snakemake(importing, "-n")
    assert re.search(r"litm_generate +1", printed)
    assert re.search(r"my_summary +1", printed)
    snakemake(importing, "results/responses/mine/kv.jsonl.gz")
    assert (importing / "results/responses/mine/kv.jsonl.gz").stat().st_size


def test_a_workflow_that_imports_this_one_from_a_git_tag_has_its_programs(importing, new_project, tmp_path):
    hosted = new_project.moved_to(tmp_path / "hosted")
    hosted.git("tag", TAG)
    hosted.edit("Snakefile", "rule all:", "this is no workflow\nrule all:")
    elsewhere = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"url.{hosted.folder}.insteadOf",
        "GIT_CONFIG_VALUE_0": f"https://github.com/{ADDRESS}",
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    snakemake(importing, "results/examples/kv/4/gold_at_0.jsonl.gz", "results/models/mine.json", **elsewhere)
    assert (importing / "results/examples/kv/4/gold_at_0.jsonl.gz").stat().st_size
    assert len(list((importing / ".snakemake/lost_in_the_middle").iterdir())) == 1
