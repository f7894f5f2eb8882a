"""Extensions: tasks, metrics, engines and more in a folder outside the project."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import configs
import pandas as pd
import pytest
import yaml
from conftest import ROOT
from programs import loaded_by, refused
from reruns import with_keys

from litm.base.extensions import VARIABLE, in_use, names_in
from litm.checks.doctor import extension_check
from litm.engines.registry import engine_names
from litm.examples.tasks import task_names
from litm.figures.kinds import KINDS
from litm.scoring.metrics import METRICS
from litm.workflow import rules_help
from litm.workflow.rules_help import Programs

TEMPLATE = ROOT / "examples" / "my_task"
TASK, METRIC, ENGINE = "tasks/numbered_words.py", "metrics/first_word.py", "engines/first_item.py"
#: What follows from new scores.
AFTER_SCORES = {
    "make_table", "make_markdown", "make_claims_table", "summarize", "record_study", "plot_figure", "plot_pbi_forest",
    "sample_questions", "make_findings", "make_report",
}  # fmt: skip
#: What follows from new answers.
AFTER_ANSWERS = {*AFTER_SCORES, "generate", "score"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of the template outside the project, in use in this test alone."""
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.chdir(tmp_path)
    # Another module's test may have loaded the template.
    forget_extensions()
    yield Path(shutil.copytree(TEMPLATE, tmp_path / "my_task"))
    forget_extensions()


def forget_extensions() -> None:
    """Unload the modules of extensions, as in another process."""
    for name in [*sys.modules]:
        if name.partition(".")[0] in ("my_task", "other_task"):
            del sys.modules[name]


def study_with(*extensions: str):
    return configs.study(models=["first_item"], experiments=["numbered_words"], extensions=[*extensions])


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text, f"{file} has no {old}"
    file.write_text(text.replace(old, new))


def test_the_template_has_one_of_each_kind_and_the_doctor_names_them(folder):
    study = study_with("my_task")
    assert study.experiments["numbered_words"].metric == "first_word"
    assert study.experiments["numbered_words"].right_if.startswith("the first word of the text is an accepted answer")
    assert set(study.figures) >= {"numbered_words", "numbered_words_worst"}
    assert all(names_in(folder).values())
    check = extension_check(folder)
    assert (check.status, check.what) == ("ok", "extension my_task")
    assert check.message.startswith(
        "my_task; tasks: numbered_words; metrics: first_word; engines: first_item; corpora: "
    )


def test_without_the_key_nothing_of_an_extension_is_known(folder):
    study_with("my_task")
    configs.study()
    known = {*task_names(), *METRICS, *engine_names(), *KINDS}
    assert in_use() == () and not {"numbered_words", "first_word", "first_item", "worst_position"} & known
    assert "unknown name 'first_item'" in refused(study_with)


def test_an_installed_package_is_found_by_its_name(folder, monkeypatch):
    site = folder.parent / "site"
    shutil.copytree(folder, site / "other_task")
    for file in (site / "other_task").rglob("*.py"):
        file.write_text(file.read_text().replace("my_task", "other_task"))
    monkeypatch.syspath_prepend(site)
    study_with("other_task")
    assert in_use() == (site / "other_task",)


