"""A workbench: an editable copy of the project in which Snakemake plans and runs."""

import contextlib
import gc
import json
import os
import shlex
import shutil
import subprocess
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from conftest import ROOT, qa_record, write_lines
from fork_server import exit_status, forking_python
from programs import run_program

from litm.base.json_files import read_json
from litm.inference.kept_answers import answer_files
from litm.workflow.dry_run import TARGETS

#: A model that answers at once, without torch.
CONFIG = {
    "models": ["dummy"],
    "experiments": ["kv", "qa", "closed_book"],
    "define": {
        "datasets": {"questions": {"path": "questions.jsonl.gz"}},
        "experiments": {
            "kv": {"task": "kv_retrieval", "positions": {4: [0, 3], 6: [0, 5]}, "examples": 3, "max_new_tokens": 30},
            "qa": {"task": "multi_document_qa", "dataset": "questions", "positions": {3: [0, 2]}, "max_new_tokens": 10},
            "closed_book": {"task": "closed_book_qa", "dataset": "questions", "max_new_tokens": 10},
        },
        "figures": {"qa": {"experiments": ["qa"], "references": {"closed_book": "closed book"}, "published": True}},
    },
}
#: Config of a session's finished workbench: the small config, and one sweep of a model with weights.
FINISHED = {**CONFIG, "models": ["dummy", "reference"], "only": {"reference": ["kv"]}}


def changed(**experiments: dict) -> dict:
    """`FINISHED` with other values for some keys of its experiments."""
    config = deepcopy(FINISHED)
    for name, keys in experiments.items():
        config["define"]["experiments"][name].update(keys)
    return config


