"""The workflow on a real SLURM: the same bytes, GPUs for the jobs that request them, nothing lost by signals."""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster import Cluster, why_not
from litm.inference.journal import read_journal
from waiting import HANG
from workbench import Workbench

pytestmark = [
    pytest.mark.slurm,
    pytest.mark.skipif(why_not() is not None, reason=f"no SLURM can be started here: {why_not()}"),
]

#: Appended to the engine: a line in a file for each batch that is begun, with its process, size and GPUs; and a pause.
NOTED = """

def _noted(compute):
    import os
    import time

    def begin(model, prompts, *rest):
        with open(os.environ["NOTES"], "a") as notes:
            print(os.getpid(), len(prompts), os.environ.get("CUDA_VISIBLE_DEVICES", "none"), file=notes)
        time.sleep(float(os.environ["PAUSE"]))
        return compute(model, prompts, *rest)

    return begin


generate_batch = _noted(generate_batch)
"""
#: Prompts of a batch, and of a sweep.
BATCH, COUNT = 2, 60
REFERENCE = "resources/reference_model"
MODEL = {"engine": "transformers", "path": REFERENCE, "dtype": "float32", "batch_tokens": 1000, "threads": 1}
KV = {"task": "kv_retrieval", "positions": {12: [0, 11]}, "examples": COUNT // 2, "max_new_tokens": 30}
#: As the profile, but for a cluster that answers at once, and without its patience with failures.
PROFILE = [
    *("--workflow-profile", "profiles/slurm"),
    *("--slurm-init-seconds-before-status-checks", "4"),
    *("--latency-wait", "5"),
]
RESPONSES = "results/responses/one/kv.jsonl.gz"


def config(**models: dict) -> dict:
    """A config of these models, each with what it has that is different from `MODEL`."""
    defined = {name: {**MODEL, **entry} for name, entry in models.items()}
    return {"models": list(models), "experiments": ["kv"], "define": {"models": defined, "experiments": {"kv": KV}}}


@pytest.fixture
def bench(new_bench) -> Workbench:
    """The project, with a note of each batch that a model begins."""
    with new_bench.path("scripts/litm/local/generation.py").open("a") as module:
        module.write(NOTED)
    return new_bench


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with Cluster(tmp_path / "cluster") as cluster:
        yield cluster


class Run:
    """A run of Snakemake that continues while the test watches it."""

    def __init__(self, bench: Workbench, command: list[str], pause: float) -> None:
        self.bench, self.output = bench, bench.path("output.txt")
        environment = {**os.environ, "NOTES": str(bench.path("notes")), "PAUSE": str(pause)}
        with self.output.open("w") as output:
            streams = {"stdout": output, "stderr": subprocess.STDOUT}
            self.process = subprocess.Popen(command, cwd=bench.folder, env=environment, **streams)

    def wait_for_batches(self, count: int) -> None:
        """Wait until all runs together have begun this number of batches."""
        while len(begun(self.bench)) < count:
            assert self.process.poll() is None, self.output.read_text()
            time.sleep(0.2)

    def finish(self, succeeds: bool = True) -> str:
        """Wait for the end, which must be as it should; what was printed."""
        try:
            status = self.process.wait(timeout=HANG)
        finally:
            self.process.terminate()
        assert (status == 0) == succeeds, self.output.read_text()
        return self.output.read_text()


def snakemake(bench: Workbench, *words: str) -> list[str]:
    return [sys.executable, "-m", "snakemake", "--configfile", "small.yaml", *words]


def on_cluster(cluster: Cluster, bench: Workbench, *words: str, pause: float = 0) -> Run:
    return Run(bench, cluster.command(*snakemake(bench, *PROFILE, *words)), pause)


def here(bench: Workbench, *words: str) -> str:
    """The same without SLURM."""
    return Run(bench, snakemake(bench, "--cores", "2", *words), 0).finish()


def begun(bench: Workbench) -> list[tuple[str, int, str]]:
    """The process, number of prompts and GPUs of each batch that was begun."""
    notes = bench.path("notes")
    lines = notes.read_text().splitlines() if notes.exists() else []
    return [(pid, int(count), gpus) for pid, count, gpus in map(str.split, lines)]


def asked(bench: Workbench) -> int:
    """How many prompts were computed, those that were computed twice counted twice."""
    return sum(count for _, count, _ in begun(bench))


def submitted(printed: str) -> Counter:
    """How many jobs were submitted, by rule or group."""
    return Counter(re.findall(r"slurm_logs/(\w+)/", printed))


def sums(bench: Workbench, *folders: str) -> dict[str, str]:
    """The sha256 of every file of results in these folders."""
    files = [path for folder in folders for path in bench.path(f"results/{folder}").rglob("*") if path.is_file()]
    return {str(path.relative_to(bench.folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def report(message: str) -> None:
    """Shown by `pytest -s`."""
    print(f"\nSLURM: {message}")


def test_a_run_makes_the_bytes_of_a_local_run_and_each_gpu_job_has_a_gpu_of_its_own(bench, cluster, tmp_path):
    # Three identities: sweeps of one identity reuse each other's answers, and how many depends on which is first.
    entries = {"one": {}, "two": {"dtype": "bfloat16"}, "three": {"device": "cpu", "attention": "eager"}}
    long = {"device": "auto", "batch_tokens": 8000}
    bench.configure(config(**{name: {**long, **entry} for name, entry in entries.items()}))
    local = bench.moved_to(tmp_path / "local")
    scores = [f"results/scores/{name}/kv.parquet" for name in entries]
    started = time.monotonic()
    printed = on_cluster(cluster, bench, *scores, pause=2).finish()
    seconds = time.monotonic() - started
    here(local, *scores)

    made = sums(bench, "examples", "responses", "scores")
    assert made == sums(local, "examples", "responses", "scores")
    assert len(made) == 2 + 2 * len(entries) + len(entries)
    jobs = submitted(printed)
    assert jobs == {"group_examples_check_examples_make_examples": 1, "rule_generate": 3, "group_scores_score": 1}
    gpus = {pid: gpus for pid, _, gpus in begun(bench)}
    assert sorted(gpus.values()) == ["0", "1", "none"]
    listing = "\n".join(f"{digest}  {name}" for name, digest in sorted(made.items()))
    report(f"{jobs.total()} jobs submitted, {seconds:.0f} s, the same bytes as without SLURM:\n{listing}")


@pytest.mark.slow
def test_a_sweep_that_reaches_its_time_limit_is_submitted_again_and_resumes(bench, cluster, tmp_path):
    bench.configure(config(one={"device": "cpu", "runtime": 1}))
    printed = on_cluster(cluster, bench, RESPONSES, pause=4).finish()

    attempts = submitted(printed)["rule_generate"]
    assert attempts >= 2
    assert "TIMEOUT" in printed
    assert asked(bench) - COUNT <= BATCH * (attempts - 1)
    report(f"time limit: {attempts} jobs, {COUNT} prompts, {asked(bench) - COUNT} computed twice (a batch has {BATCH})")
    assert responses(bench) == responses_of_local(bench, tmp_path)


@pytest.mark.slow
def test_a_sweep_that_slurm_puts_into_the_queue_again_goes_on(bench, cluster, tmp_path):
    bench.configure(config(one={"device": "cpu"}))
    run = on_cluster(cluster, bench, RESPONSES, pause=1)
    run.wait_for_batches(10)
    # What SLURM does itself where a job is preempted or a node fails.
    cluster.run("scontrol", "requeue", running(cluster))
    printed = run.finish()

    assert submitted(printed)["rule_generate"] == 1
    assert len({pid for pid, _, _ in begun(bench)}) == 2
    assert asked(bench) - COUNT <= BATCH
    report(f"requeue: {COUNT} prompts, {asked(bench) - COUNT} computed twice (a batch has {BATCH})")
    assert responses(bench) == responses_of_local(bench, tmp_path)


@pytest.mark.slow
def test_a_cancelled_sweep_loses_nothing_and_the_next_run_resumes(bench, cluster, tmp_path):
    bench.configure(config(one={"device": "cpu"}))
    run = on_cluster(cluster, bench, "--retries", "0", RESPONSES, pause=1)
    run.wait_for_batches(10)
    cluster.run("scancel", running(cluster))
    printed = run.finish(succeeds=False)
    assert "CANCELLED" in printed
    assert "results/logs/generate/one/kv.log" in printed
    answered = len(read_journal(bench.path("results/journal/one/kv.jsonl")).responses)
    assert 0 <= asked(bench) - answered <= BATCH

    on_cluster(cluster, bench, RESPONSES).finish()
    assert bench.asked("kv", "one") == (COUNT - answered, answered)
    assert asked(bench) - COUNT <= BATCH
    report(f"scancel: {answered} answers kept of {COUNT}, {asked(bench) - COUNT} prompts computed twice")
    assert responses(bench) == responses_of_local(bench, tmp_path)


@pytest.mark.slow
def test_a_failed_job_ends_with_its_own_message_and_the_path_of_its_log(bench, cluster):
    bench.configure(config(one={"device": "cpu", "attention": "flash_attention_2"}))
    printed = on_cluster(cluster, bench, "--retries", "0", RESPONSES).finish(succeeds=False)

    ending = printed[printed.index("results/logs/generate/one/kv.log:") :]
    assert "error: model" in ending
    assert "Traceback" not in printed
    report(f"failure:\n{printed}")


def running(cluster: Cluster) -> str:
    """The number of the one job that is running."""
    (number,) = cluster.run("squeue", "--noheader", "--states=running", "--format=%i").split()
    return number


def responses(bench: Workbench) -> bytes:
    """The sweep's responses; its manifest says how many of them the last run asked."""
    return bench.path(RESPONSES).read_bytes()


def responses_of_local(bench: Workbench, folder: Path) -> bytes:
    """The responses of the same sweep without SLURM and without interruption."""
    local = bench.moved_to(folder / "local")
    shutil.rmtree(local.path("results"))
    here(local, RESPONSES)
    return responses(local)
