"""A copy of the project to run Snakemake in, and to edit: what it plans, and what it does."""

import logging
import multiprocessing
import os
import shutil
import subprocess
import sys
from pathlib import Path

import yaml
from conftest import ROOT, qa_record, write_lines

from litm.records import read_json

#: Rules that only name targets.
TARGETS = {"all", "tables", "figures", "report", "published", "suite_export", "suite_zip", "reference_model"}

CONFIG = {
    "models": ["reference"],
    "experiments": ["kv", "qa", "closed_book"],
    "define": {
        "datasets": {"questions": {"path": "questions.jsonl.gz"}},
        "experiments": {
            "kv": {"task": "kv_retrieval", "positions": {4: [0, 3], 6: [0, 5]}, "examples": 3, "max_new_tokens": 30},
            "qa": {
                "task": "multi_document_qa",
                "dataset": "questions",
                "positions": {3: [0, 2]},
                "max_new_tokens": 10,
            },
            "closed_book": {"task": "closed_book_qa", "dataset": "questions", "max_new_tokens": 10},
        },
        "figures": {"qa": {"experiments": ["qa"], "references": {"closed_book": "closed book"}, "published": True}},
    },
}


class Workbench:
    """A folder with the project and a small config of its own, `small.yaml`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def create(cls, folder: Path) -> "Workbench":
        """The working tree's files under git, a dataset of four questions, and the small config."""
        listing = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, capture_output=True, text=True, check=True,
        )  # fmt: skip
        for name in filter(None, listing.stdout.split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, folder / name)
        bench = cls(folder)
        write_lines(folder / "questions.jsonl.gz", [qa_record(number, 4) for number in range(4)])
        bench.configure(CONFIG)
        bench.git("init", "--quiet", "--initial-branch=main")
        bench.git("add", "--all")
        bench.git("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet", "--message=project")
        return bench

    def moved_to(self, folder: Path) -> "Workbench":
        """The whole folder, results and all, at another place."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return Workbench(folder)

    def configure(self, config: dict) -> None:
        """Write the small config."""
        self.path("small.yaml").write_text(yaml.safe_dump(config, sort_keys=False))

    def path(self, name: str) -> Path:
        """A file of the workbench."""
        return self.folder / name

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace text in a file; it must be there."""
        text = self.path(name).read_text()
        assert old in text
        self.path(name).write_text(text.replace(old, new))

    def git(self, *words: str) -> None:
        """Run git in the workbench."""
        subprocess.run(["git", *words], cwd=self.folder, check=True, capture_output=True)

    def snakemake(self, *words: str) -> subprocess.CompletedProcess:
        """Run Snakemake as a user does, with the small config."""
        command = [sys.executable, "-m", "snakemake", "--configfile", "small.yaml", "--cores", "2", *words]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)

    def run(self, *words: str) -> None:
        """Run Snakemake; it must succeed."""
        done = self.snakemake(*words)
        assert done.returncode == 0, done.stdout + done.stderr

    def plan(self, *words: str) -> dict[str, int]:
        """Number of jobs by rule that Snakemake would run, targets left out."""
        # Here, so that no fork has to: it takes seconds.
        import snakemake.cli  # noqa: F401

        context = multiprocessing.get_context("fork")
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=_plan, args=(self.folder, words, sender))
        child.start()
        sender.close()
        stats = receiver.recv()
        child.join()
        assert child.exitcode == 0
        return {rule: count for rule, count in stats.items() if rule not in TARGETS | {"total"}}

    def asked(self, sweep: str, model: str = "reference") -> tuple[int, int]:
        """How many prompts the last run of a sweep asked, and how many it took from the journal."""
        manifest = read_json(self.path(f"results/responses/{model}/{sweep}.manifest.json"))
        return manifest["asked"], manifest["reused"]


def _plan(folder: Path, words: tuple[str, ...], sender) -> None:
    """Plan in a process of its own that forgets this checkout's library: the workbench has its own."""
    os.chdir(folder)
    for name in [name for name in sys.modules if name.split(".")[0] == "litm"]:
        del sys.modules[name]
    sys.path[:] = [path for path in sys.path if Path(path) != ROOT / "scripts"]
    from snakemake.cli import args_to_api, parse_args
    from snakemake.logging import logger

    catch = _CatchStatistics()
    # A filter, because Snakemake takes all handlers off when it sets its logging up.
    logger.addFilter(catch)
    parser, args = parse_args(["--dry-run", "--configfile", "small.yaml", "--cores", "2", *words])
    succeeded = args_to_api(args, parser)
    sender.send(catch.stats)
    sys.stdout.flush()
    os._exit(0 if succeeded and catch.stats is not None else 1)


class _CatchStatistics(logging.Filter):
    """Keeps the job counts that Snakemake logs: empty if it says that there is nothing to do, else None."""

    stats: dict[str, int] | None = None

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "stats", None) is not None:
            self.stats = dict(record.stats)
        elif str(record.msg).startswith("Nothing to be done"):
            self.stats = {}
        return True