def copy_project(folder: Path, but: Container[str] = ()) -> None:
    """Copy the working tree's files, those that git ignores apart, and the folders `but`."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in filter(None, listing.stdout.split("\0")):
        if (ROOT / name).is_file() and Path(name).parts[0] not in but:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


@dataclass(frozen=True)
class PlannedJob:
    """A job that Snakemake runs.

    rule: its name; input, output: paths of files, relative to the workbench; command: the shell command, or "".
    """

    rule: str
    input: Sequence[str]
    output: Sequence[str]
    command: str


def jobs_by_rule(jobs: Iterable[PlannedJob]) -> dict[str, int]:
    """The number of jobs of each rule, without rules that only name targets."""
    return dict(Counter(job.rule for job in jobs if job.rule not in TARGETS))


def needed_for(path: str, jobs: Sequence[PlannedJob]) -> list[PlannedJob]:
    """Those of the jobs that make a file or what it is made of. jobs: each after those that make its input."""
    wanted, needed = {path}, []
    for job in reversed(jobs):
        if wanted & {*job.output}:
            needed.append(job)
            wanted |= {*job.input}
    return needed[::-1]


class Workbench:
    """A folder with a copy of the project and a small config, `small.yaml`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def create(cls, folder: Path) -> "Workbench":
        """The working tree's files under git, a dataset of four questions, and the small config.

        No rule needs the tests, and an object of git for each file takes as long to copy as the file.
        """
        copy_project(folder, but={"workflow_tests"})
        bench = cls(folder)
        write_lines(folder / "questions.jsonl.gz", [qa_record(number, 4) for number in range(4)])
        bench.configure(CONFIG)
        bench.git("init", "--quiet", "--initial-branch=main")
        bench.commit()
        bench.git("gc", "--quiet")
        return bench

    def moved_to(self, folder: Path) -> "Workbench":
        """The whole folder, including results, moved to another place."""
        folder.mkdir(parents=True, exist_ok=True)
        # A sixth of the processor time of `shutil.copytree`.
        subprocess.run(["cp", "-a", f"{self.folder}/.", folder], check=True)
        return Workbench(folder)

    def configure(self, config: dict) -> None:
        self.path("small.yaml").write_text(yaml.safe_dump(config, sort_keys=False))

    def path(self, name: str) -> Path:
        return self.folder / name

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace text in a file; it must be there."""
        text = self.path(name).read_text()
        assert old in text
        self.path(name).write_text(text.replace(old, new))

    def git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.folder, check=True, capture_output=True)

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet", "--message=all")

    def snakemake(self, *words: str) -> subprocess.CompletedProcess:
        """Run Snakemake with the small config; its jobs are forks of the fork server."""
        return self.snakemake_alone("--configfile", "small.yaml", "--cores", "1", *words)

    def snakemake_alone(self, *words: str) -> subprocess.CompletedProcess:
        """Run Snakemake with these words, without the small config."""
        python = forking_python()
        return in_a_fork(lambda: snakemake_here(self.folder, ["snakemake", *words], python))

    def run(self, *words: str) -> dict[str, int]:
        """Run Snakemake; it must succeed. Returns the number of jobs by rule that it ran, targets left out."""
        return jobs_by_rule(self._jobs(forking_python(), *words))

    def run_here(self, *words: str) -> subprocess.CompletedProcess:
        """Plan, and run the programs of the planned jobs as `run_programs` does."""
        planned = self.snakemake("--dry-run", "--printshellcmds", "--quiet", "host", *words)
        assert planned.returncode == 0, planned.stdout + planned.stderr
        return self.run_programs(commands_in(planned.stdout))

    def run_programs(self, commands: Iterable[str]) -> subprocess.CompletedProcess:
        """Run the programs of planned jobs in this process, up to the first failure; returns the last result.

        Snakemake does not take part, and the programs are those of this checkout.
        """
        done = subprocess.CompletedProcess([], 0, "", "")
        with contextlib.chdir(self.folder):
            for command in commands:
                done = run_program(*program_and_words(command))
                if done.returncode:
                    break
        return done

    def make_here(self, *targets: str) -> None:
        """`run_here`, which must succeed."""
        done = self.run_here("--", *targets)
        assert done.returncode == 0, done.stdout + done.stderr

    def refusal(self, *words: str) -> str:
        """What Snakemake prints when it refuses to plan or to run; without a traceback."""
        done = self.snakemake(*words)
        said = done.stdout + done.stderr
        assert done.returncode == 1 and "Traceback" not in said, said
        return said

    def plan(self, *words: str) -> dict[str, int]:
        """Number of jobs by rule that Snakemake would run, targets left out."""
        return jobs_by_rule(self.planned(*words))

    def planned(self, *words: str) -> list["PlannedJob"]:
        """The jobs that Snakemake would run, each after those that make its input."""
        return self._jobs(None, "--dry-run", *words)

    def made(self, paths: Collection[str]) -> set[str]:
        """Those of the paths that a rule makes."""
        return {*self._of_graph(lambda graph: [path for path in paths if _is_made(path, graph)], None, "--dry-run")}

    def _jobs(self, python: Path | None, *words: str) -> list["PlannedJob"]:
        """The jobs of a run or plan, which must succeed."""
        return [PlannedJob(*facts) for facts in self._of_graph(_job_facts, python, *words)]

    def _of_graph(self, facts: Callable[[Any], Any], python: Path | None, *words: str) -> Any:
        """What a function says of the graph of a run or plan, which must succeed; as JSON brings it here."""
        command = ["snakemake", "--configfile", "small.yaml", "--cores", "1", *words]
        with TemporaryDirectory() as folder:
            file = Path(folder) / "facts.json"

            def keep(graph: Any) -> None:
                file.write_text(json.dumps(facts(graph)))

            done = in_a_fork(lambda: snakemake_here(self.folder, command, python, keep))
            assert done.returncode == 0, done.stdout + done.stderr
            return json.loads(file.read_text())

    def answers(self, sweep: str, model: str = "dummy") -> list[Path]:
        """The files with the answers of a sweep."""
        return answer_files([self.path("results/answers")], f"{model}+{sweep}.????-??-??.*")

    def asked(self, sweep: str, model: str = "dummy") -> tuple[int, int]:
        """Prompts that the last run of a sweep asked, and kept answers that it used."""
        manifest = read_json(self.path(f"results/responses/{model}/{sweep}.manifest.json"))
        return manifest["asked"], manifest["reused"]


def _job_facts(graph: Any) -> list[list]:
    """The parts of a `PlannedJob` for each job that runs, each after those that make its input."""
    needed = set(graph.needrun_jobs(exclude_finished=False))
    jobs = [job for level in graph.toposorted() for job in level if job in needed]
    return [[job.rule.name, [*job.input], [*job.output], job.shellcmd or ""] for job in jobs]


def _is_made(path: str, graph: Any) -> bool:
    return any(rule.is_producer(path) for rule in graph.workflow.rules)


def commands_in(plan: str) -> list[str]:
    """The commands of the jobs in a dry run's output with `--printshellcmds`, in its order."""
    lines = (line.partition("Shell command: ") for line in plan.splitlines())
    # Rules that only name targets have none.
    return [command for before, is_shell, command in lines if is_shell and not before and command != "None"]