def test_the_templates_test_of_its_engine_needs_no_run():
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", TEMPLATE.name]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "scripts")}
    done = subprocess.run(command, cwd=TEMPLATE.parent, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout


def test_the_templates_wheel_has_the_folders_that_are_there(folder):
    shutil.rmtree(folder / "figures")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel"], cwd=folder, check=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    packed = {name.split("/")[1] for name in zipfile.ZipFile(wheel).namelist() if name.startswith("my_task/")}
    assert packed == {"config", "corpora", "engines", "metrics", "prompt_templates", "prompts", "tasks", "words.py"}


def test_a_folder_is_searched_in_the_working_directory_then_in_the_project(folder):
    study_with("my_task")
    assert in_use() == (folder,)
    shutil.rmtree(folder)
    forget_extensions()
    study_with("examples/my_task")
    assert in_use() == (TEMPLATE,)


#: The file to edit, the old and the new text, and the line.
MISTAKES = {
    "syntax": (METRIC, "def first_word(", "def first_word", r"my_task/metrics/first_word.py:9: SyntaxError: .*"),
    "import": (TASK, "my_task.words", "my_task.wordz", r".*numbered_words.py:6: ModuleNotFoundError: .*wordz'"),
    "helper": ("words.py", 'SECOND = ("stone"', 'SECOND = (1 / 0, "x"', r"my_task/words.py:5: ZeroDivisionError: .*"),
    "field": (TASK, "new_tokens=20", 'new_tokens="20"', r".*words.py:25: TypeError: .*: 'max_new_tokens' must .*"),
    "task": (TASK, 'name="numbered_words"', 'name="kv_retrieval"', r".*the name kv_retrieval of tasks is taken by .*"),
    "metric": (METRIC, '"first_word":', '"token_f1":', r".*: the name token_f1 of metrics is taken by .*"),
    "kind": ("figures/kinds.py", '"worst_position":', '"pbi_forest":', r".*the name pbi_forest of figures is taken .*"),
    "entry": ("config/models.yaml", "first_item:", "dummy:", r"my_task/config/models.yaml: the name dummy of .*"),
    "no metrics": (METRIC, "METRICS =", "METRIC =", r".*word.py: 'METRICS' must be a dictionary of Metric by name"),
    "no rule": (METRIC, "right_if", "write_if", r".*word.py:15: TypeError: .* keyword argument 'write_if'.*"),
    "no key": ("config/models.yaml", "  eng", "  marks: x\n  eng", r".*first_item: unknown key 'marks' .*'mark'.*"),
    "its type": ("config/models.yaml", "  eng", "  mark: 3\n  eng", r".*first_item.mark: .* string, found 3"),
    "its limit": ("config/models.yaml", "  eng", "  pause: -1\n  eng", r".*first_item.pause: .*"),
    "another's": ("config/models.yaml", "  eng", "  attention: eager\n  eng", r".*only for 'engine: transformers'.*"),
    "no role": (ENGINE, ', Run("the speed")', ", int", r".*: the key 'pause' declares no role: .*"),
    "no engine": (ENGINE, "ENGINE = ", "FACTS = ", r"my_task/engines/first_item.py: an engine has 'ENGINE', .*"),
}  # fmt: skip


@pytest.mark.parametrize(("file", "old", "new", "line"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_an_extension_is_one_line_with_the_file(folder, file, old, new, line):
    edit(folder / file, old, new)
    said = refused(study_with, "my_task")
    assert re.fullmatch(line, said), said


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("nothing", "config.extensions: there is no folder nothing, here or in .*, and no installed package"),
        ("no/folder", "config.extensions: no/folder does not exist .*"),
        ("empty", "empty: an extension has one of the folders tasks, metrics, .*"),
        ("yaml", ".*/yaml: an extension has one of the folders tasks, .*"),
        ("a/json", "a/json: Python has another package json: rename this folder"),
        ("my-task", "my-task: Python cannot import this name: use letters, digits and underscores"),
        ("twice", "twice/engines/dummy.py: the name dummy of engines is taken by a built-in one: rename it"),
        ("a/my_task", "a/my_task: Python has another package my_task: rename this folder"),
    ],
)
def test_a_folder_that_cannot_be_an_extension_is_one_line(folder, name, line):
    for made in ("empty", "a/json/tasks", "my-task/tasks", "twice/engines", "a/my_task/tasks"):
        (folder.parent / made).mkdir(parents=True)
    (folder.parent / "twice" / "engines" / "dummy.py").touch()
    said = refused(study_with, "my_task", name)
    assert re.fullmatch(line, said), said


def test_the_names_of_two_extensions_may_not_collide(folder):
    shutil.copytree(folder / "prompts", folder.parent / "other_task" / "prompts")
    said = refused(study_with, "my_task", "other_task")
    assert re.match(r"other_task/prompts/numbered_words.txt: the name .* taken by another exten", said)


def test_a_start_with_an_extension_imports_nothing_that_draws_or_computes(folder):
    own = configs.config(models=["first_item"], extensions=["my_task"])
    code = "from pathlib import Path; from litm.config.study import load_study; "
    loaded = loaded_by(f"{code}load_study({own!r}, Path({str(ROOT)!r}))")
    assert "my_task.figures.kinds" in loaded
    assert not {"matplotlib", "pandas", "torch", "transformers", "my_task.figures._worst_position"} & loaded


def test_a_module_is_made_of_what_it_imports_and_of_the_files_beside_it_wherever_it_is(folder):
    study_with("my_task")

    def digest(module: str) -> str:
        for name in ("local_modules", "_imported_files", "_module_files", "_listing", "file_digest"):
            getattr(rules_help, name).cache_clear()
        return Programs(ROOT).code("", lambda wildcards: module)(None)

    task, metric = "my_task.tasks.numbered_words", "my_task.metrics.first_word"
    first = {one: digest(one) for one in (task, metric)}
    edit(folder / TASK, "from my_task.words", "from ..words")
    relative = digest(task)
    assert relative != first[task]
    edit(folder / "words.py", "sand", "land")
    words = digest(task)
    assert words not in (relative, first[task])
    (folder / "tasks" / "list.csv").write_text("one")
    beside = digest(task)
    assert beside != words
    (folder / "tasks" / "another.py").touch()
    (folder / "study.yaml").touch()
    assert digest(task) == beside
    assert digest(metric) == first[metric]
    moved = Path(shutil.copytree(folder, folder.parent / "elsewhere" / "my_task"))
    os.environ[VARIABLE] = str(moved)
    assert digest(task) == beside


def plan_after(bench, file: Path, old: str, new: str) -> set[str]:
    """The rules that an edit runs again; the edit is taken back."""
    before = file.read_text()
    edit(file, old, new)
    planned = bench.plan()
    file.write_text(before)
    return set(planned)


def test_an_edit_of_an_extension_runs_again_what_it_affects_and_the_answers_are_right(new_bench, tmp_path):
    folder = Path(shutil.copytree(TEMPLATE, tmp_path / "outside" / "my_task"))
    config = yaml.safe_load((TEMPLATE / "study.yaml").read_text())
    config |= {"extensions": [str(folder)], "experiments": ["numbered_words", "kv"], "examples": 2}
    new_bench.configure(with_keys(config, {"define.experiments.kv": configs.KV}))
    new_bench.run()

    table = pd.read_csv(new_bench.path("results/tables/accuracy.csv"))
    own = table[(table["model"] == "first_item") & (table["experiment"] == "numbered_words")]
    # It answers with the first item of the context.
    assert own.groupby("position")["accuracy"].mean().to_dict() == {0: 1, 2: 0, 4: 0, 9: 0, 19: 0}
    assert new_bench.path("results/figures/numbered_words_worst.png").exists()
    assert "extension my_task" in new_bench.path("results/report.html").read_text()

    assert new_bench.plan() == {}
    assert plan_after(new_bench, folder / "figures/_worst_position.py", '"o"', '"s"') == {"plot_figure", "make_report"}
    scores = plan_after(new_bench, folder / METRIC, "ignoring case", "in any case")
    assert "score" in scores and scores <= {"score", *AFTER_SCORES}
    answers = plan_after(new_bench, folder / ENGINE, "in one batch", "at once")
    assert "generate" in answers and answers <= AFTER_ANSWERS
    examples = plan_after(new_bench, folder / TASK, "A line for", "One line for")
    assert "make_examples" in examples and examples <= {"make_examples", "check_examples", *AFTER_ANSWERS}
    prompts = plan_after(new_bench, folder / "prompts/numbered_words.txt", "Word:", "The word:")
    assert prompts == examples

    # The docstring of the task changes no prompt, so nothing is asked again.
    edit(folder / TASK, "A line for", "One line for")
    responses = "results/responses/first_item/numbered_words.jsonl.gz"
    new_bench.run("--", responses)
    assert new_bench.asked("numbered_words", "first_item") == (0, 12)

    # Keys that only this engine has: of how it runs, and of its answers.
    edit(folder / "config/models.yaml", "engine: first_item", "engine: first_item\n  pause: 0.1")
    assert "generate" not in new_bench.plan()
    edit(folder / "config/models.yaml", "pause: 0.1", "mark: ' '")
    new_bench.run("--", responses)
    assert new_bench.asked("numbered_words", "first_item") == (12, 0)
    edit(folder / "config/models.yaml", "mark: ' '", "mark: ': '")
    new_bench.run("--", responses)
    assert new_bench.asked("numbered_words", "first_item") == (0, 12)
