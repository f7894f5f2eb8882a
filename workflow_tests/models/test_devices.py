"""GPUs of parallel jobs: all different, and assigned by SLURM where there is one; batches within a budget of tokens."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
import torch
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from programs import refused

from litm.models import devices
from litm.models.devices import length_sorted_batches

JOB = """
import sys
sys.path.insert(0, sys.argv[1])
from litm.models.devices import claim_gpus
print(claim_gpus(int(sys.argv[2]), 3, {}), flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def own_locks(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(devices, "_held", [])


@pytest.fixture
def start_job():
    """Start a job that takes some of three GPUs and keeps them until its standard input ends."""
    jobs = []

    def start(count: int) -> subprocess.Popen:
        command = [sys.executable, "-c", JOB, str(ROOT / "scripts"), str(count)]
        jobs.append(
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        )
        return jobs[-1]

    yield start
    for job in jobs:
        job.kill()
        job.communicate()


def test_jobs_side_by_side_take_different_gpus_and_one_too_many_waits_for_the_first_to_end(start_job):
    first = start_job(1)
    assert first.stdout.readline() == "0\n"
    second = start_job(2)
    assert second.stdout.readline() == "1,2\n"
    third = start_job(1)
    assert third.stderr.readline() == "waiting for 1 of 3 GPUs: others of your jobs are using them\n"
    first.kill()
    assert third.stdout.readline() == "0\n"


def test_a_job_that_waits_for_two_keeps_none(start_job):
    first = start_job(2)
    assert first.stdout.readline() == "0,1\n"
    second = start_job(2)
    assert second.stderr.readline().startswith("waiting for 2 of 3 GPUs")
    third = start_job(1)
    assert third.stdout.readline() == "2\n"


def test_only_gpus_that_the_job_may_see_are_taken():
    assert [devices.claim_gpus(1, 2, {"CUDA_VISIBLE_DEVICES": "5,GPU-a1"}) for _ in range(2)] == ["5", "GPU-a1"]


def test_gpus_assigned_by_slurm_are_not_changed_and_a_machine_without_gpus_neither():
    assert devices.claim_gpus(1, 2, {"SLURM_JOB_ID": "7", "CUDA_VISIBLE_DEVICES": "1"}) is None
    assert devices.claim_gpus(1, 0, {}) is None
    assert devices.claim_gpus(0, 2, {}) is None


def test_more_gpus_than_there_are_is_one_line():
    assert refused(devices.claim_gpus, 4, 2, {}).startswith("4 GPUs are wanted and 2 are here")


def test_attention_that_plans_each_length_anew_is_off():
    torch.backends.cuda.enable_cudnn_sdp(True)
    devices.choose_device("cpu")
    assert not torch.backends.cuda.cudnn_sdp_enabled()


@pytest.mark.parametrize(
    ("file", "for_processors", "visible", "program", "is_seen"),
    [
        ("nvidia0", False, None, None, True),
        ("nvidia0", True, None, None, False),
        ("nvidiactl", False, None, None, False),
        ("kfd", False, None, None, True),
        *(("kfd", False, hiding, None, False) for hiding in ("", "-1")),
        ("kfd", False, "1", None, True),
        # Under Windows.
        ("dxg", False, None, None, False),
        ("dxg", False, None, "/usr/lib/wsl/lib/nvidia-smi", True),
    ],
)
def test_a_gpu_is_seen_by_its_file_or_program_where_torch_can_use_it_and_it_is_not_hidden(
    tmp_path, monkeypatch, file, for_processors, visible, program, is_seen
):
    (tmp_path / file).touch()
    monkeypatch.setattr(devices, "_torch_is_for_processors", lambda: for_processors)
    monkeypatch.setattr(devices, "which", lambda name: program)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert devices.has_gpu(tmp_path) == is_seen


@pytest.mark.parametrize(
    ("version", "is_for_processors"),
    [
        ("cuda: Optional[str] = None\nhip: Optional[str] = None\n", True),
        ("cuda: Optional[str] = '12.8'\nhip: Optional[str] = None\n", False),
        ("cuda = None\nhip = '7.0'\n", False),
        ("", False),
    ],
)
def test_the_build_of_torch_is_known_by_its_version_file(tmp_path, monkeypatch, version, is_for_processors):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").touch()
    (tmp_path / "torch" / "version.py").write_text(version)
    origin = SimpleNamespace(origin=str(tmp_path / "torch" / "__init__.py"))
    monkeypatch.setattr(devices, "find_spec", lambda name: origin)
    devices._torch_is_for_processors.cache_clear()
    assert devices._torch_is_for_processors() == is_for_processors
    devices._torch_is_for_processors.cache_clear()


@given(st.lists(st.integers(1, 500), max_size=60), st.integers(1, 50), st.integers(1, 2000))
def test_every_prompt_is_in_one_batch_and_no_batch_is_over_the_budget(lengths, new_tokens, budget):
    batches = list(length_sorted_batches(lengths, new_tokens, budget))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        padded = (max(lengths[index] for index in batch) + new_tokens) * len(batch)
        assert padded <= budget or len(batch) == 1
    order = [lengths[index] for batch in batches for index in batch]
    assert order == sorted(lengths, reverse=True)