def program_and_words(command: str) -> list[str]:
    """The program and the arguments in a rule's shell command."""
    words = shlex.split(command.partition(" 2>&1")[0])
    program = next(index for index, word in enumerate(words) if word.endswith(".py"))
    return [Path(words[program]).stem, *words[program + 1 :]]


def in_a_fork(run: Callable[[], int]) -> subprocess.CompletedProcess:
    """The output and exit status of a function in a fork of this process, with its modules.

    Starting Snakemake takes longer than planning.
    """
    _prepare_forks()
    with TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("stdout", "stderr")]
        child = os.fork()
        if child == 0:
            # A collection would visit, and so copy, all that this process has kept.
            gc.disable()
            status = 1
            try:
                for number, file in enumerate(files, start=1):
                    os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), number)
                sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w", buffering=1)
                status = run()
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(status)
        _, status = os.waitpid(child, 0)
        stdout, stderr = (file.read_text() for file in files)
    return subprocess.CompletedProcess([], os.waitstatus_to_exitcode(status), stdout, stderr)


@cache
def _prepare_forks() -> None:
    """Import what every run of Snakemake does, its plugins too, so that no fork has to."""
    import genai_prices  # noqa: F401
    import pandas  # noqa: F401
    import pyarrow.dataset
    import pyarrow.parquet  # noqa: F401
    import scipy.special  # noqa: F401
    import smart_open  # noqa: F401
    from snakemake.cli import parse_args

    parse_args([])


def snakemake_here(
    folder: Path, command: list[str], python: Path | None = None, keep: Callable[[Any], object] = bool
) -> int:
    """Run Snakemake in a process that forgets this checkout's library: the workbench has its own.

    python: the interpreter for rules, in a folder of its own; keep: called at the end with the graph of all jobs.
    """
    if python:
        sys.executable = str(python)
    os.chdir(folder)
    for name in [name for name in sys.modules if name.split(".")[0] == "litm"]:
        del sys.modules[name]
    sys.path[:] = [path for path in sys.path if Path(path) != ROOT / "scripts"]
    sys.argv[:] = command
    from snakemake.cli import main
    from snakemake.dag import DAG

    # Jobs print to this process's output, not to that of pytest when the module was imported.
    sys.modules["snakemake.shell"].STDOUT = None  # type: ignore[attr-defined]

    graphs, make = [], DAG.__init__

    def make_and_keep(graph: DAG, *arguments: Any, **options: Any) -> None:
        graphs.append(graph)
        make(graph, *arguments, **options)

    DAG.__init__ = make_and_keep  # type: ignore[method-assign]
    try:
        main(command[1:])
    except SystemExit as end:
        if graphs and not end.code:
            keep(graphs[-1])
        return exit_status(end)
    return 1
